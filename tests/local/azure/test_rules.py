"""The rules of the simulated Resource Manager, as named cases with the whole text of each refusal."""

from __future__ import annotations

from typing import Any

import pytest

from local import facts
from local.azure import arm, functions, pools, provider, rules, types
from local.azure.arm import ArmError, Properties
from tests.local.azure.cloud import CLUSTER, GROUP, PLAIN, POOL, T4, Cloud, cloud, full

__all__ = ["cloud", "full"]  # fixtures


def parameter(name: str, details: str) -> str:
    return (
        f'Status=400 Code="InvalidParameter" Message="The value of parameter agentPool.{name} is invalid. '
        f'Error details: {details}" Target="agentPool.{name}"'
    )


POOL_CASES: dict[str, tuple[Properties, str]] = {
    "count above the limit": (
        {"count": 1001},
        parameter("count", "User node pool count must be between 0 and 1000, not 1001."),
    ),
    "system pool without nodes": (
        {"mode": "System", "count": 0},
        parameter("count", "System node pool count must be between 1 and 1000, not 0."),
    ),
    "bounds without autoscaler": (
        {"minCount": 1, "maxCount": 3},
        parameter("enableAutoScaling", "minCount and maxCount may only be set when enableAutoScaling is true."),
    ),
    "autoscaler without bounds": (
        {"enableAutoScaling": True, "minCount": 1},
        parameter("minCount", "minCount and maxCount must be set when enableAutoScaling is true."),
    ),
    "bounds crossed": (
        {"enableAutoScaling": True, "minCount": 4, "maxCount": 3},
        parameter("minCount", "minCount 4 must not be greater than maxCount 3."),
    ),
    "count outside bounds": (
        {"enableAutoScaling": True, "minCount": 3, "maxCount": 5},
        parameter("count", "count 2 must be between minCount 3 and maxCount 5."),
    ),
    "price without spot": (
        {"spotMaxPrice": 0.5},
        parameter("spotMaxPrice", "spotMaxPrice may only be set when scaleSetPriority is Spot."),
    ),
    "eviction policy without spot": (
        {"scaleSetEvictionPolicy": "Delete"},
        parameter("scaleSetEvictionPolicy", "scaleSetEvictionPolicy may only be set when scaleSetPriority is Spot."),
    ),
    "price too fine": (
        {"scaleSetPriority": "Spot", "spotMaxPrice": 0.1234567},
        parameter(
            "spotMaxPrice", "spotMaxPrice must be -1, or greater than zero with up to 5 decimals, not 0.1234567."
        ),
    ),
    "spot system pool": (
        {"scaleSetPriority": "Spot", "mode": "System"},
        parameter("mode", "A spot node pool cannot be a system node pool."),
    ),
    "AKS's own label prefix": (
        {"nodeLabels": {"kubernetes.azure.com/mode": "user"}},
        parameter(
            "nodeLabels",
            "Label 'kubernetes.azure.com/mode' is not allowed: the prefix kubernetes.azure.com/ is reserved.",
        ),
    ),
    "Kubernetes' label prefix": (
        {"nodeLabels": {"topology.kubernetes.io/zone": "1"}},
        parameter(
            "nodeLabels",
            "Label 'topology.kubernetes.io/zone' is not allowed: in the namespaces kubernetes.io and k8s.io, only the "
            "prefixes kubelet.kubernetes.io and node.kubernetes.io may be set.",
        ),
    ),
    "label key": ({"nodeLabels": {"a b": "c"}}, parameter("nodeLabels", "'a b' is not a valid label key.")),
    "label value": ({"nodeLabels": {"a": "b c"}}, parameter("nodeLabels", "'b c' is not a valid value of label 'a'.")),
    "taint without effect": (
        {"nodeTaints": ["sku=gpu"]},
        parameter(
            "nodeTaints",
            "Taint 'sku=gpu' must be key=value:effect with one of the effects NoSchedule, PreferNoSchedule, NoExecute.",
        ),
    ),
    "taint twice": (
        {"nodeTaints": ["sku=gpu:NoSchedule", "sku=cpu:NoSchedule"]},
        parameter("nodeTaints", "Taint 'sku' with effect NoSchedule is given more than once."),
    ),
    "hard taint on the system pool": (
        {"mode": "System", "nodeTaints": ["sku=gpu:NoSchedule"]},
        parameter(
            "nodeTaints",
            "A system node pool may only have the taint CriticalAddonsOnly=true:NoSchedule, not sku=gpu:NoSchedule.",
        ),
    ),
    "MIG on a T4": (
        {"vmSize": T4, "gpuInstanceProfile": "MIG1g"},
        parameter("gpuInstanceProfile", f"GPU instance profile is not supported for the VM size {T4}."),
    ),
    "unknown size": (
        {"vmSize": "Standard_NC9z_v9"},
        'Status=400 Code="BadRequest" Message="The VM size of Standard_NC9z_v9 is not allowed in your subscription in '
        'this location." Target="agentPool.vmSize"',
    ),
    "pods": ({"maxPods": 5}, parameter("maxPods", "maxPods must be between 10 and 250, not 5.")),
    "newer than its cluster": (
        {"orchestratorVersion": "1.37"},
        'Status=400 Code="NodePoolMcVersionIncompatible" Message="Node pool version 1.37.0 and control plane version '
        "1.36.2 are incompatible. Minor version of node pool version 37 is bigger than control plane version 36. For "
        'more information, please check https://aka.ms/version-skew-policy."',
    ),
    "unknown property": (
        {"gpuProfile": {"driverMode": "DRA"}},
        'Status=400 Code="UnmarshalError" Message="UnmarshalEntity encountered error: json: unknown field "driverMode" '
        'in GPUProfile. Path: properties.gpuProfile.driverMode." Target="properties.gpuProfile.driverMode"',
    ),
    "wrong type": (
        {"count": "two"},
        'Status=400 Code="UnmarshalError" Message="UnmarshalEntity encountered error: properties.count must be an '
        'integer, not str (\'two\')." Target="properties.count"',
    ),
    "word outside the list": (
        {"gpuProfile": {"driver": "Never"}},
        'Status=400 Code="InvalidParameter" Message="The value of parameter properties.gpuProfile.driver is invalid. '
        'Error details: \'Never\' is not one of Install, None." Target="properties.gpuProfile.driver"',
    ),
}


