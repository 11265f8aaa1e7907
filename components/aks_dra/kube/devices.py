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
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TypeVar

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
