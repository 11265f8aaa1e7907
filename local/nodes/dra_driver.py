"""NVIDIA's DRA driver: a node's ResourceSlices, while its kubelet plugin runs there with the right driver root.

The inventory is fixed when the plugin starts: a slice remembers the pod that published it and does not follow
later changes of the partitions. Attributes and capacities are those that the driver's code writes; nothing is
invented. Azure passes GPUs through without their PCIe root, so there is a bus id and no `pcieRoot`.

One slice per node, but for DynamicMIG: there the counters have a slice, and so has each GPU.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

from local.nodes import dynamic_mig, gates
from local.nodes.actions import Action, Apply, Delete
from local.nodes.hardware import Gpu, Profile, cuda_of, semantic
from local.nodes.partitions import Partition
from local.nodes.snapshot import (
    PLUGIN_POD,
    SIMULATED,
    Memory,
    NodeView,
    Object,
    Snapshot,
    annotations_of,
    environment,
    has_container,
    labels_of,
)

DRIVER = "gpu.nvidia.com"
SLICES = "/apis/resource.k8s.io/v1/resourceslices"
COMPONENT = "dra-driver-nvidia-gpu-component"
CONTAINER = gates.CONTAINER
"""The plugin's container for GPUs; without `resources.gpus.enabled` the pod has only `compute-domains`."""

PROGRAM = "dra-driver"

WITHDRAW_SECONDS = 1.0
"""How long a slice outlives its plugin. On AKS it was 32 s (Kubernetes waits for a plugin's restart)."""

NAMES = uuid.UUID("5d3a1f0e-7c0b-4f57-9a52-0e6a0b1f6a11")


def plugin_pod(view: NodeView) -> Object | None:
    pods = (pod for pod in view.pods if labels_of(pod).get(COMPONENT) == "kubelet-plugin")
    return next((pod for pod in pods if has_container(pod, CONTAINER)), None)


def fits(view: NodeView, pod: Object) -> bool:
    """Whether the plugin finds the driver: its root must be where the one who installed it put it."""
    root, _ = view.driver
    return root != "" and environment(pod, CONTAINER).get("NVIDIA_DRIVER_ROOT", "/") == root


def refusal(view: NodeView, pod: Object) -> str:
    """Why the plugin publishes nothing although it finds the driver; "" where it does publish."""
    assert view.machine is not None
    if reason := gates.refusal(pod):
        return reason
    if gates.dynamic_mig(pod) and not view.machine.mig_capable and gates.publishes_nothing_without_mig(pod):
        return f"DynamicMIG of version {gates.version(pod)} writes invalid slices on a node whose GPUs have no MIG"
    return ""


def take_over(view: NodeView) -> None:
    """With DynamicMIG the driver destroys the partitions that it finds when it starts."""
    pod = plugin_pod(view)
    if view.machine is None or pod is None or not gates.dynamic_mig(pod) or not fits(view, pod) or refusal(view, pod):
        return
    now = view.partitions()
    if (after := dynamic_mig.after_start(view.machine, now)) != now:
        view.keep(after)


def publish(view: NodeView, memory: Memory) -> Iterator[Action]:
    """The slices of one node: published, replaced by a newer plugin's, or withdrawn."""
    existing = [item for item in view.snapshot.slices if item["spec"].get("nodeName") == view.name]
    pod = plugin_pod(view)
    able = view.machine is not None and pod is not None and fits(view, pod)
    name = f"{view.name}-{DRIVER}"
    reason = refusal(view, pod) if able and pod is not None else ""
    if reason:
        view.say(PROGRAM, reason)
    elif pod is not None and complete(existing, str(pod["metadata"]["uid"])):
        memory.forget(name)
        return
    found = contents(view, pod) if able and pod is not None and not reason else []
    if pod is not None and found:
        memory.forget(name)
        generation = 1 + max((item["spec"]["pool"]["generation"] for item in existing), default=0)
        names = [name] if len(found) == 1 else [f"{name}-{number}" for number in range(len(found))]
        for own, content in zip(names, found, strict=True):
            yield Apply(f"{SLICES}/{own}", resource_slice(view, pod, own, content, generation, len(found)))
        for item in existing:
            if item["metadata"]["name"] not in names:
                yield Delete(f"{SLICES}/{item['metadata']['name']}")
        return
    for item in existing:
        if memory.lasted(name, view.snapshot.now) >= WITHDRAW_SECONDS:
            yield Delete(f"{SLICES}/{item['metadata']['name']}")


def complete(existing: list[Object], uid: str) -> bool:
    """Whether this plugin's whole pool is there: a daemon that was killed between two slices left a part of it."""
    own = [item["spec"]["pool"] for item in existing if annotations_of(item).get(PLUGIN_POD) == uid]
    return bool(own) and len(own) == own[0]["resourceSliceCount"] == len(existing)


def contents(view: NodeView, pod: Object) -> list[dict[str, Any]]:
    """What each slice holds: devices, or counters that devices in others draw on."""
    assert view.machine is not None
    now = view.partitions()
    if not gates.dynamic_mig(pod) or not any(dynamic_mig.cuts(view.machine, item) for item in now):
        found = devices(view)
        return [{"devices": found}] if found else []
    sets, slices = [], []
    for minor, item in enumerate(now):
        if dynamic_mig.cuts(view.machine, item):
            sets.append(dynamic_mig.shared_counters(view.machine.gpu, minor))
            slices.append({"devices": list(possible_devices(view, minor))})
        else:
            slices.append({"devices": [whole_gpu(view, minor)]})
    return [{"sharedCounters": sets}, *slices]