@pytest.mark.parametrize("case", POOL_CASES)
def test_a_pool_is_refused(full: Cloud, case: str) -> None:
    changes, text = POOL_CASES[case]
    # The served versions are a table that moves on; the rule is what is tested.
    latest = facts.kubernetes_versions()
    text = text.replace("1.37.0", latest["1.37"]).replace("1.36.2", latest["1.36"])
    assert full.refused(types.POOL, POOL, agentPoolName="other", **changes) == text
    assert "other" not in full.nodes


@pytest.mark.parametrize("name", ["A100", "1a", "a-b", "abcdefghijklm"])
def test_pool_names(name: str) -> None:
    _, failures = provider.check(types.TYPES[types.POOL], "x", "urn", b"", {**POOL, "agentPoolName": name}, {}, "")
    expected = f"'agentPoolName' does not match expression '^[a-z][a-z0-9]{{0,11}}$': {name}"
    assert [failure.reason for failure in failures] == [expected]
    with pytest.raises(ArmError, match="only have characters a-z0-9"):
        rules.check_name(name, {}, "agentPool")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("maxPods", 50),
        ("osType", "Windows"),
        ("osDiskType", "Ephemeral"),
        ("scaleSetPriority", "Spot"),
        ("vnetSubnetID", "/x"),
        ("vmSize", T4),
        ("gpuInstanceProfile", "MIG1g"),
    ],
)
def test_a_fixed_property_does_not_change(full: Cloud, name: str, value: Any) -> None:
    expected = (
        f'Status=409 Code="PropertyChangeNotAllowed" Message="Changing property \'properties.{name}\' is not allowed." '
        f'Target="properties.{name}"'
    )
    assert full.refused(types.POOL, POOL, **{name: value}) == expected


def test_the_driver_of_a_pool_does_not_change(full: Cloud) -> None:
    text = full.refused(types.POOL, POOL, gpuProfile={"driver": "None"})
    assert "Changing property 'properties.gpuProfile.driver' is not allowed." in text


def test_labels_taints_and_counts_change_in_place(full: Cloud) -> None:
    full.put(types.POOL, POOL, count=3, nodeLabels={"a": "b"}, nodeTaints=["sku=gpu:NoSchedule"])
    want = full.nodes["a100"]
    assert len(want.names) == 3
    assert {node["a"] for node in want.labels} == {"b"}
    assert want.taints == (("sku", "gpu", "NoSchedule"),)


CLUSTER_CASES: dict[str, tuple[Properties, str]] = {
    "no system pool": ({"agentPoolProfiles": []}, "Must define at least one system pool."),
    "no DNS prefix": ({"dnsPrefix": None}, "Required parameter dnsPrefix is missing (null)."),
    "DNS prefix": ({"dnsPrefix": "-x"}, "DNSPrefix '-x' is invalid."),
    "no identity": ({"identity": None}, "Managed cluster must have an identity or a service principal."),
    "node group": (
        {"nodeResourceGroup": "RG"},
        "The node resource group must not be the resource group of the managed cluster.",
    ),
    "local accounts": (
        {"disableLocalAccounts": True},
        "Disabling local accounts requires Microsoft Entra ID integration (aadProfile.managed).",
    ),
    "workload identity": (
        {"securityProfile": {"workloadIdentity": {"enabled": True}}},
        "Workload identity requires the OIDC issuer to be enabled.",
    ),
    "address range": (
        {"apiServerAccessProfile": {"authorizedIPRanges": ["10.0.0.300/8"]}},
        "'10.0.0.300/8' is not a valid CIDR",
    ),
    "version": ({"kubernetesVersion": "1.20"}, "Version 1.20 is not supported in this region (swedencentral)."),
    "unknown property": ({"draProfile": {}}, 'unknown field "draProfile" in ManagedClusterProperties'),
    "required property": (
        {"linuxProfile": {"adminUsername": "me"}},
        "Required parameter properties.linuxProfile.ssh is missing (null).",
    ),
    "inline pool": (
        {"agentPoolProfiles": [{"name": "System", "mode": "System", "vmSize": PLAIN}]},
        "Invalid agent pool name 'System'",
    ),
}


