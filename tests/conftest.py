"""How the tests run: what shares a stack or a control plane runs in one process, and examples repeat.

Hypothesis draws the same examples in every run of `make test`; the nightly run draws new ones.
"""

from __future__ import annotations

import pytest
from hypothesis import settings

settings.register_profile("same", derandomize=True, deadline=None, database=None)
settings.register_profile("new", deadline=None)


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("new" if config.getoption("markexpr") == "nightly" else "same")


SHARED = {"end_to_end": "the local stack", "cluster": "the control plane"}
"""Folders whose tests share one running thing; every other file is a group of its own."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        folder, file = item.path.parent.name, item.path.stem
        item.add_marker(pytest.mark.xdist_group(SHARED.get(folder, f"{folder}/{file}")))
