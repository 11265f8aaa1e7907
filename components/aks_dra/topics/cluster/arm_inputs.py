"""Raw Azure inputs against what Azure Resource Manager takes, property by property, before Azure sees them.

A misspelt property does not stop an update: the provider drops what it does not know, so a maintenance window or an
autoscaler setting would silently not be there. Names, types and words come from the facts (arm_properties.toml).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from aks_dra.facts.arm import arm_types, inner_type
from aks_dra.findings.build import nearest
from aks_dra.stackfile.entries import UNKNOWN

Kind = Literal["unknown", "wrong-type", "wrong-word", "not-in-provider", "missing"]
SCALARS: Mapping[str, tuple[type, ...]] = {
    "text": (str,),
    "true or false": (bool,),
    "whole number": (int,),
    "number": (int, float),
}


@dataclass(frozen=True)
class ArmProblem:
    """One property that would not reach Azure, or that Azure would refuse."""

    path: str
    value: Any
    kind: Kind
    message: str
    remedy: str
    source: str


def problems(type_name: str, value: Mapping[str, Any], path: str = "") -> Iterator[ArmProblem]:
    """Every problem of a value of this type, in the order of the value."""
    row = arm_types()[type_name]
    for key, item in value.items():
        where = f"{path}.{key}" if path else str(key)
        if key not in row.properties:
            message = f"Azure has no such property in {type_name}"
            yield ArmProblem(where, item, "unknown", message, _meant(str(key), row.properties), row.source)
        elif key in row.not_in_provider:
            message = "azure-native has no such property, so it would not reach Azure"
            yield ArmProblem(where, item, "not-in-provider", message, "remove it", row.source)
        elif item is not UNKNOWN:
            yield from _value(row.properties[key], item, where, row.source)


def _value(kind: str, value: Any, path: str, source: str) -> Iterator[ArmProblem]:
    if kind.startswith("list of "):
        if not isinstance(value, list | tuple):
            yield _wrong_type(path, value, "a list", source)
            return
        for index, item in enumerate(value):
            yield from _value(inner_type(kind), item, f"{path}.{index}", source)
    elif kind.startswith("map of "):
        if not isinstance(value, Mapping):
            yield _wrong_type(path, value, "a map", source)
            return
        for key, item in value.items():
            yield from _value(inner_type(kind), item, f"{path}.{key}", source)
    elif kind in arm_types():
        if not isinstance(value, Mapping):
            yield _wrong_type(path, value, "a map", source)
            return
        yield from problems(kind, value, path)
        row = arm_types()[kind]
        misspelt = set(value) - set(row.properties)  # one of them is probably what is missing
        for name in row.required if not misspelt else ():
            if name not in value:
                yield ArmProblem(path, "", "missing", f"Azure needs {name} in {kind}", f"add {name}", row.source)
    elif kind in SCALARS:
        boolean = isinstance(value, bool)
        if not isinstance(value, SCALARS[kind]) or (boolean and kind != "true or false"):
            yield _wrong_type(path, value, kind, source)
    elif kind != "anything" and str(value).lower() not in kind.lower().split("|"):
        words = kind.split("|")
        yield ArmProblem(path, value, "wrong-word", "this word is not among those that Azure takes",
                         _meant(str(value), words), source)  # fmt: skip


def _wrong_type(path: str, value: Any, wanted: str, source: str) -> ArmProblem:
    remedy = f"write {wanted}" if wanted.startswith(("a ", "true")) else f"write a {wanted}"
    if wanted == "text" and isinstance(value, bool | int | float):
        remedy = f'write "{str(value).lower() if isinstance(value, bool) else value}"'
    elif wanted == "true or false" and isinstance(value, str) and value.lower() in ("true", "false"):
        remedy = f"write {value.lower()}"
    elif wanted == "whole number" and isinstance(value, str) and value.lstrip("-").isdigit():
        remedy = f"write {value}"
    message = f"Azure takes {wanted} here" + (", in quotes" if wanted == "text" else "")
    return ArmProblem(path, value, "wrong-type", message, remedy, source)


def _meant(given: str, known: Mapping[str, Any] | list[str]) -> str:
    by_plain = {"".join(filter(str.isalnum, name)).lower(): name for name in known}
    plain = "".join(filter(str.isalnum, given)).lower()
    inside = [name for name in by_plain if len(plain) > 2 and plain in name]
    close = nearest(plain, by_plain) or (inside[0] if len(inside) == 1 else "")
    if close:
        return f"did you mean {by_plain[close]}?"
    names = sorted(known)
    return "write one of " + ", ".join(names[:12]) + (" …" if len(names) > 12 else "")
