"""Settings of what is around the cluster in Azure: network, identities, monitoring.

Whatever is a resource of its own follows one idiom: `{existing: <ARM id>}` for one that is there, or the inputs of a
new one. Subnets, route tables and DNS zones are always somebody's own, so they are named by their ids.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from aks_dra.settings.base import Bool, Int, Model, Str


class Existing(Model):
    """Something that is there already, by its Azure Resource Manager id."""

    existing: Str = Field(description="ARM id, beginning with /subscriptions/")


class Network(Model):
    """The cluster's network. Nearly all of it is fixed at creation: a change replaces the cluster.

    With a subnet, a route table or a DNS zone of your own the cluster's identity needs rights on them before the
    cluster exists, so such a cluster has a user-assigned identity (see `identity`) and gets them from this package.
    """

    subnet_id: Str | None = Field(None, description="ARM id of a subnet of your own; default: AKS makes a network")
    plugin: Literal["azureOverlay", "azure", "none"] = Field(
        "azureOverlay", description="none: you install a network plugin yourself"
    )
    dataplane: Literal["azure", "cilium"] = Field("azure", description="cilium also enforces network policies")
    outbound_type: Literal[
        "loadBalancer", "userDefinedRouting", "managedNATGateway", "userAssignedNATGateway", "none"
    ] = Field("loadBalancer", description="how nodes reach the internet")
    route_table_id: Str | None = Field(None, description="userDefinedRouting: the route table of the subnet")
    private_cluster: Bool = Field(
        False,
        description="the API server has a private address only; `pulumi up` must run on a machine that reaches it",
    )
    private_dns_zone: Literal["system", "none"] | Existing | None = Field(
        None, description="private cluster: system (default), none, or {existing: ARM id of your zone}"
    )
    pod_cidr: Str | None = Field(None, description="azureOverlay: addresses of pods, /24 a node; AKS: 10.244.0.0/16")
    service_cidr: Str | None = Field(None, description="addresses of services; AKS: 10.0.0.0/16")
    dns_service_ip: Str | None = Field(None, description="default: the tenth address of serviceCidr")


class Identity(Model):
    """A user-assigned identity: `{existing: id}`, or one that the package makes (`{}` or `{name: ...}`)."""

    existing: Str | None = Field(None, description="ARM id of an identity that exists")
    name: Str | None = Field(None, description="name of a new one; default: id-<cluster> or id-<cluster>-kubelet")
    assign_roles: Bool = Field(True, description="false: it has the rights that it needs already")


class LogAnalytics(Model):
    """A Log Analytics workspace: `{existing: id}`, or one that the package makes."""

    existing: Str | None = Field(None, description="ARM id of a workspace that exists")
    name: Str | None = Field(None, description="name of a new one; default: log-<cluster>")
    retention_days: Int | None = Field(None, description="new one: how long logs are kept, 30 to 730; default 30")


class Monitoring(Model):
    """What the cluster reports, and where to. Metrics of GPUs: `gpu.dcgmExporter`."""

    log_analytics: LogAnalytics | None = Field(None, description="container logs; default: none are collected")
