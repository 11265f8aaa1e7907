"""What the API server refuses in a selector: CEL's own errors, and what Kubernetes checks beyond them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from aks_dra.cel import environment, syntax

MAX_BYTES = 10 * 1024
_PLACE = re.compile(r"ERROR: <input>:(\d+):(\d+): (.*?)(?=\nERROR: <input>|\Z)", re.DOTALL)
_ACROSS_NUMBERS = re.compile(
    r"no matching overload for '_(<|>|<=|>=)_' applied to '\((int|uint|double), (int|uint|double)\)'"
)
_OF_TEXTS = {"join", "min", "max", "isSorted"}
_PARSED = {"matches", "find", "findAll", "duration", "timestamp"}


@dataclass(frozen=True)
class CompileError:
    """What the API server would refuse: the first error, its place, and the lines that show it."""

    text: str
    line: int = 1
    column: int = 1
    caret: str = ""


def from_engine(raw: str) -> CompileError:
    """The engine's text, taken apart."""
    found = _PLACE.search(re.sub(r"\s*\[[A-Z_]+\]$", "", raw))
    if found is None:
        return CompileError(raw.removeprefix("INVALID_ARGUMENT: "))
    text, _, shown = found[3].replace("DRADeviceConsumable", "DRADevice").partition("\n")
    caret = "\n".join(line.removeprefix(" | ") for line in shown.splitlines())
    return CompileError(text.strip(), int(found[1]), int(found[2]), caret)


def is_across_numbers(error: CompileError) -> bool:
    """A comparison of an int with a double: Kubernetes takes it, the engine's checker does not."""
    return _ACROSS_NUMBERS.search(error.text) is not None


def of_tree(tree: syntax.Tree, expression: str) -> CompileError | None:
    """A result that cannot be a boolean, mixed lists and maps, constants that cannot be parsed."""
    types = tree.types()
    result = types.get(tree.root.id)
    if not (result is not None and (result.primitive == syntax.BOOL or _is_open(result, tree))):
        return CompileError(f"must evaluate to bool or the unknown type, not {syntax.type_name(result)}")
    for node in tree.nodes():
        text = _mixed(node, types) or _bad_constant(node) or _too_expensive(node, types) or _bad_format(node, types)
        if text:
            return CompileError(text, *_place(tree, node, expression))
    return None


def _is_open(result: Any, tree: syntax.Tree) -> bool:
    """Kubernetes takes an attribute for a condition, but no `dyn`; under another name of `device` that is one here."""
    renamed = any(node.HasField("ident") and node.ident.name == "device" for node in tree.nodes())
    return syntax.is_any(result) or (renamed and syntax.is_dynamic(result))


def _place(tree: syntax.Tree, node: Any, expression: str) -> tuple[int, int, str]:
    offset = tree.positions().get(node.id, 0)
    before = expression[:offset]
    line, column = before.count("\n") + 1, offset - (before.rfind("\n") + 1)
    return line, column + 1, expression.split("\n")[line - 1] + "\n" + "." * column + "^"


def _mixed(node: Any, types: dict[int, Any]) -> str | None:
    """Kubernetes refuses lists and maps of several types where CEL makes them dyn."""
    if node.HasField("list"):
        parts = [list(node.list.elements)]
    elif node.HasField("struct") and not node.struct.message_name:
        parts = [[e.map_key for e in node.struct.entries], [e.value for e in node.struct.entries]]
    else:
        return None
    for part in parts:
        names = list(dict.fromkeys(syntax.type_name(types.get(element.id)) for element in part))
        if len(names) > 1 and not any("dyn" in name for name in names):
            return f"expected type '{names[0]}' but found '{names[1]}'"
    return None


def _too_expensive(node: Any, types: dict[int, Any]) -> str | None:
    """What Kubernetes cannot estimate the cost of, and therefore takes for infinitely expensive."""
    if not node.HasField("call"):
        return None
    if node.call.function in _OF_TEXTS and node.call.HasField("target"):
        form = types.get(node.call.target.id)
        holds_texts = form is not None and form.list_type.elem.primitive in syntax.TEXTS
        return f"too expensive by Kubernetes' estimate: {node.call.function} of texts" if holds_texts else None
    if node.call.function not in {"_==_", "_!=_"}:
        return None
    sides = [types.get(side.id) for side in node.call.args]
    for name, word in (("kubernetes.Quantity", "quantities"), ("kubernetes.Semver", "versions")):
        if node.call.function == "_!=_" and all(syntax.is_message(side, name) for side in sides):
            return f"too expensive by Kubernetes' estimate: != between {word}; write !(… == …)"
    if all(syntax.is_type(side) for side in sides) or all(syntax.is_optional(side) for side in sides):
        return "too expensive by Kubernetes' estimate: a comparison of types or of optional values"
    return None


def _bad_format(node: Any, types: dict[int, Any]) -> str | None:
    """Kubernetes checks the arguments of a constant format, and an attribute's open type does not pass."""
    call = node.call if node.HasField("call") else None
    if call is None or call.function != "format" or not call.args or syntax.string_constant(call.target) is None:
        return None
    if any(syntax.is_any(types.get(element.id)) for element in call.args[0].list.elements):
        return "error during formatting: an attribute has no type here; write string(…) around it"
    return None


def _bad_constant(node: Any) -> str | None:
    """Kubernetes refuses constant patterns, durations and timestamps that cannot be parsed."""
    if not node.HasField("call") or not node.call.args or node.call.function not in _PARSED:
        return None
    name, constant = node.call.function, syntax.string_constant(node.call.args[0])
    if constant is None:
        return None
    is_pattern = name not in {"duration", "timestamp"}
    error = environment.constant_error("''.matches(t)" if is_pattern else f"{name}(t) == {name}(t)", constant)
    return f"invalid {name} argument: {error.partition(': ')[2]}" if error else None
