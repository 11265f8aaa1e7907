"""How an expression compares a value: by an operator, or by a method of quantities and versions.

memory > 20        memory.compareTo(quantity('20Gi')) > 0        memory.isGreaterThan(quantity('20Gi'))
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aks_dra.cel import syntax

# Each with what it is when its sides change places.
TURNED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
METHODS = {"isGreaterThan": ">", "isLessThan": "<"}
MAKERS = ("quantity", "semver")


@dataclass(frozen=True)
class Comparison:
    """As if the subject were on the left."""

    subject: Any
    operator: str  # "" of a compareTo whose result is not compared with 0
    value: str
    made: str = ""  # by quantity or semver, "" of a plain constant
    turned: bool = False  # written with the subject on the right
    method: str = ""


def operator(node: Any) -> str:
    """The operator that a node is, "" for anything else than a comparison."""
    sign = str(node.call.function).strip("_") if node.HasField("call") and len(node.call.args) == 2 else ""
    return sign if sign in TURNED else ""


def parents(tree: syntax.Tree) -> dict[int, Any]:
    """By node, the node that it is a part of."""
    return {child.id: node for node in tree.nodes() for child in syntax.children(node)}


def comparison(node: Any, above: Mapping[int, Any]) -> Comparison | None:
    """What an operator or method compares with a constant; None where it is no comparison or there is no constant.

    `above` are the parents of nodes: compareTo is one comparison with the operator on its result.
    """
    if sign := operator(node):
        one, other = node.call.args
        if (value := _constant(other)) is not None:
            return Comparison(one, sign, *value)
        if (value := _constant(one)) is not None:
            return Comparison(other, TURNED[sign], *value, turned=True)
        return None
    if not node.HasField("call") or not node.call.HasField("target") or len(node.call.args) != 1:
        return None
    name, value = str(node.call.function), _constant(node.call.args[0])
    if value is None or name not in {"compareTo", *METHODS}:
        return None
    sign = METHODS.get(name) or _of_result(node, above.get(node.id))
    return Comparison(node.call.target, sign, *value, method=name)


def _of_result(node: Any, holder: Any) -> str:
    """The operator that compares what compareTo gives with 0."""
    if holder is None or not (sign := operator(holder)):
        return ""
    one, other = holder.call.args
    if one.id == node.id:
        return sign if _constant(other) == ("0", "") else ""
    return TURNED[sign] if _constant(one) == ("0", "") else ""


def _constant(node: Any) -> tuple[str, str] | None:
    """A text or number, and the function that makes a quantity or version of it."""
    if node.HasField("call") and node.call.function in MAKERS and not node.call.HasField("target"):
        inner = _constant(node.call.args[0]) if len(node.call.args) == 1 else None
        return (inner[0], str(node.call.function)) if inner and not inner[1] else None
    if not node.HasField("const"):
        return None
    for field in ("string_value", "int64_value", "uint64_value", "double_value"):
        if node.const.HasField(field):
            return str(getattr(node.const, field)), ""
    return None
