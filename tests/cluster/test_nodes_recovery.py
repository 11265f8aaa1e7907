"""The simulated nodes survive what happens to them and to the control plane."""

from __future__ import annotations

import os
import signal

import pytest

from local import kubernetes, nodes
from local.kubernetes.control_plane import daemons
from tests.cluster import installed
from tests.cluster.conftest import TestCluster, make_node


@pytest.mark.parametrize("part", ["kube-apiserver", "nodes"])
def test_slices_come_again_after_a_kill(cluster: TestCluster, part: str) -> None:
    running = daemons(cluster.root)
    first = make_node(cluster, "first", "Standard_NC4as_T4_v3")
    cluster.apply(installed.dra_plugin("/", {"test": cluster.namespace}))
    before = cluster.until(lambda: cluster.slices(first))
    pid = running.pid(part)
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    assert running.wait_gone(part, 5)
    assert {**kubernetes.status(cluster.root), **nodes.status(cluster.root)}[part] == "dead"
    kubernetes.start(cluster.root, durable=False)
    nodes.start(cluster.root)
    second = make_node(cluster, "second", "Standard_NC4as_T4_v3")
    cluster.until(lambda: cluster.devices(second))
    assert cluster.slices(first) == before  # nothing was published anew
