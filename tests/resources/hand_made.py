"""A small plan made by hand: what the components do with a plan is tested apart from planning."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from aks_dra.findings.finding import Finding
from aks_dra.kube.claims import Ask, Claim, Request
from aks_dra.model.plan import (
    Plan,
    PlannedAsk,
    PlannedClaim,
    PlannedCluster,
    PlannedObject,
    PlannedPool,
    PlannedRelease,
    PodSnippet,
)
from aks_dra.resources import DraCluster
from tests.resources.stand_in import CLUSTER_ID

REQUEST = Request("gpu", (Ask("gpu", "a100-80gb"),))
POOL = PlannedPool(
    name="a100",
    path="aks-dra:pools.a100",
    vm_size="Standard_NC24ads_A100_v4",
    gpu="a100-80gb-pcie",
    gpus_per_node=1,
    nodes="2",
    first_nodes=2,
    allocation="dra",
    sharing="exclusive",
    driver_owner="operator",
    mig_owner="none",
    mig_layout="",
    inputs={
        "mode": "User",
        "type": "VirtualMachineScaleSets",
        "osType": "Linux",
        "osSKU": "Ubuntu",
        "osDiskSizeGB": 128,
        "vmSize": "Standard_NC24ads_A100_v4",
        "count": 2,
        "enableAutoScaling": False,
        "orchestratorVersion": "1.36",
        "nodeLabels": {"aks-dra.dev/allocation": "dra", "snake_case": "a", "camelCase": "b"},
        "nodeTaints": ["nvidia.com/gpu=present:NoSchedule"],
        "gpuProfile": {"driver": "None"},
        "upgradeSettings": {"maxSurge": "1", "drainTimeoutInMinutes": 30},
        "vnetSubnetID": "/subnet",
        "tags": {"cost_center": "ml"},
    },
    labels={"aks-dra.dev/allocation": "dra"},
    taints=("nvidia.com/gpu=present:NoSchedule",),
    devices=(),
    extended_resources={},
    device_classes=("a100-80gb",),
    pod=PodSnippet({"kubernetes.azure.com/agentpool": "a100"}, ({"key": "nvidia.com/gpu", "operator": "Exists"},)),
    protect=True,
    ignore_changes=("count",),
    replace_on_changes=("vmSize", "gpuProfile"),
)

CLUSTER = PlannedCluster(
    name="t",
    resource_group="rg-t",
    create_resource_group=True,
    location="swedencentral",
    existing="",
    kubernetes_version="1.36",
    inputs={
        "dnsPrefix": "t",
        "enableRBAC": True,
        "agentPoolProfiles": [{"name": "system", "vmSize": "Standard_D4ds_v5", "osSKU": "Ubuntu", "count": 3}],
        "identity": {"type": "UserAssigned", "userAssignedIdentities": {"/id/b": {}, "/id/a": {}}},
        "apiServerAccessProfile": {"authorizedIPRanges": ["10.0.0.0/8"]},
    },
    tags={"cost_center": "ml"},
    protect=True,
    ignore_changes=("agentPoolProfiles[0].count",),
    login="azurecli",
)


def manifest(kind: str, name: str, namespace: str = "", api: str = "resource.k8s.io/v1", **rest: Any) -> dict[str, Any]:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **rest}


OPAQUE = {"opaque": {"driver": "gpu.nvidia.com", "parameters": {"apiVersion": "x/v1", "snake_key": 1, "camelKey": 2}}}


def make_plan(**changes: Any) -> Plan:
    plan = Plan(
        project="aks-dra",
        stack="t",
        cluster=CLUSTER,
        pools=(POOL, dataclasses.replace(POOL, name="t4", path="aks-dra:pools.t4", protect=False)),
        namespaces=(
            PlannedObject("namespace-gpu-operator", manifest("Namespace", "gpu-operator", api="v1"), retain=True),
            PlannedObject("namespace-ml", manifest("Namespace", "ml", api="v1"), retain=False),
        ),
        releases=(
            PlannedRelease("gpu-operator", "gpu-operator", "gpu-operator", "gpu-operator", "v26.7.0",
                           "https://helm.example/nvidia", {"driver": {"enabled": True}}, 1800, ()),
            PlannedRelease("nvidia-device-plugin", "nvidia-device-plugin", "gpu-operator", "/charts/p.tgz", "", "",
                           {"config": {"name": "aks-dra-device-plugin"}, "tolerations": []}, 600,
                           ("gpu-operator", "configmap-plugin")),
            PlannedRelease("dra-driver-nvidia-gpu", "dra-driver-nvidia-gpu", "dra", "oci://x/dra", "0.5.0", "",
                           {"a": "b"}, 600, ("gpu-operator",)),
        ),
        objects=(
            PlannedObject("claim-ml-one", manifest("ResourceClaim", "one", "ml", spec={"devices": {"requests": [
                {"name": "gpu", "exactly": {"deviceClassName": "a100-80gb"}}]}})),
            PlannedObject("deviceclass-a100-80gb", manifest("DeviceClass", "a100-80gb", spec={
                "selectors": [{"cel": {"expression": "true"}}], "config": [OPAQUE]}), after=("dra-driver-nvidia-gpu",)),
            PlannedObject("deviceclass-none", manifest("DeviceClass", "none", spec={"extendedResourceName": "n/g"}),
                          after=("dra-driver-nvidia-gpu",), replace_with=("dra-driver-nvidia-gpu",)),
            PlannedObject("configmap-plugin", manifest("ConfigMap", "aks-dra-device-plugin", "gpu-operator", "v1",
                                                       data={"default": "x"})),
        ),
        claims=(PlannedClaim(Claim((REQUEST,), namespace="ml", name="one"), (
            (REQUEST, (PlannedAsk(REQUEST.asks[0], ("a100",)),)),)),),
        findings=(finding("W1", "warning"), dataclasses.replace(finding("W2", "warning"), acknowledged="known")),
    )  # fmt: skip
    return dataclasses.replace(plan, **changes)


def finding(code: str, severity: Any) -> Finding:
    return Finding(code, severity, f"aks-dra:{code}", f"{code} is wrong", "x", f"write {code} otherwise", "facts")


def whole_cluster(plan: Plan | None = None) -> Callable[[], DraCluster]:
    return lambda: DraCluster("gpu", plan or make_plan())


EXISTING = dataclasses.replace(CLUSTER, existing=CLUSTER_ID, create_resource_group=False, inputs={})
