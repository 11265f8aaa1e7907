"""What Azure Resource Manager takes in raw inputs, by type: the table arm_properties.toml.

A table of its own that is read only where a stack has raw inputs: it is long, and a row cannot be overruled, since
what azure-native has no argument for does not reach Azure whatever a row says.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

CLUSTER = "ManagedCluster"
POOL = "ManagedClusterAgentPoolProfileProperties"
MAINTENANCE = "MaintenanceConfigurationProperties"


@dataclass(frozen=True, kw_only=True)
class ArmType:
    """One type: its properties and their types, those that azure-native lacks, those that it calls otherwise."""

    properties: Mapping[str, str]
    not_in_provider: tuple[str, ...]
    source: str
    verified: bool
    required: tuple[str, ...] = ()
    provider_name: Mapping[str, str] = field(default_factory=dict)


@cache
def arm_types() -> Mapping[str, ArmType]:
    text = (Path(__file__).parent / "arm_properties.toml").read_text(encoding="utf-8")
    rows: dict[str, dict[str, Any]] = tomllib.loads(text)["arm_type"]
    return MappingProxyType({name: _row(row) for name, row in rows.items()})


def _row(row: Mapping[str, Any]) -> ArmType:
    plain: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}
    return ArmType(**plain)


def inner_type(kind: str) -> str:
    """The type of what a list or a map of the table holds, or the type itself."""
    return kind.removeprefix("list of ").removeprefix("map of ")


def provider_names(type_name: str, value: Any) -> Any:
    """The value with azure-native's names of properties, where they differ from ARM's."""
    if isinstance(value, list | tuple):
        return [provider_names(type_name, item) for item in value]
    row = arm_types().get(type_name)
    if row is None or not isinstance(value, Mapping):
        return value
    renamed = {}
    for key, item in value.items():
        kind = row.properties.get(key, "")
        if kind.startswith("map of ") and isinstance(item, Mapping):
            inner: Any = {name: provider_names(inner_type(kind), entry) for name, entry in item.items()}
        else:
            inner = provider_names(inner_type(kind), item)
        renamed[row.provider_name.get(key, key)] = inner
    return renamed
