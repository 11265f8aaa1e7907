"""Kubernetes versions of a cluster and of pools that live: forward only, and one minor at a time."""

from __future__ import annotations

from collections.abc import Iterator

from aks_dra.context.context import Context
from aks_dra.context.previous import Previous
from aks_dra.findings.build import finding
from aks_dra.findings.finding import Finding
from aks_dra.kube.versions import minor
from aks_dra.topics.changes.pool_rules import from_to


def cluster(context: Context, before: Previous, now: Previous) -> Iterator[Finding]:
    had, has = before.cluster.kubernetes_version, now.cluster.kubernetes_version
    if before.cluster.existing or now.cluster.existing or had == has or (0, 0) in (minor(had), minor(has)):
        return
    path = "aks-dra:cluster.kubernetesVersion"
    old, new = minor(had), minor(has)
    if goes_back(had, has):
        yield finding(
            "CHG011",
            "error",
            path,
            from_to(had, has),
            "AKS cannot take a control plane back to an earlier Kubernetes version",
            f'write "{had}"',
            "AKS docs: upgrades go forward only",
        )
        return
    if new[1] - old[1] > 1:
        row = context.facts.kubernetes.versions.get(f"{old[0]}.{old[1]}")
        supported = not (row and row.eol and context.today and row.eol < context.today)
        between = f"{old[0]}.{old[1] + 1}"
        yield finding(
            "CHG014",
            "error" if supported else "warning",
            path,
            from_to(had, has),
            "AKS upgrades a control plane by one minor version at a time"
            + ("" if supported else f"; from {old[0]}.{old[1]}, out of support, it may allow more"),
            f'write "{between}", run `pulumi up`, then go on',
            "AKS docs: minor versions cannot be skipped in an upgrade",
        )
    follow = [
        name
        for name, pool in sorted(now.pools.items())
        if name in before.pools
        and pool.inputs.get("orchestratorVersion") != before.pools[name].inputs.get("orchestratorVersion")
    ]
    yield finding(
        "CHG015",
        "warning",
        path,
        from_to(had, has),
        "the control plane and the system pool are upgraded"
        + (f", and the pools {', '.join(follow)}" if follow else "")
        + ": node after node is drained and replaced, and pods on them move",
        "see that the disruption budgets leave room; acknowledge this when it is meant. To upgrade a pool later, "
        "give it kubernetesVersion",
        context.facts.pool_fields["orchestratorVersion"].source,
    )


def pools(context: Context, before: Previous, now: Previous) -> Iterator[Finding]:
    for pool in context.plan.pools:
        if pool.name in before.pools:
            yield from _pool(pool.path, pool.name, before, now)


def _pool(path: str, name: str, before: Previous, now: Previous) -> Iterator[Finding]:
    had, has = (str(plan.pools[name].inputs.get("orchestratorVersion", "")) for plan in (before, now))
    clusters = [plan.cluster.kubernetes_version for plan in (before, now)]
    made_here = not before.cluster.existing and not now.cluster.existing
    if had == has or (0, 0) in (minor(had), minor(has)) or (made_here and [had, has] == clusters):
        return
    if goes_back(had, has):
        yield finding(
            "CHG011",
            "error",
            f"{path}.kubernetesVersion",
            from_to(had, has),
            f"the nodes of pool {name} cannot go back to an earlier Kubernetes version",
            f'write "{had}", or add a pool of the earlier version under another name',
            "AKS docs: upgrades go forward only",
        )
    elif not made_here or clusters[0] == clusters[1]:
        yield finding(
            "CHG015",
            "warning",
            f"{path}.kubernetesVersion",
            from_to(had, has),
            f"pool {name} is upgraded: node after node is drained and replaced, and pods on them move",
            "see that the disruption budgets leave room; acknowledge this when it is meant",
            "AKS docs: upgrade a node pool; not tried",
        )


def goes_back(had: str, has: str) -> bool:
    """Whether `has` is an earlier version; a minor alone means its latest patch."""
    old, new = minor(had), minor(has)
    return new < old or (new == old and 0 <= patch(has) < patch(had))


def patch(text: str) -> int:
    """The patch; -1 where only the minor is given, which means the latest."""
    parts = text.split(".")
    return int(parts[2]) if len(parts) > 2 and parts[2].isdigit() else -1


RULES = (cluster, pools)
