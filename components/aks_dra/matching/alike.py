"""Which devices of one node have the same value of an attribute, as far as it can be told without the node.

Some values that only the node knows are alike by what they mean: the bus id and the parent's id are those of the GPU
that partitions are on, a driver version is the node's, and no two devices have one uuid.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence

from aks_dra.kube.devices import GPU_DRIVER, STANDARD_DOMAIN, Device, Unknown
from aks_dra.matching.counters import most_at_once

_GPU = re.compile(r"gpu-\d+")
_OF_THE_NODE = {f"{GPU_DRIVER}/driverVersion", f"{GPU_DRIVER}/cudaDriverVersion"}
_OF_THE_GPU = {f"{GPU_DRIVER}/parentUUID", f"{STANDARD_DOMAIN}/pciBusID"}


def has(device: Device, attribute: str) -> bool:
    """Whether a device has, or may have, an attribute named with its domain."""
    domain, _, name = attribute.partition("/")
    return name in device.qualified_attributes().get(domain, {})


def value_of(device: Device, attribute: str) -> Hashable | None:
    """Equal for devices of one node with the same value; None where that cannot be told."""
    domain, _, name = attribute.partition("/")
    value = device.qualified_attributes()[domain][name]
    if not isinstance(value, Unknown):
        return (type(value).__name__, str(value))
    if device.driver != GPU_DRIVER:
        return None
    if attribute in _OF_THE_NODE:
        return "the node's"
    if attribute in _OF_THE_GPU:
        gpu = _GPU.match(device.name)
        return gpu[0] if gpu else None
    return device.name if attribute == f"{GPU_DRIVER}/uuid" else None


def can_be_alike(attribute: str, wanted: Sequence[tuple[int, Sequence[Device]]], published: Sequence[Device]) -> bool:
    """Whether so many of these devices of one node, for each request, can all have the same value."""
    values = {value_of(device, attribute) for _, devices in wanted for device in devices if has(device, attribute)}
    return any(value is None or _enough_of(value, attribute, wanted, published) for value in values)


def _enough_of(
    value: Hashable, attribute: str, wanted: Sequence[tuple[int, Sequence[Device]]], published: Sequence[Device]
) -> bool:
    """Whether the devices with one value, and those that may have it, are enough for every request."""
    together: dict[tuple[str, str], Device] = {}
    for count, devices in wanted:
        group = {
            (device.driver, device.name): device
            for device in devices
            if has(device, attribute) and value_of(device, attribute) in (value, None)
        }
        if not group or most_at_once(group.values(), published) < count:
            return False
        together |= group
    return most_at_once(together.values(), published) >= sum(count for count, _ in wanted)
