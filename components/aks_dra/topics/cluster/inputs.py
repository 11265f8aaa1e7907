"""The ManagedCluster inputs (camelCase, as Azure Resource Manager has them) with the one inline system pool."""

from __future__ import annotations

from typing import Any, Literal

from aks_dra.facts import Facts
from aks_dra.model.plan import PlannedCluster, PlannedWorkspace
from aks_dra.settings import Existing, Settings
from aks_dra.settings.fields import plain_inputs
from aks_dra.settings.pools_of import node_counts
from aks_dra.topics.cluster.identity import planned_identities, planned_roles
from aks_dra.topics.cluster.network import api_server_profile, network_profile
from aks_dra.trees import merge_values

DEFAULT_RETENTION = 30  # days


LOGIN = Literal["admin", "azurecli", "workloadidentity", "msi", "servicePrincipal"]


def kubernetes_version(settings: Settings, facts: Facts) -> str:
    return settings.cluster.kubernetes_version or facts.kubernetes.default


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
    login: LOGIN = cluster.access.login or ("admin" if cluster.access.local_accounts else "azurecli")
    autoscaled = cluster.system_pool.nodes.autoscaled
    return PlannedCluster(
        name=name,
        resource_group=group_name,
        create_resource_group=not cluster.existing and not isinstance(group, Existing),
        location=cluster.location or location,
        existing=cluster.existing or "",
        kubernetes_version=version,
        inputs=merge_values(own_inputs(settings, name, version), {} if cluster.existing else cluster.azure_inputs)[0],
        tags=tags,
        protect=cluster.protect,
        ignore_changes=tuple(f"agentPoolProfiles[0].{name}" for name in facts.moving_fields()) if autoscaled else (),
        login=login,
        identities=planned_identities(settings, name),
        roles=planned_roles(settings, facts, name, group_name),
        workspace=planned_workspace(settings, name),
        maintenance={} if cluster.existing else dict(sorted(cluster.maintenance.items())),
    )


def _inputs(settings: Settings, name: str, version: str) -> dict[str, Any]:
    """What the package sets; raw inputs are laid over it by `plan_cluster`."""
    cluster = settings.cluster
    access = cluster.access
    inputs: dict[str, Any] = {
        "kubernetesVersion": version,
        "dnsPrefix": cluster.dns_prefix or name,
        "sku": {"name": "Base", "tier": cluster.tier},
        "identity": _identity(settings, name),
        "enableRBAC": True,
        "disableLocalAccounts": not access.local_accounts,
        "agentPoolProfiles": [_system_pool(settings, version)],
        "networkProfile": network_profile(cluster.network),
        "oidcIssuerProfile": {"enabled": access.oidc_issuer},
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
    if api := api_server_profile(cluster.network, access.authorized_ip_ranges):
        inputs["apiServerAccessProfile"] = api
    if workspace := planned_workspace(settings, name):
        inputs["addonProfiles"] = {"omsagent": _log_agent(workspace.existing)}
    return inputs


def own_inputs(settings: Settings, name: str, version: str) -> dict[str, Any]:
    """The inputs of a cluster that is made, without raw ones; {} where it exists."""
    return {} if settings.cluster.existing else _inputs(settings, name, version)


def _identity(settings: Settings, name: str) -> dict[str, Any]:
    for identity in planned_identities(settings, name):
        if identity.key == "identity":
            ids = {"userAssignedIdentities": [identity.existing]} if identity.existing else {}
            return {"type": "UserAssigned", **ids}
    return {"type": "SystemAssigned"}


def planned_workspace(settings: Settings, name: str) -> PlannedWorkspace | None:
    given = settings.cluster.monitoring.log_analytics
    if given is None or settings.cluster.existing:
        return None
    own = given.existing.rstrip("/").rpartition("/")[2] if given.existing else given.name or f"log-{name}"
    return PlannedWorkspace(own, given.existing or "", given.retention_days or DEFAULT_RETENTION)


def _log_agent(workspace: str) -> dict[str, Any]:
    """The addon that sends container logs, by the cluster's identity: keys of a workspace are retired for it."""
    config = {"useAADAuth": "true"} | ({"logAnalyticsWorkspaceResourceID": workspace} if workspace else {})
    return {"enabled": True, "config": config}


def _system_pool(settings: Settings, version: str) -> dict[str, Any]:
    pool = settings.cluster.system_pool
    profile = plain_inputs(pool) | {
        "name": pool.name,
        "mode": "System",
        "type": "VirtualMachineScaleSets",
        "osType": "Linux",
        "orchestratorVersion": version,
        **node_counts(pool.nodes, "devicePlugin"),
    }
    subnet = settings.cluster.network.subnet_id
    return profile | ({} if subnet is None else {"vnetSubnetID": subnet})
