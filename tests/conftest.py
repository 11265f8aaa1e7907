"""How the tests run: which tier a test is of, what shares a stack or a control plane, and examples that repeat.

The folders mirror `components/aks_dra` and `local`; what is in them is a unit test. Tests of the whole lie in a folder
for each tier (TIERS). `tests/stacks.py` writes every stack that a test plans.

Hypothesis draws the same examples in every run of `make test`; the nightly run draws new ones.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("same", derandomize=True, deadline=None, database=None)
settings.register_profile("new", deadline=None)


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("new" if config.getoption("markexpr") == "nightly" else "same")


TIERS = {
    "cluster": ("cluster",),
    "end_to_end": ("engine", "cluster"),
    "engine": ("engine",),
    "nvidia_charts": ("nvidia_charts",),
    "oracle": ("oracle",),
}
"""The markers of a folder's tests. A file with `pytestmark` needs more than its folder says."""

SHARED = {
    "running_stack": "the local stack",
    "control_plane": "the control plane with simulated nodes",
    "bare": "the control plane without nodes",
}
"""Fixtures of a whole session: tests that ask for one share it, so they run in one process. The two longest come first,
one for each process of `make test`; every other file is a group of its own and fills the gaps behind them.
"""


# First, because the worker of pytest-xdist reads the groups in this hook as well, and reads none that come later.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        path = item.path.relative_to(Path(__file__).parent)
        for tier in TIERS.get(path.parts[0], ("unit",)):
            item.add_marker(tier)
        item.add_marker(pytest.mark.xdist_group(_shared(item) or str(path.with_suffix(""))))
    order = list(SHARED.values())
    items.sort(key=lambda item: order.index(shared) if (shared := _shared(item)) else len(order))


def _shared(item: pytest.Item) -> str:
    """What the test shares with others, or nothing."""
    asked = [name for fixture, name in SHARED.items() if fixture in getattr(item, "fixturenames", ())]
    assert len(asked) < 2, f"{item.nodeid} would need {' and '.join(asked)} in one process; split it"
    return asked[0] if asked else ""
