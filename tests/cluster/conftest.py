"""One control plane with simulated nodes for the whole session, one namespace per test.

Node names, device classes and slices belong to the whole cluster, so tests name their nodes after their
namespace. Everything a test makes through `cluster` is deleted when the test ends.
"""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest
from kubernetes.client.exceptions import ApiException

from local import kubernetes, nodes
from local.nodes.cluster import MANAGER, Cluster

T = TypeVar("T")
WAIT_SECONDS = 30.0
PATHS = {
    "ClusterPolicy": "/apis/nvidia.com/v1/clusterpolicies/{name}",
    "ConfigMap": "/api/v1/namespaces/{namespace}/configmaps/{name}",
    "CustomResourceDefinition": "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}",
    "DaemonSet": "/apis/apps/v1/namespaces/{namespace}/daemonsets/{name}",
    "DeviceClass": "/apis/resource.k8s.io/v1/deviceclasses/{name}",
    "Job": "/apis/batch/v1/namespaces/{namespace}/jobs/{name}",
    "Namespace": "/api/v1/namespaces/{name}",
    "Node": "/api/v1/nodes/{name}",
    "Pod": "/api/v1/namespaces/{namespace}/pods/{name}",
    "ResourceClaim": "/apis/resource.k8s.io/v1/namespaces/{namespace}/resourceclaims/{name}",
    "ResourceClaimTemplate": "/apis/resource.k8s.io/v1/namespaces/{namespace}/resourceclaimtemplates/{name}",
    "ResourceQuota": "/api/v1/namespaces/{namespace}/resourcequotas/{name}",
    "ValidatingAdmissionPolicy": "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/{name}",
    "ValidatingAdmissionPolicyBinding": (
        "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/{name}"
    ),
}


@dataclass
class TestCluster:
    """The API server as the administrator sees it, with what the current test has made."""

    __test__ = False

    root: Path
    api: Cluster
    namespace: str = "default"
    made: list[str] = field(default_factory=list)

    @property
    def kubeconfig(self) -> Path:
        return self.root / "kubernetes" / "kubeconfig"

    def apply(self, manifest: Mapping[str, Any]) -> dict[str, Any]:
        """Creates or updates an object; namespaced ones without a namespace go to the test's own."""
        metadata = {"namespace": self.namespace, **manifest["metadata"]}
        path = PATHS[manifest["kind"]].format(**metadata)
        if "{namespace}" not in PATHS[manifest["kind"]]:
            metadata.pop("namespace")
        body = {**manifest, "metadata": metadata}
        found = self.api.call("PATCH", f"{path}?{MANAGER}&force=true", body, "application/apply-patch+yaml")
        if "status" in manifest:  # left out of the main resource
            self.api.call("PATCH", f"{path}/status?{MANAGER}&force=true", body, "application/apply-patch+yaml")
        self.made.append(path)
        return dict(found)

    def get(self, kind: str, name: str) -> dict[str, Any]:
        return dict(self.api.call("GET", PATHS[kind].format(name=name, namespace=self.namespace)))

    def delete(self, kind: str, name: str) -> None:
        self.remove(PATHS[kind].format(name=name, namespace=self.namespace))

    def remove(self, path: str) -> None:
        try:
            self.api.call("DELETE", f"{path}?propagationPolicy=Background")
        except ApiException as error:
            if error.status != 404:
                raise
        if "/customresourcedefinitions/" in path:  # one that is on its way out takes what is applied next with it
            self.until(lambda: not self.there(path), f"{path} gone")

    def there(self, path: str) -> bool:
        try:
            self.api.call("GET", path)
        except ApiException as error:
            return bool(error.status != 404)
        return True

    def label(self, node: str, **labels: str | None) -> None:
        """Sets or removes labels; `__` in a key stands for `/`."""
        changed = {key.replace("__", "/"): value for key, value in labels.items()}
        content = "application/merge-patch+json"
        self.api.call("PATCH", f"/api/v1/nodes/{node}", {"metadata": {"labels": changed}}, content)

    def slices(self, node: str) -> list[dict[str, Any]]:
        selector = f"spec.nodeName={node}"
        return list(self.api.call("GET", f"/apis/resource.k8s.io/v1/resourceslices?fieldSelector={selector}")["items"])

    def devices(self, node: str) -> list[dict[str, Any]]:
        return [device for item in self.slices(node) for device in item["spec"].get("devices") or ()]

    def until(self, question: Callable[[], T], what: str = "") -> T:
        """Asks until the answer is true, and gives it."""
        deadline = time.monotonic() + WAIT_SECONDS
        while not (answer := question()):
            if time.monotonic() > deadline:
                raise AssertionError(f"not so after {WAIT_SECONDS} s: {what or question}")
            time.sleep(0.1)
        return answer

    def stays(self, question: Callable[[], T], seconds: float = 2.0) -> T:
        """Asks for a while; the answer must be true each time."""
        deadline = time.monotonic() + seconds
        while True:
            answer = question()
            assert answer
            if time.monotonic() > deadline:
                return answer
            time.sleep(0.1)


