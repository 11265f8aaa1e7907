"""How the tests run: which tier a test is of, what shares a stack or a control plane, and examples that repeat.

The folders mirror `components/aks_dra` and `local`; what is in them is a unit test. Tests of the whole lie in a folder
for each tier (TIERS). `tests/stacks.py` writes every stack that a test plans.

Hypothesis draws the same examples in every run of `make test`; the nightly run draws new ones.
"""

from __future__ import annotations

import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

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
    "simulation": ("cluster",),
}
"""The markers of a folder's tests. A file with `pytestmark` needs more than its folder says."""

SHARED = {
    "end_to_end": "the local stack, brought up once",
    "cluster": "the control plane with simulated nodes",
    "simulation": "the control plane without nodes, as `make simulate` has one",
}
"""Folders whose tests share what a fixture of their conftest starts for the whole session: each is one group, which
runs in one process. The longest come first, so that each process of `make test` begins with one of them. Every other
file is a group of its own and fills the gaps behind them; one that needs a stack or a control plane has its own.
"""


def group(nodeid: str) -> str:
    folder, _, rest = nodeid.split("::")[0].removeprefix("tests/").partition("/")
    return folder if folder in SHARED else f"{folder}/{rest}"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks each test with its tier, and puts the tests that share first."""
    order = list(SHARED)
    for item in items:
        for tier in TIERS.get(group(item.nodeid).partition("/")[0], ("unit",)):
            item.add_marker(tier)
    items.sort(key=lambda item: order.index(name) if (name := group(item.nodeid)) in SHARED else len(order))


class Groups(LoadScopeScheduling):  # type: ignore[misc]
    """Hands out whole groups, in the order of the tests. (The marks of `--dist loadgroup` do not reach pytest-xdist 3.8
    with pytest 9.2: it writes them into the ids of tests, which pytest no longer lets it change.)
    """

    def _split_scope(self, nodeid: str) -> str:
        return group(nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> LoadScopeScheduling:
    config.option.loadscopereorder = False
    return Groups(config, log)
