"""What is said without a scheduler holds whatever the scheduler does: a "cannot" is never placed.

Five hundred small fleets with a workload each, in batches that share one control plane. Each fleet's pods can only go
to its own nodes, and node selectors come before devices, so the fleets do not touch each other.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from aks_dra.facts import load_facts
from aks_dra.simulate.cleaning import clean, wait
from aks_dra.simulate.cluster import RUN_LABEL, Cluster
from aks_dra.simulate.fleet import gpu_node_pool, node_manifest, node_names, slice_manifests
from aks_dra.simulate.run import answered, now
from tests.simulation.bare import bare_cluster
from tests.simulation.random_fleets import NAMESPACE, Example, example

SEED = 20261130
FLEETS = 500
BATCH = 100
RUN = "batch"
QUIET_SECONDS = 2.5


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with bare_cluster() as (_, connected):
        connected.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
        # no pod is accepted before the controller has made it
        assert wait(lambda: bool(connected.items("ServiceAccount", NAMESPACE)), 30)
        yield connected


def test_a_cannot_is_never_placed(cluster: Cluster) -> None:
    said: dict[str, str] = {}
    placed: set[str] = set()
    for start in range(0, FLEETS, BATCH):
        fleets = [example(SEED, number) for number in range(start, start + BATCH)]
        for fleet in fleets:
            judged = fleet.fleet()
            said |= {pod["metadata"]["name"]: judged.judge(fleet.asks(pod)).verdict for pod in fleet.pods}
        placed |= scheduled(cluster, fleets)
    wrong = sorted(name for name, verdict in said.items() if verdict == "cannot" and name in placed)
    assert wrong == [], [example(SEED, int(name[1:].partition("-")[0])) for name in wrong[:3]]
    counts = Counter((verdict, name in placed) for name, verdict in said.items())
    # all three kinds occur often enough for the test to mean something, and "may" is mostly right
    assert counts["cannot", False] > 200
    assert counts["may", True] > 100
    assert counts["may", False] < counts["may", True] / 2


def scheduled(cluster: Cluster, fleets: list[Example]) -> set[str]:
    """The names of the pods that the scheduler placed, once it does not change its mind any more."""
    try:
        for rank in (1, 2):
            several(cluster, (held for fleet in fleets for own, held in fleet.classes if own == rank))
            time.sleep(1.02 - time.time() % 1)  # creation times have whole seconds, and the newest class serves a name
        nodes: list[dict[str, Any]] = []
        slices: list[dict[str, Any]] = []
        for fleet in fleets:
            for pool in fleet.pools:
                described = gpu_node_pool(pool, "nowhere", fleet.nodes[pool.name])
                for index, name in enumerate(node_names(described)):
                    nodes.append(node_manifest(described, name, index, load_facts(), RUN, now()))
                    slices += slice_manifests(pool.all_devices, name, RUN)
        several(cluster, nodes)
        several(cluster, slices)
        several(cluster, (claim for fleet in fleets for claim in fleet.claims))
        assert wait(lambda: not unready(cluster), 60, 0.5)
        pods = [pod for fleet in fleets for pod in fleet.pods]
        several(cluster, pods)
        return settled(lambda: cluster.ours("Pod", RUN), len(pods))
    finally:
        clean(cluster, RUN)


def unready(cluster: Cluster) -> bool:
    taints = [taint["key"] for node in cluster.ours("Node", RUN) for taint in node["spec"].get("taints") or ()]
    return any(key.startswith("node.kubernetes.io/") for key in taints)


def several(cluster: Cluster, manifests: Iterable[dict[str, Any]]) -> None:
    def create(manifest: dict[str, Any]) -> None:
        metadata = {**manifest["metadata"], "labels": {**manifest["metadata"].get("labels", {}), RUN_LABEL: RUN}}
        cluster.create({**manifest, "metadata": metadata})

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(create, manifests))


def settled(pods: Callable[[], list[dict[str, Any]]], expected: int) -> set[str]:
    last: tuple[int, set[str]] = (0, set())
    since = time.monotonic()
    deadline = since + 60
    while time.monotonic() < deadline:
        found = pods()
        assert len(found) == expected
        bound = {pod["metadata"]["name"] for pod in found if pod["spec"].get("nodeName")}
        state = (sum(map(answered, found)), bound)
        if state != last:
            last, since = state, time.monotonic()
        elif time.monotonic() - since > QUIET_SECONDS:
            return bound
        time.sleep(0.3)
    raise AssertionError("the scheduler did not come to rest within a minute")
