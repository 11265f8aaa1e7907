"""Device classes: one for every kind of device that a DRA pool publishes, and those of the stack file.

A class sees a device's driver, attributes and capacity, never its pool or node, so pools whose devices cannot be
told apart share their class. Sharing of a DRA pool becomes config on a class of its own (`t4-timesliced`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from aks_dra.facts import Facts
from aks_dra.planning import names
from aks_dra.planning.cel.kinds import kind_selector
from aks_dra.planning.devices import GPU_DRIVER, Device
from aks_dra.planning.intents import problems, selectors
from aks_dra.settings import Pool, Settings, Sharing

CONFIG_API = "resource.nvidia.com/v1beta1"
SUFFIX = {"timeSlicing": "timesliced", "mps": "mps"}


@dataclass(frozen=True)
class PlannedClass:
    """One DeviceClass before it is a manifest."""

    name: str
    origin: Literal["package", "chart", "user"]
    selectors: tuple[str, ...]
    config: Mapping[str, Any] | None = None
    extended_resource_name: str = ""
    labels: Mapping[str, str] | None = None

    def manifest(self) -> dict[str, Any]:
        spec: dict[str, Any] = {"selectors": [{"cel": {"expression": text}} for text in self.selectors]}
        if self.config:
            spec["config"] = [{"opaque": {"driver": GPU_DRIVER, "parameters": dict(self.config)}}]
        if self.extended_resource_name:
            spec["extendedResourceName"] = self.extended_resource_name
        metadata: dict[str, Any] = {"name": self.name}
        if self.labels:
            metadata["labels"] = dict(self.labels)
        return {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": metadata, "spec": spec}


CHART_CLASSES = (
    PlannedClass(
        "gpu.nvidia.com",
        "chart",
        ("device.driver == 'gpu.nvidia.com' && device.attributes['gpu.nvidia.com'].type == 'gpu'",),
    ),
    PlannedClass(
        "mig.nvidia.com",
        "chart",
        ("device.driver == 'gpu.nvidia.com' && device.attributes['gpu.nvidia.com'].type == 'mig'",),
    ),
    PlannedClass(
        "vfio.gpu.nvidia.com",
        "chart",
        ("device.driver == 'gpu.nvidia.com' && device.attributes['gpu.nvidia.com'].type == 'vfio'",),
    ),
)
"""What NVIDIA's DRA chart installs; it owns these names."""


def gpu_config(sharing: Sharing | None) -> dict[str, Any] | None:
    """The driver's GpuConfig for time-slicing or MPS. The interval is always set: without one the driver fails."""
    if sharing is None or sharing.mode not in SUFFIX:
        return None
    if sharing.mode == "timeSlicing":
        strategy: dict[str, Any] = {
            "strategy": "TimeSlicing",
            "timeSlicingConfig": {"interval": sharing.interval or "Default"},
        }
    else:
        mps: dict[str, Any] = {}
        if sharing.active_thread_percentage is not None:
            mps["defaultActiveThreadPercentage"] = sharing.active_thread_percentage
        if sharing.pinned_memory_limit is not None:
            mps["defaultPinnedDeviceMemoryLimit"] = sharing.pinned_memory_limit
        strategy = {"strategy": "MPS"} | ({"mpsConfig": mps} if mps else {})
    return {"apiVersion": CONFIG_API, "kind": "GpuConfig", "sharing": strategy}


def device_class_name(facts: Facts, gpu: str, device: Device) -> str:
    """The package's class for one device: the GPU's class name, with the MIG profile where it is a partition."""
    base = facts.gpus[gpu].class_name
    profile = device.attributes.get("profile")
    return f"{base}-{str(profile).replace('+', '.')}" if profile else base


def pool_classes(facts: Facts, gpu: str, devices: tuple[Device, ...], sharing: Sharing) -> tuple[str, ...]:
    """Names of the classes that serve a DRA pool's devices, the shared one first."""
    plain = list(dict.fromkeys(device_class_name(facts, gpu, device) for device in devices))
    if sharing.mode in SUFFIX:
        return (*(f"{name}-{SUFFIX[sharing.mode]}" for name in plain), *plain)
    return tuple(plain)


def package_classes(facts: Facts, pools: Mapping[str, tuple[Pool, str, tuple[Device, ...]]]) -> list[PlannedClass]:
    """Every class of the package for the DRA pools given as name → (settings, GPU, devices of a node)."""
    classes: dict[str, PlannedClass] = {}
    for _, (pool, gpu, devices) in sorted(pools.items()):
        for device in devices:
            name = device_class_name(facts, gpu, device)
            profile = device.attributes.get("profile")
            selector = kind_selector(facts.gpus[gpu], str(profile) if profile else None)
            classes.setdefault(name, PlannedClass(name, "package", (selector,)))
            if config := gpu_config(pool.sharing):
                shared = f"{name}-{SUFFIX[pool.sharing.mode]}"
                classes.setdefault(shared, PlannedClass(shared, "package", (selector,), config))
    return [classes[name] for name in sorted(classes)]


def user_classes(settings: Settings) -> list[PlannedClass]:
    """The classes of the stack file. The driver comes first: the first selector that is false ends the matter."""
    result = []
    for name, entry in sorted(settings.device_classes.items()):
        wrong = {problem.key for problem in problems(entry.require)}
        sound = {key: value for key, value in entry.require.items() if key not in wrong}
        parts = (*selectors(sound), *entry.cel)
        # Generated selectors test the driver themselves; hand-written ones may read attributes that others lack.
        guard = () if entry.require else (f"device.driver == '{entry.driver}'",)
        result.append(
            PlannedClass(
                name,
                "user",
                (*guard, *parts),
                gpu_config(entry.sharing),
                entry.extended_resource_name or "",
                dict(sorted(entry.labels.items())),
            )
        )
    return result


def legacy_class(served_by_dra: bool) -> PlannedClass:
    """Who serves nvidia.com/gpu: the newest class of a resource name wins, so this one decides over the chart's.

    It is changed and never removed while the DRA driver is there: when the newest class of a name goes, the scheduler
    forgets the name and does not go back to the older class until that one changes (tried, 1.36 on 1.37.2).
    """
    selectors = CHART_CLASSES[0].selectors if served_by_dra else ("false",)
    return PlannedClass(names.LEGACY_CLASS, "package", selectors, extended_resource_name=names.LEGACY_RESOURCE)
