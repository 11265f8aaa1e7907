"""Counts of a pool that lives: what the autoscaler moves is ignored, so the state keeps the count of its last change.

Every later update sends that count beside the new bounds.
"""

from __future__ import annotations

from collections.abc import Iterator

from aks_dra.context.context import Context
from aks_dra.context.previous import Previous
from aks_dra.findings.build import finding
from aks_dra.findings.finding import Finding
from aks_dra.topics.changes.pool_rules import living


def bounds(context: Context, before: Previous, now: Previous) -> Iterator[Finding]:
    planned = {pool.name: pool for pool in context.plan.pools}
    for name, old, _ in living(before, now):
        inputs = planned[name].inputs
        if not inputs.get("enableAutoScaling") or old.count < 0:
            continue
        low, high = inputs["minCount"], inputs["maxCount"]
        if low <= old.count <= high:
            continue
        yield finding(
            "CHG026",
            "warning",
            f"{planned[name].path}.nodes." + ("min" if old.count < low else "max"),
            low if old.count < low else high,
            f"pool {name} is in the state with {plural(old.count)}, which the autoscaler's bounds leave out; the count "
            "is ignored while it scales, so the update sends it beside them, and Azure may refuse that",
            f"first write nodes: {{count: {low if old.count < low else high}}} and run `pulumi up`, then the bounds",
            "Azure/AKS#1758; whether the service still refuses it was not tried",
        )


def plural(count: int) -> str:
    return f"{count} node" + "s" * (count != 1)


RULES = (bounds,)
