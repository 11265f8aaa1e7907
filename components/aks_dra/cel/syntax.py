"""Checked expressions as trees: read from the engine's serialised form, rewritten, and given back.

The engine itself answers neither of two questions that planning has, so the tree does: an unknown domain is an
empty map in Kubernetes and an error in CEL, and a value that only the node knows has to be noticed when it is read.
Only the fields in use are declared here; protobuf carries the others along untouched.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_INT64, _INT32, _UINT64, _DOUBLE, _BOOL, _STRING, _BYTES, _MESSAGE = 3, 5, 4, 1, 8, 9, 12, 11
_ONE, _MANY = 1, 3

# message → field → (number, scalar type or message name, many?), as in cel.expr's syntax.proto and checked.proto
_FORMS: dict[str, dict[str, tuple[int, int | str, bool]]] = {
    "Packed": {"type_url": (1, _STRING, False), "value": (2, _BYTES, False)},
    "Checked": {
        "references": (2, "ReferenceEntry", True),
        "types": (3, "TypeEntry", True),
        "expr": (4, "Expr", False),
        "source": (5, "Source", False),
    },
    "Parsed": {"expr": (2, "Expr", False), "source": (3, "Source", False)},
    "ReferenceEntry": {"key": (1, _INT64, False), "value": (2, "Reference", False)},
    "Reference": {"name": (1, _STRING, False), "overloads": (3, _STRING, True)},
    "TypeEntry": {"key": (1, _INT64, False), "value": (2, "Type", False)},
    "Type": {
        "dyn": (1, "Empty", False),
        "null": (2, _INT32, False),
        "primitive": (3, _INT32, False),
        "well_known": (5, _INT32, False),
        "list_type": (6, "ListType", False),
        "map_type": (7, "MapType", False),
        "message_type": (9, _STRING, False),
        "type": (11, "Type", False),
        "abstract_type": (14, "AbstractType", False),
    },
    "ListType": {"elem": (1, "Type", False)},
    "MapType": {"key": (1, "Type", False), "value": (2, "Type", False)},
    "AbstractType": {"name": (1, _STRING, False), "parameters": (2, "Type", True)},
    "Empty": {},
    "Source": {"positions": (4, "PositionEntry", True), "macros": (5, "MacroEntry", True)},
    "PositionEntry": {"key": (1, _INT64, False), "value": (2, _INT32, False)},
    "MacroEntry": {"key": (1, _INT64, False), "value": (2, "Expr", False)},
    "Expr": {
        "id": (2, _INT64, False),
        "const": (3, "Constant", False),
        "ident": (4, "Ident", False),
        "select": (5, "Select", False),
        "call": (6, "Call", False),
        "list": (7, "List", False),
        "struct": (8, "Struct", False),
        "comprehension": (9, "Comprehension", False),
    },
    "Constant": {
        "null_value": (1, _INT32, False),
        "bool_value": (2, _BOOL, False),
        "int64_value": (3, _INT64, False),
        "uint64_value": (4, _UINT64, False),
        "double_value": (5, _DOUBLE, False),
        "string_value": (6, _STRING, False),
        "bytes_value": (7, _BYTES, False),
    },
    "Ident": {"name": (1, _STRING, False)},
    "Select": {"operand": (1, "Expr", False), "field": (2, _STRING, False), "test_only": (3, _BOOL, False)},
    "Call": {"target": (1, "Expr", False), "function": (2, _STRING, False), "args": (3, "Expr", True)},
    "List": {"elements": (1, "Expr", True)},
    "Struct": {"message_name": (1, _STRING, False), "entries": (2, "StructEntry", True)},
    "StructEntry": {"id": (1, _INT64, False), "map_key": (3, "Expr", False), "value": (4, "Expr", False)},
    "Comprehension": {
        "iter_var": (1, _STRING, False),
        "iter_range": (2, "Expr", False),
        "accu_var": (3, _STRING, False),
        "accu_init": (4, "Expr", False),
        "loop_condition": (5, "Expr", False),
        "loop_step": (6, "Expr", False),
        "result": (7, "Expr", False),
        "iter_var2": (8, _STRING, False),
    },
}
# Which field of Expr a node fills; exactly one is set.
KINDS = ("const", "ident", "select", "call", "list", "struct", "comprehension")
BOOL = 1  # Type.primitive of a boolean
TEXTS = (5, 6)  # and of strings and bytes


def _classes() -> dict[str, Any]:
    file = descriptor_pb2.FileDescriptorProto(name="tree.proto", package="tree", syntax="proto2")
    for name, fields in _FORMS.items():
        message = file.message_type.add(name=name)
        for field, (number, form, many) in fields.items():
            added = message.field.add(name=field, number=number, label=_MANY if many else _ONE)
            if isinstance(form, str):
                added.type, added.type_name = _MESSAGE, f".tree.{form}"
            else:
                added.type = form
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"tree.{name}")) for name in _FORMS}


_CLASS = _classes()
Node = Any
"""An Expr message: one node of a tree."""


class Tree:
    """An expression: its nodes, their places, what the checker found out about each, and its serialised form.

    One that was only parsed has no types, and `device.driver` is a field of `device` there instead of a name.
    """

    def __init__(self, serialized: bytes) -> None:
        self._packed = _CLASS["Packed"].FromString(serialized)
        form = "Parsed" if self._packed.type_url.endswith("ParsedExpr") else "Checked"
        self.checked = _CLASS[form].FromString(self._packed.value)

    @property
    def root(self) -> Node:
        return self.checked.expr

    def serialize(self) -> bytes:
        packed = _CLASS["Packed"](type_url=self._packed.type_url, value=self.checked.SerializeToString())
        return bytes(packed.SerializeToString())

    def types(self) -> dict[int, Any]:
        return {entry.key: entry.value for entry in self.checked.types}

    def positions(self) -> dict[int, int]:
        """By node, where it stands in the text: an operator's sign, the parenthesis of a call, the point of a field."""
        return {entry.key: entry.value for entry in self.checked.source.positions}

    def nodes(self) -> Iterator[Node]:
        """Every node, parents before children."""
        pending = [self.root]
        while pending:
            node = pending.pop()
            yield node
            pending.extend(reversed(children(node)))


