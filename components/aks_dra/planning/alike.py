"""Which devices of one node have the same value of an attribute, as far as it can be told without the node.

Some values that only the node knows are alike by what they mean: the bus id and the parent's id are those of the GPU
that partitions are on, a driver version is the node's, and no two devices have one uuid.
"""

from __future__ import annotations

import re
from collections.abc import Hashable

from aks_dra.planning.devices import GPU_DRIVER, STANDARD_DOMAIN, Device, Unknown

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
