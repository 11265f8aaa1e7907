"""The plan as a cluster would show it: Nodes with labels, taints and capacity, ResourceSlices with devices, classes.

Values that only a node knows are invented here where the scheduler needs one: ids by node and device, one driver
version for all. A result that rests on such a value says so. What may be missing on a node is left out.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from aks_dra.facts import Facts, load_facts
from aks_dra.kube import quantity
from aks_dra.kube.devices import MAYBE, UNKNOWN, Device, Version
from aks_dra.model.plan import Plan, PlannedPool
from aks_dra.simulate.classes import known_classes
from aks_dra.simulate.cluster import RUN_LABEL
from aks_dra.simulate.necessary import node_labels

T = TypeVar("T")
Nodes = Literal["first", "max"]
SEED = uuid.UUID("2f9cf7a0-9a55-4c58-b8b4-7f1d64a0a1d3")
# For sizes outside the table, by the family's letter: GiB for each vCPU.
GIB_PER_VCPU = {"b": 4, "d": 4, "e": 8, "f": 2}
SIZE = re.compile(r"^standard_([a-z]+?)(\d+)(?:-\d+)?[a-z]*(?:_|$)", re.IGNORECASE)
UNKNOWN_SIZE = (8, 32)
DRIVER_VERSION = "580.159.4"
CUDA_VERSION = "13.0.0"
# The share of a machine that AKS leaves to pods, roughly: it keeps less of large ones.
LEFT_PERCENT = 92


@dataclass(frozen=True)
class NodePool:
    """A pool as far as its Nodes go; the system pool is one of them."""

    name: str
    vm_size: str
    count: int
    labels: Mapping[str, str]
    taints: tuple[str, ...]
    pods: int
    resources: Mapping[str, int]
    devices: tuple[Device, ...]
    place: str = "nowhere"
    zones: tuple[str, ...] = ()


def node_pools(plan: Plan, nodes: Nodes = "first") -> list[NodePool]:
    """Every pool of the plan; `max` takes an autoscaled pool at its largest."""
    place = plan.cluster.location or "nowhere"
    found = []
    for profile in plan.cluster.inputs.get("agentPoolProfiles") or ():
        name = str(profile["name"])
        labels = {
            "agentpool": name,
            "kubernetes.azure.com/agentpool": name,
            "kubernetes.azure.com/mode": str(profile.get("mode", "System")).lower(),
            "kubernetes.io/os": "linux",
            "node.kubernetes.io/instance-type": str(profile["vmSize"]),
            **(profile.get("nodeLabels") or {}),
        }
        taints = tuple(profile.get("nodeTaints") or ())
        count = _count(profile, int(profile.get("count", 1)), nodes)
        pods, zones = int(profile.get("maxPods", 110)), tuple(profile.get("availabilityZones") or ())
        found.append(NodePool(name, str(profile["vmSize"]), count, labels, taints, pods, {}, (), place, zones))
    return [*found, *(gpu_node_pool(pool, place, _count(pool.inputs, pool.first_nodes, nodes)) for pool in plan.pools)]


def gpu_node_pool(pool: PlannedPool, place: str, count: int) -> NodePool:
    return NodePool(
        pool.name,
        pool.vm_size,
        count,
        node_labels(pool),
        pool.taints,
        int(pool.inputs.get("maxPods", 110)),
        pool.extended_resources,
        pool.all_devices,
        place,
        tuple(pool.inputs.get("availabilityZones") or ()),
    )


def _count(inputs: Mapping[str, Any], first: int, nodes: Nodes) -> int:
    return int(inputs.get("maxCount") or first) if nodes == "max" else first


def node_names(pool: NodePool) -> list[str]:
    """As a scale set names them, but for the cluster's number."""
    return [f"aks-{pool.name}-vmss{index:06d}" for index in range(pool.count)]


def machine(facts: Facts, vm_size: str) -> tuple[int, int, str]:
    """vCPUs, GiB and architecture of a size; a rule of thumb where the table has none."""
    size = facts.vm_size(vm_size)
    if size:
        return size.vcpus, size.memory_gib or size.vcpus * 7, size.arch
    found = SIZE.match(vm_size)
    if found is None:
        return *UNKNOWN_SIZE, "amd64"
    vcpus = int(found[2])
    return vcpus, vcpus * GIB_PER_VCPU.get(found[1][0].lower(), 4), "amd64"


def node_manifest(pool: NodePool, name: str, index: int, facts: Facts, run: str, now: str) -> dict[str, Any]:
    vcpus, gib, arch = machine(facts, pool.vm_size)
    room = {
        "cpu": f"{vcpus * 10 * LEFT_PERCENT}m",
        "memory": f"{gib * 1024 * LEFT_PERCENT // 100}Mi",
        "ephemeral-storage": "115Gi",
        "pods": str(pool.pods),
        **{key: str(number) for key, number in pool.resources.items()},
    }
    zone = f"{pool.place}-{pool.zones[index % len(pool.zones)]}" if pool.zones else "0"
    labels = {
        "kubernetes.io/hostname": name,
        "kubernetes.io/arch": arch,
        "topology.kubernetes.io/region": pool.place,
        "topology.kubernetes.io/zone": zone,
        **pool.labels,
        RUN_LABEL: run,
    }
    conditions = [{"type": "Ready", "status": "True", "reason": "Simulated", "lastHeartbeatTime": now}]
    manifest: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": {"capacity": room, "allocatable": room, "conditions": conditions},
    }
    if pool.taints:
        manifest["spec"] = {"taints": [taint(text) for text in pool.taints]}
    return manifest


