"""A configuration value together with where each part of it was set.

Merging base files, applying the project's config and laying run-time values over a file all move values about.
A tree of entries moves the file, the line and the source text along with each value, so that none of these has to
be looked up again afterwards; `flatten` then gives the plain value and the tables that findings use.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any, Final, Union

from aks_dra.stackfile.source import Position
from aks_dra.stackfile.yaml12 import Scalar

Path = tuple[str | int, ...]


class Unknown:
    """The type of UNKNOWN: a value that exists but that only Pulumi can see."""

    _only: Unknown | None = None

    def __new__(cls) -> Unknown:
        if cls._only is None:
            cls._only = super().__new__(cls)
        return cls._only

    def __repr__(self) -> str:
        return "UNKNOWN"

    def __bool__(self) -> bool:
        raise TypeError("an unknown value is neither true nor false")

    def __copy__(self) -> Unknown:
        return self

    def __deepcopy__(self, memo: object) -> Unknown:
        return self

    def __reduce__(self) -> tuple[type[Unknown], tuple[()]]:
        return (Unknown, ())


UNKNOWN: Final = Unknown()
"""Stands where a `secure:` value or the value of an environment would be."""

Content = Union[Scalar, Unknown, "dict[str, Entry]", "list[Entry]"]


@dataclass(frozen=True)
class Entry:
    """A value, the line that set it, and its source text when it is a scalar."""

    value: Content
    position: Position | None
    text: str | None = None


def plain(entry: Entry) -> Any:
    """The value alone."""
    if isinstance(entry.value, dict):
        return {key: plain(child) for key, child in entry.value.items()}
    if isinstance(entry.value, list):
        return [plain(child) for child in entry.value]
    return entry.value


@dataclass
class Tables:
    """What `flatten` fills: per path the position, the source text, and whether the value is unknown."""

    positions: dict[Path, Position]
    texts: dict[Path, str]
    unknown: set[Path]


def flatten(entry: Entry, path: Path, tables: Tables) -> None:
    if entry.position is not None:
        tables.positions[path] = entry.position
    if isinstance(entry.value, dict):
        for key, child in entry.value.items():
            flatten(child, (*path, key), tables)
    elif isinstance(entry.value, list):
        for index, child in enumerate(entry.value):
            flatten(child, (*path, index), tables)
    elif isinstance(entry.value, Unknown):
        tables.unknown.add(path)
    elif entry.text is not None:
        tables.texts[path] = entry.text


def merge(over: Entry, under: Entry) -> Entry:
    """`over` laid on `under`: maps key by key, anything else replaces. Null stays, to remove from what comes below."""
    if not isinstance(over.value, dict) or not isinstance(under.value, dict):
        return over
    merged = dict(under.value)
    for key, child in over.value.items():
        merged[key] = merge(child, merged[key]) if key in merged else child
    return replace(over, value=merged)


def without_nulls(entry: Entry) -> Entry:
    """The end of a merge: what null removed is gone. Nulls in lists are values."""
    if not isinstance(entry.value, dict):
        return entry
    kept = {key: without_nulls(child) for key, child in entry.value.items() if child.value is not None}
    return replace(entry, value=kept)


def scalar_text(value: Content) -> str:
    """A top-level scalar as Pulumi's config text for it."""
    if value is None or isinstance(value, Unknown | dict | list):
        return ""
    return value if isinstance(value, str) else json.dumps(value)


def from_plain(value: Any, position: Position | None) -> Entry:
    """Entries for a value that came as JSON: every part was set at the one position."""
    if isinstance(value, dict):
        return Entry({str(key): from_plain(child, position) for key, child in value.items()}, position)
    if isinstance(value, list):
        return Entry([from_plain(child, position) for child in value], position)
    return Entry(value, position, scalar_text(value))


def overlay(known: Entry | None, value: Any, secret: bool, position: Position | None) -> Entry:
    """A run-time value laid on what the file says of it.

    The file gives types, lines and which parts are secure; the run-time value decides. What is secret and not in
    the file stays unknown: Pulumi tells only that something inside the key is secret, not which part.
    """
    here = (known.position if known is not None else None) or position
    if known is not None and isinstance(known.value, Unknown):
        return Entry(UNKNOWN, here)
    if isinstance(value, dict):
        parts = known.value if known is not None and isinstance(known.value, dict) else None
        if parts is None and secret:
            return Entry(UNKNOWN, here)
        return Entry({key: overlay((parts or {}).get(key), child, secret, here) for key, child in value.items()}, here)
    if isinstance(value, list):
        items = known.value if known is not None and isinstance(known.value, list) else None
        if items is None and secret:
            return Entry(UNKNOWN, here)
        padded: list[Entry | None] = [*(items or []), *([None] * len(value))]
        return Entry([overlay(padded[index], child, secret, here) for index, child in enumerate(value)], here)
    if known is not None and type(known.value) is type(value) and known.value == value:
        return known
    if known is None and secret:
        return Entry(UNKNOWN, here)
    return Entry(value, here, scalar_text(value))
