"""What the simulated Azure answers, what its Nodes are, and what its provider decides before Azure is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from local import facts
from local.azure import arm, clusters, faults, functions, models, nodes, provider, types
from local.azure.arm import ArmError, Properties
from local.azure.plugin import refusal
from local.azure.service import AlreadyThere
from local.azure.store import Incomplete, Record, Store
from tests.local.azure.cloud import A100, CLUSTER, GROUP, POOL, T4, Cloud, cloud, full

__all__ = ["cloud", "full"]  # fixtures


def test_a_pool_answers_as_azure_does(full: Cloud) -> None:
    _, answer = full.put(types.POOL, POOL, agentPoolName="spot", vmSize=T4, scaleSetPriority="Spot")
    version = facts.kubernetes_versions()["1.36"]
    assert answer | {"eTag": ""} == {
        "name": "spot",
        "type": "VirtualMachineScaleSets",
        "azureApiVersion": "2025-09-01",
        "eTag": "",
        "count": 2,
        "mode": "User",
        "osType": "Linux",
        "osSKU": "Ubuntu",
        "osDiskSizeGB": 128,
        "osDiskType": "Managed",
        "kubeletDiskType": "OS",
        "maxPods": 30,
        "scaleDownMode": "Delete",
        "enableAutoScaling": False,
        "enableFIPS": False,
        "enableNodePublicIP": False,
        "upgradeSettings": {"maxSurge": "10%"},
        "vmSize": T4,
        "scaleSetPriority": "Spot",
        "scaleSetEvictionPolicy": "Delete",
        "spotMaxPrice": -1,
        "gpuProfile": {"driver": "Install"},
        "nodeLabels": {"kubernetes.azure.com/scalesetpriority": "spot"},
        "nodeTaints": ["kubernetes.azure.com/scalesetpriority=spot:NoSchedule"],
        "powerState": {"code": "Running"},
        "currentOrchestratorVersion": version,
        "orchestratorVersion": version,
        "nodeImageVersion": "AKSUbuntu-2404gen2containerd-202611.10.0",
        "provisioningState": "Succeeded",
    }


def test_the_nodes_of_a_pool(full: Cloud) -> None:
    full.put(types.POOL, POOL, agentPoolName="mig", count=1, gpuInstanceProfile="MIG1g", availabilityZones=["1"])
    want = full.nodes["mig"]
    digits = want.names[0].split("-")[2]
    assert want.names == (f"aks-mig-{digits}-vmss000000",)
    assert len(digits) == 8
    assert want.annotations == {
        "local.aks-dra.dev/vm-size": A100,
        "local.aks-dra.dev/gpu-driver": "Install",
        "local.aks-dra.dev/gpu-instance-profile": "MIG1g",
    }
    assert want.labels[0] == {
        "agentpool": "mig",
        "accelerator": "nvidia",
        "kubernetes.azure.com/accelerator": "nvidia",
        "kubernetes.azure.com/agentpool": "mig",
        "kubernetes.azure.com/cluster": "MC_rg_demo_swedencentral",
        "kubernetes.azure.com/mode": "user",
        "kubernetes.azure.com/node-image-version": "AKSUbuntu-2404gen2containerd-202611.10.0",
        "kubernetes.azure.com/os-sku": "Ubuntu",
        "kubernetes.azure.com/role": "agent",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": want.names[0],
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": A100,
        "topology.kubernetes.io/region": "swedencentral",
        "topology.kubernetes.io/zone": "swedencentral-1",
    }
    assert want.capacity == {"cpu": "24", "memory": f"{220 * 1024**2}Ki", "pods": "30", "ephemeral-storage": "128Gi"}


def test_a_node_is_changed_without_what_others_put_there(full: Cloud) -> None:
    full.put(types.POOL, POOL, nodeLabels={"old": "1"}, nodeTaints=["old=1:NoSchedule"])
    node = nodes.manifest(full.nodes["a100"], 0)
    node["metadata"]["resourceVersion"] = "7"
    node["metadata"]["labels"]["nvidia.com/gpu.present"] = "true"
    node["spec"]["taints"].append({"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"})
    assert nodes.change(node, full.nodes["a100"], 0) is None
    full.put(types.POOL, POOL, nodeLabels={"new": "1"}, nodeTaints=["new=1:NoSchedule"])
    patch = nodes.change(node, full.nodes["a100"], 0)
    assert patch is not None
    assert patch["metadata"]["labels"] == {"new": "1", "old": None}
    assert patch["metadata"]["resourceVersion"] == "7"
    assert patch["spec"]["taints"] == [
        {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"},
        {"key": "new", "value": "1", "effect": "NoSchedule"},
    ]


def test_a_cluster_answers_as_azure_does(full: Cloud) -> None:
    resource_id, answer = full.put(types.CLUSTER, CLUSTER, oidcIssuerProfile={"enabled": True})
    assert resource_id.endswith("/resourceGroups/rg/providers/Microsoft.ContainerService/managedClusters/demo")
    assert answer["nodeResourceGroup"] == "MC_rg_demo_swedencentral"
    assert answer["currentKubernetesVersion"] == facts.kubernetes_versions()["1.36"]
    assert answer["oidcIssuerProfile"]["issuerURL"].startswith("https://swedencentral.oic.prod-aks.azure.com/")
    assert answer["identity"] == {
        "type": "SystemAssigned",
        "principalId": arm.stable_uuid(resource_id, "principal"),
        "tenantId": arm.TENANT,
    }
    assert [pool["name"] for pool in answer["agentPoolProfiles"]] == ["a100", "system"]
    kubelet = answer["identityProfile"]["kubeletidentity"]["resourceId"]
    assert kubelet.endswith(
        "/MC_rg_demo_swedencentral/providers/Microsoft.ManagedIdentity/userAssignedIdentities/demo-agentpool"
    )


def test_a_create_that_broke_is_recorded_and_comes_to_its_end(full: Cloud) -> None:
    full.broken = True
    with pytest.raises(Incomplete) as raised:
        full.put(types.POOL, POOL, agentPoolName="late")
    assert raised.value.record.state == "Failed"
    full.broken = False
    # Nothing of it is fixed yet: it may come to its end with another size.
    _, answer = full.put(types.POOL, POOL, agentPoolName="late", vmSize=T4)
    assert (answer["provisioningState"], answer["vmSize"]) == ("Succeeded", T4)


def test_what_exists_is_not_created(full: Cloud) -> None:
    """In the words of the provider, whatever the inputs; and what is there stays as it is."""
    for token, given in ((types.GROUP, GROUP), (types.CLUSTER, CLUSTER), (types.POOL, {**POOL, "vmSize": T4})):
        kind = types.TYPES[token]
        before = full.service.store.need(kind.id(given))
        with pytest.raises(AlreadyThere) as raised:
            full.service.create(kind, given)
        assert str(raised.value) == f"cannot create already existing resource '{kind.id(given)}'"
        assert full.service.store.need(kind.id(given)) == before


def test_faults_strike_as_often_as_asked(full: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    fault = (
        '[{"type": "azure-native:containerservice:AgentPool", "name": "x", "code": "AllocationFailed", "status": 409}]'
    )
    monkeypatch.setenv(faults.VARIABLE, fault)
    assert full.refused(types.POOL, POOL, agentPoolName="x") == (
        'Status=409 Code="AllocationFailed" Message="A fault was asked for: create of x."'
    )
    full.put(types.POOL, POOL, agentPoolName="x")


def test_a_damaged_record_says_what_to_delete(full: Cloud) -> None:
    path = full.service.store.path(arm.group_id("rg"))
    path.write_text('{"id": ')
    text = full.refused(types.CLUSTER, CLUSTER)
    assert f"cannot read its record {path}" in text
    assert "run `make up` again" in text


def test_role_assignments(cloud: Cloud) -> None:
    cloud.put(types.GROUP, GROUP)
    given = {
        "scope": arm.group_id("rg"),
        "roleAssignmentName": arm.stable_uuid("one"),
        "principalId": arm.stable_uuid("who"),
        "roleDefinitionId": "/providers/Microsoft.Authorization/roleDefinitions/x",
    }
    resource_id, _ = cloud.put(types.ROLE_ASSIGNMENT, given)
    assert (
        resource_id
        == f"{arm.group_id('rg')}/providers/Microsoft.Authorization/roleAssignments/{arm.stable_uuid('one')}"
    )
    cloud.put(types.ROLE_ASSIGNMENT, given)
    assert 'Code="RoleAssignmentExists"' in cloud.refused(
        types.ROLE_ASSIGNMENT, given, roleAssignmentName=arm.stable_uuid("two")
    )
    assert 'Code="RoleAssignmentUpdateNotPermitted"' in cloud.refused(
        types.ROLE_ASSIGNMENT, given, principalId=arm.stable_uuid("else")
    )


def changes(token: str, old: Properties, new: Properties) -> dict[str, tuple[str, bool]]:
    found = provider.differences(types.TYPES[token], old, new)
    return {change.path: (change.kind, change.replaces) for change in found}


def test_what_the_provider_replaces() -> None:
    assert changes(types.POOL, POOL, {**POOL, "vmSize": T4, "count": 3}) == {
        "count": ("update", False),
        "vmSize": ("update", True),
    }
    # Fixed for ARM, but not for the provider: a program has to ask.
    assert changes(types.POOL, POOL, {**POOL, "maxPods": 50}) == {"maxPods": ("add", False)}
    old = {**CLUSTER, "networkProfile": {"networkPlugin": "azure"}}
    new = {**CLUSTER, "networkProfile": {"networkPlugin": "azure", "podCidr": "10.9.0.0/16"}, "dnsPrefix": "x"}
    assert changes(types.CLUSTER, old, new) == {"dnsPrefix": ("update", True), "networkProfile.podCidr": ("add", True)}
    assert changes(types.CLUSTER, CLUSTER, {**CLUSTER, "networkProfile": {"networkPlugin": "azure"}}) == {
        "networkProfile": ("add", True)
    }
    labels = {**POOL, "nodeLabels": {"a.b/c": "d"}}
    assert changes(types.POOL, labels, {**labels, "nodeLabels": {"a.b/c": "e"}}) == {
        'nodeLabels["a.b/c"]': ("update", False)
    }


def test_a_refresh_shows_drift_and_not_what_azure_adds() -> None:
    inputs = {"count": 2, "agentPoolProfiles": [{"name": "system", "count": 1}]}
    old = {"count": 2, "maxPods": 30, "agentPoolProfiles": [{"name": "system", "count": 1, "maxPods": 30}]}
    new = {
        "count": 3,
        "maxPods": 30,
        "agentPoolProfiles": [{"name": "gpu", "count": 9}, {"name": "system", "count": 2, "maxPods": 30}],
    }
    assert provider.refreshed(inputs, old, new) == {"count": 3, "agentPoolProfiles": [{"name": "system", "count": 2}]}


def test_a_preview_knows_what_does_not_change() -> None:
    kind = types.TYPES[types.CLUSTER]
    first = provider.preview(kind, CLUSTER, {})
    assert (first["name"], first["nodeResourceGroup"], first["dnsPrefix"]) == (
        provider.UNKNOWN,
        provider.UNKNOWN,
        "demo",
    )
    assert provider.preview(kind, CLUSTER, {"name": "demo"})["name"] == "demo"


ZERO = arm.SUBSCRIPTION


@pytest.mark.parametrize(
    ("configured", "environment", "text"),
    [
        ({"subscriptionId": ZERO}, {"PATH": "x"}, ""),
        (
            {"subscriptionId": ZERO},
            {"ARM_CLIENT_ID": "x", "AZURE_TENANT_ID": "y"},
            "The simulated Azure refuses to run where ARM_CLIENT_ID, AZURE_TENANT_ID is set: such variables are meant "
            "for the real Azure. Unset them for the local stack, or take this plugin off PATH for a real one.",
        ),
        (
            {"subscriptionId": ZERO, "clientSecret": "x"},
            {},
            "The simulated Azure refuses credentials, and azure-native:clientSecret is set. It has no use for them.",
        ),
        (
            {"subscriptionId": "11111111-1111-1111-1111-111111111111"},
            {},
            "This is the simulated Azure of the local stack, and azure-native:subscriptionId is "
            f"11111111-1111-1111-1111-111111111111. It serves the subscription {ZERO} only. A real stack needs the "
            "real azure-native plugin: take the simulated one off PATH (or set PULUMI_IGNORE_AMBIENT_PLUGINS=true).",
        ),
        (
            {},
            {},
            "This is the simulated Azure of the local stack, and azure-native:subscriptionId is not set. It serves "
            f"the subscription {ZERO} only. A real stack needs the real azure-native plugin: take the simulated one "
            "off PATH (or set PULUMI_IGNORE_AMBIENT_PLUGINS=true).",
        ),
    ],
)
def test_only_the_local_stack_is_served(configured: Properties, environment: dict[str, str], text: str) -> None:
    assert refusal(configured, environment) == text


def test_it_says_what_it_is(cloud: Cloud) -> None:
    answer = functions.invoke(cloud.service, "azure-native:aksdra:whatAreYou", {})
    assert answer == {"simulated": True, "of": "Azure Resource Manager"}


def test_credentials_need_a_control_plane(full: Cloud, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AKS_DRA_LOCAL_STATE", str(tmp_path))
    token = "azure-native:containerservice:listManagedClusterUserCredentials"
    with pytest.raises(ArmError) as raised:
        functions.invoke(full.service, token, {"resourceGroupName": "rg", "resourceName": "demo"})
    assert raised.value.message == (
        "The local Kubernetes control plane has not been started: there is no "
        f"{tmp_path / 'kubernetes' / 'kubeconfig'}. Start it with `make up`."
    )


def test_records_survive_the_process_and_any_case_of_letters(tmp_path: Path) -> None:
    Store(tmp_path).put(Record(arm.group_id("RG"), types.GROUP, {"a": 1}))
    assert Store(tmp_path).need(arm.group_id("rg")).id == arm.group_id("RG")


def test_every_property_of_the_components_is_known_to_the_models() -> None:
    body = {
        "vmSize": A100,
        "osSKU": "Ubuntu2404",
        "gpuProfile": {"driver": "None"},
        "spotMaxPrice": -1,
        "enableFIPS": True,
    }
    models.check("ManagedClusterAgentPoolProfileProperties", body, "properties")
    assert clusters.subnet("10.0.0.0/8", "x").prefixlen == 8
