"""The name of the cluster."""

from __future__ import annotations

import re
from collections.abc import Iterator

from aks_dra.context.context import Context
from aks_dra.findings.build import finding
from aks_dra.findings.finding import Finding


def cluster_name(context: Context) -> Iterator[Finding]:
    name = context.plan.cluster.name
    if not context.plan.cluster.existing and not re.fullmatch(r"[A-Za-z0-9]([-_A-Za-z0-9]{0,61}[A-Za-z0-9])?", name):
        yield finding(
            "NAM004",
            "error",
            "aks-dra:cluster.name",
            name,
            "a cluster's name has 1 to 63 letters, digits, '-' and '_', and begins and ends with a letter or digit",
            "set cluster.name",
            "Azure: resource name rules, Microsoft.ContainerService/managedClusters",
        )


RULES = (cluster_name,)
