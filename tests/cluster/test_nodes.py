"""The simulated nodes on the real control plane: what they publish, and what makes it vanish."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.cluster import installed
from tests.cluster.conftest import TestCluster, make_node, make_pod

T4, H100, A100 = "Standard_NC4as_T4_v3", "Standard_ND96isr_H100_v5", "Standard_NC24ads_A100_v4"


@pytest.fixture
def here(cluster: TestCluster) -> dict[str, str]:
    """Selects the nodes of this test."""
    return {"test": cluster.namespace}


def answers(cluster: TestCluster, path: str) -> int:
    url = cluster.api.server + path
    return int(cluster.api.client.call_api("GET", url, {"Authorization": cluster.api.token}).status)


@pytest.fixture(scope="module")
def definition(control_plane: TestCluster) -> Iterator[None]:
    """The operator's kind of object, for this module alone: the charts bring their own."""
    control_plane.apply(installed.crd())
    control_plane.until(lambda: answers(control_plane, "/apis/nvidia.com/v1/clusterpolicies") == 200)
    yield
    name = "clusterpolicies.nvidia.com"
    control_plane.delete("CustomResourceDefinition", name)
    path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}"
    control_plane.until(lambda: answers(control_plane, path) == 404)


@pytest.fixture
def crd(definition: None, cluster: TestCluster) -> Iterator[None]:
    yield
    cluster.delete("ClusterPolicy", "cluster-policy")


