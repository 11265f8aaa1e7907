"""Which part of a class's or request's conditions a device fails, in words.

A selector that is a chain of `&&` is taken apart, so that one can say "memory >= 20Gi: it has 16Gi" instead of showing
the whole text. Anything else stays in one piece.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from aks_dra.cel import CompileError, Program, RuntimeProblem, Undecided, compile_expression
from aks_dra.kube.devices import Device, Unknown, Version

_QUOTES = ("'", '"')
_COMPARED = re.compile(r"([\w.?]+)\.compareTo\((?:quantity|semver)\('([^']*)'\)\) *(==|!=|>=|<=|>|<) *0")
_DIRECT = re.compile(r"([\w.]+)\.is(Greater|Less)Than\((?:quantity|semver)\('([^']*)'\)\)")
_HELD = re.compile(r"device\.(?:attributes|capacity)\[(?:'[^']*'|\"[^\"]*\"|device\.driver)\]\.")
_HAS = re.compile(r"^'([\w./]+)' in device\.(?:attributes|capacity)\[[^\]]*\]$")


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
    depth, start, quote, found = 0, 0, "", list[str]()
    index = 0
    while index < len(text):
        letter = text[index]
        if quote:
            if letter == "\\":
                index += 1
            elif letter == quote:
                quote = ""
        elif letter in _QUOTES:
            quote = letter
        elif letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
        elif depth == 0 and text.startswith("&&", index):
            found.append(text[start:index].strip())
            index += 1
            start = index + 1
        elif depth == 0 and (text.startswith("||", index) or (letter == "?" and text[index - 1] not in ".[")):
            return (text,)
        index += 1
    return (*found, text[start:].strip())


def in_words(part: str, device: Device) -> str:
    """The failing part as people would write it, and what the device has instead."""
    has = _HAS.match(part)
    if has:
        return f"it has no {has[1]}"
    short = _HELD.sub("", part)
    short = _COMPARED.sub(r"\1 \3 \2", short)
    short = _DIRECT.sub(lambda m: f"{m[1]} {'>' if m[2] == 'Greater' else '<'} {m[3]}", short)
    return f"{short}: it has {held}" if (held := values(part, device)) else short


def values(part: str, device: Device) -> str:
    """What the device holds of the attributes and capacities that a part mentions."""
    shown = []
    if "device.driver" in part and "device.attributes" not in part and "device.capacity" not in part:
        shown.append(f"driver {device.driver}")
    for name, value in {**device.attributes, **device.capacity}.items():
        if re.search(rf"(?<![\w-]){re.escape(name.rpartition('/')[2])}(?![\w-])", _without_domains(part)):
            text = value.text if isinstance(value, Version) else "a value only the node knows"
            shown.append(f"{name} {text if isinstance(value, Version | Unknown) else value}")
    return ", ".join(shown)


def _without_domains(part: str) -> str:
    return re.sub(r"\[['\"][^'\"]*['\"]\]", "[]", part)
