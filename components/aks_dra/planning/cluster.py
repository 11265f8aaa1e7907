"""The ManagedCluster inputs (camelCase, as Azure Resource Manager has them) with the one inline system pool."""

from __future__ import annotations

from typing import Any, Literal

from aks_dra.facts import Facts
from aks_dra.facts import minor as minor_of
from aks_dra.planning.model import PlannedCluster
from aks_dra.planning.pools import node_counts
from aks_dra.settings import Existing, Settings

LOGIN = Literal["admin", "azurecli", "workloadidentity", "msi", "servicePrincipal"]


def kubernetes_version(settings: Settings, facts: Facts) -> str:
    return settings.cluster.kubernetes_version or facts.kubernetes.default


def minor(version: str) -> tuple[int, int]:
    """(1, 36) of "1.36" or "1.36.2"; (0, 0) when it is no version, which has a finding of its own."""
    try:
        return minor_of(version)
    except ValueError:
        return (0, 0)


def plan_cluster(settings: Settings, facts: Facts, *, project: str, stack: str, location: str) -> PlannedCluster:
    cluster = settings.cluster
    existing_parts = cluster.existing.strip("/").split("/") if cluster.existing else []
    name = existing_parts[-1] if existing_parts else cluster.name or f"{project}-{stack}"
    group = cluster.resource_group
    if existing_parts and len(existing_parts) > 3:
        group_name = existing_parts[3]
    elif isinstance(group, Existing):
        group_name = group.existing.rstrip("/").split("/")[-1]
    else:
        group_name = group or f"rg-{name}"
    version = kubernetes_version(settings, facts)
    tags = dict(sorted({**settings.tags, **cluster.tags}.items()))
    login: LOGIN = "admin" if cluster.access.local_accounts else cluster.access.login
    autoscaled = cluster.system_pool.nodes.autoscaled
    return PlannedCluster(
        name=name,
        resource_group=group_name,
        create_resource_group=not cluster.existing and not isinstance(group, Existing),
        location=cluster.location or location,
        existing=cluster.existing or "",
        kubernetes_version=version,
        inputs={} if cluster.existing else _inputs(settings, name, version),
        tags=tags,
        protect=cluster.protect,
        ignore_changes=("agentPoolProfiles[0].count",) if autoscaled else (),
        login=login,
    )


def _inputs(settings: Settings, name: str, version: str) -> dict[str, Any]:
    cluster = settings.cluster
    access = cluster.access
    inputs: dict[str, Any] = {
        "kubernetesVersion": version,
        "dnsPrefix": cluster.dns_prefix or name,
        "sku": {"name": "Base", "tier": cluster.tier},
        "identity": (
            {"type": "UserAssigned", "userAssignedIdentities": [cluster.identity.existing]}
            if cluster.identity
            else {"type": "SystemAssigned"}
        ),
        "enableRBAC": True,
        "disableLocalAccounts": not access.local_accounts,
        "agentPoolProfiles": [_system_pool(settings, version)],
        "networkProfile": _network(settings),
        "oidcIssuerProfile": {"enabled": True},
        "securityProfile": {"workloadIdentity": {"enabled": access.workload_identity}},
    }
    if cluster.node_resource_group:
        inputs["nodeResourceGroup"] = cluster.node_resource_group
    if cluster.lts:
        inputs["supportPlan"] = "AKSLongTermSupport"
    if access.admin_groups or access.azure_rbac:
        aad: dict[str, Any] = {"managed": True, "enableAzureRBAC": access.azure_rbac}
        if access.admin_groups:
            aad["adminGroupObjectIDs"] = list(access.admin_groups)
        inputs["aadProfile"] = aad
    api: dict[str, Any] = {}
    if access.authorized_ip_ranges:
        api["authorizedIPRanges"] = list(access.authorized_ip_ranges)
    if cluster.network.private_cluster:
        api["enablePrivateCluster"] = True
    if api:
        inputs["apiServerAccessProfile"] = api
    return inputs | {key: value for key, value in cluster.azure_inputs.items() if key not in inputs}


def _system_pool(settings: Settings, version: str) -> dict[str, Any]:
    pool = settings.cluster.system_pool
    profile: dict[str, Any] = {
        "name": pool.name,
        "mode": "System",
        "type": "VirtualMachineScaleSets",
        "osType": "Linux",
        "osSKU": pool.os_sku,
        "vmSize": pool.vm_size,
        "orchestratorVersion": version,
        **node_counts(pool.nodes, "devicePlugin"),
    }
    optional = {
        "availabilityZones": list(pool.zones) or None,
        "maxPods": pool.max_pods,
        "vnetSubnetID": settings.cluster.network.subnet_id,
    }
    return profile | {key: value for key, value in optional.items() if value is not None}


def _network(settings: Settings) -> dict[str, Any]:
    network = settings.cluster.network
    profile: dict[str, Any] = {
        "networkPlugin": "azure" if network.plugin == "azureOverlay" else network.plugin,
        "outboundType": network.outbound_type,
        "loadBalancerSku": "standard",
    }
    if network.plugin == "azureOverlay":
        profile["networkPluginMode"] = "overlay"
    profile["networkDataplane"] = network.dataplane
    if network.dataplane == "cilium":
        profile["networkPolicy"] = "cilium"
    optional = {
        "podCidr": network.pod_cidr,
        "serviceCidr": network.service_cidr,
        "dnsServiceIP": network.dns_service_ip,
    }
    return profile | {key: value for key, value in optional.items() if value is not None}
