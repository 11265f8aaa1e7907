"""What a selector can tell devices apart by, so that devices that it cannot are evaluated once.

A selector on memory gives one answer for all GPUs of that memory, whatever else they are. That holds while every
attribute and capacity is read by a name that is written out; where maps are walked through, compared or handed on, the
whole device may matter and nothing is left out.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from aks_dra.cel import rewriting, syntax
from aks_dra.cel.environment import MAPS
from aks_dra.cel.rewriting import Names
from aks_dra.kube.devices import Device


def names_read(tree: syntax.Tree) -> Names:
    """The names of attributes and capacities that decide, beside the driver; None where it cannot be told."""
    if rewriting.is_indirect(tree):
        return None
    nodes = list(tree.nodes())
    looked_up = {looked[0].id: looked[1] for node in nodes if (looked := _lookup(node)) is not None}
    names: set[str] = set()
    for node in nodes:
        if node.HasField("ident") and node.ident.name == "device":
            return None
        is_map = node.HasField("ident") and node.ident.name in MAPS
        if not (is_map or _is_domain(node)):
            continue
        if node.id not in looked_up:
            return None  # a map is not looked into but used as a whole
        if not is_map:
            names.add(looked_up[node.id])
    return frozenset(names)


def domains_read(tree: syntax.Tree) -> frozenset[str]:
    """The domains that are looked up by names written out."""
    found = (looked for node in tree.nodes() if (looked := _lookup(node)) is not None)
    return frozenset(name for held, name in found if held.HasField("ident") and held.ident.name in MAPS)


def project(device: Device, names: Names) -> Hashable:
    """Equal for devices that a selector which reads these names cannot tell apart."""
    if names is None:
        return device.kind()
    return (
        device.driver,
        device.allow_multiple_allocations,
        _held(device.attributes, names),
        _held(device.capacity, names),
    )


def _held(values: Mapping[str, Any], names: frozenset[str]) -> Hashable:
    found = [(key, value) for key, value in values.items() if key.rpartition("/")[2] in names]
    return tuple(sorted((key, type(value).__name__, str(value)) for key, value in found))


def _lookup(node: Any) -> tuple[Any, str] | None:
    """What a node looks into, and the name that it looks for, when that is written out."""
    if node.HasField("select"):
        return node.select.operand, str(node.select.field)
    if not node.HasField("call") or len(node.call.args) != 2 or node.call.HasField("target"):
        return None
    held, key = node.call.args
    if node.call.function == "@in":
        held, key = key, held
    elif node.call.function not in rewriting.LOOKUPS:
        return None
    name = syntax.string_constant(key)
    return None if name is None else (held, name)


def _is_domain(node: Any) -> bool:
    """`device.attributes['gpu.nvidia.com']`, but not the test whether there is such a domain."""
    if node.HasField("call") and node.call.function == "@in":
        return False
    looked = _lookup(node)
    return looked is not None and looked[0].HasField("ident") and looked[0].ident.name in MAPS
