"""The values of a chart against what the chart really reads, before Helm sees them.

NVIDIA's charts have no schema: a misspelt key is accepted and ignored, and what shows is a cluster without devices
(`resources-computeDomains`, printed in a vendor's own article, switches nothing off). The engine would show even the
refusals of a chart only in the middle of `up`. So every value, the package's own and the user's, is held against the
table of that chart (facts/chart_values): NVIDIA's values.yaml as path, type and default, and rules.toml for what the
templates take beyond it.

Four facts of Helm shape the rules: it merges maps, so an empty map changes nothing; it replaces lists; null removes a
default, and a removed section is a nil pointer in the templates; a template that tests for a type passes over a value
of another type without a word.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

from aks_dra.findings.build import nearest
from aks_dra.stackfile.entries import UNKNOWN
from aks_dra.trees import Value, show

RULES_FILE = Path(__file__).parents[2] / "facts" / "chart_values" / "rules.toml"


Kind = Literal["unknown-key", "wrong-type", "removed-section", "removed-value", "no-effect"]


SEVERITY: dict[Kind, Literal["error", "warning"]] = {
    "unknown-key": "error",
    "wrong-type": "error",
    "removed-section": "error",
    "removed-value": "warning",
    "no-effect": "warning",
}


TYPE_NAMES = {
    "bool": "true or false, without quotes",
    "string": "a text, in quotes",
    "int": "a whole number",
    "int-or-string": "a whole number or a text",
    "list": "a list",
    "map": "a map",
}


@dataclass(frozen=True)
class ValueProblem:
    """One value that the chart would ignore, misread or fail on."""

    chart: str
    path: str
    value: Any
    kind: Kind
    rule: str
    suggestion: str = ""  # the path that was probably meant, or what to write; empty when nothing is near

    @property
    def severity(self) -> Literal["error", "warning"]:
        return SEVERITY[self.kind]


@dataclass
class Section:
    """A map of the chart's own; an open one takes any key, since a template passes it on whole."""

    children: dict[str, Value | Section] = field(default_factory=dict)
    open: bool = False

    def has_defaults(self) -> bool:
        return any(
            child.has_defaults() if isinstance(child, Section) else child.default not in (None, {}, [], "")
            for child in self.children.values()
        )


@cache
def _rules() -> dict[str, Any]:
    rules: dict[str, Any] = tomllib.loads(RULES_FILE.read_text(encoding="utf-8"))["chart"]
    return rules


def chart_rules(chart: str) -> Mapping[str, Any]:
    """What rules.toml says of one chart."""
    rules: Mapping[str, Any] = _rules().get(chart, {})
    return rules


def _segments(path: str, open_sections: list[str]) -> tuple[str, ...]:
    """The keys of a flattened path. Below an open section a label's name, which has dots of its own, is one key."""
    for section in open_sections:
        rest = path.removeprefix(section + ".")
        if rest != path and "/" in rest:
            return (*section.split("."), rest)
    return tuple(path.split("."))


def _tree(chart: str, table: Mapping[str, Any]) -> Section:
    rules = _rules().get(chart, {})
    open_sections: list[str] = rules.get("open", [])
    types: dict[str, str] = rules.get("types", {})
    listed = table.get("values", table)
    rows = {path: Value(types.get(path, row["type"]), row["default"]) for path, row in listed.items()}
    rows |= {path: Value(kind, None) for path, kind in rules.get("values", {}).items()}
    root = Section(children={"global": Section(open=True)})  # Helm's own key, which every chart has
    for section in open_sections:
        _section(root, tuple(section.split("."))).open = True
    for path, value in rows.items():
        *parents, last = _segments(path, open_sections)
        _section(root, tuple(parents)).children[last] = value
    return root


def _section(root: Section, keys: tuple[str, ...]) -> Section:
    here = root
    for key in keys:
        child = here.children.setdefault(key, Section(open=here.open))
        if not isinstance(child, Section):
            raise ValueError(f"{show(keys)} is both a value and a section of the chart")
        here = child
    return here


def check_values(chart: str, values: Mapping[str, Any], table: Mapping[str, Any]) -> list[ValueProblem]:
    """Every problem of the values of one chart, in the order of the values.

    `table` is the chart's table of values as facts/chart_values has it, whole or its `values` alone.
    """
    root = _tree(chart, table)
    return list(_Checker(chart, root).section(root, values, ()))


