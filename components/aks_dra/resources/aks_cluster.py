"""The AKS cluster, made or found: its resource group, the managed cluster with one inline system pool, the login.

One inline pool only: every further pool is a resource of its own, since Azure's cluster carries its inline pools
in one list and a change to one of them is a change to the cluster. Names are fixed, so a replacement has to
delete first: creating first would update the old cluster under its name and then delete it.
"""

from __future__ import annotations

import pulumi

from aks_dra.facts.arm import CLUSTER, MAINTENANCE
from aks_dra.model.plan import Plan
from aks_dra.resources import access, holdings, identity, monitoring, twins
from aks_dra.resources.args import Args, plan_of
from aks_dra.resources.azure_inputs import arguments
from aks_dra.resources.part import PACKAGE

# Azure gives up after an hour by itself; a cluster with many pools takes longer to update than to create.
_TIMEOUTS = pulumi.CustomTimeouts(create="60m", update="120m", delete="60m")


class AksCluster(pulumi.ComponentResource):
    """An AKS cluster and the provider for what is in it.

    With `cluster.existing` in the settings nothing is created: the outputs describe the cluster that is there. Where
    the same program makes it, `opts.deleted_with` is its resource.
    With a Kubernetes provider in `opts`, that one is used and no credentials are asked for.
    """

    def __init__(self, name: str, args: Args, opts: pulumi.ResourceOptions | None = None) -> None:
        self.plan: Plan = plan_of(args)
        self.place = holdings.place_of(self.plan.cluster, opts)
        twins.take(self, name, self.plan, opts, holdings.of_cluster(self.plan.cluster, self.place))
        super().__init__(f"{PACKAGE}:AksCluster", name, None, opts)
        self.managed_cluster: pulumi.CustomResource | None = None
        # What makes the cluster, if it is in this program: all that is in the cluster begins and ends with it.
        self.resource: pulumi.Resource | None = opts.deleted_with if opts else None
        self.rights: list[pulumi.Resource] = []
        self.cluster_id: pulumi.Output[str]
        self.cluster_name: pulumi.Output[str]
        self.resource_group_name: pulumi.Output[str]
        self.oidc_issuer: pulumi.Output[str]
        self.node_resource_group: pulumi.Output[str]
        if self.plan.cluster.existing:
            self._find(name)
        else:
            self._make(name)
        self._log_in(name)
        self.register_outputs(
            {
                "clusterId": self.cluster_id,
                "clusterName": self.cluster_name,
                "resourceGroupName": self.resource_group_name,
                "kubeconfig": self.kubeconfig,
                "oidcIssuer": self.oidc_issuer,
                "nodeResourceGroup": self.node_resource_group,
            }
        )

    def _find(self, name: str) -> None:
        from pulumi_azure_native import containerservice

        found = access.parse_cluster_id(self.plan.cluster.existing)
        self.cluster_id = pulumi.Output.from_input(self.plan.cluster.existing)
        self.cluster_name = pulumi.Output.from_input(found.name)
        self.resource_group_name = pulumi.Output.from_input(found.resource_group)
        cluster = containerservice.get_managed_cluster_output(
            resource_group_name=found.resource_group,
            resource_name=found.name,
            opts=access.asked_later(self, self.resource),
        )
        self.oidc_issuer = cluster.apply(lambda c: _issuer(c.oidc_issuer_profile))
        self.node_resource_group = cluster.apply(lambda c: c.node_resource_group or "")
        self._open_registries(name, {})

    def _make(self, name: str) -> None:
        from pulumi_azure_native import containerservice

        planned = self.plan.cluster
        self.resource_group_name = self._resource_group(name)
        group = self.resource_group_name
        identities = identity.register_identities(name, planned, group, self)
        first = [role for role in planned.roles if role.before_cluster]
        rights = identity.register_roles(name, first, identities, self)
        workspace = monitoring.register_workspace(name, planned, group, self)
        inputs = monitoring.with_workspace(identity.with_identities(planned.inputs, identities, self), workspace)
        given = {"location": planned.location, "tags": dict(planned.tags) or None, **inputs}
        cluster = containerservice.ManagedCluster(
            f"{name}-aks",
            resource_group_name=self.resource_group_name,
            resource_name_=planned.name,
            **arguments({key: value for key, value in given.items() if value is not None}, CLUSTER),
            opts=pulumi.ResourceOptions(
                parent=self,
                depends_on=rights,
                protect=planned.protect,
                delete_before_replace=True,
                ignore_changes=list(planned.ignore_changes),
                custom_timeouts=_TIMEOUTS,
            ),
        )
        self.managed_cluster = self.resource = cluster
        self.cluster_id = cluster.id
        self.cluster_name = _name_behind(cluster, planned.name)
        self._open_registries(name, identities)
        monitoring.collect_logs(name, planned, group, workspace, cluster.id, self)
        self._plan_maintenance(name)
        self.oidc_issuer = cluster.oidc_issuer_profile.apply(_issuer)
        self.node_resource_group = cluster.node_resource_group.apply(lambda group: group or "")

    def _open_registries(self, name: str, identities: dict[str, pulumi.Output[str]]) -> None:
        """Lets the nodes pull images; what runs images from there waits for it."""
        later = [role for role in self.plan.cluster.roles if not role.before_cluster]
        self.rights = identity.register_roles(name, later, identities, self, self.cluster_id)

    def _plan_maintenance(self, name: str) -> None:
        from pulumi_azure_native import containerservice

        for config_name, inputs in self.plan.cluster.maintenance.items():
            containerservice.MaintenanceConfiguration(
                f"{name}-maintenance-{config_name}",
                resource_group_name=self.resource_group_name,
                resource_name_=self.cluster_name,
                config_name=config_name,
                **arguments(inputs, MAINTENANCE),
                opts=pulumi.ResourceOptions(parent=self, delete_before_replace=True),
            )

    def _resource_group(self, name: str) -> pulumi.Output[str]:
        planned = self.plan.cluster
        if not planned.create_resource_group:
            return pulumi.Output.from_input(planned.resource_group)
        from pulumi_azure_native.resources import ResourceGroup

        group = ResourceGroup(
            f"{name}-resource-group",
            resource_group_name=planned.resource_group,
            location=planned.location,
            tags=dict(planned.tags) or None,
            opts=pulumi.ResourceOptions(parent=self, protect=planned.protect, delete_before_replace=True),
        )
        return _name_behind(group, planned.resource_group)

    def _log_in(self, name: str) -> None:
        given = access.given_provider(self)
        if given is not None:
            self.provider: pulumi.ProviderResource = given
            self.kubeconfig: pulumi.Output[str] = pulumi.Output.secret("")
            return
        planned = self.plan.cluster
        made_elsewhere = self.resource if planned.existing else None
        self.kubeconfig = access.kubeconfig_of(self.cluster_id, planned.login, self, made_elsewhere)
        identifier = planned.existing or f"{planned.resource_group}/{planned.name}"
        self.provider = access.in_cluster_provider(
            f"{name}-kubernetes", identifier, self.kubeconfig, self, self.resource
        )
        twins.leads_to(self.provider, self.place)


def _name_behind(resource: pulumi.CustomResource, name: str) -> pulumi.Output[str]:
    """The name as an output that is unknown only before the resource exists or while it is replaced.

    So an update of the resource leaves what is in it alone, and a replacement takes it along, in the right order.
    """
    known_by_id: pulumi.Output[str] = resource.id.apply(lambda _: name)
    return known_by_id


def _issuer(profile: object) -> str:
    return str(getattr(profile, "issuer_url", None) or "")
