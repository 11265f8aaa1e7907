"""What a packed stand-in accepts: values.yaml and values.schema.json, made from the tables of NVIDIA's values.

The tables (components/aks_dra/facts/chart_values) are the one list of what exists; nothing generated from them is
committed. NVIDIA's charts have no schema and ignore what they do not know. The stand-ins refuse it, so that a value
that nothing reads is found on a laptop. This is the simulation's own reading of the tables: it shares no code with the
check that planning makes, and a test holds the two against each other.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from local import facts

# null stands for a value that Helm took away; what may be missing may be null.
TYPES: dict[str, Any] = {
    "bool": {"type": ["boolean", "null"]},
    "string": {"type": ["string", "null"]},
    "int": {"type": ["integer", "null"]},
    "int-or-string": {"type": ["integer", "string", "null"]},
    "list": {"type": ["array", "null"]},
    "map": {"type": ["object", "null"]},
    "null": {},
}


def folder() -> Path:
    return facts.folder() / "chart_values"


def table(chart: str) -> dict[str, Any]:
    """NVIDIA's values of a chart: path → {type, default}."""
    values: dict[str, Any] = json.loads((folder() / f"{chart}.json").read_text(encoding="utf-8"))["values"]
    return values


def rules(chart: str) -> dict[str, Any]:
    """What the chart takes beyond its defaults: open sections, unlisted values, types that no default shows."""
    text = (folder() / "rules.toml").read_text(encoding="utf-8")
    found: dict[str, Any] = tomllib.loads(text)["chart"][chart]
    return found


def keys(path: str, open_sections: list[str]) -> list[str]:
    """The keys of a path. In a map of labels the rest of the path is one key, dots and all."""
    for section in open_sections:
        if path.startswith(section + ".") and "/" in path[len(section) :]:
            return [*section.split("."), path[len(section) + 1 :]]
    return path.split(".")


def defaults(chart: str) -> dict[str, Any]:
    """values.yaml: what NVIDIA's has, nested again."""
    open_sections = rules(chart).get("open", [])
    values: dict[str, Any] = {}
    for path, row in table(chart).items():
        *parents, last = keys(path, open_sections)
        here = values
        for key in parents:
            here = here.setdefault(key, {})
        here[last] = row["default"]
    return values


def schema(chart: str) -> dict[str, Any]:
    """values.schema.json: unknown keys refused, types checked, open maps left open."""
    own = rules(chart)
    open_sections: list[str] = own.get("open", [])
    types: dict[str, str] = own.get("types", {})
    root: dict[str, Any] = {"$schema": "http://json-schema.org/draft-07/schema#", **_object(open_=False)}
    root["properties"]["global"] = {"type": "object"}  # Helm's own key for values that charts share
    for path in open_sections:
        _descend(root, path.split("."), open_from=len(path.split(".")) - 1)
    listed = {path: types.get(path, row["type"]) for path, row in table(chart).items()}
    for path, kind in {**listed, **own.get("values", {})}.items():
        *parents, last = keys(path, open_sections)
        _descend(root, parents)["properties"][last] = TYPES[kind]
    _require(root)
    return root


def _object(open_: bool) -> dict[str, Any]:
    return {"type": ["object", "null"] if open_ else "object", "properties": {}, "additionalProperties": open_}


def _descend(root: dict[str, Any], path: list[str], open_from: int | None = None) -> dict[str, Any]:
    """The schema of a section, made where it is missing; what lies in an open section is open too."""
    here = root
    for depth, key in enumerate(path):
        opens = bool(here["additionalProperties"]) or depth == open_from
        here = here["properties"].setdefault(key, _object(opens))
    return here


def _require(section: dict[str, Any]) -> None:
    """A section that null took away is named here; without it the templates end in a nil pointer."""
    needed = [key for key, child in section["properties"].items() if child.get("additionalProperties") is False]
    if needed:
        section["required"] = sorted(needed)
    for key in needed:
        _require(section["properties"][key])
