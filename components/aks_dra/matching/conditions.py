"""Which part of a class's or request's conditions a device fails, in words.

A selector that is a chain of `&&` is taken apart, so that one can say "memory >= 20Gi: it has 16Gi" instead of showing
the whole text. Anything else stays in one piece.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from aks_dra.cel import CompileError, Program, RuntimeProblem, Undecided, compile_expression
from aks_dra.cel.comparisons import comparison, parents
from aks_dra.cel.environment import parsed
from aks_dra.cel.references import References
from aks_dra.cel.rewriting import is_indirect
from aks_dra.cel.syntax import Tree, children, string_constant, variable
from aks_dra.kube.devices import Device, Unknown, Version

_AND = "&&"


@dataclass(frozen=True)
class Tried:
    """What came of a device: does it match; if not, the first part that fails, and how many held before it."""

    matches: bool
    sure: bool = True  # False where it rests on values that only the node knows
    part: str = ""
    held: int = 0
    raises: str = ""  # the error that aborts the scheduling of the pod
    undecided: tuple[str, ...] = ()


def attempt(selectors: tuple[str, ...], device: Device, minor: tuple[int, int]) -> Tried:
    """All selectors in order on one device, as the scheduler goes through them."""
    held, undecided = 0, list[str]()
    for text in selectors:
        program = compile_expression(text, minor)
        if isinstance(program, CompileError):
            return Tried(False, part=text, held=held)
        answer = program.evaluate(device)
        if isinstance(answer, RuntimeProblem):
            return Tried(False, part=text, held=held, raises=answer.text)
        if isinstance(answer, Undecided):
            undecided += answer.attributes
        elif answer is False:
            part, before = _failing_part(text, device, minor)
            return Tried(False, part=part, held=held + before)
        held += len(parts(text))
    return Tried(True, not undecided, held=held, undecided=tuple(dict.fromkeys(undecided)))


def _failing_part(text: str, device: Device, minor: tuple[int, int]) -> tuple[str, int]:
    pieces = parts(text)
    for index, piece in enumerate(pieces):
        program = compile_expression(piece, minor)
        if isinstance(program, Program) and program.evaluate(device) is False:
            return piece, index
    return text, 0


@lru_cache(maxsize=2048)
def parts(text: str) -> tuple[str, ...]:
    """The terms of a chain of `&&`; the whole where another operator binds weaker."""
    tree = parsed(text)
    signs = sorted(_signs(tree.root, tree.positions())) if tree else []
    ends = [0, *(place + len(_AND) for place in signs)], [*signs, len(text)]
    pieces = [_alone(text[start:end].strip()) for start, end in zip(*ends, strict=True)]
    return tuple(pieces) if all(pieces) else (text,)


def _signs(node: Any, places: Mapping[int, int]) -> Iterator[int]:
    """Where the `&&` stand between the terms."""
    if node.HasField("call") and node.call.function == "_&&_":
        yield places[node.id]
        for term in node.call.args:
            yield from _signs(term, places)


def _alone(piece: str) -> str:
    """A term without the parentheses that it shares with its neighbours."""
    for taken in range(piece.count("(") + piece.count(")") + 1):
        for left in range(taken + 1):
            term = piece
            for _ in range(left):
                term = term.removeprefix("(").lstrip()
            for _ in range(taken - left):
                term = term.removesuffix(")").rstrip()
            if parsed(term) is not None:
                return term
    return ""


def in_words(part: str, device: Device) -> str:
    """The failing part as people would write it, and what the device has instead."""
    tree = parsed(part)
    if tree is None:
        return part
    looked_up = References(tree).lookup(tree.root)
    if looked_up and looked_up[2] and tree.root.call.function == "@in":
        return f"it has no {looked_up[2]}"
    short = _short(part, tree)
    return f"{short}: it has {held}" if (held := values(part, device)) else short


def _short(part: str, tree: Tree) -> str:
    """Without the maps that attributes stand in, and with operators for the methods of quantities and versions."""
    places, above, references = tree.positions(), parents(tree), References(tree)
    changes: set[tuple[int, int, str]] = set()  # a macro repeats what it is called on
    for node in tree.nodes():
        if _names_a_field(node) and references.written_out(node):
            changes.add((_start(node, places), _point(node, places) + 1, ""))
        found = comparison(node, above)
        if found is None or not found.made or not found.method or not found.operator:
            continue
        # from the point before the method to the parenthesis behind its value, or to the 0 that it is compared with
        end = _behind(part, places[node.call.args[0].call.args[0].id], found.value)
        if found.method == "compareTo":
            zero = above[node.id].call.args[1]
            end = 0 if zero.id == node.id else places[zero.id] + 1
        if end:
            changes.add((part.rindex(".", 0, places[node.id]), end, f" {found.operator} {found.value}"))
    for start, end, text in sorted(changes, reverse=True):
        part = part[:start] + text + part[end:]
    return part


def _names_a_field(node: Any) -> bool:
    """Whether a node is `….name` or `….?name` behind the brackets of a domain."""
    if node.HasField("call") and node.call.function == "_?._":
        return bool(node.call.args[0].HasField("call"))
    return bool(node.HasField("select") and node.select.operand.HasField("call"))


def _start(node: Any, places: Mapping[int, int]) -> int:
    """Where a lookup begins: at its `device`."""
    while not node.HasField("ident"):
        node = children(node)[0]
    return places[node.id]


def _point(node: Any, places: Mapping[int, int]) -> int:
    """Where the point before a field is: the place of a field, but not within `has(…)`."""
    if not (node.HasField("select") and node.select.test_only):
        return places[node.id]
    before = places[children(node.select.operand)[-1].id]
    return min(place for place in places.values() if place > before)


def _behind(part: str, place: int, value: str) -> int:
    """The end of `'20Gi'))`, which begins at `place`; 0 where it is written otherwise."""
    end = place + len(value) + 2
    if part[place + 1 : end - 1] != value:
        return 0
    for _ in range(2):
        end += len(part[end:]) - len(part[end:].lstrip())
        if part[end : end + 1] != ")":
            return 0
        end += 1
    return end


def values(part: str, device: Device) -> str:
    """What the device holds of the attributes and capacities that a part mentions."""
    tree = parsed(part)
    if tree is None:
        return ""
    asked = {(found.part, found.domain or device.driver, found.name) for found in References(tree)}
    # Names that go through a variable: a text that is the name of something is taken for it.
    texts = {string_constant(node) for node in tree.nodes()} if is_indirect(tree) else set()
    shown = []
    if not asked and any(variable(node) == "device.driver" for node in tree.nodes()):
        shown.append(f"driver {device.driver}")
    for held, entries in (("attributes", device.attributes), ("capacity", device.capacity)):
        for name, value in entries.items():
            domain, _, own = name.rpartition("/")
            if (held, domain or device.driver, own) in asked or own in texts:
                text = value.text if isinstance(value, Version) else "a value only the node knows"
                shown.append(f"{name} {text if isinstance(value, Version | Unknown) else value}")
    return ", ".join(shown)
