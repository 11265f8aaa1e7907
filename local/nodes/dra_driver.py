"""NVIDIA's DRA driver: one ResourceSlice per node, while its kubelet plugin runs there with the right driver root.

The inventory is fixed when the plugin starts: a slice remembers the pod that published it and does not follow
later changes of the partitions. Attributes and capacities are those that the driver's code writes; nothing is
invented. Azure passes GPUs through without their PCIe root, so there is a bus id and no `pcieRoot`.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

from local.nodes.actions import Action, Apply, Delete
from local.nodes.hardware import Gpu, cuda_of, semantic
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
CONTAINER = "gpus"
"""The plugin's container for GPUs; without `resources.gpus.enabled` the pod has only `compute-domains`."""

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


def publish(view: NodeView, memory: Memory) -> Iterator[Action]:
    """The slice of one node: published, replaced by a newer plugin's, or withdrawn."""
    existing = [item for item in view.snapshot.slices if item["spec"].get("nodeName") == view.name]
    pod = plugin_pod(view)
    able = view.machine is not None and pod is not None and fits(view, pod)
    published = {annotations_of(item).get(PLUGIN_POD) for item in existing}
    name = f"{view.name}-{DRIVER}"
    if pod is not None and pod["metadata"]["uid"] in published:
        memory.forget(name)
        return
    found = devices(view) if able else []
    if pod is not None and found:
        memory.forget(name)
        generation = 1 + max((item["spec"]["pool"]["generation"] for item in existing), default=0)
        yield Apply(f"{SLICES}/{name}", resource_slice(view, pod, found, generation))
        return
    for item in existing:
        if memory.lasted(name, view.snapshot.now) >= WITHDRAW_SECONDS:
            yield Delete(f"{SLICES}/{item['metadata']['name']}")


def orphans(snapshot: Snapshot) -> Iterator[Action]:
    """Slices of nodes that are gone. (Kubernetes' garbage collection would come a little later.)"""
    nodes = {node["metadata"]["name"] for node in snapshot.nodes}
    for item in snapshot.slices:
        if item["spec"].get("nodeName") not in nodes:
            yield Delete(f"{SLICES}/{item['metadata']['name']}")


def resource_slice(view: NodeView, pod: Object, found: list[dict[str, Any]], generation: int) -> dict[str, Any]:
    owner = {"apiVersion": "v1", "kind": "Node", "name": view.name, "uid": view.uid, "controller": True}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {
            "name": f"{view.name}-{DRIVER}",
            "labels": {SIMULATED: "true"},
            "annotations": {PLUGIN_POD: pod["metadata"]["uid"]},
            "ownerReferences": [owner],
        },
        "spec": {
            "driver": DRIVER,
            "nodeName": view.name,
            "pool": {"name": view.name, "generation": generation, "resourceSliceCount": 1},
            "devices": found,
        },
    }


def devices(view: NodeView) -> list[dict[str, Any]]:
    """All devices of a node. A GPU in MIG mode without partitions is neither a GPU nor a MIG device."""
    assert view.machine is not None
    _, version = view.driver
    found: list[dict[str, Any]] = []
    for minor, item in enumerate(view.partitions()):
        common = shared(view.machine.gpu, minor, version)
        parent = f"GPU-{uuid.uuid5(NAMES, f'{view.name}/{minor}')}"
        if not item.mig:
            attributes = {"type": text("gpu"), "uuid": text(parent), **common}
            memory = {"memory": {"value": quantity(view.machine.gpu.memory_mib)}}
            found.append({"name": f"gpu-{minor}", "attributes": attributes, "capacity": memory})
        else:
            found.extend(mig_devices(view.machine.gpu, minor, item, parent, common))
    return found


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
        label = name.replace(".", "").replace("+", "-")
        device = f"gpu-{minor}-mig-{label}-{profile.instance_id}-{start}"
        yield {"name": device, "attributes": attributes, "capacity": capacity}


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
