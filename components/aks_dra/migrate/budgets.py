"""Disruption budgets of the workloads that move.

A drain honours a PodDisruptionBudget, a rollout does not look at it: how many pods of a Deployment are away during one
is its own strategy. So where the strategy would undercut a budget among the manifests, a gentler one is proposed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from aks_dra.kube.reading import Manifest

GENTLE = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}}
DEFAULT = "25%"


def gentle_strategy(manifest: Manifest, manifests: Sequence[Manifest]) -> tuple[dict[str, Any] | None, list[str]]:
    """The strategy that keeps the budget, where the present one does not; and what to say."""
    budget = next((other for other in manifests if _covers(other, manifest)), None)
    if budget is None:
        return None, []
    title = f"PodDisruptionBudget {budget.name}"
    if manifest.kind != "Deployment":
        return None, [f"{title} holds a drain, not a rollout: see that enough pods are there while they are made anew"]
    replicas = _share(manifest.spec.get("replicas", 1), 0, math.floor)
    away, allowed = _away(manifest.spec, replicas), _allowed(budget.spec, replicas)
    if away <= allowed:
        return None, [f"{title} allows {allowed} of {replicas} to be away; its rollout takes {away} away at a time"]
    note = (
        f"{title} allows {allowed} of {replicas} to be away, its own strategy {away}: the patch makes it one more first"
    )
    # A strategy of another type keeps no settings of the one before.
    return {"$retainKeys": ["type", "rollingUpdate"], **GENTLE}, [note]


def at(content: Mapping[str, Any], *path: str) -> Any:
    """What stands at a path of a manifest; None where there is nothing, or something else than maps above it."""
    value: Any = content
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _covers(budget: Manifest, workload: Manifest) -> bool:
    wanted = at(budget.content, "spec", "selector", "matchLabels")
    labels = at(workload.content, "spec", "template", "metadata", "labels")
    if budget.kind != "PodDisruptionBudget" or not isinstance(wanted, Mapping) or not isinstance(labels, Mapping):
        return False
    same_space = (budget.namespace or "default") == (workload.namespace or "default")
    return same_space and bool(wanted) and wanted.items() <= labels.items()


def _away(spec: Mapping[str, Any], replicas: int) -> int:
    if at(spec, "strategy", "type") == "Recreate":
        return replicas
    given = at(spec, "strategy", "rollingUpdate", "maxUnavailable")
    return _share(DEFAULT if given is None else given, replicas, math.floor)


def _allowed(spec: Mapping[str, Any], replicas: int) -> int:
    if "maxUnavailable" in spec:
        return _share(spec["maxUnavailable"], replicas, math.ceil)
    return max(replicas - _share(spec.get("minAvailable", 0), replicas, math.ceil), 0)


def _share(value: object, of: int, rounded: Any) -> int:
    text = str(value)
    try:
        return int(rounded(of * float(text[:-1]) / 100)) if text.endswith("%") else int(text)
    except ValueError:
        return 0
