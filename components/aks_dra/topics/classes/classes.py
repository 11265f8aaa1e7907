"""Device classes: one for every kind of device that a DRA pool publishes, and those of the stack file.

A class sees a device's driver, attributes and capacity, never its pool or node, so pools whose devices cannot be
told apart share their class. Sharing of a DRA pool becomes config on a class of its own (`t4-timesliced`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from aks_dra import names
from aks_dra.cel.kinds import kind_selector
from aks_dra.facts import Facts
from aks_dra.kube.devices import GPU_DRIVER, Device
from aks_dra.model.classes import CHART_CLASSES, DeviceType, PlannedClass
from aks_dra.settings import Pool, Settings, Sharing
from aks_dra.topics.classes.intents import problems, selectors

CONFIG_API = "resource.nvidia.com/v1beta1"


SUFFIX = {"timeSlicing": "timesliced", "mps": "mps"}


def sharing_config(sharing: Sharing | None, device_type: DeviceType) -> dict[str, Any] | None:
    """The driver's config for time-slicing or MPS, of the kind that fits the devices.

    The interval is always set: without one the driver fails. MIG devices cannot be time-sliced, so they get none.
    """
    if sharing is None or sharing.mode not in SUFFIX or device_type == "other":
        return None
    if sharing.mode == "timeSlicing":
        if device_type == "mig":
            return None
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
    kind = "MigDeviceConfig" if device_type == "mig" else "GpuConfig"
    return {"apiVersion": CONFIG_API, "kind": kind, "sharing": strategy}


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
            kind = PlannedClass(name, "package", (selector,), profile=str(profile or ""))
            classes.setdefault(name, kind)
            if config := sharing_config(pool.sharing, "mig" if profile else "gpu"):
                shared = f"{name}-{SUFFIX[pool.sharing.mode]}"
                classes.setdefault(shared, PlannedClass(shared, "package", (selector,), ((GPU_DRIVER, config),)))
    return [classes[name] for name in sorted(classes)]


def user_classes(settings: Settings, type_of: Callable[[tuple[str, ...]], DeviceType]) -> list[PlannedClass]:
    """The classes of the stack file. The driver comes first: the first selector that is false ends the matter.

    `type_of` says what kind of device selectors match, which decides the kind of the class's config.
    """
    result = []
    for name, entry in sorted(settings.device_classes.items()):
        wrong = {problem.key for problem in problems(entry.require)}
        sound = {key: value for key, value in entry.require.items() if key not in wrong}
        parts = (*selectors(sound), *entry.cel)
        # Generated selectors test the driver themselves; hand-written ones may read attributes that others lack.
        guard = () if entry.require else (f"device.driver == '{entry.driver}'",)
        # Without a condition that cannot be read it would match what nobody asked for.
        texts = ("false", *parts) if wrong else (*guard, *parts)
        configs = [(held.driver, held.parameters) for held in entry.config]
        if shared := sharing_config(entry.sharing, type_of(texts)):
            configs.insert(0, (GPU_DRIVER, shared))
        result.append(
            PlannedClass(
                name,
                "user",
                texts,
                tuple(configs),
                entry.extended_resource_name or "",
                dict(sorted(entry.labels.items())),
                entry.driver,
                unread=bool(wrong),
                create=entry.create,
            )
        )
    return result


def legacy_class(served_by_dra: bool, by_user: PlannedClass | None = None) -> PlannedClass:
    """Who serves nvidia.com/gpu: the newest class of a resource name wins, so this one decides over the chart's.

    A class of the user's with that name makes this one say the same, so that it does not matter which of the two is
    newer. It is changed and never removed while the DRA driver is there: when the newest class of a name goes, the
    scheduler forgets the name and does not go back to the older class until that one changes (tried, 1.36 on 1.37.2).
    """
    if not served_by_dra:
        return PlannedClass(names.LEGACY_CLASS, "package", ("false",), extended_resource_name=names.LEGACY_RESOURCE)
    source = by_user or CHART_CLASSES[0]
    return PlannedClass(
        names.LEGACY_CLASS, "package", source.selectors, source.configs, extended_resource_name=names.LEGACY_RESOURCE
    )
