"""Settings of GPU pools: `aks-dra:pools` and `aks-dra:testPool`.

A pool is served either by DRA or by the device plugin, for its whole life. MIG is a property of its hardware;
time-slicing and MPS are a property of the pool for the device plugin, and a default for its claims under DRA.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from aks_dra.settings.base import Bool, Int, LabelValue, Model, Number, Str, Version, Zone
from aks_dra.settings.cluster import Nodes

Allocation = Literal["dra", "devicePlugin"]
DriverOwner = Literal["operator", "aks"]


def _pci_id(value: Any) -> Any:
    # Unquoted, 0x20B510DE is a number in YAML, and no digit of it is lost.
    return f"0x{value:08X}" if isinstance(value, int) and not isinstance(value, bool) else value


PciId = Annotated[Str, BeforeValidator(_pci_id)]


class MigGroup(Model):
    """One entry of a custom MIG layout: the same partitions on the named GPUs of a node."""

    devices: Literal["all"] | tuple[Int, ...] = Field("all", description="GPU indices on the node, from 0")
    device_filter: PciId | tuple[PciId, ...] | None = Field(
        None, description="only GPUs with this PCI id, e.g. 0x20B510DE: for a layout that pools of other GPUs share"
    )
    profiles: dict[Str, Int] = Field(
        description="MIG profile to how many of it, e.g. {3g.40gb: 1, 1g.10gb: 3}; {}: the GPU stays whole"
    )


class Sharing(Model):
    """How one GPU of the pool is shared."""

    mode: Literal["exclusive", "mig", "dynamicMig", "timeSlicing", "mps"] = Field(
        "exclusive", description="dynamicMig: DRA cuts the GPU as claims ask for it (alpha, Kubernetes 1.36 and later)"
    )
    layout: Str | tuple[MigGroup, ...] | None = Field(
        None, description="mode mig: a stock layout such as all-1g.10gb or all-balanced, or groups of your own"
    )
    strategy: Literal["single", "mixed"] | None = Field(None, description="mode mig on the device plugin")
    replicas: Int | None = Field(
        None, description="device plugin: how often one GPU, or one MIG partition, is advertised; at least 2"
    )
    rename: Bool = Field(False, description="device plugin: advertise nvidia.com/gpu.shared")
    fail_requests_greater_than_one: Bool = Field(
        False, description="device plugin: a container may ask for one share only; always so with mps"
    )
    interval: Literal["Default", "Short", "Medium", "Long"] | None = Field(
        None, description="DRA time-slicing: length of the time slice"
    )
    active_thread_percentage: Int | None = Field(None, description="DRA MPS: 0 to 100")
    pinned_memory_limit: Str | None = Field(None, description="DRA MPS: quantity, e.g. 4Gi")


class Spot(Model):
    """Spot capacity: may be taken away at any time."""

    max_price: Number = Field(-1.0, description="US dollars per hour; -1: up to the regular price")
    eviction_policy: Literal["Delete", "Deallocate"] = Field(
        "Delete", description="what becomes of a node that is taken away: deleted, or stopped and kept (still in quota)"
    )


class Pool(Model):
    """One GPU pool, an AgentPool of its own. The key in the map is its name in AKS."""

    vm_size: Str = Field(description="Azure VM size with NVIDIA GPUs, e.g. Standard_NC24ads_A100_v4")
    nodes: Nodes = Field(Nodes(count=1), description="how many nodes; default: one, fixed")
    allocation: Allocation = Field("dra", description="who hands out the GPUs: DRA or NVIDIA's device plugin")
    sharing: Sharing = Field(Sharing(), description="how one GPU is shared; default: exclusive, no sharing")
    driver: DriverOwner | None = Field(None, description="default: gpu.driver")
    labels: dict[Str, LabelValue] = Field({}, description="further labels of the nodes")
    taints: tuple[Str, ...] = Field((), description="key=value:Effect; none by default")
    spot: Spot | Bool = Field(False, description="spot capacity; true: with the defaults of Spot")
    zones: tuple[Zone, ...] = Field((), description="availability zones, e.g. [1, 2]; default: none is asked for")
    kubernetes_version: Version | None = Field(None, description="default: the cluster's")
    os_sku: Str = Field("Ubuntu", description="operating system of the nodes, as in AKS (osSKU)")
    os_disk_size_gb: Int | None = Field(None, description="OS disk in GiB; default: AKS's for the size")
    os_disk_type: Literal["Managed", "Ephemeral"] | None = Field(
        None, description="OS disk on the network or on the machine itself; default: AKS's for the size"
    )
    max_pods: Int | None = Field(None, description="most pods on a node; default: AKS's for the network plugin")
    subnet_id: Str | None = Field(
        None, description="ARM id of a subnet for this pool's nodes; default: cluster.network.subnetId"
    )
    fips: Bool = Field(False, description="nodes with FIPS-validated cryptography")
    max_surge: Str | Int | None = Field(
        None, description='nodes added during an upgrade: a number or a share such as "10%" (AKS\'s default)'
    )
    max_unavailable: Str | Int | None = Field(
        None, description="nodes that an upgrade may take away at a time; with maxSurge 0 no spare GPU is needed"
    )
    drain_timeout_minutes: Int | None = Field(None, description="patience with pods during an upgrade: 5 to 1440")
    node_soak_minutes: Int | None = Field(None, description="pause after each node during an upgrade: 0 to 30")
    undrainable_nodes: Literal["Cordon", "Schedule"] | None = Field(
        None, description="nodes that cannot be drained in an upgrade: set aside, or back into service (AKS's default)"
    )
    capacity_reservation_group: Str | None = Field(None, description="ARM id of a capacity reservation group")
    tags: dict[Str, LabelValue] = Field({}, description="Azure tags of this pool, over those of the stack")
    allow_replace: Bool = Field(
        False, description="a change that Azure cannot make in place deletes the pool and makes it anew"
    )
    protect: Bool | None = Field(None, description="default: the cluster's")
    azure_inputs: dict[Str, Any] = Field({}, description="raw AgentPool properties without a setting here")


class SmokeTestSettings(Model):
    """A Job on the test pool that gets a GPU by a claim; `pulumi up` fails when it does not end well in time."""

    enabled: Bool = Field(True, description="run it whenever the test pool, its class or the GPU software changes")
    timeout_seconds: Int = Field(900, description="how long one of its two Jobs may take, waiting for the GPU included")
    image: Str | None = Field(None, description="an image with sh; nvidia-smi comes with the driver. Default: NVIDIA's")


class TestPool(Model):
    """A small tainted pool to try things on: the cheapest T4 size unless said otherwise."""

    __test__ = False  # not a test class, whatever its name begins with

    enabled: Bool = Field(False, description="whether there is a test pool")
    name: Str = Field("gputest", description="name of the pool in AKS")
    vm_size: Str = Field("Standard_NC4as_T4_v3", description="Azure VM size; default: the cheapest with a T4")
    nodes: Nodes = Field(Nodes(count=1), description="how many nodes; default: one, fixed")
    spot: Spot | Bool = Field(False, description="spot capacity; true: with the defaults of Spot")
    namespace: Str = Field("gpu-test", description="namespace of its claim template and of the smoke test")
    smoke_test: SmokeTestSettings = Field(SmokeTestSettings(), description="the Jobs that `pulumi up` waits for; on")