def taint(text: str) -> dict[str, str]:
    key_value, _, effect = text.rpartition(":")
    key, equals, value = key_value.partition("=")
    return {"key": key, "effect": effect, **({"value": value} if equals else {})}


def slice_manifests(devices: Iterable[Device], node: str, run: str) -> Iterator[dict[str, Any]]:
    """The slices of one node: one resource pool for each driver, in as many slices as its devices need.

    Counters that devices share lie in slices of their own, before those of the devices.
    """
    by_driver: dict[str, list[Device]] = {}
    for device in devices:
        by_driver.setdefault(device.driver, []).append(device)
    for driver, own in by_driver.items():
        sets = counter_sets(own)
        limit = load_facts().limit
        most = limit("devices_per_slice_with_counters") if sets else limit("devices_per_slice")
        parts = [{"sharedCounters": chunk} for chunk in _chunks(sets, limit("counter_sets_per_slice"))]
        parts += [{"devices": [device_entry(device, node) for device in chunk]} for chunk in _chunks(own, most)]
        for number, part in enumerate(parts):
            yield {
                "apiVersion": "resource.k8s.io/v1",
                "kind": "ResourceSlice",
                "metadata": {"name": f"{node}-{driver}-{number}"[:253], "labels": {RUN_LABEL: run}},
                "spec": {
                    "driver": driver,
                    "nodeName": node,
                    "pool": {"name": node, "generation": 1, "resourceSliceCount": len(parts)},
                    **part,
                },
            }


def _chunks(items: list[T], size: int) -> list[list[T]]:
    return [items[start : start + size] for start in range(0, len(items), size)]


def counter_sets(devices: Iterable[Device]) -> list[dict[str, Any]]:
    """What the devices draw on. A set holds what its largest device takes: the whole GPU takes all of it."""
    totals: dict[str, dict[str, str]] = {}
    for device in devices:
        for name, counters in device.consumes.items():
            held = totals.setdefault(name, {})
            for counter, amount in counters.items():
                if counter not in held or quantity.parse(amount) > quantity.parse(held[counter]):
                    held[counter] = amount
    return [{"name": name, "counters": _counters(held)} for name, held in totals.items()]


def _counters(amounts: Mapping[str, str]) -> dict[str, dict[str, str]]:
    return {name: {"value": amount} for name, amount in amounts.items()}


def device_entry(device: Device, node: str) -> dict[str, Any]:
    attributes = {
        name: _attribute(value if value is not UNKNOWN else invented(device, node, name))
        for name, value in device.attributes.items()
        if value is not MAYBE
    }
    capacity = {name: {"value": value} for name, value in device.capacity.items() if isinstance(value, str)}
    entry: dict[str, Any] = {"name": device.name}
    if attributes:
        entry["attributes"] = attributes
    if capacity:
        entry["capacity"] = capacity
    if device.allow_multiple_allocations:
        entry["allowMultipleAllocations"] = True  # dropped by versions that do not know it
    if device.consumes:
        entry["consumesCounters"] = [
            {"counterSet": name, "counters": _counters(held)} for name, held in device.consumes.items()
        ]
    return entry


def _attribute(value: Any) -> dict[str, Any]:
    if isinstance(value, Version):
        return {"version": value.text}
    if isinstance(value, bool):
        return {"bool": value}
    return {"int": value} if isinstance(value, int) else {"string": str(value)}


def invented(device: Device, node: str, name: str) -> Any:
    """A value of the right kind for what only the node knows. Partitions of one GPU get one parent."""
    gpu = "-".join(device.name.split("-")[:2])
    number = int(digits[0]) if (digits := re.findall(r"\d+", gpu)) else 0
    if name == "driverVersion":
        return Version(DRIVER_VERSION)
    if name == "cudaDriverVersion":
        return Version(CUDA_VERSION)
    if name.endswith("pciBusID"):
        return f"{number + 1:04x}:00:00.0"
    if name == "parentUUID" or (name == "uuid" and device.attributes.get("type") != "mig"):
        return f"GPU-{uuid.uuid5(SEED, f'{node}/{gpu}')}"
    if name == "uuid":
        return f"MIG-{uuid.uuid5(SEED, f'{node}/{device.name}')}"
    return f"simulated-{uuid.uuid5(SEED, f'{node}/{device.name}/{name}').hex[:12]}"


def class_manifests(plan: Plan) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Device classes in the order in which they come to be: those of NVIDIA's chart, then those of the plan."""
    planned = [_plain(entry.manifest) for entry in plan.objects if entry.kind == "DeviceClass"]
    own = {entry["metadata"]["name"] for entry in planned}
    chart = []
    for known in known_classes(plan).values():
        if known.name not in own:
            spec: dict[str, Any] = {"selectors": [{"cel": {"expression": text}} for text in known.selectors]}
            if known.resource:
                spec["extendedResourceName"] = known.resource
            chart.append(
                {
                    "apiVersion": "resource.k8s.io/v1",
                    "kind": "DeviceClass",
                    "metadata": {"name": known.name},
                    "spec": spec,
                }
            )
    return chart, planned


def _plain(manifest: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _plain(value) if isinstance(value, Mapping) else value for key, value in manifest.items()}
