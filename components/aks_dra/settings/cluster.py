"""Settings of the AKS cluster: `aks-dra:cluster`.

One inline system pool; every other pool is a resource of its own, since a change to an inline pool moves the
whole cluster. What exists already is named by `{existing: <ARM id>}`, everywhere in the same way.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from aks_dra.settings.azure import Existing, Identity, Monitoring, Network
from aks_dra.settings.base import Bool, Int, LabelValue, Model, Str, Version, Zone


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

    name: Str = Field("system", description="name of the pool in AKS")
    vm_size: Str = Field("Standard_D4ds_v5", description="Azure VM size, without GPUs")
    nodes: Nodes = Field(Nodes(count=3), description="how many nodes; default: three, fixed")
    os_sku: Str = Field("Ubuntu", description="operating system of the nodes, as in AKS (osSKU)")
    zones: tuple[Zone, ...] = Field((), description="availability zones, e.g. [1, 2, 3]; default: none is asked for")
    max_pods: Int | None = Field(None, description="most pods on a node; default: AKS's for the network plugin")


class Access(Model):
    """Who may log in. Local accounts are off by default, so admin groups or Azure RBAC must be set."""

    admin_groups: tuple[Str, ...] = Field((), description="object ids of Entra groups that administer the cluster")
    azure_rbac: Bool = Field(False, description="Kubernetes authorisation by Azure role assignments")
    local_accounts: Bool = Field(False, description="the cluster's own certificate login")
    authorized_ip_ranges: tuple[Str, ...] = Field((), description="CIDRs that may reach the API server; empty: all")
    login: Literal["azurecli", "workloadidentity", "msi", "servicePrincipal"] | None = Field(
        None, description="how kubelogin authenticates; default: the local account where there is one, else azurecli"
    )
    workload_identity: Bool = Field(
        True, description="pods get Entra tokens by their service account; needs oidcIssuer"
    )
    oidc_issuer: Bool = Field(True, description="issuer of service account tokens; once on, Azure keeps it on")


class ClusterSettings(Model):
    """`aks-dra:cluster`. Every default is safe: standard tier, no local accounts, protected against deletion.

    With `existing` set (the cluster's ARM id) nothing of the cluster is made or changed; pools and everything
    in the cluster are added to it.
    """

    name: Str | None = Field(None, description="default: <project>-<stack>")
    location: Str | None = Field(None, description="default: azure-native:location")
    existing: Str | None = Field(None, description="ARM id of a cluster that exists")
    resource_group: Str | Existing | None = Field(None, description="name of a new one, or {existing: id}")
    node_resource_group: Str | None = Field(
        None, description="name of the group that AKS makes for the nodes; default: MC_<group>_<cluster>_<location>"
    )
    dns_prefix: Str | None = Field(None, description="first part of the API server's name; default: the cluster's name")
    kubernetes_version: Version | None = Field(None, description="'1.36' means its latest patch")
    tier: Literal["Free", "Standard", "Premium"] = Field(
        "Standard", description="AKS pricing tier: Free has no uptime SLA, long-term support needs Premium"
    )
    lts: Bool = Field(False, description="long-term support of the Kubernetes version; needs tier Premium")
    system_pool: SystemPool = Field(SystemPool(), description="the pool without GPUs that runs the controllers")
    access: Access = Field(Access(), description="who may log in, and how the program does")
    network: Network = Field(Network(), description="network plugin, addresses, private API server")
    identity: Identity | None = Field(
        None,
        description="the cluster's user-assigned identity; default: one that the package makes where something needs "
        "it before the cluster is there (own subnet, route table, DNS zone, kubelet identity), else system-assigned",
    )
    kubelet_identity: Identity | None = Field(
        None, description="identity of the nodes, which pulls images; default: one that AKS makes"
    )
    registries: tuple[Str, ...] = Field((), description="ARM ids of container registries that the nodes may pull from")
    monitoring: Monitoring = Field(Monitoring(), description="where logs go; default: nowhere")
    maintenance: dict[Str, dict[Str, Any]] = Field(
        {}, description="maintenance windows by name: raw properties of a MaintenanceConfiguration"
    )
    tags: dict[Str, LabelValue] = Field({}, description="Azure tags of the cluster, over those of the stack")
    protect: Bool = Field(True, description="Pulumi refuses to delete cluster and pools until this is false")
    azure_inputs: dict[Str, Any] = Field(
        {}, description="raw ManagedCluster properties that this package has no setting for"
    )