def possible_devices(view: NodeView, minor: int) -> Iterator[dict[str, Any]]:
    """The whole GPU, where it can leave MIG mode, and an instance of each profile at each place."""
    assert view.machine is not None
    gpu = view.machine.gpu
    if dynamic_mig.toggles(gpu):
        most = dynamic_mig.most(gpu)
        whole = whole_gpu(view, minor)
        whole["capacity"] = {name: {"value": dynamic_mig.amount(name, number)} for name, number in most.items()}
        whole["consumesCounters"] = dynamic_mig.consumed(minor, most, range(gpu.memory_slices))
        yield whole
    _, version = view.driver
    for profile, start in dynamic_mig.places(gpu):
        amounts = dynamic_mig.capacity(profile)
        yield {
            "name": mig_name(minor, profile, start),
            "attributes": {
                "type": text("mig"),
                "parentUUID": text(gpu_uuid(view, minor)),
                "profile": text(profile.name),
                **shared(gpu, minor, version),
            },
            "capacity": {name: {"value": dynamic_mig.amount(name, number)} for name, number in amounts.items()},
            "consumesCounters": dynamic_mig.consumed(minor, amounts, range(start, start + profile.memory)),
        }


def orphans(snapshot: Snapshot) -> Iterator[Action]:
    """Slices of nodes that are gone. (Kubernetes' garbage collection would come a little later.)"""
    nodes = {node["metadata"]["name"] for node in snapshot.nodes}
    for item in snapshot.slices:
        if item["spec"].get("nodeName") not in nodes:
            yield Delete(f"{SLICES}/{item['metadata']['name']}")


def resource_slice(
    view: NodeView, pod: Object, name: str, content: dict[str, Any], generation: int, number: int
) -> dict[str, Any]:
    owner = {"apiVersion": "v1", "kind": "Node", "name": view.name, "uid": view.uid, "controller": True}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {
            "name": name,
            "labels": {SIMULATED: "true"},
            "annotations": {PLUGIN_POD: pod["metadata"]["uid"]},
            "ownerReferences": [owner],
        },
        "spec": {
            "driver": DRIVER,
            "nodeName": view.name,
            "pool": {"name": view.name, "generation": generation, "resourceSliceCount": number},
            **content,
        },
    }


def devices(view: NodeView) -> list[dict[str, Any]]:
    """All devices of a node. A GPU in MIG mode without partitions is neither a GPU nor a MIG device."""
    assert view.machine is not None
    _, version = view.driver
    found: list[dict[str, Any]] = []
    for minor, item in enumerate(view.partitions()):
        common = shared(view.machine.gpu, minor, version)
        if not item.mig:
            found.append(whole_gpu(view, minor))
        else:
            found.extend(mig_devices(view.machine.gpu, minor, item, gpu_uuid(view, minor), common))
    return found


def gpu_uuid(view: NodeView, minor: int) -> str:
    return f"GPU-{uuid.uuid5(NAMES, f'{view.name}/{minor}')}"


def whole_gpu(view: NodeView, minor: int) -> dict[str, Any]:
    assert view.machine is not None
    _, version = view.driver
    attributes = {"type": text("gpu"), "uuid": text(gpu_uuid(view, minor))}
    attributes.update(shared(view.machine.gpu, minor, version))
    memory = {"memory": {"value": quantity(view.machine.gpu.memory_mib)}}
    return {"name": f"gpu-{minor}", "attributes": attributes, "capacity": memory}


def mig_name(minor: int, profile: Profile, start: int) -> str:
    label = profile.name.replace(".", "").replace("+", "-")
    return f"gpu-{minor}-mig-{label}-{profile.instance_id}-{start}"


def mig_devices(gpu: Gpu, minor: int, item: Partition, parent: str, common: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for name, start in item.devices:
        profile = gpu.profiles[name]
        number = uuid.uuid5(NAMES, f"{parent}/{name}/{start}")
        attributes = {
            "type": text("mig"),
            "uuid": text(f"MIG-{number}"),
            "parentUUID": text(parent),
            "profile": text(name),
            **common,
        }
        capacity = {key: {"value": str(value)} for key, value in profile.engines.items()}
        capacity["memory"] = {"value": quantity(profile.memory_mib)}
        for slot in range(start, start + profile.memory):
            capacity[f"memorySlice{slot}"] = {"value": "1"}
        yield {"name": mig_name(minor, profile, start), "attributes": attributes, "capacity": capacity}


def shared(gpu: Gpu, minor: int, driver: str) -> dict[str, Any]:
    return {
        "productName": text(gpu.product_name),
        "brand": text(gpu.brand),
        "architecture": text(gpu.architecture),
        "cudaComputeCapability": {"version": semantic(gpu.compute_capability)},
        "driverVersion": {"version": semantic(driver)},
        "cudaDriverVersion": {"version": cuda_of(driver)},
        "addressingMode": text(gpu.addressing_mode),
        "resource.kubernetes.io/pciBusID": text(f"{minor + 1:04x}:00:00.0"),
    }


def text(value: str) -> dict[str, str]:
    return {"string": value}


def quantity(mib: int) -> str:
    """As Kubernetes writes it: the largest binary unit that leaves a whole number."""
    return f"{mib // 1024}Gi" if mib % 1024 == 0 else f"{mib}Mi"
