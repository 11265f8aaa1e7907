"""What is in a VM, as the facts tables have it, in the terms of NVIDIA's programs.

The tables are the one thing shared with the planning side; the code that makes something of them is not, so
that a mistake in planning does not repeat itself here.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from local import facts

OPERATOR_DRIVER = "595.91.07"  # GPU Operator v26.7.0, when the ClusterPolicy names none
CUDA_OF_BRANCH = {"570": "12.8.0", "580": "13.0.0", "590": "13.1.0", "595": "13.2.0"}
"""CUDA version that a driver branch reports. 580 was seen in a slice; the others are general knowledge."""


@dataclass(frozen=True)
class Profile:
    """One MIG profile of a family of GPUs."""

    name: str
    instance_id: int
    compute: int
    memory: int
    maximum: int
    placements: tuple[int, ...]
    memory_mib: int
    engines: Mapping[str, int]  # capacity name to number


@dataclass(frozen=True)
class Gpu:
    """One model of GPU."""

    id: str
    product_name: str
    brand: str
    architecture: str
    compute_capability: str
    memory_mib: int
    pci_device_ids: tuple[str, ...] = ()
    addressing_mode: str = "HMM"
    compute_slices: int = 0
    memory_slices: int = 0
    profiles: Mapping[str, Profile] = field(default_factory=dict)
    layouts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    @property
    def mig_capable(self) -> bool:
        return bool(self.profiles)


@dataclass(frozen=True)
class Machine:
    """What one VM size holds."""

    vm_size: str
    gpu: Gpu
    count: int
    mig_capable: bool
    aks_driver: str


ENGINES = {
    "multiprocessors": "multiprocessors",
    "copy_engines": "copyEngines",
    "decoders": "decoders",
    "encoders": "encoders",
    "jpeg_engines": "jpegEngines",
    "ofa_engines": "ofaEngines",
}
"""Column in mig.toml to the name of the capacity in a ResourceSlice."""


def profile(row: Mapping[str, Any]) -> Profile:
    return Profile(
        name=row["name"],
        instance_id=row.get("gi_profile_id", -1),
        compute=row["compute"],
        memory=row["memory"],
        maximum=row["max"],
        placements=tuple(row["placements"]),
        memory_mib=row["memory_mib"],
        engines={ENGINES[column]: row[column] for column in ENGINES if column in row},
    )


@dataclass(frozen=True)
class Tables:
    """The tables, ready to be asked."""

    sizes: Mapping[str, Mapping[str, Any]]  # keys in lower case: Azure does not distinguish
    gpus: Mapping[str, Mapping[str, Any]]
    families: Mapping[str, Mapping[str, Any]]
    drivers: Mapping[str, Mapping[str, Any]]  # what AKS installs

    def machine(self, vm_size: str) -> Machine | None:
        """None for a size without GPUs and for an unknown one."""
        row = self.sizes.get(vm_size.lower())
        if row is None or not row.get("gpus"):
            return None
        gpu = self.gpu(row["gpu"])
        return Machine(
            vm_size=vm_size,
            gpu=gpu,
            count=row["gpus"],
            mig_capable=gpu.mig_capable and bool(row.get("mig")),
            # the version for GB200 and GB300 was not seen: the one of the other images stands in
            aks_driver=self.drivers[row["aks_driver"]]["version"] or self.drivers["cuda"]["version"],
        )

    def gpu(self, name: str) -> Gpu:
        row = self.gpus[name]
        family = self.families.get(row.get("mig") or "", {})
        profiles = (profile(entry) for entry in family.get("profile", ()))
        return Gpu(
            id=name,
            product_name=row["product_name"],
            brand=row["brand"],
            architecture=row["architecture"],
            compute_capability=row["compute_capability"],
            memory_mib=row["memory_mib"],
            pci_device_ids=tuple(str(item).lower() for item in family.get("pci_device_ids", ())),
            addressing_mode=row.get("addressing_mode", "HMM"),
            compute_slices=family.get("compute_slices", 0),
            memory_slices=family.get("memory_slices", 0),
            profiles={entry.name: entry for entry in profiles},
            layouts=family.get("layouts", {}),
        )


@functools.cache
def tables() -> Tables:
    return Tables(
        sizes={key.lower(): row for key, row in facts.table("vm_sizes")["size"].items()},
        gpus=facts.table("gpus")["gpu"],
        families=facts.table("mig")["family"],
        drivers=facts.table("aks")["aks_driver"],
    )


def semantic(version: str) -> str:
    """`580.159.04` as the driver publishes it: `580.159.4`. Three numbers, no leading zeros."""
    numbers = [str(int(part)) for part in version.split("-")[0].split(".")[:3]]
    return ".".join([*numbers, "0", "0"][:3])


def cuda_of(driver: str) -> str:
    return CUDA_OF_BRANCH.get(driver.split(".")[0], "13.0.0")
