"""Faults that people met on living clusters, on the real control plane with simulated nodes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from aks_dra.plan import plan
from aks_dra.settings.parse import settings_from_values
from local import nodes
from tests.cluster import installed
from tests.cluster.conftest import TestCluster, make_node

T4, H100 = "Standard_NC4as_T4_v3", "Standard_NC40ads_H100_v5"
DEPLOYS = (
    "client",
    "container-toolkit",
    "device-plugin",
    "dcgm-exporter",
    "driver",
    "gpu-feature-discovery",
    "operands",
)


@pytest.fixture
def operator(cluster: TestCluster) -> Iterator[None]:
    """The operator's kind of object and its policy, with its own device plugin off as planned."""
    cluster.apply(installed.crd())
    path = "/apis/nvidia.com/v1/clusterpolicies"

    def answers() -> int:
        url = cluster.api.server + path
        return int(cluster.api.client.call_api("GET", url, {"Authorization": cluster.api.token}).status)

    cluster.until(lambda: answers() == 200)
    cluster.apply(installed.cluster_policy(cluster.namespace))
    yield
    cluster.delete("ClusterPolicy", "cluster-policy")
    cluster.delete("CustomResourceDefinition", "clusterpolicies.nvidia.com")
    cluster.until(lambda: answers() == 404)


@pytest.mark.usefixtures("operator")
def test_no_device_plugin_ever_runs_on_a_node_of_a_dra_pool(cluster: TestCluster) -> None:
    pools = {"t4": {"vmSize": T4, "allocation": "devicePlugin"}, "h100": {"vmSize": H100}}
    settings, found = settings_from_values({"cluster": {"access": {"azureRbac": True}}, "pools": pools})
    assert settings is not None, found
    planned = plan(settings, project="gpus", stack="dev", location="swedencentral")
    labels = {pool.name: dict(pool.labels) for pool in planned.pools}
    chosen = {release.name: release.values for release in planned.releases}

    t4 = make_node(cluster, "t4", T4, "None", labels["t4"])
    h100 = make_node(cluster, "h100", H100, "None", labels["h100"])
    here = {"test": cluster.namespace}
    configs = next(o.manifest for o in planned.objects if o.manifest["metadata"]["name"] == "aks-dra-device-plugin")
    cluster.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "configs"}, "data": configs["data"]})
    cluster.apply(installed.nfd_worker(here))
    plugin_selector = {**chosen["nvidia-device-plugin"]["nodeSelector"], **here}
    cluster.apply(installed.device_plugin(plugin_selector, "configs", "default"))
    dra = chosen["dra-driver-nvidia-gpu"]
    selector = {**dra["kubeletPlugin"]["nodeSelector"], **here}
    cluster.apply(installed.dra_plugin(dra["nvidiaDriverRoot"], selector, dra["kubeletPlugin"]["affinity"]))

    def gpus(node: str) -> dict[str, str]:
        allocatable = cluster.get("Node", node)["status"]["allocatable"]
        return {name: number for name, number in allocatable.items() if name.startswith("nvidia.com/")}

    def plugins() -> set[str]:
        pods = cluster.api.call("GET", f"/api/v1/namespaces/{cluster.namespace}/pods")["items"]
        owned = [
            pod for pod in pods if pod["metadata"]["labels"].get("app.kubernetes.io/name") == "nvidia-device-plugin"
        ]
        return {pod["spec"].get("nodeName", "") for pod in owned}

    def as_planned() -> bool:
        return gpus(t4) == {"nvidia.com/gpu": "1"} and bool(cluster.devices(h100)) and not cluster.devices(t4)

    def never() -> bool:
        return h100 not in plugins() and gpus(h100) == {}

    cluster.until(as_planned)
    assert plugins() == {t4}
    cluster.label(h100, **{f"nvidia.com__gpu.deploy.{name}": None for name in DEPLOYS})
    assert cluster.stays(never, 1)
    cluster.label(h100, **{f"nvidia.com__gpu.deploy.{name}": "true" for name in DEPLOYS})
    assert cluster.stays(never, 1)
    nodes.stop(cluster.root)
    nodes.start(cluster.root)
    assert cluster.stays(never, 2)
    cluster.until(as_planned)
    assert plugins() == {t4}