@pytest.fixture(scope="session")
def control_plane() -> Iterator[TestCluster]:
    """The whole session's control plane, in a state folder of its own."""
    base = Path(tempfile.gettempdir()) / f"aks-dra-cluster-tests-{os.getuid()}"
    base.mkdir(mode=0o700, exist_ok=True)
    for left in base.iterdir():  # of sessions that were killed
        if not lives(left.name):
            end(left)
    root = base / str(os.getpid())
    try:
        kubernetes.start(root, durable=False)
        nodes.start(root)
        yield TestCluster(root, Cluster(root / "kubernetes" / "kubeconfig"))
    finally:
        end(root)


def lives(pid: str) -> bool:
    try:
        os.kill(int(pid), 0)
    except (ValueError, ProcessLookupError):
        return False
    return True


def end(root: Path) -> None:
    nodes.stop(root)
    kubernetes.stop(root)
    shutil.rmtree(root, ignore_errors=True)


NUMBERS = itertools.count(1)


@pytest.fixture
def cluster(control_plane: TestCluster) -> Iterator[TestCluster]:
    """The control plane with a namespace of this test; what the test makes is deleted with it."""
    name = f"t{next(NUMBERS)}"
    found = TestCluster(control_plane.root, control_plane.api, name)
    found.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    try:
        yield found
    finally:
        for path in reversed(found.made):
            found.remove(path)


@pytest.fixture
def namespace(cluster: TestCluster) -> str:
    return cluster.namespace


def make_node(
    cluster: TestCluster,
    name: str,
    vm_size: str,
    driver: str = "Install",
    labels: Mapping[str, str] | None = None,
    instance_profile: str = "",
    taints: tuple[dict[str, str], ...] = (),
) -> str:
    """A node as the simulated Azure makes it. The name gets the test's namespace in front."""
    full = f"{cluster.namespace}-{name}"
    annotations = {"local.aks-dra.dev/vm-size": vm_size, "local.aks-dra.dev/gpu-driver": driver}
    if instance_profile:
        annotations["local.aks-dra.dev/gpu-instance-profile"] = instance_profile
    room = {"cpu": "24", "memory": "220Gi", "pods": "110"}
    cluster.apply(
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": full,
                "labels": {"kubernetes.io/hostname": full, "test": cluster.namespace, **(labels or {})},
                "annotations": annotations,
            },
            "spec": {"taints": list(taints)},
            "status": {"capacity": room, "allocatable": room},
        }
    )
    return full


def make_pod(cluster: TestCluster, name: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    container = {"name": "main", "image": "example.invalid/none", **spec.get("container", {})}
    rest = {key: value for key, value in spec.items() if key != "container"}
    body = {"containers": [container], **rest}
    return cluster.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": body})
