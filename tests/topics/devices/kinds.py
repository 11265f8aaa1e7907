"""Every kind of device in the tables, with the name of the class that the package gives it."""

from __future__ import annotations

from dataclasses import dataclass

from aks_dra.facts import Facts, Gpu
from aks_dra.kube.devices import MAYBE, UNKNOWN, Attribute, Device, Unknown, Version
from aks_dra.topics.devices.nvidia import gpu_device, mig_device


@dataclass(frozen=True)
class Kind:
    class_name: str
    gpu: Gpu
    profile: str | None
    device: Device


def whole_table(facts: Facts) -> list[Kind]:
    kinds = []
    for gpu in facts.gpus.values():
        kinds.append(Kind(gpu.class_name, gpu, None, gpu_device(gpu, 0)))
        if not gpu.mig:
            continue
        family = facts.families[gpu.mig]
        for name, profile in family.profiles.items():
            start = profile.placements[0] if profile.placements else 0
            device = mig_device(gpu, family, profile, 0, start)
            kinds.append(Kind(f"{gpu.class_name}-{name}", gpu, name, device))
    return kinds


def known_device(device: Device) -> Device:
    """The device with plausible values where only the node knows them, and nothing where something may be missing."""

    def value(name: str, held: Attribute) -> Attribute:
        if held is not UNKNOWN:
            return held
        return Version("580.159.4") if name.endswith("Version") else f"some {name.rpartition('/')[2]}"

    attributes = {name: value(name, held) for name, held in device.attributes.items() if held is not MAYBE}
    capacity = {name: held for name, held in device.capacity.items() if not isinstance(held, Unknown)}
    return Device(device.name, device.driver, attributes, capacity)
