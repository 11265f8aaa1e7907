"""One GPU pool: an AgentPool of its own, so that a change to it never touches the cluster's resource.

A pool's name is fixed in Azure, so a replacement deletes first. Deleting drains the nodes and honours disruption
budgets, which takes as long as the pods there allow; hence the patient timeouts.
"""

from __future__ import annotations

from typing import Any

import pulumi

from aks_dra.facts.arm import POOL
from aks_dra.model.plan import Plan, PlannedPool
from aks_dra.resources import access, holdings, twins
from aks_dra.resources.aks_cluster import AksCluster
from aks_dra.resources.args import Args, plan_of
from aks_dra.resources.azure_inputs import arguments
from aks_dra.resources.part import PACKAGE

# GPU capacity may be slow to come, and a reimage goes node by node.
_TIMEOUTS = pulumi.CustomTimeouts(create="60m", update="120m", delete="90m")


class GpuPool(pulumi.ComponentResource):
    """The pool named `pool` in the settings, on the cluster `cluster`.

    Without `cluster` the pool goes to the cluster that the settings name: `cluster.existing`, or its resource
    group and name; `opts.deleted_with` is its resource, if the same program makes it.
    """

    def __init__(
        self,
        name: str,
        args: Args,
        pool: str,
        opts: pulumi.ResourceOptions | None = None,
        *,
        cluster: AksCluster | None = None,
    ) -> None:
        self.plan: Plan = plan_of(args)
        self.planned: PlannedPool = _find(self.plan, pool)
        place = cluster.place if cluster is not None else holdings.place_of(self.plan.cluster, opts)
        twins.take(self, name, self.plan, opts, [holdings.pool(self.planned.name, place)])
        super().__init__(f"{PACKAGE}:GpuPool", name, None, opts)
        from pulumi_azure_native import containerservice

        group, cluster_name = _cluster_names(self.plan, cluster)
        within = opts.deleted_with if opts else None
        own = pulumi.ResourceOptions(
            parent=self,
            deleted_with=within,
            replace_with=[within] if within else None,
            depends_on=[within] if within else None,
            protect=self.planned.protect,
            delete_before_replace=True,
            replace_on_changes=list(self.planned.replace_on_changes),
            ignore_changes=list(self.planned.ignore_changes),
            custom_timeouts=_TIMEOUTS,
        )
        waits_for = pulumi.ResourceOptions(depends_on=opts.depends_on if opts else None)
        self.agent_pool = containerservice.AgentPool(
            f"{name}-agent-pool",
            resource_group_name=group,
            resource_name_=cluster_name,
            agent_pool_name=self.planned.name,
            **arguments(self.planned.inputs, POOL),
            opts=pulumi.ResourceOptions.merge(waits_for, own),
        )
        self.pool_id: pulumi.Output[str] = self.agent_pool.id
        self.description: dict[str, Any] = described(self.planned)
        self.register_outputs({"poolId": self.pool_id, **self.description})


def described(pool: PlannedPool) -> dict[str, Any]:
    """What a workload has to know of a pool: labels, taints, device classes, and what to merge into a pod's spec."""
    return {
        "vmSize": pool.vm_size,
        "allocation": pool.allocation,
        "minNodes": pool.inputs.get("minCount", pool.first_nodes),
        "labels": dict(pool.labels),
        "taints": list(pool.taints),
        "deviceClasses": list(pool.device_classes),
        "extendedResources": dict(pool.extended_resources),
        "pod": {
            "nodeSelector": dict(pool.pod.node_selector),
            "tolerations": [dict(toleration) for toleration in pool.pod.tolerations],
        },
    }


def _find(plan: Plan, pool: str) -> PlannedPool:
    for planned in plan.pools:
        if planned.name == pool:
            return planned
    names = ", ".join(planned.name for planned in plan.pools) or "none"
    raise pulumi.RunError(f"There is no pool {pool!r} in the settings; the pools there are: {names}.")


def _cluster_names(plan: Plan, cluster: AksCluster | None) -> tuple[pulumi.Input[str], pulumi.Input[str]]:
    if cluster is not None:
        return cluster.resource_group_name, cluster.cluster_name
    if plan.cluster.existing:
        found = access.parse_cluster_id(plan.cluster.existing)
        return found.resource_group, found.name
    return plan.cluster.resource_group, plan.cluster.name
