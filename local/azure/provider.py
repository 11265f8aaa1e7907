"""What the azure-native provider itself does before and after Azure is asked: names, defaults, differences, previews.

Apart from gRPC, so that it can be read and tested as functions of plain values.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from typing import Any

from local.azure import arm
from local.azure.arm import Properties
from local.azure.types import GROUP, ROLE_ASSIGNMENT, ArmType

# The engine's mark for a value that is not known yet.
UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
PLAIN_KEY = re.compile(r"^[A-Za-z_][A-Za-z0-9_]*$")


@dataclass(frozen=True)
class Failure:
    property: str
    reason: str


def check(
    kind: ArmType, name: str, urn: str, seed: bytes, news: Properties, olds: Properties, location: str
) -> tuple[Properties, list[Failure]]:
    """Inputs with names and location filled in, and what the provider refuses before Azure hears of it."""
    inputs = {key: value for key, value in news.items() if value is not None}
    own = kind.name_parameter
    if not inputs.get(own):
        # A name once given stays.
        inputs[own] = olds.get(own) or auto_name(kind, name, seed or urn.encode())
    if kind.has_location and not inputs.get("location") and (olds.get("location") or location):
        inputs["location"] = olds.get("location") or location
    if isinstance(inputs.get("location"), str) and inputs["location"] != UNKNOWN:
        inputs["location"] = arm.location(inputs["location"])
    failures = [
        Failure(key, f"missing required property '{key}'")
        for key in (*kind.parameters, *kind.required)
        if not inputs.get(key)
    ]
    if kind.token == GROUP and not inputs.get("location"):
        failures.append(
            Failure(
                "location", "missing required property 'location'; set it, or the configuration azure-native:location"
            )
        )
    for key, pattern in kind.parameters.items():
        value = inputs.get(key)
        if value and value != UNKNOWN and not re.match(pattern, str(value)):
            failures.append(Failure(key, f"'{key}' does not match expression '{pattern}': {value}"))
    return inputs, failures


def auto_name(kind: ArmType, name: str, seed: bytes) -> str:
    digest = hashlib.sha256(seed + name.encode()).hexdigest()
    if kind.token == ROLE_ASSIGNMENT:
        return arm.stable_uuid(digest)
    return f"{name}{digest[:8]}"


@dataclass(frozen=True)
class Difference:
    """One property that changes: its path in the engine's notation, how, and whether it forces a replacement."""

    path: str
    kind: str
    replaces: bool


def differences(kind: ArmType, old: Properties, new: Properties) -> list[Difference]:
    found: list[Difference] = []
    for path, what in walk("", old, new):
        plain = re.sub(r"\[.*$", "", path)
        forced = any(
            plain == name or plain.startswith(f"{name}.") or name.startswith(f"{plain}.") for name in kind.forces
        )
        # A whole object that comes or goes forces only if what forces is in it.
        if forced and any(name.startswith(f"{plain}.") for name in kind.forces) and plain not in kind.forces:
            forced = any(inside(old, name) != inside(new, name) for name in kind.forces if name.startswith(f"{plain}."))
        found.append(Difference(path, what, forced))
    return found


def inside(properties: Properties, dotted: str) -> Any:
    value: Any = properties
    for part in dotted.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value


def walk(path: str, old: Any, new: Any) -> list[tuple[str, str]]:
    if same(old, new):
        return []
    if isinstance(old, dict) and isinstance(new, dict):
        found: list[tuple[str, str]] = []
        for key in sorted(set(old) | set(new)):
            step = join(path, key)
            if key not in new:
                found.append((step, "delete"))
            elif key not in old:
                found.append((step, "add"))
            else:
                found += walk(step, old[key], new[key])
        return found
    if isinstance(old, list) and isinstance(new, list):
        found = []
        for index in range(max(len(old), len(new))):
            step = f"{path}[{index}]"
            if index >= len(new):
                found.append((step, "delete"))
            elif index >= len(old):
                found.append((step, "add"))
            else:
                found += walk(step, old[index], new[index])
        return found
    return [(path, "update")]


def join(path: str, key: str) -> str:
    if PLAIN_KEY.match(key):
        return f"{path}.{key}" if path else key
    return f"{path}[{json.dumps(key)}]"


def same(old: Any, new: Any) -> bool:
    if isinstance(old, bool) or isinstance(new, bool):
        return old is new
    return bool(old == new)


# What an update never changes, so that a preview can hand it on.
STABLE = ("name", "location")


def preview(kind: ArmType, inputs: Properties, old: Properties) -> Properties:
    """What a resource will answer as far as it is known before: its inputs, and unknowns for what Azure will say."""
    outputs = {key: value for key, value in inputs.items() if key not in kind.parameters}
    outputs |= dict.fromkeys(("name", "azureApiVersion", *kind.computed), UNKNOWN)
    outputs.setdefault("type", UNKNOWN)
    return outputs | {key: old[key] for key in STABLE if key in old}


def refreshed(old_inputs: Properties, old: Properties, new: Properties) -> Properties:
    """The inputs after a refresh: what drifted in Azure shows in them, what Azure adds by itself does not."""
    inputs = dict(old_inputs)
    for key, value in old_inputs.items():
        if key not in new or same(old.get(key), new[key]):
            continue
        inputs[key] = drift(value, old.get(key), new[key])
    return inputs


def drift(given: Any, old: Any, new: Any) -> Any:
    if isinstance(given, dict) and isinstance(old, dict) and isinstance(new, dict):
        kept = {key: drift(given[key], old.get(key), new[key]) for key in given if key in new}
        return kept | {key: value for key, value in new.items() if key not in given and key not in old}
    if named(given) and named(new):
        # Inline pools and subnets: others of the list have resources of their own.
        olds = {item["name"]: item for item in old} if named(old) else {}
        return [
            drift(item, olds.get(item["name"]), after)
            for item in given
            for after in new
            if after["name"] == item["name"]
        ]
    return given if same(old, new) else new


def named(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) and "name" in item for item in value)
