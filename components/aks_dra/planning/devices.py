"""What a node's driver will publish: the devices that selectors are tried on before any node exists.

A device is what a selector can see and nothing else: driver, attributes, capacity. The pool and the node are
not part of it, because Kubernetes' CEL environment does not show them to a class. What only the node knows
(uuid, driver version, bus id) is UNKNOWN and never invented: a selector that rests on it is undecided.

The names follow NVIDIA's driver: attributes and capacity are unqualified there, which means the driver's own
domain; `resource.kubernetes.io/pciBusID` is qualified. Memory is a capacity, versions are semver, MIG profiles
keep their "+me", and there is no pcieRoot on Azure, which passes GPUs through VMBus. `addressingMode` and `numaNode`
depend on the node and the driver's version, so they are MAYBE there.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Protocol, TypeVar

V = TypeVar("V")

GPU_DRIVER = "gpu.nvidia.com"
# The one domain of attributes that drivers share; bus id and PCIe root live there.
STANDARD_DOMAIN = "resource.kubernetes.io"


class Unknown(enum.Enum):
    """Values that only the node can tell: UNKNOWN is there for certain, MAYBE might be missing altogether."""

    UNKNOWN = "unknown"
    MAYBE = "unknown, perhaps missing"

    def __repr__(self) -> str:
        return self.name


UNKNOWN = Unknown.UNKNOWN
MAYBE = Unknown.MAYBE


@dataclass(frozen=True)
class Version:
    """An attribute of type version: a semver text, compared with `compareTo(semver(…))`, never with `==` a string."""

    text: str


Attribute = str | int | bool | Version | Unknown
Capacity = str | Unknown


@dataclass(frozen=True, eq=False)
class Device:
    """One device of a ResourceSlice, as a selector sees it, with the name it has in its pool."""

    name: str
    driver: str
    attributes: Mapping[str, Attribute] = field(default_factory=lambda: MappingProxyType({}))
    capacity: Mapping[str, Capacity] = field(default_factory=lambda: MappingProxyType({}))
    allow_multiple_allocations: bool = False
    # Counter set to counter to amount: what it takes of something that other devices need too. No selector sees it.
    consumes: Mapping[str, Mapping[str, str]] = field(default_factory=lambda: MappingProxyType({}))

    @cached_property
    def _kind(self) -> Hashable:
        return (
            self.driver,
            self.allow_multiple_allocations,
            tuple(sorted((name, type(value).__name__, str(value)) for name, value in self.attributes.items())),
            tuple(sorted((name, type(value).__name__, str(value)) for name, value in self.capacity.items())),
        )

    def kind(self) -> Hashable:
        """Equal for devices that no selector can tell apart."""
        return self._kind

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and (self.name, self._kind) == (other.name, other._kind)

    @cached_property
    def _hash(self) -> int:
        return hash((self.name, self._kind))

    def __hash__(self) -> int:
        return self._hash

    def qualified_attributes(self) -> dict[str, dict[str, Attribute]]:
        """Attributes by domain and name, as `device.attributes[domain].name` finds them."""
        return _by_domain(self.driver, self.attributes)

    def qualified_capacity(self) -> dict[str, dict[str, Capacity]]:
        """Capacity by domain and name, as `device.capacity[domain].name` finds it."""
        return _by_domain(self.driver, self.capacity)


def _by_domain(driver: str, values: Mapping[str, V]) -> dict[str, dict[str, V]]:
    domains: dict[str, dict[str, V]] = {}
    for key, value in values.items():
        domain, slash, name = key.partition("/")
        if not slash:
            domain, name = driver, key
        domains.setdefault(domain, {})[name] = value
    return domains


def distinct(devices: Iterable[Device]) -> tuple[Device, ...]:
    """The first device of each kind, in order."""
    return tuple({device.kind(): device for device in reversed(list(devices))}.values())[::-1]


class GpuRow(Protocol):
    """What this module and intents need of a row of the GPU table."""

    @property
    def product_name(self) -> str: ...
    @property
    def brand(self) -> str: ...
    @property
    def architecture(self) -> str: ...
    @property
    def compute_capability(self) -> str: ...
    @property
    def memory_mib(self) -> int: ...
    @property
    def memory_mib_range(self) -> Sequence[int]: ...
    @property
    def class_name(self) -> str: ...


class FamilyRow(Protocol):
    """What this module needs of a MIG family: how many slices its memory has."""

    @property
    def memory_slices(self) -> int: ...


class ProfileRow(Protocol):
    """What this module needs of a MIG profile; `memory` is the number of memory slices it takes."""

    @property
    def name(self) -> str: ...
    @property
    def gi_profile_id(self) -> int: ...
    @property
    def memory(self) -> int: ...
    @property
    def memory_mib(self) -> int: ...
    @property
    def multiprocessors(self) -> int: ...
    @property
    def copy_engines(self) -> int: ...
    @property
    def decoders(self) -> int: ...
    @property
    def encoders(self) -> int: ...
    @property
    def jpeg_engines(self) -> int: ...
    @property
    def ofa_engines(self) -> int: ...


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