def plain(attributes: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return {name: next(iter(value.values())) for name, value in attributes.items()}


def amounts(device: dict[str, Any]) -> dict[str, str]:
    return {name: value["value"] for name, value in device["capacity"].items()}


def labels(cluster: TestCluster, node: str) -> dict[str, str]:
    return dict(cluster.get("Node", node)["metadata"]["labels"])


def gpus(cluster: TestCluster, node: str) -> dict[str, str]:
    found = cluster.get("Node", node)["status"]["allocatable"]
    return {name: number for name, number in found.items() if name.startswith("nvidia.com/")}


def test_a_t4_publishes_what_was_printed_from_a_real_one(cluster: TestCluster, here: dict[str, str]) -> None:
    node = make_node(cluster, "t4", T4)
    cluster.apply(installed.dra_plugin("/", here))
    (found,) = cluster.until(lambda: cluster.slices(node))
    (device,) = found["spec"]["devices"]
    attributes = plain(device["attributes"])
    assert attributes.pop("uuid").startswith("GPU-")
    assert device["name"] == "gpu-0"
    assert attributes == {
        "type": "gpu",
        "productName": "Tesla T4",
        "brand": "Nvidia",
        "architecture": "Turing",
        "cudaComputeCapability": "7.5.0",
        "driverVersion": "580.159.4",
        "cudaDriverVersion": "13.0.0",
        "addressingMode": "HMM",
        "resource.kubernetes.io/pciBusID": "0001:00:00.0",
    }
    assert amounts(device) == {"memory": "16Gi"}
    spec = {key: value for key, value in found["spec"].items() if key != "devices"}
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    assert spec == {"driver": "gpu.nvidia.com", "nodeName": node, "pool": pool}
    assert found["metadata"]["labels"] == {"local.aks-dra.dev/simulated": "true"}
    assert gpus(cluster, node) == {}

    cluster.delete("DaemonSet", "dra")
    cluster.until(lambda: not cluster.slices(node), "the slice is withdrawn with the plugin")


@pytest.mark.parametrize(("driver", "root"), [("Install", "/run/nvidia/driver"), ("None", "/"), ("None", "")])
def test_a_wrong_driver_root_publishes_nothing(
    cluster: TestCluster, here: dict[str, str], driver: str, root: str
) -> None:
    node = make_node(cluster, "t4", T4, driver)
    cluster.apply(installed.dra_plugin(root, here))
    cluster.until(lambda: cluster.get("DaemonSet", "dra")["status"].get("numberReady") == 1)
    assert cluster.stays(lambda: cluster.slices(node) == [])


def test_a_taint_or_label_that_the_plugin_misses_publishes_nothing(cluster: TestCluster, here: dict[str, str]) -> None:
    tainted = make_node(cluster, "tainted", T4, taints=({"key": "sku", "value": "gpu", "effect": "NoSchedule"},))
    other = make_node(cluster, "other", T4, labels={"test": "another"})
    plugin = installed.dra_plugin("/", here)
    plugin["spec"]["template"]["spec"]["tolerations"] = []
    cluster.apply(plugin)
    assert cluster.stays(lambda: cluster.slices(tainted) == [] == cluster.slices(other))
    cluster.label(other, test=cluster.namespace)
    cluster.until(lambda: cluster.devices(other))
    cluster.label(other, test="another")
    cluster.until(lambda: not cluster.devices(other))


def test_a_gpu_node_without_plugins_shows_nothing(cluster: TestCluster) -> None:
    node = make_node(cluster, "t4", T4)
    assert cluster.stays(lambda: cluster.slices(node) == [] and gpus(cluster, node) == {})
    assert not [key for key in labels(cluster, node) if "nvidia" in key or key.startswith("feature.node")]


def test_aks_partitions_at_boot_and_only_with_its_own_driver(cluster: TestCluster, here: dict[str, str]) -> None:
    ours = make_node(cluster, "aks", A100, instance_profile="MIG1g")
    make_node(cluster, "none", A100, "None", instance_profile="MIG1g")
    cluster.apply(installed.dra_plugin("/", here))
    devices = cluster.until(lambda: cluster.devices(ours))
    names = [f"gpu-0-mig-1g10gb-19-{slot}" for slot in range(7)]
    assert [device["name"] for device in devices] == names
    third = devices[2]
    expected = {"multiprocessors": "14", "copyEngines": "1", "memory": "9728Mi", "memorySlice2": "1"}
    assert {key: amounts(third)[key] for key in expected} == expected
    assert [key for key in amounts(third) if key.startswith("memorySlice")] == ["memorySlice2"]
    assert cluster.stays(lambda: cluster.slices(f"{cluster.namespace}-none") == [], 1)


@pytest.mark.usefixtures("crd")
def test_the_operator_partitions_an_h100_and_the_plugin_waits(cluster: TestCluster, here: dict[str, str]) -> None:
    pool = {"aks-dra.dev/mig-owner": "operator", "nvidia.com/mig.config": "all-1g.10gb"}
    node = make_node(cluster, "h100", H100, "None", pool)
    cluster.apply(installed.dra_plugin("/run/nvidia/driver", here, installed.mig_ready()))
    assert cluster.stays(lambda: cluster.slices(node) == [], 1)
    cluster.apply(installed.nfd_worker(here))
    cluster.apply(installed.cluster_policy(cluster.namespace))

    devices = cluster.until(lambda: cluster.devices(node))
    assert len(devices) == 8 * 7
    assert {device["name"] for device in devices} == {
        f"gpu-{gpu}-mig-1g10gb-19-{slot}" for gpu in range(8) for slot in range(7)
    }
    first = plain(devices[0]["attributes"])
    assert first.pop("uuid").startswith("MIG-")
    assert first.pop("parentUUID").startswith("GPU-")
    assert first == {
        "type": "mig",
        "profile": "1g.10gb",
        "productName": "NVIDIA H100 80GB HBM3",
        "brand": "Nvidia",
        "architecture": "Hopper",
        "cudaComputeCapability": "9.0.0",
        "driverVersion": "580.159.4",
        "cudaDriverVersion": "13.0.0",
        "addressingMode": "HMM",
        "resource.kubernetes.io/pciBusID": "0001:00:00.0",
    }
    found = labels(cluster, node)
    assert found["nvidia.com/mig.config.state"] == "success"
    assert found["nvidia.com/mig.capable"] == "true"
    assert found["nvidia.com/gpu.product"] == "NVIDIA-H100-80GB-HBM3"
    assert {key for key in found if key.startswith("nvidia.com/gpu.deploy.")} >= {
        "nvidia.com/gpu.deploy.client",
        "nvidia.com/gpu.deploy.mig-manager",
        "nvidia.com/gpu.deploy.operator-validator",
    }

    # another layout: the plugin goes, the partitions change, the plugin comes back and sees the new ones
    cluster.label(node, **{"nvidia.com__mig.config": "all-3g.40gb"})
    names = {f"gpu-{gpu}-mig-3g40gb-9-{slot}" for gpu in range(8) for slot in (0, 4)}
    cluster.until(lambda: {device["name"] for device in cluster.devices(node)} == names)
    assert labels(cluster, node)["nvidia.com/mig.config.state"] == "success"

    # one that the GPU does not know
    cluster.label(node, **{"nvidia.com__mig.config": "all-1g.5gb"})
    cluster.until(lambda: labels(cluster, node)["nvidia.com/mig.config.state"] == "failed")
    cluster.until(lambda: not cluster.devices(node), "the affinity takes the plugin away")


@pytest.mark.usefixtures("crd")
def test_the_operator_needs_nfd_and_strips_what_it_did_not_label(cluster: TestCluster, here: dict[str, str]) -> None:
    preset = {"nvidia.com/gpu.deploy.device-plugin": "false", "nvidia.com/gpu.deploy.operands": "false"}
    taint = ({"key": "sku", "value": "gpu", "effect": "NoSchedule"},)
    tainted = make_node(cluster, "tainted", T4, "None", {"nvidia.com/gpu.deploy.device-plugin": "false"}, taints=taint)
    off = make_node(cluster, "off", T4, "None", preset)
    on = make_node(cluster, "on", T4, "None")
    cluster.apply(installed.nfd_worker(here, tolerations=[]))
    cluster.apply(installed.dra_plugin("/run/nvidia/driver", here))
    cluster.apply(installed.cluster_policy(cluster.namespace))
    cluster.until(lambda: cluster.devices(on))
    assert labels(cluster, on)["nvidia.com/gpu.deploy.device-plugin"] == "true"
    assert "nvidia.com/gpu.deploy.mig-manager" not in labels(cluster, on)
    deploy = {key: value for key, value in labels(cluster, off).items() if key.startswith("nvidia.com/gpu.deploy")}
    assert deploy == {"nvidia.com/gpu.deploy.operands": "false"}
    assert not [key for key in labels(cluster, tainted) if "nvidia" in key]
    assert cluster.devices(tainted) == [] == cluster.devices(off)

    cluster.delete("DaemonSet", "nfd-worker")  # as in an NFD restart: the labels go, and with them the operands
    cluster.until(lambda: not [key for key in labels(cluster, on) if key.startswith("nvidia.com/gpu.deploy")])
    assert labels(cluster, on)["nvidia.com/gpu.present"] == "false"


@pytest.mark.usefixtures("crd")
def test_a_missing_mig_label_means_all_disabled(cluster: TestCluster, here: dict[str, str]) -> None:
    node = make_node(cluster, "h100", H100, instance_profile="MIG1g")
    cluster.apply(installed.dra_plugin("/", here))
    cluster.until(lambda: len(cluster.devices(node)) == 56)
    cluster.apply(installed.nfd_worker(here))
    cluster.apply(installed.cluster_policy(cluster.namespace, driver={"enabled": False}))
    cluster.until(lambda: labels(cluster, node).get("nvidia.com/mig.config.state") == "success")
    assert labels(cluster, node)["nvidia.com/mig.config"] == "all-disabled"
    assert len(cluster.devices(node)) == 56  # stale: the plugin sees new partitions only when it starts
    cluster.delete("DaemonSet", "dra")
    cluster.until(lambda: not cluster.devices(node))
    cluster.apply(installed.dra_plugin("/", here))
    cluster.until(lambda: [device["name"] for device in cluster.devices(node)] == [f"gpu-{n}" for n in range(8)])


SHARED = """
version: v1
sharing:
  timeSlicing:
    resources:
      - name: nvidia.com/gpu
        replicas: {}
"""


def test_time_slicing_multiplies_and_what_is_gone_stays_as_zero(cluster: TestCluster, here: dict[str, str]) -> None:
    configs = {"default": "version: v1", "four": SHARED.format(4), "one": SHARED.format(1)}
    cluster.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "configs"}, "data": configs})
    node = make_node(cluster, "t4", T4, labels={"nvidia.com/device-plugin.config": "four"})
    cluster.apply(installed.device_plugin(here, "configs", "default"))
    cluster.until(lambda: gpus(cluster, node) == {"nvidia.com/gpu": "4"})
    assert cluster.slices(node) == []
    for name in ("p1", "p2", "p3", "p4", "p5"):
        make_pod(cluster, name, {"container": {"resources": {"limits": {"nvidia.com/gpu": "1"}}}, "nodeSelector": here})

    def running() -> list[str]:
        return [
            name for name in ("p1", "p2", "p3", "p4", "p5") if cluster.get("Pod", name)["status"]["phase"] != "Pending"
        ]

    cluster.until(lambda: len(running()) == 4)
    assert cluster.stays(lambda: len(running()) == 4, 1)
    cluster.label(node, **{"nvidia.com__device-plugin.config": None})
    cluster.until(lambda: gpus(cluster, node) == {"nvidia.com/gpu": "1"})
    for wrong in ("missing", "one"):  # no key of the ConfigMap; fewer than two replicas
        cluster.label(node, **{"nvidia.com__device-plugin.config": wrong})
        cluster.until(lambda: gpus(cluster, node) == {"nvidia.com/gpu": "0"})
    cluster.label(node, **{"nvidia.com__device-plugin.config": "four"})
    cluster.until(lambda: gpus(cluster, node) == {"nvidia.com/gpu": "4"})
    cluster.delete("DaemonSet", "plugin")
    cluster.until(lambda: gpus(cluster, node) == {"nvidia.com/gpu": "0"})