def kind(node: Node) -> str:
    return next((name for name in KINDS if node.HasField(name)), "")


def children(node: Node) -> list[Node]:
    match kind(node):
        case "select":
            return [node.select.operand]
        case "call":
            return ([node.call.target] if node.call.HasField("target") else []) + list(node.call.args)
        case "list":
            return list(node.list.elements)
        case "struct":
            entries = node.struct.entries
            return [entry.map_key for entry in entries if entry.HasField("map_key")] + [e.value for e in entries]
        case "comprehension":
            c = node.comprehension
            return [c.iter_range, c.accu_init, c.loop_condition, c.loop_step, c.result]
    return []


def string_constant(node: Node) -> str | None:
    if node.HasField("const") and node.const.HasField("string_value"):
        return str(node.const.string_value)
    return None


def variable(node: Node) -> str:
    """The name that a node is, `device.driver` in a parsed tree too; "" for anything else."""
    if node.HasField("ident"):
        return str(node.ident.name)
    if node.HasField("select") and not node.select.test_only and node.select.operand.HasField("ident"):
        holder = node.select.operand.ident.name
        return f"{holder}.{node.select.field}" if holder == "device" else ""
    return ""


def wrap(node: Node, function: str, fresh_id: int, *further: Node) -> None:
    """Turns node N into function(N, further…), in place."""
    inner = _CLASS["Expr"]()
    inner.CopyFrom(node)
    node.Clear()
    node.id = fresh_id
    node.call.function = function
    for argument in (inner, *further):
        node.call.args.add().CopyFrom(argument)


def is_bind(node: Node) -> bool:
    """Whether a comprehension is a `cel.bind`, which loops over nothing."""
    return str(node.comprehension.iter_var).startswith("#")


def make_true(node: Node) -> None:
    identifier = node.id
    node.Clear()
    node.id = identifier
    node.const.bool_value = True


def is_dynamic(form: Any) -> bool:
    """Whether the checker left the type open: `dyn`, or Kubernetes' `any` of an attribute."""
    return form is not None and (form.HasField("dyn") or form.well_known == 1)


def is_any(form: Any) -> bool:
    """Whether it is the type of an attribute's value."""
    return form is not None and form.well_known == 1


def is_optional(form: Any) -> bool:
    return form is not None and form.HasField("abstract_type") and form.abstract_type.name == "optional_type"


def is_type(form: Any) -> bool:
    """Whether it is the type of types, as of `type(x)`."""
    return form is not None and form.HasField("type")


def is_message(form: Any, name: str) -> bool:
    return form is not None and form.message_type == name


def type_name(form: Any) -> str:
    """The type in words, for messages to people."""
    if form is None or is_dynamic(form):
        return "dyn"
    if form.HasField("null"):
        return "null"
    if form.primitive:
        return {1: "bool", 2: "int", 3: "uint", 4: "double", 5: "string", 6: "bytes"}.get(form.primitive, "dyn")
    if form.well_known:
        return {2: "google.protobuf.Timestamp", 3: "google.protobuf.Duration"}.get(form.well_known, "dyn")
    if form.HasField("list_type"):
        return f"list({type_name(form.list_type.elem)})"
    if form.HasField("map_type"):
        return f"map({type_name(form.map_type.key)}, {type_name(form.map_type.value)})"
    if form.HasField("abstract_type"):
        return f"{form.abstract_type.name}({', '.join(type_name(p) for p in form.abstract_type.parameters)})"
    return str(form.message_type) or "dyn"
