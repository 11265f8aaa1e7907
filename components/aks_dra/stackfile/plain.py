"""What settings are made of: text, numbers, true and false, null, lists and maps, as YAML and JSON have them.

A stack file holds nothing else, and the loader has its own limits. A program can hand over anything: an object that
no manifest can hold, a map whose keys are numbers, a list that contains itself, an integer that takes minutes to
print. All of that ends here, as findings, so that no rule behind has to think of it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from aks_dra.findings.finding import shortened
from aks_dra.stackfile.entries import Unknown

MAX_DEPTH = 50
MAX_VALUES = 100_000
MAX_PROBLEMS = 200
MAX_INTEGER = 2**63 - 1
# Python refuses to read more digits as a number, and no number of anybody has so many.
_DIGITS = re.compile(r"\d{4000}")

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class NotPlain:
    """A value that settings cannot hold."""

    path: Path
    value: str
    message: str
    remedy: str


class Reader:
    """Copies values into plain dicts and lists; what cannot be copied is among the problems."""

    def __init__(self) -> None:
        self.problems: list[NotPlain] = []
        self.count = 0
        self._above: list[int] = []  # the containers that we are in

    def read(self, value: Any, path: Path = ()) -> Any:
        self.count += 1
        if self.count > MAX_VALUES:
            if self.count == MAX_VALUES + 1:
                message = f"settings hold at most {MAX_VALUES:,} values"
                self._say(path, "…", message, "spread them over several clusters")
            return None
        if isinstance(value, BaseModel):
            value = value.model_dump(exclude_unset=True, by_alias=True)
        if isinstance(value, Mapping | list | tuple):
            if len(path) >= MAX_DEPTH:
                self._say(path, "…", f"nesting is deeper than {MAX_DEPTH}", "write it flatter")
                return None
            if id(value) in self._above:
                self._say(path, "…", "a value contains itself", "write it out, as deep as it is meant")
                return None
            self._above.append(id(value))
            copy = self._map(value, path) if isinstance(value, Mapping) else self._list(value, path)
            self._above.pop()
            return copy
        for message, remedy in _wrong(value):
            self._say(path, _shown(value), message, remedy)
        return value

    def _map(self, value: Mapping[Any, Any], path: Path) -> dict[str, Any]:
        copy: dict[str, Any] = {}
        for key, inner in value.items():
            if not isinstance(key, str):
                where = (*path, _shown(key))
                self._say(where, _shown(key), "the keys of a map are text", f'write "{_shown(key)}"')
            elif problems := list(_wrong(key)):
                self._say((*path, key[:40]), _shown(key), *problems[0])
            else:
                copy[key] = self.read(inner, (*path, key))
        return copy

    def _list(self, value: list[Any] | tuple[Any, ...], path: Path) -> list[Any]:
        copy = []
        for index, inner in enumerate(value):
            copy.append(self.read(inner, (*path, index)))
            if self.count > MAX_VALUES:
                break
        return copy

    def _say(self, path: Path, value: str, message: str, remedy: str) -> None:
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(NotPlain(path, value, message, remedy))


def _wrong(value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        if any("\ud800" <= letter <= "\udfff" for letter in value) if not value.isascii() else False:
            yield "this text has half a character, which no file can hold", "write the whole character"
        elif _DIGITS.search(value):
            yield "this text has a number of thousands of digits", "write a number that somebody can read"
    elif isinstance(value, bool) or value is None or isinstance(value, Unknown):
        return
    elif isinstance(value, int):
        if abs(value) > MAX_INTEGER:
            yield "a whole number has at most 64 bits", "write a smaller number, or text"
    elif isinstance(value, float):
        if not math.isfinite(value):
            yield "this is not a number", "write a number"
    else:
        kinds = "settings are text, numbers, true, false, null, lists and maps"
        yield f"{kinds}, and this is a {type(value).__name__}", "write one of them"


def _shown(value: Any) -> str:
    try:
        text = value if isinstance(value, str) else repr(value)
    except ValueError:  # an integer of thousands of digits
        return "…"
    return shortened(text)
