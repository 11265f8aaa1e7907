"""The selector of the package's own class for one kind of device.

A kind is told by type, compute capability, and memory (whole GPUs) or profile (MIG devices). Memory is a range around
what was seen, because one GPU reports 15Gi or 16Gi by its ECC setting; a MIG device's memory says nothing that its
profile does not, and varies with the driver, so it is left out. The product's name is asked only where another kind in
the tables could not be told apart without it (A10 and RTX A5000; a 1g.10gb of either A100), and then
only the word that makes the difference: names differ between drivers more than anything else does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Protocol

from aks_dra.cel.guards import ATTRIBUTES, CAPACITY, any_of, guarded, has_attribute, has_capacity
from aks_dra.facts.protocols import GpuRow

# Below and above the memory that was seen: nominal sizes, ECC and drivers shift it by about this.
MARGIN_PERCENT = 3


class Tables(Protocol):
    """What this module needs of the facts: GPUs, and the MIG families that they name."""

    @property
    def gpus(self) -> Mapping[str, Any]: ...
    @property
    def families(self) -> Mapping[str, Any]: ...


@lru_cache(maxsize=1)
def _tables() -> Tables:
    from aks_dra.facts import load_facts

    return load_facts()


def kind_selector(gpu: GpuRow, profile: str | None = None, tables: Tables | None = None) -> str:
    """The guarded selector of the class for whole GPUs like this one, or for its MIG devices of one profile."""
    known = tables or _tables()
    own = [row for row in known.gpus.values() if row.class_name == gpu.class_name] or [gpu]
    tests = [f"{ATTRIBUTES}.type == '{'mig' if profile else 'gpu'}'"]
    tests += [
        has_attribute("cudaComputeCapability"),
        f"{ATTRIBUTES}.cudaComputeCapability.compareTo(semver('{gpu.compute_capability}')) == 0",
    ]
    if profile:
        tests += [has_attribute("profile"), f"{ATTRIBUTES}.profile == '{profile}'"]
    else:
        low, high = _memory(own)
        tests += [
            has_capacity("memory"),
            f"{CAPACITY}.memory.compareTo(quantity('{low}Mi')) >= 0",
            f"{CAPACITY}.memory.compareTo(quantity('{high}Mi')) <= 0",
        ]
    rivals = [row for row in known.gpus.values() if _could_be_mistaken(row, gpu, own, profile, known)]
    if rivals:
        words = dict.fromkeys(_telling_word(row.product_name, [rival.product_name for rival in rivals]) for row in own)
        tests += [
            has_attribute("productName"),
            any_of([rf"{ATTRIBUTES}.productName.lowerAscii().matches(r'\b{word}\b')" for word in words]),
        ]
    return guarded(has_attribute("type"), *tests)


def _memory(rows: list[Any]) -> tuple[int, int]:
    low = min(min(row.memory_mib_range, default=row.memory_mib) for row in rows)
    high = max(max(row.memory_mib_range, default=row.memory_mib) for row in rows)
    return low * (100 - MARGIN_PERCENT) // 100, -(-high * (100 + MARGIN_PERCENT) // 100)


def _could_be_mistaken(row: Any, gpu: GpuRow, own: list[Any], profile: str | None, tables: Tables) -> bool:
    if row.class_name == gpu.class_name or row.compute_capability != gpu.compute_capability:
        return False
    if profile:
        family = tables.families.get(row.mig) if row.mig else None
        return family is not None and profile in family.profiles
    low, high = _memory(own)
    other_low, other_high = _memory([row])
    return other_low <= high and low <= other_high


def _telling_word(name: str, rivals: list[str]) -> str:
    """The word of a product's name that no rival has, one with a digit if there is one."""
    taken = {word for rival in rivals for word in _words(rival)}
    own = [word for word in _words(name) if word not in taken]
    return next((word for word in own if any(letter.isdigit() for letter in word)), own[0] if own else name.lower())


def _words(name: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", name.lower())
