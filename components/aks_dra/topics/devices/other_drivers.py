"""Devices of drivers that are not NVIDIA's, as the stack file describes them.

They are what a node of the named pools publishes beside its GPUs. What is described wrongly is left out of the plan; a
check says why. Devices are named after their key, so that a claim that got one can be read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from aks_dra.facts import load_facts
from aks_dra.kube import quantity, semver
from aks_dra.kube.devices import UNKNOWN, Attribute, Device, Version
from aks_dra.kube.labels import ATTRIBUTE, ATTRIBUTE_DOMAIN
from aks_dra.settings import DescribedDevices, Settings

FORMS = 'text, a whole number, true or false, {version: "1.2.3"}, or {knownOnNode: true}'


def attribute(value: Any) -> Attribute | None:
    """An attribute as the settings write it; None where it has no such form."""
    if isinstance(value, Mapping):
        if value == {"knownOnNode": True}:
            return UNKNOWN
        text = value.get("version")
        is_version = set(value) == {"version"} and isinstance(text, str) and semver.is_semver(text)
        return Version(semver.parse(str(text)).text()) if is_version else None
    return value if isinstance(value, str | int | bool) else None


def is_qualified(name: str) -> bool:
    """`family`, or `example.com/family`."""
    domain, slash, own = name.rpartition("/")
    return bool(ATTRIBUTE.fullmatch(own)) and (not slash or bool(ATTRIBUTE_DOMAIN.fullmatch(domain)))


def described(key: str, entry: DescribedDevices) -> tuple[Device, ...]:
    """The devices that one node publishes."""
    attributes = {
        name: value
        for name, held in sorted(entry.attributes.items())
        if is_qualified(name) and (value := attribute(held)) is not None
    }
    capacity = {
        name: amount
        for name, amount in sorted(entry.capacity.items())
        if is_qualified(name) and quantity.is_quantity(amount)
    }
    base = re.sub(r"[^a-z0-9-]", "-", key.lower()).strip("-") or "device"
    return tuple(
        Device(f"{base}-{index}", entry.driver, attributes, capacity, entry.allow_multiple_allocations)
        for index in range(min(max(entry.per_node, 0), load_facts().limit("devices_per_slice")))
    )


def other_devices(settings: Settings) -> dict[str, tuple[Device, ...]]:
    """Pool to the described devices of one of its nodes."""
    found: dict[str, list[Device]] = {}
    for pool, devices in _by_pool(settings):
        found.setdefault(pool, []).extend(devices)
    return {pool: tuple(devices) for pool, devices in found.items()}


def _by_pool(settings: Settings) -> Iterator[tuple[str, tuple[Device, ...]]]:
    for key, entry in sorted(settings.devices.items()):
        for pool in dict.fromkeys(entry.pools):
            yield pool, described(key, entry)
