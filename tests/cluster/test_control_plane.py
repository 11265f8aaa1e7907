"""The control plane by itself: what runs, what survives, what is refused."""

from __future__ import annotations

import os
import signal
import socket
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from kubernetes.client.exceptions import ApiException

from local import kubernetes
from local.kubernetes.control_plane import ControlPlaneError, daemons
from local.kubernetes.keeping import Secrets, is_free
from local.nodes.cluster import Cluster
from tests.cluster.conftest import TestCluster, make_node, make_pod

ALL = dict.fromkeys(kubernetes.PARTS, "running")
CONFIGMAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "kept"}, "data": {"a": "1"}}


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A second control plane, for tests that kill it."""
    root = tmp_path_factory.mktemp("own")
    try:
        yield root
    finally:
        kubernetes.stop(root)


def connect(root: Path) -> Cluster:
    return Cluster(root / "kubernetes" / "kubeconfig")


def test_a_pod_runs_and_a_job_completes(cluster: TestCluster) -> None:
    node = make_node(cluster, "plain", "Standard_D4s_v5")
    make_pod(cluster, "p", {"nodeSelector": {"kubernetes.io/hostname": node}})
    template = {
        "spec": {
            "restartPolicy": "Never",
            "nodeSelector": {"kubernetes.io/hostname": node},
            "containers": [{"name": "main", "image": "example.invalid/none"}],
        }
    }
    cluster.apply({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": {"template": template}})
    cluster.until(lambda: cluster.get("Pod", "p")["status"]["phase"] == "Running")
    cluster.until(lambda: cluster.get("Job", "j")["status"].get("succeeded") == 1)


def test_versions_are_emulated_and_others_refused(control_plane: TestCluster, tmp_path: Path) -> None:
    names = {item["name"] for item in control_plane.api.call("GET", "/apis/resource.k8s.io/v1")["resources"]}
    assert {"deviceclasses", "resourceclaims", "resourceslices"} <= names
    metrics = control_plane.api.client.call_api(
        "GET", f"{control_plane.api.server}/metrics", {"Authorization": control_plane.api.token}
    )
    text: bytes = metrics.read()  # type: ignore[no-untyped-call]
    assert b'kubernetes_feature_enabled{name="DRAExtendedResource",stage="BETA"} 1' in text
    with pytest.raises(ControlPlaneError, match=r"1\.29.*1\.34 to 1\.37"):
        kubernetes.start(tmp_path, "1.29")


def test_start_is_repeatable_and_everything_is_kept_over_a_restart(own: Path) -> None:
    kubernetes.start(own, durable=False)
    pids = {part: daemons(own).pid(part) for part in kubernetes.PARTS}
    kubeconfig = (own / "kubernetes" / "kubeconfig").read_text()
    kubernetes.start(own, durable=False)
    assert {part: daemons(own).pid(part) for part in kubernetes.PARTS} == pids
    connect(own).call("POST", "/api/v1/namespaces/default/configmaps", CONFIGMAP)

    assert kubernetes.stop(own)
    assert kubernetes.status(own) == dict.fromkeys(kubernetes.PARTS, "dead")
    assert not kubernetes.stop(own)
    kubernetes.start(own, durable=False)
    assert (own / "kubernetes" / "kubeconfig").read_text() == kubeconfig
    assert connect(own).call("GET", "/api/v1/namespaces/default/configmaps/kept")["data"] == {"a": "1"}


@pytest.mark.parametrize("part", kubernetes.PARTS)
def test_a_killed_part_is_started_again(own: Path, part: str) -> None:
    kubernetes.start(own, durable=False)
    pid = daemons(own).pid(part)
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    assert daemons(own).wait_gone(part, 5)
    assert kubernetes.status(own) == {**ALL, part: "dead"}
    kubernetes.start(own, durable=False)
    assert kubernetes.status(own) == ALL


def test_records_that_are_lost_or_stale_do_no_harm(own: Path) -> None:
    kubernetes.start(own, durable=False)
    before = daemons(own).pid("etcd")
    for record in (own / "kubernetes" / "pids").iterdir():
        record.unlink()
    bystander = os.getpid()  # a recycled pid: the record's moment is another one
    (own / "kubernetes" / "pids" / "kwok.json").write_text(f'{{"pid": {bystander}, "moment": "x", "digest": "y"}}')
    kubernetes.start(own, durable=False)
    assert kubernetes.status(own) == ALL
    assert daemons(own).pid("etcd") != before


def test_a_taken_port_is_told_with_its_holder(own: Path) -> None:
    kubernetes.start(own, durable=False)
    port = Secrets(own / "kubernetes").recorded_port()
    assert port is not None
    kubernetes.stop(own)
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("127.0.0.1", port))
        other.listen()
        with pytest.raises(ControlPlaneError, match=rf"port {port} .* held by .*\(pid {os.getpid()}\).*ports\.json"):
            kubernetes.start(own, durable=False)
    kubernetes.start(own, durable=False)
    assert kubernetes.status(own) == ALL


def test_two_starts_at_once_make_one_control_plane(own: Path) -> None:
    kubernetes.stop(own)
    threads = [threading.Thread(target=kubernetes.start, args=(own, "1.36", False)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert kubernetes.status(own) == ALL


def test_secrets_are_private_and_the_server_is_local(own: Path) -> None:
    kubernetes.start(own, durable=False)
    folder = own / "kubernetes"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for path in (folder / "kubeconfig", folder / "tokens.csv", *(folder / "pki").glob("*.key")):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
    tokens = Secrets(folder).tokens().values()
    for part in kubernetes.PARTS:
        argv = Path(f"/proc/{daemons(own).pid(part)}/cmdline").read_text()
        assert not any(token in argv for token in tokens)
    port = Secrets(folder).recorded_port()
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    bound = {row[1] for row in rows if row[3] == "0A" and row[1].endswith(f":{port:04X}")}
    assert bound == {f"0100007F:{port:04X}"}
    stranger = connect(own)
    stranger.token = "Bearer none"
    with pytest.raises(ApiException, match="401"):
        stranger.call("GET", "/api/v1/namespaces")
    assert port is not None
    assert not is_free(port)
