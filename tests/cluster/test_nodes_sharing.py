"""Sharing on simulated nodes with the real scheduler: dynamic MIG, MPS, and what goes wrong with either."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cluster import installed
from tests.cluster.conftest import TestCluster, make_node
from tests.cluster.sharing_help import WHOLE, claim_class, gpus, plugin, pod_of, profile, refused, running, says
from tests.cluster.test_nodes import crd, definition  # noqa: F401  the kind of object that the operator reads

T4, H100, A100 = "Standard_NC4as_T4_v3", "Standard_NC40ads_H100_v5", "Standard_NC24ads_A100_v4"
EIGHT = "Standard_ND96isr_H100_v5"


@pytest.fixture
def here(cluster: TestCluster) -> dict[str, str]:
    return {"test": cluster.namespace}


def test_dynamic_mig_is_cut_as_claims_ask(cluster: TestCluster, here: dict[str, str]) -> None:
    """One H100 NVL: two halves and no more; once they are gone, seven sevenths; then the whole of it."""
    node = make_node(cluster, "h100", H100)
    cluster.apply(plugin(here, "DynamicMIG=true"))
    cluster.until(lambda: len(cluster.slices(node)) == 2)
    counters, devices = sorted(cluster.slices(node), key=lambda item: str(item["metadata"]["name"]))
    (counter_set,) = counters["spec"]["sharedCounters"]
    assert counter_set["name"] == "gpu-0-counter-set"
    assert counter_set["counters"]["multiprocessors"] == {"value": "132"}
    assert len([key for key in counter_set["counters"] if key.startswith("memory-slice-")]) == 8
    assert len(devices["spec"]["devices"]) == 26
    assert {item["spec"]["pool"]["resourceSliceCount"] for item in (counters, devices)} == {2}
    for name, test in (("half", profile("3g.47gb")), ("seventh", profile("1g.12gb")), ("whole", WHOLE)):
        claim_class(cluster, name, test)
    halves = ["half1", "half2", "half3"]
    for name in halves:
        pod_of(cluster, name, "half", here)
    cluster.until(lambda: len(running(cluster, *halves)) == 2)
    (left,) = set(halves) - set(running(cluster, *halves))
    cluster.until(lambda: refused(cluster, left))
    pod_of(cluster, "whole", "whole", here)
    cluster.until(lambda: refused(cluster, "whole"))
    for name in (*halves, "whole"):
        cluster.delete("Pod", name)
    sevenths = [f"seventh{number}" for number in range(8)]
    for name in sevenths:
        pod_of(cluster, name, "seventh", here)
    cluster.until(lambda: len(running(cluster, *sevenths)) == 7)
    (left,) = set(sevenths) - set(running(cluster, *sevenths))
    cluster.until(lambda: refused(cluster, left))
    for name in sevenths:
        cluster.delete("Pod", name)
    pod_of(cluster, "all", "whole", here)
    cluster.until(lambda: running(cluster, "all"))


def test_dynamic_mig_on_eight_gpus_needs_nine_slices(cluster: TestCluster, here: dict[str, str]) -> None:
    node = make_node(cluster, "h100", EIGHT)
    cluster.apply(plugin(here, "DynamicMIG=true"))
    cluster.until(lambda: len(cluster.slices(node)) == 9)
    assert len(cluster.devices(node)) == 8 * 26
    cluster.apply(plugin(here, "DynamicMIG=false"))
    cluster.until(lambda: len(cluster.slices(node)) == 1 and len(cluster.devices(node)) == 8)


def test_dynamic_mig_destroys_partitions_and_ampere_stays_in_mig_mode(
    cluster: TestCluster, here: dict[str, str]
) -> None:
    cut = make_node(cluster, "cut", A100, instance_profile="MIG7g")
    plain = make_node(cluster, "plain", A100)
    cluster.apply(plugin(here, "DynamicMIG=true"))
    cluster.until(lambda: len(cluster.devices(cut)) == 25)  # no whole GPU: it cannot leave MIG mode
    (whole,) = cluster.until(lambda: cluster.devices(plain))
    assert (whole["name"], "consumesCounters" in whole) == ("gpu-0", False)


@pytest.mark.parametrize(("version", "devices"), [("25.12.0", 0), ("0.4.0", 1)])
def test_dynamic_mig_on_a_t4(cluster: TestCluster, here: dict[str, str], version: str, devices: int) -> None:
    node = make_node(cluster, "t4", T4)
    cluster.apply(plugin(here, "DynamicMIG=true", version))
    if devices:
        cluster.until(lambda: len(cluster.devices(node)) == devices)
        assert says(cluster, node, "dra-driver") == ""
    else:
        cluster.until(lambda: "invalid slices" in says(cluster, node, "dra-driver"))
        assert cluster.stays(lambda: cluster.slices(node) == [], 1)


@pytest.mark.parametrize(
    ("gates", "words"),
    [("DynamicMIG=true,MPSSupport=true,", "mutually exclusive"), ("MPS=true", "unrecognized feature gate: MPS")],
)
def test_gates_with_which_the_driver_does_not_start(
    cluster: TestCluster, here: dict[str, str], gates: str, words: str
) -> None:
    node = make_node(cluster, "t4", T4)
    cluster.apply(plugin(here, gates))
    cluster.until(lambda: words in says(cluster, node, "dra-driver"))
    assert cluster.slices(node) == []
    cluster.apply(plugin(here, "MPSSupport=true"))
    cluster.until(lambda: cluster.devices(node))
    assert says(cluster, node, "dra-driver") == ""


def config(kind: str, replicas: int, strategy: str = "none", resource: str = "nvidia.com/gpu") -> str:
    resources = [{"name": resource, "replicas": replicas}]
    return json.dumps(
        {"version": "v1", "flags": {"migStrategy": strategy}, "sharing": {kind: {"resources": resources}}}
    )


def mps_daemon(here: dict[str, str]) -> dict[str, Any]:
    """As the device plugin's chart makes it: the same label as the plugin, and GFD's label in its selector."""
    labels = {"app.kubernetes.io/name": "nvidia-device-plugin"}
    containers = [{"name": "mps-control-daemon-ctr", "image": installed.IMAGE}]
    return installed.daemonset(
        "mps", labels, {"nodeSelector": {**here, "nvidia.com/mps.capable": "true"}, "containers": containers}
    )


def test_mps_waits_for_its_daemon(cluster: TestCluster, here: dict[str, str]) -> None:
    data = {"mps": config("mps", 10), "many": config("mps", 49), "mig": config("mps", 2, "single")}
    cluster.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "configs"}, "data": data})
    node = make_node(cluster, "t4", T4, labels={"nvidia.com/device-plugin.config": "mps"})
    cluster.apply(installed.device_plugin(here, "configs", "mps"))
    cluster.apply(mps_daemon(here))
    cluster.until(lambda: "no MPS control daemon" in says(cluster, node, "device-plugin"))
    assert gpus(cluster, node) == {}
    cluster.label(node, **{"nvidia.com__mps.capable": "true"})  # what feature discovery would set
    cluster.until(lambda: gpus(cluster, node) == {"nvidia.com/gpu": "10"})
    cluster.label(node, **{"nvidia.com__device-plugin.config": "many"})
    cluster.until(lambda: "49 > 48" in says(cluster, node, "device-plugin"))
    assert gpus(cluster, node) == {}
    cut = make_node(cluster, "a100", A100, labels={"nvidia.com/device-plugin.config": "mig"}, instance_profile="MIG1g")
    cluster.until(lambda: "not supported for MIG devices" in says(cluster, cut, "device-plugin"))
    assert gpus(cluster, cut) == {}


def test_replicas_of_partitions(cluster: TestCluster, here: dict[str, str]) -> None:
    mixed = config("timeSlicing", 3, "mixed", "nvidia.com/mig-2g.20gb")
    data = {"single": config("timeSlicing", 2, "single"), "mixed": mixed}
    cluster.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "configs"}, "data": data})
    labels = {"nvidia.com/device-plugin.config": "single"}
    node = make_node(cluster, "a100", A100, labels=labels, instance_profile="MIG2g")
    cluster.apply(installed.device_plugin(here, "configs", "single"))
    cluster.until(lambda: gpus(cluster, node) == {"nvidia.com/gpu": "6"})
    cluster.label(node, **{"nvidia.com__device-plugin.config": "mixed"})
    cluster.until(lambda: gpus(cluster, node) == {"nvidia.com/mig-2g.20gb": "9"})


@pytest.mark.parametrize(
    ("name", "words"),
    [("fuor", "no config 'fuor'"), ("one", "replicas must be >= 2"), ("old", "version is not v1")],
)
def test_a_config_that_does_not_work_says_so(cluster: TestCluster, here: dict[str, str], name: str, words: str) -> None:
    data = {"four": config("timeSlicing", 4), "one": config("timeSlicing", 1), "old": "{}"}
    cluster.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "configs"}, "data": data})
    node = make_node(cluster, "t4", T4, labels={"nvidia.com/device-plugin.config": name})
    cluster.apply(installed.device_plugin(here, "configs", "four"))
    cluster.until(lambda: words in says(cluster, node, "device-plugin"))
    assert gpus(cluster, node) == {}
    cluster.label(node, **{"nvidia.com__device-plugin.config": "four"})
    cluster.until(lambda: gpus(cluster, node) == {"nvidia.com/gpu": "4"})
    assert says(cluster, node, "device-plugin") == ""


@pytest.mark.usefixtures("crd")
def test_feature_discovery_reads_each_pools_config(cluster: TestCluster, here: dict[str, str]) -> None:
    """An MPS pool gets its daemon and shares, a mixed one labels for each profile, a wrong single one INVALID."""
    data = {
        "default": json.dumps({"version": "v1", "flags": {"migStrategy": "none"}}),
        "mps": config("mps", 10),
        "mixed": json.dumps({"version": "v1", "flags": {"migStrategy": "mixed"}}),
        "single": json.dumps({"version": "v1", "flags": {"migStrategy": "single"}}),
    }
    cluster.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "configs"}, "data": data})

    def node(name: str, size: str, key: str, layout: str = "") -> str:
        labels = {"nvidia.com/device-plugin.config": key} | ({"nvidia.com/mig.config": layout} if layout else {})
        return make_node(cluster, name, size, "None", labels)

    t4 = node("t4", T4, "mps")
    mixed = node("mixed", A100, "mixed", "all-balanced")
    single = node("single", A100, "single", "all-2g.20gb")
    wrong = node("wrong", A100, "single", "all-balanced")
    plain = make_node(cluster, "plain", A100, "None")
    cluster.apply(installed.nfd_worker(here))
    named = {"enabled": False, "config": {"name": "configs", "default": "default"}}
    manager = {"enabled": True, "env": [{"name": "WITH_REBOOT", "value": "true"}]}
    cluster.apply(
        installed.cluster_policy(cluster.namespace, devicePlugin=named, mig={"strategy": ""}, migManager=manager)
    )
    cluster.apply(installed.device_plugin(here, "configs", "default"))
    cluster.apply(mps_daemon(here))

    def labelled(name: str, **expected: str) -> bool:
        labels = cluster.get("Node", name)["metadata"]["labels"]
        return all(labels.get(f"nvidia.com/{key.replace('__', '.')}") == value for key, value in expected.items())

    cluster.until(lambda: gpus(cluster, t4) == {"nvidia.com/gpu": "10"})
    assert labelled(t4, mps__capable="true", gpu__product="Tesla-T4-SHARED", gpu__replicas="10")
    counts = {"nvidia.com/mig-1g.10gb": "2", "nvidia.com/mig-2g.20gb": "1", "nvidia.com/mig-3g.40gb": "1"}
    cluster.until(lambda: gpus(cluster, mixed) == counts)
    of_profile = {"mig-2g.20gb.product": "NVIDIA-A100-80GB-PCIe-MIG-2g.20gb", "mig-1g.10gb.count": "2"}
    cluster.until(lambda: labelled(mixed, mig__strategy="mixed", gpu__product="NVIDIA-A100-80GB-PCIe", **of_profile))
    cluster.until(lambda: gpus(cluster, single) == {"nvidia.com/gpu": "3"})
    product = "NVIDIA-A100-80GB-PCIe-MIG-2g.20gb"
    cluster.until(lambda: labelled(single, mig__strategy="single", gpu__product=product))
    invalid = "NVIDIA-A100-80GB-PCIe-MIG-INVALID"
    cluster.until(lambda: labelled(wrong, gpu__product=invalid, gpu__count="0"))
    cluster.until(lambda: "strategy single" in says(cluster, wrong, "device-plugin"))
    assert gpus(cluster, wrong) == {}
    cluster.until(lambda: gpus(cluster, plain) == {"nvidia.com/gpu": "1"})
    assert labelled(plain, mps__capable="false", gpu__product="NVIDIA-A100-80GB-PCIe")


@pytest.mark.usefixtures("crd")
def test_a_layout_that_does_not_fit_says_so(cluster: TestCluster, here: dict[str, str]) -> None:
    layouts = {
        "version": "v1",
        "mig-configs": {
            "all-disabled": [{"devices": "all", "mig-enabled": False}],
            "wide": [{"devices": "all", "mig-enabled": True, "mig-devices": {"3g.40gb": 2, "1g.10gb": 1}}],
            "filtered": [{"devices": "all", "device-filter": ["0x233010DE"], "mig-enabled": True, "mig-devices": {}}],
        },
    }
    data = {"config.yaml": json.dumps(layouts)}
    cluster.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "layouts"}, "data": data})
    wide = make_node(cluster, "wide", A100, "None", {"nvidia.com/mig.config": "wide"})
    other = make_node(cluster, "other", A100, "None", {"nvidia.com/mig.config": "filtered"})
    cluster.apply(installed.nfd_worker(here))
    reboots = [{"name": "WITH_REBOOT", "value": "true"}]
    manager = {"enabled": True, "config": {"name": "layouts", "default": "all-disabled"}, "env": reboots}
    cluster.apply(installed.cluster_policy(cluster.namespace, migManager=manager))
    cluster.until(lambda: "2 x 3g.40gb, 1 x 1g.10gb does not fit" in says(cluster, wide, "mig-manager"))
    cluster.until(lambda: "not all GPUs match" in says(cluster, other, "mig-manager"))
    labels = cluster.get("Node", wide)["metadata"]["labels"]
    assert labels["nvidia.com/mig.config.state"] == "failed"
