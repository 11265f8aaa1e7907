"""Hypothesis draws the same examples in every run of `make test`; the nightly run draws new ones."""

from __future__ import annotations

import pytest
from hypothesis import settings

settings.register_profile("same", derandomize=True, deadline=None, database=None)
settings.register_profile("new", deadline=None)


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("new" if config.getoption("markexpr") == "nightly" else "same")
