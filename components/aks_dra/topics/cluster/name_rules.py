"""The name of the cluster."""

from __future__ import annotations

from collections.abc import Iterator

from aks_dra.context.context import Context
from aks_dra.findings.build import finding
from aks_dra.findings.finding import Finding


def cluster_name(context: Context) -> Iterator[Finding]:
    name, rule = context.plan.cluster.name, context.facts.name_rules["cluster"]
    if not context.plan.cluster.existing and not rule.allows(name):
        yield finding(
            "NAM004",
            "error",
            "aks-dra:cluster.name",
            name,
            f"a cluster's name has {rule.what}",
            "set cluster.name",
            rule.source,
        )


RULES = (cluster_name,)