@pytest.mark.parametrize("case", CLUSTER_CASES)
def test_a_cluster_is_refused_and_leaves_nothing(cloud: Cloud, case: str) -> None:
    changes, text = CLUSTER_CASES[case]
    cloud.put(types.GROUP, GROUP)
    assert text in cloud.refused(types.CLUSTER, CLUSTER, **changes)
    assert [record.token for record in cloud.service.store.children(arm.group_id("rg"))] == []
    assert cloud.nodes == {}


def test_versions_go_up_one_at_a_time(cloud: Cloud) -> None:
    cloud.put(types.GROUP, GROUP)
    cloud.put(types.CLUSTER, CLUSTER, kubernetesVersion="1.35")
    assert "minor versions cannot be skipped" in cloud.refused(types.CLUSTER, CLUSTER, kubernetesVersion="1.37")
    cloud.put(types.CLUSTER, CLUSTER, kubernetesVersion="1.36")
    assert "Downgrading the Kubernetes version" in cloud.refused(types.CLUSTER, CLUSTER, kubernetesVersion="1.35")


def test_a_cluster_gets_no_pool_by_its_own_put(full: Cloud) -> None:
    system = {**CLUSTER["agentPoolProfiles"][0], "name": "sys"}
    assert "A new agent pool was introduced." in full.refused(types.CLUSTER, CLUSTER, agentPoolProfiles=[system])
    full.put(types.CLUSTER, CLUSTER)


def test_the_last_system_pool_stays(full: Cloud) -> None:
    pool_id = pools.pool_id(types.TYPES[types.CLUSTER].id(CLUSTER), "system")
    with pytest.raises(ArmError, match="there must be at least one system agent pool in the cluster"):
        full.service.delete(types.TYPES[types.POOL], pool_id)


def test_deleting_a_group_takes_everything_along(full: Cloud) -> None:
    full.service.delete(types.TYPES[types.GROUP], arm.group_id("rg"))
    assert full.service.store.children(f"/subscriptions/{arm.SUBSCRIPTION}") == []
    assert full.nodes == {}
    # Deleting what is gone is no error.
    full.service.delete(types.TYPES[types.GROUP], arm.group_id("rg"))


def test_what_is_missing_is_named(cloud: Cloud) -> None:
    group = 'Status=404 Code="ResourceGroupNotFound" Message="Resource group \'rg\' could not be found."'
    assert cloud.refused(types.CLUSTER, CLUSTER) == group
    cloud.put(types.GROUP, GROUP)
    assert cloud.refused(types.POOL, POOL) == (
        'Status=404 Code="ResourceNotFound" Message="The Resource '
        "'Microsoft.ContainerService/managedClusters/demo' under resource group 'rg' was not found. "
        'For more details please go to https://aka.ms/ARMResourceNotFoundFix"'
    )
    with pytest.raises(ArmError) as raised:
        functions.invoke(cloud.service, "azure-native:containerservice:getAgentPool", POOL)
    assert str(raised.value) == (
        "Status=404 Code=\"AgentPoolNotFound\" Message=\"Agent pool 'a100' of managed cluster 'demo' in resource group "
        "'rg' was not found.\""
    )


def test_a_location_does_not_change(full: Cloud) -> None:
    assert 'Code="InvalidResourceGroupLocation"' in full.refused(types.GROUP, GROUP, location="westeurope")
    assert 'Code="InvalidResourceLocation"' in full.refused(types.CLUSTER, CLUSTER, location="westeurope")


def test_subnets_lie_in_their_network(cloud: Cloud) -> None:
    cloud.put(types.GROUP, GROUP)
    network = {**GROUP, "virtualNetworkName": "vnet", "addressSpace": {"addressPrefixes": ["10.1.0.0/16"]}}
    cloud.put(types.NETWORK, network)
    subnet = {
        "resourceGroupName": "rg",
        "virtualNetworkName": "vnet",
        "subnetName": "a",
        "addressPrefix": "10.1.0.0/24",
    }
    cloud.put(types.SUBNET, subnet)
    assert 'Code="NetcfgInvalidSubnet"' in cloud.refused(
        types.SUBNET, subnet, subnetName="b", addressPrefix="10.2.0.0/24"
    )
    assert 'Code="NetcfgSubnetRangesOverlap"' in cloud.refused(types.SUBNET, subnet, subnetName="b")