@dataclass(frozen=True)
class _Checker:
    chart: str
    root: Section

    def problem(self, keys: tuple[str, ...], value: Any, kind: Kind, rule: str, suggestion: str = "") -> ValueProblem:
        return ValueProblem(self.chart, show(keys), value, kind, rule, suggestion)

    def section(self, section: Section, value: Any, keys: tuple[str, ...]) -> Iterator[ValueProblem]:
        if value is UNKNOWN:
            return
        if value is None:
            if not section.open:
                rule = "null removes the whole section, and the chart's templates read from it"
                yield self.problem(keys, value, "removed-section", rule, "name the single values to change")
            return
        if not isinstance(value, Mapping):
            yield self.problem(keys, value, "wrong-type", f"{self.chart} takes a map here")
            return
        if not value and keys and section.open and section.has_defaults():
            yield self.no_effect(keys, value)
        for key, item in value.items():
            child = section.children.get(key) if isinstance(key, str) else None
            if child is None:
                if not section.open:
                    yield self.unknown(section, (*keys, str(key)), item)
            elif isinstance(child, Section):
                yield from self.section(child, item, (*keys, key))
            else:
                yield from self.value(child, item, (*keys, key))

    def value(self, known: Value, value: Any, keys: tuple[str, ...]) -> Iterator[ValueProblem]:
        if value is UNKNOWN or known.type == "null":
            return
        if value is None:
            if known.default is not None and known.type not in ("list", "map"):
                rule = f"null removes the default {known.default!r}, and the chart's templates then see nothing"
                yield self.problem(keys, value, "removed-value", rule, f"write {TYPE_NAMES[known.type]}")
            return
        if not _has_type(value, known.type):
            rule = f"{self.chart} takes {TYPE_NAMES[known.type]} here"
            yield self.problem(keys, value, "wrong-type", rule, _corrected(value, known.type))
        elif known.type == "map" and not value and known.default:
            yield self.no_effect(keys, value)

    def no_effect(self, keys: tuple[str, ...], value: Any) -> ValueProblem:
        rule = "Helm merges maps: an empty one leaves the chart's default in place"
        return self.problem(keys, value, "no-effect", rule, "the entries that are wanted, or remove it")

    def unknown(self, section: Section, keys: tuple[str, ...], value: Any) -> ValueProblem:
        retired = _rules().get(self.chart, {}).get("retired", {}).get(show(keys))
        rule = retired or f"{self.chart} has no such value; Helm would accept and ignore it"
        return self.problem(keys, value, "unknown-key", rule, "" if retired else self.meant(section, keys))

    def meant(self, section: Section, keys: tuple[str, ...]) -> str:
        """The path that a misspelt or misplaced key was probably meant to be, or nothing."""
        *parents, key = keys
        everywhere = {path: show(path) for path in _paths(self.root)}
        for paths in ({path: show((*parents, *path)) for path in _paths(section)}, everywhere):
            for path, shown in paths.items():
                if _plain("".join(path)) == _plain(key):
                    return shown
        if near := nearest(key, section.children, alike=0.7):
            return show((*parents, near))
        moved = sorted((len(path), shown) for path, shown in everywhere.items() if _plain(path[-1]) == _plain(key))
        if len(moved) == 1 or (moved and moved[0][0] < moved[1][0]):
            return moved[0][1]
        return nearest(show(keys), everywhere.values(), alike=0.8)


def _paths(section: Section, keys: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for key, child in section.children.items():
        yield (*keys, key)
        if isinstance(child, Section):
            yield from _paths(child, (*keys, key))


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


def _is_int(value: Any) -> bool:
    # Pulumi hands every number on as a double.
    return not isinstance(value, bool) and (isinstance(value, int) or (isinstance(value, float) and value.is_integer()))


def _has_type(value: Any, kind: str) -> bool:
    match kind:
        case "bool":
            return isinstance(value, bool)
        case "string":
            return isinstance(value, str)
        case "int":
            return _is_int(value)
        case "int-or-string":
            return isinstance(value, str) or _is_int(value)
        case "list":
            return isinstance(value, (list, tuple))
        case "map":
            return isinstance(value, Mapping)
    raise ValueError(f"the chart's table has a type that nothing knows: {kind}")


def _corrected(value: Any, kind: str) -> str:
    """What to write instead, where the intent is plain."""
    if kind == "bool" and isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower()
    if kind == "int" and isinstance(value, str) and re.fullmatch(r"-?\d+", value):
        return value
    if kind == "string" and isinstance(value, (bool, int, float)):
        return f'"{str(value).lower() if isinstance(value, bool) else value}"'
    return ""
