"""What `make status` says of pools that publish less than they should: each gap with its reason."""

from __future__ import annotations

from typing import Any

import pytest

from local.stack.expected import devices_per_node
from local.stack.placement import obstacles
from local.stack.published import ClusterFacts, PoolReport, report

T4 = "Standard_NC4as_T4_v3"
A100 = "Standard_NC24ads_A100_v4"
H100 = "Standard_NC40ads_H100_v5"
DRA_LABEL = {"dra-driver-nvidia-gpu-component": "kubelet-plugin"}
LEGACY_LABEL = {"app.kubernetes.io/name": "nvidia-device-plugin"}


def node(name: str, pool: str, *, allocation: str = "dra", driver: str = "None", **more: Any) -> dict[str, Any]:
    labels = {"kubernetes.azure.com/agentpool": pool, "aks-dra.dev/allocation": allocation, **more.get("labels", {})}
    annotations = {"local.aks-dra.dev/gpu-driver": driver, **more.get("annotations", {})}
    return {
        "metadata": {"name": name, "labels": labels, "annotations": annotations},
        "spec": {"taints": more.get("taints", [])},
        "status": {"allocatable": more.get("allocatable", {})},
    }


def slice_of(node_name: str, *devices: dict[str, Any], generation: int = 1) -> dict[str, Any]:
    return {
        "spec": {
            "driver": "gpu.nvidia.com",
            "nodeName": node_name,
            "pool": {"name": node_name, "generation": generation},
            "devices": list(devices),
        }
    }


def device(product: str, profile: str = "") -> dict[str, Any]:
    attributes = {"productName": {"string": product}} | ({"profile": {"string": profile}} if profile else {})
    return {"name": "gpu-0", "attributes": attributes}


def daemonset(labels: dict[str, str], **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "plugin"}, "spec": {"template": {"metadata": {"labels": labels}, "spec": spec}}}


def pod(labels: dict[str, str], node_name: str, phase: str = "Running", root: str = "") -> dict[str, Any]:
    containers = [{"env": [{"name": "NVIDIA_DRIVER_ROOT", "value": root}]}] if root else [{}]
    return {
        "metadata": {"name": "plugin-x", "labels": labels},
        "spec": {"nodeName": node_name, "containers": containers},
        "status": {"phase": phase},
    }


def one(exported: dict[str, Any], **lists: list[dict[str, Any]]) -> PoolReport:
    nodes, slices, pods, daemonsets = (tuple(lists.get(name, [])) for name in ("nodes", "slices", "pods", "daemonsets"))
    facts = ClusterFacts(nodes, slices, pods, daemonsets)
    (found,) = report({"p": exported}, facts)
    return found


def test_a_pool_that_publishes_all_has_no_gap_and_says_what_it_has() -> None:
    exported = {
        "vmSize": H100,
        "allocation": "dra",
        "labels": {"nvidia.com/mig.config": "all-1g.12gb"},
        "deviceClasses": ["h100-nvl-1g.12gb"],
    }
    slices = [slice_of("n1", *[device("NVIDIA H100 NVL", "1g.12gb")] * 7)]
    found = one(exported, nodes=[node("n1", "p")], slices=slices)
    assert (found.expected, found.published, found.gaps) == (7, 7, ())
    assert found.kinds == {"NVIDIA H100 NVL 1g.12gb": 7}
    assert found.classes == ("h100-nvl-1g.12gb",)


def test_slices_of_an_older_generation_do_not_count() -> None:
    slices = [slice_of("n1", device("Tesla T4")), slice_of("n1", generation=2)]
    assert one({"vmSize": T4}, nodes=[node("n1", "p")], slices=slices).published == 0


TAINT = {"key": "sku", "value": "gpu", "effect": "NoSchedule"}
MIG_AFFINITY = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [
                {"matchExpressions": [{"key": "aks-dra.dev/mig-owner", "operator": "NotIn", "values": ["operator"]}]},
                {"matchExpressions": [{"key": "nvidia.com/mig.config.state", "operator": "In", "values": ["success"]}]},
            ]
        }
    }
}
PENDING = {
    "aks-dra.dev/mig-owner": "operator",
    "nvidia.com/mig.config": "all-1g.10gb",
    "nvidia.com/mig.config.state": "pending",
}


