"""Devices as NVIDIA's driver publishes them: whole GPUs and MIG devices."""

from __future__ import annotations

import re

from aks_dra.facts.protocols import FamilyRow, GpuRow, ProfileRow
from aks_dra.kube.devices import GPU_DRIVER, MAYBE, STANDARD_DOMAIN, UNKNOWN, Attribute, Device, Version


def gpu_device(gpu: GpuRow, index: int) -> Device:
    """A whole GPU, as the driver publishes it; `index` is its minor number on the node."""
    return Device(
        name=f"gpu-{index}",
        driver=GPU_DRIVER,
        attributes={"type": "gpu", "uuid": UNKNOWN, **_common_attributes(gpu)},
        capacity={"memory": f"{gpu.memory_mib}Mi"},
    )


def mig_device(
    gpu: GpuRow, family: FamilyRow, profile: ProfileRow, index: int, start: int, *, created: bool = True
) -> Device:
    """A MIG device at placement `start`: created before the driver started, or (DynamicMIG) only possible."""
    capacity = {
        "memory": f"{profile.memory_mib}Mi",
        "multiprocessors": str(profile.multiprocessors),
        "copyEngines": str(profile.copy_engines),
        "decoders": str(profile.decoders),
        "encoders": str(profile.encoders),
        "jpegEngines": str(profile.jpeg_engines),
        "ofaEngines": str(profile.ofa_engines),
    }
    attributes: dict[str, Attribute] = {"type": "mig", "parentUUID": UNKNOWN, "profile": profile.name}
    if created:
        end = min(start + profile.memory, family.memory_slices)
        capacity |= {f"memorySlice{slot}": "1" for slot in range(start, end)}
        attributes["uuid"] = UNKNOWN
    return Device(
        name=f"gpu-{index}-mig-{_dns_name(profile.name)}-{profile.gi_profile_id}-{start}",
        driver=GPU_DRIVER,
        attributes=attributes | _common_attributes(gpu),
        capacity=capacity,
    )


def _common_attributes(gpu: GpuRow) -> dict[str, Attribute]:
    return {
        "productName": gpu.product_name,
        "brand": gpu.brand,
        "architecture": gpu.architecture,
        "cudaComputeCapability": Version(gpu.compute_capability),
        "driverVersion": UNKNOWN,
        "cudaDriverVersion": UNKNOWN,
        f"{STANDARD_DOMAIN}/pciBusID": UNKNOWN,
        f"{STANDARD_DOMAIN}/numaNode": MAYBE,
        "addressingMode": MAYBE,
    }


def _dns_name(profile: str) -> str:
    """ "1g.10gb+me" → "1g10gb-me": device names hold no dots and no plus."""
    return re.sub("[^a-z0-9-]", "-", profile.replace(".", "").lower()).strip("-")
