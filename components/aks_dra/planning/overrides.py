"""Chart values in which a user may overrule the package, and lists to which a user's entries are added.

Everything else that a user sets against the package is a conflict (chart_values.merge_values), since a value that
follows from a setting and says something else is a mistake. Lists are the trap: Helm replaces them, so one more
toleration would take away those that the pools' taints need. An empty list adds nothing and stays a conflict.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

OVERRULED: Mapping[str, tuple[str, ...]] = {
    "dra-driver-nvidia-gpu": ("resources.computeDomains.enabled", "controller.affinity"),
    "gpu-operator": ("draDriver.computeDomains.enabled", "toolkit.env"),
    "nvidia-device-plugin": (),
}
"""Paths at which the user's value counts; of a list, the user's entry of the same name."""

JOINED: Mapping[str, tuple[str, ...]] = {
    "dra-driver-nvidia-gpu": ("kubeletPlugin.tolerations",),
    "gpu-operator": (
        "daemonsets.tolerations",
        "migManager.env",
        "node-feature-discovery.worker.tolerations",
        "toolkit.env",
    ),
    "nvidia-device-plugin": ("tolerations",),
}
"""Lists that are the package's entries and then the user's."""


def reconciled(chart: str, ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Both sides with overruled values and joined lists alike, ready for merge_values."""
    left, right = deepcopy(dict(ours)), deepcopy(dict(theirs))
    for path in (*OVERRULED.get(chart, ()), *JOINED.get(chart, ())):
        mine, given = value_at(left, path), value_at(right, path)
        if mine is None or given is None:
            continue
        agreed = given
        if isinstance(mine, list):
            if not isinstance(given, list | tuple) or not given:
                continue
            agreed = joined(mine, list(given), path in OVERRULED[chart])
        elif isinstance(mine, bool) != isinstance(given, bool) or isinstance(mine, dict) != isinstance(given, Mapping):
            continue  # a value of another type has a finding of its own
        elif isinstance(mine, dict):
            # Helm merges maps, so what the user does not say would be the chart's default and not ours.
            agreed = merged(mine, given)
        _set(left, path, agreed)
        _set(right, path, agreed)
    return left, right


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


def value_at(values: Mapping[str, Any], path: str) -> Any:
    """The value at a dotted path, None where there is none."""
    found: Any = values
    for key in path.split("."):
        found = found.get(key) if isinstance(found, Mapping) else None
    return found


def _set(values: dict[str, Any], path: str, value: Any) -> None:
    *parents, last = path.split(".")
    for key in parents:
        values = values[key]
    values[last] = deepcopy(value)
