"""Names that NVIDIA's driver may publish, for selectors that ask for others.

A name that is in no planned device can still exist (a driver gate, passthrough), so this list is what a name is
measured by, with the devices' own names added to it.
"""

from __future__ import annotations

from collections.abc import Iterable

from aks_dra.kube.devices import GPU_DRIVER, STANDARD_DOMAIN, Device, Version

COMPUTE_DOMAIN_DRIVER = "compute-domain.nvidia.com"

_ATTRIBUTES: dict[str, frozenset[str]] = {
    GPU_DRIVER: frozenset(
        {"type", "uuid", "productName", "brand", "architecture", "cudaComputeCapability", "driverVersion"}
        | {"cudaDriverVersion", "addressingMode", "parentUUID", "profile", "deviceID", "vendorID", "iommuFDEnabled"}
        | {"gpuModuleID", "partition1", "partition2", "partition4", "partition8", "numa"}
    ),
    STANDARD_DOMAIN: frozenset({"pciBusID", "pcieRoot", "numaNode"}),
    COMPUTE_DOMAIN_DRIVER: frozenset({"type", "id"}),
}
_CAPACITY: dict[str, frozenset[str]] = {
    GPU_DRIVER: frozenset(
        {"memory", "multiprocessors", "copyEngines", "decoders", "encoders", "jpegEngines", "ofaEngines"}
        | {"addressableMemory", "shares"}
        | {f"memorySlice{slot}" for slot in range(12)}
    ),
}
_VERSIONS = frozenset({(GPU_DRIVER, name) for name in ("cudaComputeCapability", "driverVersion", "cudaDriverVersion")})

# One device of every sort that a cluster with NVIDIA's DRA driver holds, planned or not; passthrough aside, since AKS
# nodes have none.
SORTS: tuple[Device, ...] = (
    Device("gpu-0", GPU_DRIVER, {"type": "gpu", "productName": "NVIDIA H100 NVL", "architecture": "Hopper",
           "brand": "Nvidia", "uuid": "GPU-0", "cudaComputeCapability": Version("9.0.0"),
           "driverVersion": Version("580.159.4"), "cudaDriverVersion": Version("13.0.0")}, {"memory": "95830Mi"}),
    Device("gpu-0-mig-1g12gb-19-0", GPU_DRIVER, {"type": "mig", "productName": "NVIDIA H100 NVL",
           "architecture": "Hopper", "brand": "Nvidia", "parentUUID": "GPU-0", "profile": "1g.12gb",
           "cudaComputeCapability": Version("9.0.0"), "driverVersion": Version("580.159.4"),
           "cudaDriverVersion": Version("13.0.0")},
           {"memory": "11008Mi", "multiprocessors": "16", "copyEngines": "1", "decoders": "1", "encoders": "0",
            "jpegEngines": "1", "ofaEngines": "0"}),
    Device("daemon-0", COMPUTE_DOMAIN_DRIVER, {"type": "daemon", "id": 0}),
)  # fmt: skip


class Vocabulary:
    """Which names exist, by domain: those of the driver and those of the devices at hand."""

    def __init__(self, devices: Iterable[Device]) -> None:
        self.attributes = {domain: set(names) for domain, names in _ATTRIBUTES.items()}
        self.capacity = {domain: set(names) for domain, names in _CAPACITY.items()}
        self.versions = set(_VERSIONS)
        for device in devices:
            for domain, held in device.qualified_attributes().items():
                self.attributes.setdefault(domain, set()).update(held)
                self.versions.update((domain, name) for name, value in held.items() if isinstance(value, Version))
            for domain, amounts in device.qualified_capacity().items():
                self.capacity.setdefault(domain, set()).update(amounts)

    @property
    def domains(self) -> set[str]:
        return {*self.attributes, *self.capacity}

    def names(self, part: str) -> dict[str, set[str]]:
        return self.attributes if part == "attributes" else self.capacity
