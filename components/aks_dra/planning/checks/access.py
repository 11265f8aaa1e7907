"""Who can log in, and where the cluster is."""

from __future__ import annotations

from collections.abc import Iterator

from aks_dra.planning.checks.context import Context, finding
from aks_dra.planning.model import Finding
from aks_dra.settings import Existing


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
        "AKS: Microsoft Entra integration",
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
    cluster = context.settings.cluster
    wanted = "/subscriptions/ID/resourceGroups/GROUP/providers/Microsoft.ContainerService/managedClusters/NAME"
    if cluster.existing and "/managedclusters/" not in cluster.existing.lower():
        yield finding(
            "ACC003",
            "error",
            "aks-dra:cluster.existing",
            cluster.existing,
            "this is not a cluster's ARM id",
            f"write {wanted}",
            "Azure Resource Manager: resource ids",
        )
    group = cluster.resource_group
    if isinstance(group, Existing) and "/resourcegroups/" not in group.existing.lower():
        yield finding(
            "ACC003",
            "error",
            "aks-dra:cluster.resourceGroup.existing",
            group.existing,
            "this is not a resource group's ARM id",
            "write /subscriptions/ID/resourceGroups/GROUP",
            "Azure Resource Manager: resource ids",
        )


def raw_inputs(context: Context) -> Iterator[Finding]:
    cluster = context.settings.cluster
    for key, value in cluster.azure_inputs.items():
        ours = context.plan.cluster.inputs.get(key)
        if ours is not None and ours != value:
            yield finding(
                "ACC004",
                "error",
                f"aks-dra:cluster.azureInputs.{key}",
                value,
                f"the package sets {key} to {ours!r}",
                "remove it here and use the setting",
                "aks-dra: planning/cluster",
            )
    plans = {pool.name: pool for pool in context.plan.pools}
    for name, path, pool in context.pools():
        for key, value in pool.azure_inputs.items():
            ours = plans[name].inputs.get(key)
            if ours is not None and ours != value:
                yield finding(
                    "ACC004",
                    "error",
                    f"{path}.azureInputs.{key}",
                    value,
                    f"the package sets {key} to {ours!r}",
                    "remove it here and use the setting",
                    "aks-dra: planning/pools",
                )


CHECKS = (somebody_can_log_in, location, existing_ids, raw_inputs)
