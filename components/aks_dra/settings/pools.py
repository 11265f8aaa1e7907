"""Settings of GPU pools: `aks-dra:pools` and `aks-dra:testPool`.

A pool is served either by DRA or by the device plugin, for its whole life. MIG is a property of its hardware;
time-slicing and MPS are a property of the pool for the device plugin, and a default for its claims under DRA.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from aks_dra.settings.base import Bool, Int, LabelValue, Model, Number, Str, Version
from aks_dra.settings.cluster import Nodes

Allocation = Literal["dra", "devicePlugin"]
DriverOwner = Literal["operator", "aks"]


class MigGroup(Model):
    """One entry of a custom MIG layout: the same partitions on the named GPUs of a node."""

    devices: Literal["all"] | tuple[Int, ...] = Field("all", description="GPU indices on the node, from 0")
    profiles: dict[Str, Int] = Field(description="MIG profile to how many of it, e.g. {3g.40gb: 1, 1g.10gb: 3}")


class Sharing(Model):
    """How one GPU of the pool is shared."""

    mode: Literal["exclusive", "mig", "timeSlicing", "mps"] = "exclusive"
    layout: Str | tuple[MigGroup, ...] | None = Field(
        None, description="mode mig: a stock layout such as all-1g.10gb or all-balanced, or groups of your own"
    )
    strategy: Literal["single", "mixed"] | None = Field(None, description="mode mig on the device plugin")
    replicas: Int | None = Field(None, description="device plugin: how often one GPU is advertised, at least 2")
    rename: Bool = Field(False, description="device plugin: advertise nvidia.com/gpu.shared")
    fail_requests_greater_than_one: Bool = False
    interval: Literal["Default", "Short", "Medium", "Long"] | None = Field(
        None, description="DRA time-slicing: length of the time slice"
    )
    active_thread_percentage: Int | None = Field(None, description="DRA MPS: 0 to 100")
    pinned_memory_limit: Str | None = Field(None, description="DRA MPS: quantity, e.g. 4Gi")


class Spot(Model):
    """Spot capacity: may be taken away at any time."""

    max_price: Number = Field(-1.0, description="US dollars per hour; -1: up to the regular price")
    eviction_policy: Literal["Delete", "Deallocate"] = "Delete"


class Pool(Model):
    """One GPU pool, an AgentPool of its own. The key in the map is its name in AKS."""

    vm_size: Str
    nodes: Nodes = Nodes(count=1)
    allocation: Allocation = "dra"
    sharing: Sharing = Sharing()
    driver: DriverOwner | None = Field(None, description="default: gpu.driver")
    labels: dict[Str, LabelValue] = {}
    taints: tuple[Str, ...] = Field((), description="key=value:Effect; none by default")
    spot: Spot | Bool = False
    zones: tuple[Str, ...] = ()
    kubernetes_version: Version | None = Field(None, description="default: the cluster's")
    os_sku: Str = "Ubuntu"
    os_disk_size_gb: Int | None = None
    os_disk_type: Literal["Managed", "Ephemeral"] | None = None
    max_pods: Int | None = None
    subnet_id: Str | None = None
    max_surge: Str | None = None
    drain_timeout_minutes: Int | None = None
    capacity_reservation_group: Str | None = None
    tags: dict[Str, LabelValue] = {}
    allow_replace: Bool = False
    protect: Bool | None = Field(None, description="default: the cluster's")
    azure_inputs: dict[Str, Any] = Field({}, description="raw AgentPool properties without a setting here")


class TestPool(Model):
    """A small tainted pool to try things on: the cheapest T4 size unless said otherwise."""

    __test__ = False  # not a test class, whatever its name begins with

    enabled: Bool = False
    name: Str = "gputest"
    vm_size: Str = "Standard_NC4as_T4_v3"
    nodes: Nodes = Nodes(count=1)
    spot: Spot | Bool = False
    namespace: Str = "gpu-test"
