"""Chart values in which a user may overrule the package, and lists to which a user's entries are added.

Everything else that a user sets against the package is a conflict (chart_values.merge_values), since a value that
follows from a setting and says something else is a mistake. Lists are the trap: Helm replaces them, so one more
toleration would take away those that the pools' taints need. An empty list adds nothing and stays a conflict.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from aks_dra.trees import joined, merged, put_at, value_at

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
        put_at(left, path, agreed)
        put_at(right, path, agreed)
    return left, right