@pytest.mark.parametrize(
    ("the_node", "lists", "reason"),
    [
        (node("n1", "p"), {}, "no DaemonSet of the DRA driver is in the cluster"),
        (
            node("n1", "p", taints=[TAINT]),
            {"daemonsets": [daemonset(DRA_LABEL)]},
            "no pod of the DRA driver runs there: it does not tolerate the taint sku=gpu:NoSchedule",
        ),
        (
            node("n1", "p"),
            {"daemonsets": [daemonset(DRA_LABEL, nodeSelector={"aks-dra.dev/allocation": "draa"})]},
            "its node selector wants aks-dra.dev/allocation=draa, the node has aks-dra.dev/allocation=dra",
        ),
        (
            node("n1", "p"),
            {"daemonsets": [daemonset(DRA_LABEL, nodeSelector={"nvidia.com/gpu.deploy.client": "true"})]},
            "its node selector wants nvidia.com/gpu.deploy.client=true, the node has no label",
        ),
        (
            node("n1", "p", labels=PENDING),
            {"daemonsets": [daemonset(DRA_LABEL, affinity=MIG_AFFINITY)]},
            "(MIG layout all-1g.10gb: pending)",
        ),
        (
            node("n1", "p"),
            {"daemonsets": [daemonset(DRA_LABEL)], "pods": [pod(DRA_LABEL, "n1", "Pending")]},
            "the DRA driver's pod plugin-x is Pending",
        ),
        (
            node("n1", "p", driver="None"),
            {"daemonsets": [daemonset(DRA_LABEL)], "pods": [pod(DRA_LABEL, "n1", root="/")]},
            "looks for NVIDIA's driver in /, but the GPU operator installed it in /run/nvidia/driver",
        ),
        (
            node("n1", "p", driver="Install"),
            {"daemonsets": [daemonset(DRA_LABEL)], "pods": [pod(DRA_LABEL, "n1", root="/run/nvidia/driver")]},
            "but AKS installed it in /",
        ),
        (
            node("n1", "p", driver="Install"),
            {"daemonsets": [daemonset(DRA_LABEL)], "pods": [pod(DRA_LABEL, "n1", root="/")]},
            "has published nothing yet",
        ),
    ],
)
def test_a_node_without_devices_says_why(the_node: dict[str, Any], lists: dict[str, Any], reason: str) -> None:
    found = one({"vmSize": A100, "allocation": "dra"}, nodes=[the_node], **lists)
    assert len(found.gaps) == 1
    assert found.gaps[0].startswith("n1: none of ")
    assert reason in found.gaps[0]


def test_a_device_plugin_pool_counts_extended_resources() -> None:
    exported = {"allocation": "devicePlugin", "extendedResources": {"nvidia.com/gpu": 4}, "vmSize": T4}
    full = node("n1", "p", allocation="device-plugin", allocatable={"nvidia.com/gpu": "4", "cpu": "4"})
    empty = node("n2", "p", allocation="device-plugin", allocatable={"cpu": "4"})
    wants_label = daemonset(LEGACY_LABEL, nodeSelector={"aks-dra.dev/allocation": "device-plugin", "x": "y"})
    found = one(exported, nodes=[full, empty], daemonsets=[wants_label])
    assert (found.expected, found.published, found.kinds) == (8, 4, {"nvidia.com/gpu": 4})
    assert found.gaps == (
        "n2: none of 4 device(s): no pod of the device plugin runs there: "
        "its node selector wants x=y, the node has no label x",
    )


def test_a_pool_without_nodes_and_a_pool_nobody_exported() -> None:
    facts = ClusterFacts((node("n1", "other"),), (), (), ())
    lost, other = report({"p": {"vmSize": T4}}, facts)
    assert lost.gaps == ("p: none of its nodes is in the cluster",)
    assert (other.name, other.nodes, len(other.gaps)) == ("other", 1, 1)


@pytest.mark.parametrize(
    ("toleration", "fits"),
    [
        ({"operator": "Exists"}, True),
        ({"key": "sku", "operator": "Exists"}, True),
        ({"key": "sku", "value": "gpu"}, True),
        ({"key": "sku", "value": "gpu", "effect": "NoExecute"}, False),
        ({"key": "sku", "operator": "Equal", "value": "cpu"}, False),
        ({"key": "other", "operator": "Exists"}, False),
    ],
)
def test_tolerations(toleration: dict[str, str], fits: bool) -> None:
    tainted = node("n1", "p", taints=[TAINT, {"key": "soft", "effect": "PreferNoSchedule"}])
    assert (obstacles(daemonset(DRA_LABEL, tolerations=[toleration]), tainted) == []) is fits


@pytest.mark.parametrize(
    ("exported", "the_node", "custom", "devices"),
    [
        ({"vmSize": "Standard_ND96isr_H100_v5"}, None, None, 8),
        ({"vmSize": A100, "labels": {"nvidia.com/mig.config": "all-3g.40gb"}}, None, None, 2),
        ({"vmSize": A100, "labels": {"nvidia.com/mig.config": "all-disabled"}}, None, None, 1),
        ({"vmSize": A100, "labels": {"nvidia.com/mig.config": "nobodys"}}, None, None, None),
        (
            {"vmSize": A100, "labels": {"nvidia.com/mig.config": "mine"}},
            None,
            "mig-configs: {mine: [{devices: all, mig-enabled: true, mig-devices: {3g.40gb: 1, 1g.10gb: 2}}]}",
            3,
        ),
        ({"vmSize": "Standard_D4ds_v5"}, None, None, None),
        (
            {"vmSize": A100},
            node("n1", "p", driver="Install", annotations={"local.aks-dra.dev/gpu-instance-profile": "MIG1g"}),
            None,
            7,
        ),
    ],
)
def test_devices_of_a_node_by_the_tables(
    exported: dict[str, Any], the_node: dict[str, Any] | None, custom: str | None, devices: int | None
) -> None:
    assert devices_per_node(exported, the_node, custom) == devices