def test_mig_devices_by_the_device_plugin(cluster: TestCluster, here: dict[str, str]) -> None:
    node = make_node(cluster, "a100", A100, instance_profile="MIG2g")
    cluster.apply(installed.device_plugin(here, MIG_STRATEGY="mixed"))
    cluster.until(lambda: gpus(cluster, node) == {"nvidia.com/mig-2g.20gb": "3"})
    cluster.apply(installed.device_plugin(here, MIG_STRATEGY="single"))
    cluster.until(lambda: gpus(cluster, node) == {"nvidia.com/gpu": "3", "nvidia.com/mig-2g.20gb": "0"})


def test_a_claim_binds_to_a_published_device(cluster: TestCluster, here: dict[str, str]) -> None:
    node = make_node(cluster, "t4", T4)
    cluster.apply(installed.dra_plugin("/", here))
    selector = "device.driver == 'gpu.nvidia.com' && device.attributes['gpu.nvidia.com'].productName == 'Tesla T4'"
    name = f"t4-{cluster.namespace}"
    cluster.apply(
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "DeviceClass",
            "metadata": {"name": name},
            "spec": {"selectors": [{"cel": {"expression": selector}}]},
        }
    )
    cluster.apply(
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaimTemplate",
            "metadata": {"name": "gpu"},
            "spec": {"spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": name}}]}}},
        }
    )
    claims = {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "gpu"}], "nodeSelector": here}
    for pod in ("first", "second"):
        make_pod(cluster, pod, {**claims, "container": {"resources": {"claims": [{"name": "gpu"}]}}})

    def phases() -> list[str]:
        return sorted(cluster.get("Pod", pod)["status"]["phase"] for pod in ("first", "second"))

    cluster.until(lambda: phases() == ["Pending", "Running"])
    assert cluster.stays(lambda: phases() == ["Pending", "Running"], 1)
    assert len(cluster.devices(node)) == 1
