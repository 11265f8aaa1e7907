"""The DRA pool that takes a device-plugin pool's place: the same nodes, and sharing as far as DRA has it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Meant for the device plugin alone.
_PLUGIN_ONLY = ("replicas", "rename", "failRequestsGreaterThanOne", "strategy")


def successor(raw: Mapping[str, Any], owner: str, default_owner: str) -> tuple[dict[str, Any], list[str]]:
    """The new pool's settings from the old one's (camelCase, as in the file), and what is different about it.

    `owner` is who owns the driver of the cluster's DRA pools, `default_owner` what `gpu.driver` says.
    """
    notes: list[str] = []
    kept = {key: value for key, value in raw.items() if key not in ("allocation", "sharing", "driver", "allowReplace")}
    nodes = dict(kept.get("nodes") or {})
    if ("min" in nodes or "max" in nodes) and not nodes.get("min"):
        nodes["min"] = 1
        if nodes.get("initial") == 0:
            nodes["initial"] = 1
        kept["nodes"] = nodes
        notes.append("at least one node: whether an empty DRA pool wakes is not known")
    new = {"vmSize": kept.pop("vmSize", ""), **kept, "allocation": "dra"}
    if owner != default_owner:
        new["driver"] = owner
    if raw.get("driver", owner) != owner:
        notes.append(f"the driver is {owner}'s, as on the other DRA pools")
    sharing = _sharing(dict(raw.get("sharing") or {}), notes)
    if sharing:
        new["sharing"] = sharing
    return new, notes


def _sharing(old: dict[str, Any], notes: list[str]) -> dict[str, Any]:
    mode = old.get("mode", "exclusive")
    kept = {key: value for key, value in old.items() if key not in _PLUGIN_ONLY}
    if old.get("replicas"):
        notes.append(
            f"no replicas: under DRA pods share a GPU by naming the same claim; {old['replicas']} is no limit any more"
        )
    if mode == "exclusive":
        return {}
    if mode == "timeSlicing":
        return {**kept, "interval": kept.get("interval", "Default")}
    return kept


def emptied(raw: Mapping[str, Any], elsewhere: bool) -> dict[str, Any]:
    """`nodes` of the old pool without a node. What a base file says of them is taken back key by key."""
    nodes: dict[str, Any] = {"count": 0}
    if elsewhere:
        nodes |= {key: None for key in (raw.get("nodes") or {}) if key != "count"}
    return nodes
