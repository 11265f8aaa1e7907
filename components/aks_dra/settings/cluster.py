"""Settings of the AKS cluster: `aks-dra:cluster`.

One inline system pool; every other pool is a resource of its own, since a change to an inline pool moves the
whole cluster. What exists already is named by `{existing: <ARM id>}`, everywhere in the same way.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from aks_dra.settings.base import Bool, Int, LabelValue, Model, Str, Version


class Existing(Model):
    """Something that is there already, by its Azure Resource Manager id."""

    existing: Str = Field(description="ARM id, beginning with /subscriptions/")


class Nodes(Model):
    """How many nodes a pool has: either `count`, or `min` and `max` for the autoscaler (`initial` to start with)."""

    count: Int | None = Field(None, description="fixed number of nodes, 0 to 1000")
    min: Int | None = Field(None, description="fewest nodes when the autoscaler runs the pool")
    max: Int | None = Field(None, description="most nodes when the autoscaler runs the pool")
    initial: Int | None = Field(None, description="nodes at creation; default: min. Ignored by later updates")

    @property
    def autoscaled(self) -> bool:
        return self.min is not None or self.max is not None


class SystemPool(Model):
    """The one inline pool of the cluster: it runs the controllers and is deleted with the cluster."""

    name: Str = "system"
    vm_size: Str = "Standard_D4ds_v5"
    nodes: Nodes = Nodes(count=3)
    os_sku: Str = "Ubuntu"
    zones: tuple[Str, ...] = ()
    max_pods: Int | None = None


class Access(Model):
    """Who may log in. Local accounts are off by default, so admin groups or Azure RBAC must be set."""

    admin_groups: tuple[Str, ...] = Field((), description="object ids of Entra groups that administer the cluster")
    azure_rbac: Bool = Field(False, description="Kubernetes authorisation by Azure role assignments")
    local_accounts: Bool = Field(False, description="the cluster's own certificate login")
    authorized_ip_ranges: tuple[Str, ...] = Field((), description="CIDRs that may reach the API server; empty: all")
    login: Literal["azurecli", "workloadidentity", "msi", "servicePrincipal"] = Field(
        "azurecli", description="how kubelogin authenticates when local accounts are off"
    )
    workload_identity: Bool = True


class Network(Model):
    """The cluster's network. Everything here is fixed at creation but the outbound type's details."""

    subnet_id: Str | None = None
    plugin: Literal["azureOverlay", "azure", "none"] = "azureOverlay"
    dataplane: Literal["azure", "cilium"] = "azure"
    outbound_type: Literal["loadBalancer", "userDefinedRouting", "managedNATGateway", "userAssignedNATGateway"] = (
        "loadBalancer"
    )
    private_cluster: Bool = False
    pod_cidr: Str | None = None
    service_cidr: Str | None = None
    dns_service_ip: Str | None = None


class ClusterSettings(Model):
    """`aks-dra:cluster`. Every default is safe: standard tier, no local accounts, protected against deletion.

    With `existing` set (the cluster's ARM id) nothing of the cluster is made or changed; pools and everything
    in the cluster are added to it.
    """

    name: Str | None = Field(None, description="default: <project>-<stack>")
    location: Str | None = Field(None, description="default: azure-native:location")
    existing: Str | None = Field(None, description="ARM id of a cluster that exists")
    resource_group: Str | Existing | None = Field(None, description="name of a new one, or {existing: id}")
    node_resource_group: Str | None = None
    dns_prefix: Str | None = None
    kubernetes_version: Version | None = Field(None, description="'1.36' means its latest patch")
    tier: Literal["Free", "Standard", "Premium"] = "Standard"
    lts: Bool = False
    system_pool: SystemPool = SystemPool()
    access: Access = Access()
    network: Network = Network()
    identity: Existing | None = Field(None, description="user-assigned identity; default: system-assigned")
    tags: dict[Str, LabelValue] = {}
    protect: Bool = True
    azure_inputs: dict[Str, Any] = Field(
        {}, description="raw ManagedCluster properties that this package has no setting for"
    )
