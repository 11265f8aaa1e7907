"""MIG layouts: what a layout's name asks for, and whether and where it fits on a GPU.

A GPU has a row of memory slots. A profile takes a run of them and may start only at certain slots, so a set
of profiles that would fit by size can still fit nowhere. Placing is a search over the allowed starts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from local.nodes.hardware import Gpu, Machine


class LayoutError(Exception):
    """The layout cannot be applied; the text says why."""


@dataclass(frozen=True)
class Partition:
    """The state of one GPU: MIG mode, and its MIG devices as (profile, first memory slot)."""

    mig: bool = False
    devices: tuple[tuple[str, int], ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {"mig": self.mig, "devices": [list(device) for device in self.devices]}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Partition:
        return cls(bool(value["mig"]), tuple((str(name), int(start)) for name, start in value["devices"]))


AKS_INSTANCE_IDS = {"MIG1g": 19, "MIG2g": 14, "MIG3g": 9, "MIG4g": 5, "MIG7g": 0}
"""gpuInstanceProfile to the GPU instance profile with which AKS fills each GPU at boot."""


def place(gpu: Gpu, counts: Mapping[str, int]) -> tuple[tuple[str, int], ...] | None:
    """Where the MIG devices go, large ones first at the lowest slot, or None when they fit nowhere."""
    wanted = [gpu.profiles[name] for name, count in counts.items() for _ in range(count)]
    if any(counts[name] > gpu.profiles[name].maximum for name in counts):
        return None
    if sum(item.compute for item in wanted) > gpu.compute_slices:
        return None
    wanted.sort(key=lambda item: (-item.memory, -item.compute, item.name))

    def search(index: int, taken: frozenset[int], before: int) -> list[tuple[str, int]] | None:
        if index == len(wanted):
            return []
        item = wanted[index]
        again = index > 0 and wanted[index - 1].name == item.name
        for start in sorted(item.placements):
            slots = frozenset(range(start, start + item.memory))
            if (again and start < before) or slots & taken or start + item.memory > gpu.memory_slices:
                continue
            rest = search(index + 1, taken | slots, start)
            if rest is not None:
                return [(item.name, start), *rest]
        return None

    found = search(0, frozenset(), -1)
    return None if found is None else tuple(sorted(found, key=lambda device: device[1]))


def partition(gpu: Gpu, enabled: bool, counts: Mapping[str, int]) -> Partition:
    if not enabled:
        return Partition()
    unknown = sorted(set(counts) - set(gpu.profiles))
    if unknown:
        raise LayoutError(f"{gpu.product_name} has no MIG profile {', '.join(unknown)}")
    devices = place(gpu, {name: count for name, count in counts.items() if count})
    if devices is None:
        asked = ", ".join(f"{count} x {name}" for name, count in counts.items())
        raise LayoutError(f"{asked} does not fit on a {gpu.product_name}")
    return Partition(True, devices)


def generated(gpu: Gpu) -> dict[str, tuple[bool, dict[str, int]]]:
    """The layouts that the MIG manager generates for a GPU by itself."""
    layouts: dict[str, tuple[bool, dict[str, int]]] = {"all-disabled": (False, {}), "all-enabled": (True, {})}
    for item in gpu.profiles.values():
        layouts[f"all-{item.name.replace('+', '.')}"] = (True, {item.name: item.maximum})
    for name, counts in gpu.layouts.items():
        layouts[name] = (True, dict(counts))
    return layouts


def target(machine: Machine, layout: str, custom: str | None) -> tuple[Partition, ...]:
    """What each GPU of the node must become. `custom` is a layout file, which replaces the generated one whole."""
    if custom is not None:
        return from_file(machine, layout, custom)
    layouts = generated(machine.gpu)
    if layout not in layouts:
        raise LayoutError(f"no layout {layout}; generated for {machine.gpu.product_name}: {', '.join(sorted(layouts))}")
    enabled, counts = layouts[layout]
    return (partition(machine.gpu, enabled, counts),) * machine.count


def from_file(machine: Machine, layout: str, text: str) -> tuple[Partition, ...]:
    try:
        content = yaml.safe_load(text)
        entries = content["mig-configs"][layout]
    except (yaml.YAMLError, KeyError, TypeError) as error:
        raise LayoutError(f"no layout {layout} in the custom layout file ({type(error).__name__})") from None
    found: list[Partition | None] = [None] * machine.count
    for entry in entries:
        if not covers(entry, machine.gpu):
            continue
        chosen = entry.get("devices", "all")
        numbers = range(machine.count) if chosen == "all" else chosen
        for number in numbers:
            if not 0 <= number < machine.count:
                raise LayoutError(f"layout {layout} names GPU {number}; the node has {machine.count}")
            found[number] = partition(machine.gpu, bool(entry.get("mig-enabled")), entry.get("mig-devices") or {})
    done = [item for item in found if item is not None]
    if len(done) != len(found):
        raise LayoutError(f"layout {layout}: not all GPUs match")
    return tuple(done)


def covers(entry: Mapping[str, Any], gpu: Gpu) -> bool:
    """Whether a device-filter names this GPU. Where its PCI ids are not known, the profiles decide."""
    given = entry.get("device-filter")
    if not given:
        return True
    filters: Sequence[str] = [given] if isinstance(given, str) else given
    if gpu.pci_device_ids:
        return bool({str(item).lower() for item in filters} & set(gpu.pci_device_ids))
    return set(entry.get("mig-devices") or {}) <= set(gpu.profiles)


def at_boot(machine: Machine, instance_profile: str, aks_installs_driver: bool) -> tuple[Partition, ...]:
    """How the GPUs are when the node joins. Only AKS's driver installation partitions, and only uniformly."""
    whole = (Partition(),) * machine.count
    number = AKS_INSTANCE_IDS.get(instance_profile)
    if number is None or not aks_installs_driver or not machine.mig_capable:
        return whole
    for item in machine.gpu.profiles.values():
        if item.instance_id == number:
            return (partition(machine.gpu, True, {item.name: item.maximum}),) * machine.count
    return whole
