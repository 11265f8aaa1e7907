"""DynamicMIG of NVIDIA's DRA driver: a device for every place where an instance could go, and the whole GPU.

What one GPU has is a counter set; each device takes its share of it, the whole GPU all of it. From Kubernetes 1.35 on a
slice holds counters or devices, so a node with G GPUs has G + 1 slices in one pool: the counters first.

Ampere changes its MIG mode only by a reset, which the driver never does: with the mode off a GPU is whole and nothing
else, with it on there are only partitions. A GPU without MIG is whole. The driver destroys partitions that it did not
make.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from local.nodes.hardware import Gpu, Machine, Profile
from local.nodes.partitions import Partition


def cuts(machine: Machine, now: Partition) -> bool:
    """Whether the driver publishes partitions of a GPU that is in this state."""
    return machine.mig_capable and (toggles(machine.gpu) or now.mig)


def toggles(gpu: Gpu) -> bool:
    """Hopper and later enter and leave MIG mode on demand."""
    return gpu.architecture not in ("Ampere", "Turing", "Volta")


def places(gpu: Gpu) -> Iterator[tuple[Profile, int]]:
    for profile in gpu.profiles.values():
        for start in sorted(profile.placements):
            yield profile, start


def count(machine: Machine, now: tuple[Partition, ...]) -> int:
    """How many devices a node publishes."""
    every = sum(1 for _ in places(machine.gpu))
    return sum(every + toggles(machine.gpu) if cuts(machine, item) else 1 for item in now)


def after_start(machine: Machine, now: tuple[Partition, ...]) -> tuple[Partition, ...]:
    """The partitions once the driver has started: its own, of which there are none yet."""
    return tuple(
        Partition(mig=item.mig and not toggles(machine.gpu)) if cuts(machine, item) and item.devices else item
        for item in now
    )


def capacity(profile: Profile) -> dict[str, int]:
    """By the name in a slice; memory in MiB."""
    return {**profile.engines, "memory": profile.memory_mib}


def most(gpu: Gpu) -> dict[str, int]:
    """Of each capacity the largest that any profile has: what the whole GPU shows, and what its counters hold."""
    found: dict[str, int] = {}
    for profile in gpu.profiles.values():
        for name, number in capacity(profile).items():
            found[name] = max(found.get(name, 0), number)
    return found


def counters(amounts: Mapping[str, int], slots: range) -> dict[str, Any]:
    found = {kebab(name): {"value": amount(name, number)} for name, number in amounts.items()}
    found.update({f"memory-slice-{slot}": {"value": "1"} for slot in slots})
    return found


def counter_set(minor: int) -> str:
    return f"gpu-{minor}-counter-set"


def shared_counters(gpu: Gpu, minor: int) -> dict[str, Any]:
    return {"name": counter_set(minor), "counters": counters(most(gpu), range(gpu.memory_slices))}


def consumed(minor: int, amounts: Mapping[str, int], slots: range) -> list[dict[str, Any]]:
    return [{"counterSet": counter_set(minor), "counters": counters(amounts, slots)}]


def amount(name: str, number: int) -> str:
    if name != "memory":
        return str(number)
    return f"{number // 1024}Gi" if number % 1024 == 0 else f"{number}Mi"


def kebab(name: str) -> str:
    return re.sub("[A-Z]", lambda letter: f"-{letter.group().lower()}", name)
