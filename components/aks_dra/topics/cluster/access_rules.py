"""Who can log in, who the cluster is in Azure, and the ids of what exists already."""

from __future__ import annotations

import re
from collections.abc import Iterator

from aks_dra import names
from aks_dra.context.context import Context
from aks_dra.findings.build import finding
from aks_dra.findings.finding import Finding
from aks_dra.settings import ClusterSettings, Existing

ENTRA = "AKS: Microsoft Entra integration"
IDS = "Azure Resource Manager: resource ids"
GUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
# Type below /providers/ to what it is for people. A resource group has no provider.
KINDS = {
    "Microsoft.ContainerService/managedClusters": "a cluster",
    "Microsoft.ManagedIdentity/userAssignedIdentities": "a user-assigned identity",
    "Microsoft.OperationalInsights/workspaces": "a Log Analytics workspace",
    "Microsoft.Network/virtualNetworks/subnets": "a subnet",
    "Microsoft.Network/routeTables": "a route table",
    "Microsoft.Network/privateDnsZones": "a private DNS zone",
    "Microsoft.ContainerRegistry/registries": "a container registry",
    "Microsoft.Compute/capacityReservationGroups": "a capacity reservation group",
}
# With a cluster that exists these settings of it still mean something; every other one would do nothing.
FOR_EXISTING = {
    "existing",
    "access",
    "kubernetes_version",
    "location",
    "name",
    "protect",
    "tags",
    "registries",
    "network",
}


def somebody_can_log_in(context: Context) -> Iterator[Finding]:
    access = context.settings.cluster.access
    if context.plan.cluster.existing or access.local_accounts or access.admin_groups or access.azure_rbac:
        return
    yield finding(
        "ACC001",
        "error",
        "aks-dra:cluster.access",
        "no admin groups, no Azure RBAC, no local accounts",
        "nobody could log in to this cluster",
        "set access.adminGroups or access.azureRbac: true",
        ENTRA,
    )


def location(context: Context) -> Iterator[Finding]:
    if not context.plan.cluster.location and not context.plan.cluster.existing:
        yield finding(
            "ACC002",
            "error",
            "aks-dra:cluster.location",
            "",
            "the cluster needs a location",
            "set azure-native:location or cluster.location",
            "Azure Resource Manager",
        )


def existing_ids(context: Context) -> Iterator[Finding]:
    for path, kind, value in _ids(context):
        if not _is_id(value, kind):
            what = KINDS.get(kind, "a resource group")
            yield finding("ACC003", "error", path, value, f"this is not {what}'s ARM id", f"write {_form(kind)}", IDS)


def _ids(context: Context) -> Iterator[tuple[str, str, str]]:
    """Path, type and value of every ARM id in the settings."""
    cluster, root = context.settings.cluster, "aks-dra:cluster"
    network, logs = cluster.network, cluster.monitoring.log_analytics
    zone = network.private_dns_zone.existing if isinstance(network.private_dns_zone, Existing) else None
    given = [
        (f"{root}.existing", "Microsoft.ContainerService/managedClusters", cluster.existing),
        (f"{root}.network.subnetId", "Microsoft.Network/virtualNetworks/subnets", network.subnet_id),
        (f"{root}.network.routeTableId", "Microsoft.Network/routeTables", network.route_table_id),
        (f"{root}.network.privateDnsZone.existing", "Microsoft.Network/privateDnsZones", zone),
        (
            f"{root}.monitoring.logAnalytics.existing",
            "Microsoft.OperationalInsights/workspaces",
            logs.existing if logs else None,
        ),
    ]
    if isinstance(cluster.resource_group, Existing):
        given.append((f"{root}.resourceGroup.existing", "", cluster.resource_group.existing))
    for name, identity in (("identity", cluster.identity), ("kubeletIdentity", cluster.kubelet_identity)):
        kind = "Microsoft.ManagedIdentity/userAssignedIdentities"
        given.append((f"{root}.{name}.existing", kind, identity.existing if identity else None))
    for index, registry in enumerate(cluster.registries):
        given.append((f"{root}.registries.{index}", "Microsoft.ContainerRegistry/registries", registry))
    for _, path, pool in context.pools():
        given.append((f"{path}.subnetId", "Microsoft.Network/virtualNetworks/subnets", pool.subnet_id))
        reserved = pool.capacity_reservation_group
        given.append((f"{path}.capacityReservationGroup", "Microsoft.Compute/capacityReservationGroups", reserved))
    yield from ((path, kind, value) for path, kind, value in given if value is not None)


def _is_id(value: str, kind: str) -> bool:
    head = r"/subscriptions/[^/]+/resourceGroups/[^/]+"
    provider, *types = kind.split("/")
    tail = "".join(f"/{re.escape(part)}/[^/]+" for part in types)
    pattern = head + (f"/providers/{re.escape(provider)}{tail}" if kind else "")
    return re.fullmatch(pattern, value, re.IGNORECASE) is not None


def _form(kind: str) -> str:
    provider, *types = kind.split("/")
    tail = "".join(f"/{part}/NAME" for part in types)
    return "/subscriptions/ID/resourceGroups/GROUP" + (f"/providers/{provider}{tail}" if kind else "")


def admin_groups(context: Context) -> Iterator[Finding]:
    for index, group in enumerate(context.settings.cluster.access.admin_groups):
        if not GUID.fullmatch(group):
            yield finding(
                "ACC005",
                "error",
                f"aks-dra:cluster.access.adminGroups.{index}",
                group,
                "an admin group is named by its object id, which is a GUID",
                "write what `az ad group show --group NAME --query id` prints",
                ENTRA,
            )


