"""What NVIDIA's driver publishes with DynamicMIG: every place where an instance could go, and the whole GPU.

All of one GPU draw on one counter set, which holds the most that any of its profiles has of each capacity and one
counter for each memory slice; the whole GPU takes all of it. So whatever the scheduler allocates together, the GPU can
be cut into. Ampere changes its MIG mode only with a reset, which no driver does in a VM: with the mode off, as a VM
comes, the whole GPU is all that is published there. The same holds for GPUs without MIG and for vGPUs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from aks_dra.facts import Facts, VmSize
from aks_dra.kube.devices import Capacity, Device
from aks_dra.topics.devices.nvidia import gpu_device, mig_device


def dynamic_devices(facts: Facts, size: VmSize) -> tuple[Device, ...]:
    """The devices of one node; each says what it takes of its GPU's counters."""
    gpu = facts.gpus[size.gpu]
    if not facts.cut_on_demand(size):
        return tuple(gpu_device(gpu, index) for index in range(size.gpus))
    family = facts.families[gpu.mig]
    devices: list[Device] = []
    for index in range(size.gpus):
        places = [
            (mig_device(gpu, family, profile, index, start, created=False), range(start, start + profile.memory))
            for profile in family.profiles.values()
            for start in sorted(profile.placements)
        ]
        most = _most([device.capacity for device, _ in places])
        whole = replace(gpu_device(gpu, index), capacity=MappingProxyType(most))
        counter_set = f"gpu-{index}-counter-set"
        devices.append(_consuming(whole, counter_set, range(family.memory_slices)))
        devices += [_consuming(device, counter_set, slots) for device, slots in places]
    return tuple(devices)


def _most(capacities: list[Mapping[str, Capacity]]) -> dict[str, Capacity]:
    """Of each capacity the largest value that any profile has."""
    most: dict[str, Capacity] = {}
    for capacity in capacities:
        for name, value in capacity.items():
            if name not in most or _number(value) > _number(most[name]):
                most[name] = value
    return most


def _number(value: Capacity) -> int:
    return int(str(value).removesuffix("Mi"))


def _consuming(device: Device, counter_set: str, slots: range) -> Device:
    counters = {_kebab(name): str(value) for name, value in device.capacity.items()}
    counters |= {f"memory-slice-{slot}": "1" for slot in slots}
    return replace(device, consumes=MappingProxyType({counter_set: MappingProxyType(counters)}))


def _kebab(name: str) -> str:
    return re.sub("[A-Z]", lambda letter: f"-{letter.group().lower()}", name)
