"""What is changed in a checked expression so that Google's engine evaluates it as Kubernetes does.

1. A lookup in `device.attributes` or `device.capacity` goes to the map that holds unknown domains too, as empty maps.
2. Loops run to their end. The engine (0.1.3) that leaves one early keeps the loop's variable, and a later `cel.bind`
   takes it for its own: `[1, 2].exists(x, x == 1) && cel.bind(a, 5, a == 5)` is false there. Results are the
   same, since `exists` and `all` absorb errors either way.
3. `==` and `in` of a version that the device has raise where upstream does.
4. Reading a value that only the node knows raises an error of its own.

3 and 4 cost a call back into Python each time, so they are done only for the names that matter (`Names`).
"""

from __future__ import annotations

from typing import Any

from aks_dra.cel import functions, syntax
from aks_dra.cel.environment import MAPS

Names = frozenset[str] | None
"""Names of attributes and capacities; None where the names that are read cannot be told from the expression."""

LOOKUPS = {"_[_]", "_[?_]", "_?._"}
_OPENERS = {"_[_]", "orValue", "value", "first", "last"}
_MAKERS = {"semver", "quantity"}
_INDIRECT = {"dyn", "orValue", "or", "optional.of", "_?_:_"}


def is_indirect(tree: syntax.Tree) -> bool:
    """Whether values may be read, or come to be compared, by other ways than a name written out."""
    for node in tree.nodes():
        if node.HasField("comprehension") or node.HasField("struct"):
            return True
        if node.HasField("list") and not all(element.HasField("const") for element in node.list.elements):
            return True
        if node.HasField("call"):
            computed = node.call.function in LOOKUPS and not node.call.args[-1].HasField("const")
            if computed or node.call.function in _INDIRECT:
                return True
            if node.call.function == "_==_" and any(side.call.function in _MAKERS for side in node.call.args):
                return True
    return False


def rewritten(serialized: bytes, unread: Names, versions: Names) -> bytes:
    tree = syntax.Tree(serialized)
    types = tree.types()
    references = {entry.key: entry.value for entry in tree.checked.references}
    nodes = list(tree.nodes())
    fresh = max(node.id for node in nodes) + 1
    for node in nodes:
        looked_up = _looked_up(node)
        if looked_up is not None and looked_up.HasField("ident") and looked_up.ident.name in MAPS:
            looked_up.ident.name = references[looked_up.id].name = MAPS[looked_up.ident.name]
    for step, node in enumerate(reversed(nodes)):  # children first: wrapping moves what is below
        form = types.get(node.id)
        if node.HasField("comprehension") and not syntax.is_bind(node):
            syntax.make_true(node.comprehension.loop_condition)
        _compare_strictly(node, types, versions, fresh + len(nodes) + step)
        if _concerns(unread, node) and _yields_value(node, form):
            syntax.wrap(node, functions.READ, fresh + step)
            types[fresh + step] = form
    return tree.serialize()


def _looked_up(node: Any) -> Any:
    """The map that a node looks a name up in."""
    if node.HasField("select"):
        return node.select.operand
    if node.HasField("call") and node.call.function in LOOKUPS and not node.call.HasField("target"):
        return node.call.args[0]
    return None


def _concerns(names: Names, *nodes: Any) -> bool:
    """Whether one of the nodes reads one of the names, as far as that can be told."""
    if names is None:
        return True
    return any((name := _read_name(node)) is None or name in names for node in nodes) if names else False


def _read_name(node: Any) -> str | None:
    """The last name that a node looks up, or "" for a constant; None where it is no plain lookup."""
    if node.HasField("const"):
        return ""
    if node.HasField("select"):
        return str(node.select.field)
    if node.HasField("call") and node.call.function == "_[_]":
        return syntax.string_constant(node.call.args[1])
    if node.HasField("call") and node.call.function == functions.READ:
        return _read_name(node.call.args[0])
    return None


def _compare_strictly(node: Any, types: dict[int, Any], versions: Names, fresh: int) -> None:
    if not node.HasField("call") or node.call.function not in {"_==_", "@in"} or len(node.call.args) != 2:
        return
    one, other = node.call.args
    of_kubernetes = syntax.is_message(types.get(one.id), "kubernetes.Quantity")
    if not of_kubernetes and not _concerns(versions, one, other):
        return
    open_one, open_other = (syntax.is_dynamic(types.get(side.id)) for side in (one, other))
    if node.call.function == "_==_" and (open_one or open_other):
        syntax.wrap(one, functions.COMPARABLE, fresh, other)
    elif open_one and other.HasField("list") and all(_is_hashed(element) for element in other.list.elements):
        syntax.wrap(one, functions.HASHABLE, fresh)


def _is_hashed(element: Any) -> bool:
    return element.HasField("const") and not element.const.HasField("null_value")


def _yields_value(node: Any, form: Any) -> bool:
    """Whether a node may come to the value of an attribute or capacity."""
    if not (syntax.is_dynamic(form) or syntax.is_message(form, "kubernetes.Quantity")):
        return False
    if node.HasField("ident"):
        return not node.ident.name.startswith(("@", "device"))
    if node.HasField("select"):
        return not node.select.test_only
    return node.HasField("call") and node.call.function in _OPENERS
