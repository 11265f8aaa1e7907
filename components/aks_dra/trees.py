"""Nested mappings, as charts and Azure take them: values by path, merges, conflicts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Conflict:
    """A user's value that contradicts one that the package sets."""

    path: str
    ours: Any
    theirs: Any


@dataclass
class Value:
    """A value that the chart has: its type and its default."""

    type: str
    default: Any


def show(keys: tuple[str, ...]) -> str:
    """`operator.nodeSelector["kubernetes.io/os"]`: a key that holds a dot stays recognisable."""
    return "".join(f".{key}" if re.fullmatch(r"[\w-]+", key) else f'["{key}"]' for key in keys).removeprefix(".")


def merge_values(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[Conflict, ...]]:
    """The package's values with a user's on top, and what contradicts: there the package's value stays."""
    merged: dict[str, Any] = deepcopy(dict(ours))
    found: list[Conflict] = []
    _merge(merged, theirs, (), found)
    return merged, tuple(found)


def conflicts(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> list[str]:
    """The paths at which a user's value contradicts one that the package sets."""
    return [conflict.path for conflict in merge_values(ours, theirs)[1]]


def _merge(into: dict[str, Any], theirs: Mapping[str, Any], keys: tuple[str, ...], found: list[Conflict]) -> None:
    for key, value in theirs.items():
        if key not in into:
            into[key] = deepcopy(value)
        elif isinstance(into[key], dict) and isinstance(value, Mapping):
            _merge(into[key], value, (*keys, key), found)
        elif not _same(into[key], value):
            found.append(Conflict(show((*keys, str(key))), deepcopy(into[key]), deepcopy(value)))


def _same(one: Any, other: Any) -> bool:
    """Equal as YAML sees it: true is not 1, a tuple is a list, 3.0 from the engine is 3."""
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(_same(a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def merged(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, Any]:
    """Theirs over ours, key by key at every level."""
    result = dict(ours)
    for key, value in theirs.items():
        mine = result.get(key)
        result[key] = merged(mine, value) if isinstance(mine, Mapping) and isinstance(value, Mapping) else value
    return result


def joined(ours: list[Any], theirs: list[Any], overruled: bool) -> list[Any]:
    """Ours and theirs, each once. An entry of theirs with the name of one of ours replaces it, or is a conflict."""
    named = {entry["name"]: entry for entry in theirs if isinstance(entry, Mapping) and "name" in entry}
    clash = [entry for entry in ours if entry.get("name") in named and named[entry["name"]] != entry]
    if clash and not overruled:
        return theirs
    kept = [entry for entry in ours if entry not in clash]
    for entry in theirs:
        if entry not in kept:
            kept.append(entry)
    return kept


def mapping(value: object) -> Mapping[str, Any]:
    """The value where it is a mapping, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def sequence(value: object) -> list[Any] | tuple[Any, ...]:
    """The value where it is a list, else an empty one."""
    return value if isinstance(value, list | tuple) else []


def nulls(value: object, path: str = "") -> Iterator[str]:
    """The dotted paths of every null in it."""
    if value is None:
        yield path
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from nulls(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            yield from nulls(inner, f"{path}.{index}" if path else str(index))


def value_at(values: Mapping[str, Any], path: str) -> Any:
    """The value at a dotted path, None where there is none."""
    found: Any = values
    for key in path.split("."):
        found = found.get(key) if isinstance(found, Mapping) else None
    return found


def put_at(values: dict[str, Any], path: str, value: Any) -> None:
    """Puts a copy of the value at a dotted path; mappings on the way are made where there are none."""
    *parents, last = path.split(".")
    for key in parents:
        values = values.setdefault(key, {})
    values[last] = deepcopy(value)
