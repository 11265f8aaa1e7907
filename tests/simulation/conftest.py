"""One control plane without nodes for the whole session: what is simulated on it goes again with each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from aks_dra.simulate.cluster import Cluster
from tests.simulation.bare import bare_cluster


@pytest.fixture(scope="session")
def bare() -> Iterator[tuple[Path, Cluster]]:
    """A control plane without nodes, as `make simulate` has one: its kubeconfig, and a connection by it."""
    with bare_cluster() as found:
        yield found
