"""Small questions and manifests for tests of sharing on the simulated nodes."""

from __future__ import annotations

import json
from typing import Any

from tests.cluster import installed
from tests.cluster.conftest import TestCluster, make_pod


def says(cluster: TestCluster, node: str, program: str) -> str:
    annotations = cluster.get("Node", node)["metadata"]["annotations"]
    return str(json.loads(annotations.get("local.aks-dra.dev/says", "{}")).get(program, ""))


def gpus(cluster: TestCluster, node: str) -> dict[str, str]:
    found = cluster.get("Node", node)["status"]["allocatable"]
    return {name: number for name, number in found.items() if name.startswith("nvidia.com/") and number != "0"}


def plugin(here: dict[str, str], gates: str, version: str = "0.5.0") -> dict[str, Any]:
    made = installed.dra_plugin("/", here)
    (container,) = made["spec"]["template"]["spec"]["containers"]
    container["env"].append({"name": "FEATURE_GATES", "value": gates})
    container["image"] = f"example.invalid/dra-driver-nvidia-gpu:v{version}"
    return made


def claim_class(cluster: TestCluster, name: str, test: str) -> None:
    """A class for the devices of this test's nodes that the test selects, and a template of it."""
    full = f"{name}-{cluster.namespace}"
    cel = f"device.driver == 'gpu.nvidia.com' && {test}"
    spec: dict[str, Any] = {"selectors": [{"cel": {"expression": cel}}]}
    cluster.apply({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": full}, "spec": spec})
    devices = {"requests": [{"name": "gpu", "exactly": {"deviceClassName": full}}]}
    cluster.apply(
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaimTemplate",
            "metadata": {"name": name},
            "spec": {"spec": {"devices": devices}},
        }
    )


def profile(name: str) -> str:
    attributes = "device.attributes['gpu.nvidia.com']"
    return f"{attributes}.type == 'mig' && {attributes}.profile == '{name}'"


WHOLE = "device.attributes['gpu.nvidia.com'].type == 'gpu'"


def pod_of(cluster: TestCluster, name: str, template: str, here: dict[str, str]) -> None:
    make_pod(
        cluster,
        name,
        {
            "nodeSelector": here,
            "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": template}],
            "container": {"resources": {"claims": [{"name": "gpu"}]}},
        },
    )


def running(cluster: TestCluster, *names: str) -> list[str]:
    return [name for name in names if cluster.get("Pod", name)["status"]["phase"] == "Running"]


def refused(cluster: TestCluster, name: str) -> bool:
    conditions = cluster.get("Pod", name)["status"].get("conditions", ())
    return any(condition.get("reason") == "Unschedulable" for condition in conditions)
