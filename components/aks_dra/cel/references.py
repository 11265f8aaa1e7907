"""Which attributes and capacities a selector asks for, and what it compares them with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from aks_dra.cel import comparisons, syntax

Part = Literal["attributes", "capacity"]
_PARTS: dict[str, Part] = {"device.attributes": "attributes", "device.capacity": "capacity"}


@dataclass(frozen=True)
class Reference:
    """One lookup: `device.attributes['gpu.nvidia.com'].uuid == 'GPU-…'`; name "" where only the domain is asked."""

    part: Part
    domain: str  # "" for device.driver's
    name: str
    compared_with: tuple[str, ...] = ()  # constant texts
    operators: tuple[str, ...] = ()  # of each: "==", ">=" …, "in" for a list of them


class References:
    """All lookups of a selector whose domain and name are written out, through `cel.bind` too."""

    def __init__(self, tree: syntax.Tree) -> None:
        self._nodes = list(tree.nodes())
        self._bound: dict[str, Any] = {
            node.comprehension.accu_var: node.comprehension.accu_init
            for node in self._nodes
            if node.HasField("comprehension") and syntax.is_bind(node)
        }
        self.drivers = frozenset(self._compared_drivers())

    def __iter__(self) -> Iterator[Reference]:
        compared = self._comparisons()
        for node in self._nodes:
            found = self.lookup(node)
            if found:
                pairs = compared.get(node.id, ())
                yield Reference(*found, tuple(text for _, text in pairs), tuple(operator for operator, _ in pairs))

    def lookup(self, node: Any) -> tuple[Part, str, str] | None:
        """Part, domain and name that a node looks up; name "" where it looks up the domain."""
        step = self._step(node)
        if step is None:
            return None
        holder, key = step
        part = self._part(holder)
        if part:
            return part, key, ""
        outer = self._step(self._resolved(holder))
        if outer is None:
            return None
        outer_part = self._part(outer[0])
        return (outer_part, outer[1], key) if outer_part else None

    def written_out(self, node: Any) -> tuple[Part, str, str] | None:
        """The same of a lookup of a name that is all there, from `device` on, without names that `cel.bind` gives."""
        step = self._step(node)
        outer = self._step(step[0]) if step else None
        part = _PARTS.get(syntax.variable(outer[0])) if outer else None
        return (part, outer[1], step[1]) if step and outer and part else None

    def _part(self, node: Any) -> Part | None:
        return _PARTS.get(syntax.variable(self._resolved(node)))

    def _resolved(self, node: Any) -> Any:
        seen: set[str] = set()
        while node.HasField("ident") and node.ident.name in self._bound and node.ident.name not in seen:
            seen.add(node.ident.name)
            node = self._bound[node.ident.name]
        return node

    def _step(self, node: Any) -> tuple[Any, str] | None:
        """What is looked into, and the key, when that is written out."""
        if node.HasField("select"):
            return node.select.operand, str(node.select.field)
        if not node.HasField("call") or len(node.call.args) != 2 or node.call.HasField("target"):
            return None
        first, second = node.call.args
        if node.call.function == "@in":
            first, second = second, first
        elif node.call.function not in {"_[_]", "_[?_]", "_?._"}:
            return None
        key = syntax.string_constant(second)
        if key is None and syntax.variable(second) == "device.driver":
            key = ""
        return None if key is None else (first, key)

    def _comparisons(self) -> dict[int, list[tuple[str, str]]]:
        """By node, the constant texts that it is compared with, each behind its operator."""
        found: dict[int, list[tuple[str, str]]] = {}
        for node in self._nodes:
            if not node.HasField("call") or len(node.call.args) != 2:
                continue
            one, other = node.call.args
            if sign := comparisons.operator(node):
                for side, constant, operator in ((one, other, sign), (other, one, comparisons.TURNED[sign])):
                    text = syntax.string_constant(constant)
                    if text is not None:
                        found.setdefault(self._resolved(side).id, []).append((operator, text))
            elif node.call.function == "@in" and other.HasField("list"):
                texts = [syntax.string_constant(element) for element in other.list.elements]
                pairs = [("in", text) for text in texts if text is not None]
                found.setdefault(self._resolved(one).id, []).extend(pairs)
        return found

    def _compared_drivers(self) -> Iterator[str]:
        names = {node.id for node in self._nodes if syntax.variable(node) == "device.driver"}
        for identifier, pairs in self._comparisons().items():
            if identifier in names:
                yield from (text for _, text in pairs)