def tokens_of_pods(context: Context) -> Iterator[Finding]:
    access = context.settings.cluster.access
    if access.workload_identity and not access.oidc_issuer and not context.plan.cluster.existing:
        yield finding(
            "ACC006",
            "error",
            "aks-dra:cluster.access.oidcIssuer",
            "false",
            "workload identity needs the issuer of service account tokens",
            "set oidcIssuer: true, or workloadIdentity: false",
            "AKS: workload identity",
        )


def login(context: Context) -> Iterator[Finding]:
    access = context.settings.cluster.access
    if access.login and not (access.admin_groups or access.azure_rbac) and not context.plan.cluster.existing:
        yield finding(
            "ACC007",
            "error",
            "aks-dra:cluster.access.login",
            access.login,
            "kubelogin logs in to Entra, and this cluster has local accounts only",
            "set access.adminGroups or access.azureRbac, or remove login",
            ENTRA,
        )


def one_or_the_other(context: Context) -> Iterator[Finding]:
    """`{existing: id}` or the inputs of a new one, never both."""
    cluster = context.settings.cluster
    logs = cluster.monitoring.log_analytics
    for path, existing, given in (
        ("identity", cluster.identity and cluster.identity.existing, cluster.identity and cluster.identity.name),
        (
            "kubeletIdentity",
            cluster.kubelet_identity and cluster.kubelet_identity.existing,
            cluster.kubelet_identity and cluster.kubelet_identity.name,
        ),
        ("monitoring.logAnalytics", logs and logs.existing, logs and (logs.name or logs.retention_days)),
    ):
        if existing and given:
            yield finding(
                "ACC008",
                "error",
                f"aks-dra:cluster.{path}",
                given,
                "existing names one that is there, and the other keys are inputs of a new one",
                "keep existing alone, or remove it",
                "aks-dra: settings (docs/settings.md)",
            )


def identities(context: Context) -> Iterator[Finding]:
    planned = {identity.key: identity for identity in context.plan.cluster.identities}
    rule = context.facts.name_rules["identity"]
    for key, path in (("identity", "identity"), ("kubelet-identity", "kubeletIdentity")):
        identity = planned.get(key)  # type: ignore[call-overload]
        if identity is not None and not identity.existing and not rule.allows(identity.name):
            yield finding(
                "ACC009",
                "error",
                f"aks-dra:cluster.{path}.name",
                identity.name,
                f"an identity's name has {rule.what}",
                f"set {path}.name",
                rule.source,
            )
    control, kubelet = planned.get("identity"), planned.get("kubelet-identity")
    if control and kubelet and (control.name, control.existing.lower()) == (kubelet.name, kubelet.existing.lower()):
        yield finding(
            "ACC010",
            "error",
            "aks-dra:cluster.kubeletIdentity",
            kubelet.existing or kubelet.name,
            "the nodes would have the rights of the cluster: both are the same identity",
            "take an identity of its own for the nodes",
            "AKS: pre-created kubelet identity",
        )


def workspace(context: Context) -> Iterator[Finding]:
    logs = context.settings.cluster.monitoring.log_analytics
    if logs is None:
        return
    collects, rule = context.facts.name_rules["collection_rule"], context.facts.name_rules["workspace"]
    cluster = context.plan.cluster
    if not collects.allows(names.COLLECTION_RULE + cluster.name) and not cluster.existing:
        yield finding(
            "ACC014",
            "error",
            "aks-dra:cluster.monitoring.logAnalytics",
            cluster.name,
            f"the rule that collects the logs is named {names.COLLECTION_RULE}<cluster>, and such a name has "
            f"{collects.what}",
            f"set cluster.name to at most {collects.longest - len(names.COLLECTION_RULE)} characters",
            collects.source,
        )
    low, high = (context.facts.limits[f"log_retention_{end}"] for end in ("lowest", "highest"))
    if logs.retention_days is not None and not low.value <= logs.retention_days <= high.value:
        yield finding(
            "ACC011",
            "error",
            "aks-dra:cluster.monitoring.logAnalytics.retentionDays",
            logs.retention_days,
            f"a workspace keeps logs for {low.value} to {high.value} days",
            f"write {min(max(logs.retention_days, low.value), high.value)}",
            low.source,
        )
    if logs.name is not None and not rule.allows(logs.name):
        yield finding(
            "ACC012",
            "error",
            "aks-dra:cluster.monitoring.logAnalytics.name",
            logs.name,
            f"a workspace's name has {rule.what}",
            "write another name",
            rule.source,
        )


def nothing_without_effect(context: Context) -> Iterator[Finding]:
    """A cluster that exists is not changed, so what the settings say of it would do nothing."""
    cluster: ClusterSettings = context.settings.cluster
    if not cluster.existing:
        return
    for name in sorted(cluster.model_fields_set - FOR_EXISTING):
        alias = ClusterSettings.model_fields[name].alias or name
        yield finding(
            "ACC013",
            "warning",
            f"aks-dra:cluster.{alias}",
            "",
            "the cluster exists, and this package changes nothing of it, so this does nothing",
            "remove it, or write null where a base file sets it",
            "aks-dra: settings (docs/settings.md)",
        )


RULES = (
    somebody_can_log_in,
    location,
    existing_ids,
    admin_groups,
    tokens_of_pods,
    login,
    one_or_the_other,
    identities,
    workspace,
    nothing_without_effect,
)
