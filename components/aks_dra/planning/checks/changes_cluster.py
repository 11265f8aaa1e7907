"""Changes to the cluster itself: what would make it anew, what Azure refuses, and what every pool feels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from aks_dra.planning.checks.changes_pools import changed_fields, from_to, setting
from aks_dra.planning.checks.context import Context, finding
from aks_dra.planning.cluster import minor
from aks_dra.planning.model import Finding
from aks_dra.planning.previous import Previous

SYSTEM = "aks-dra:cluster.systemPool"
SETTINGS = {
    "name": "name", "resourceGroup": "resourceGroup", "location": "location", "dnsPrefix": "dnsPrefix",
    "nodeResourceGroup": "nodeResourceGroup", "networkProfile.networkPlugin": "network.plugin",
    "networkProfile.networkPluginMode": "network.plugin", "networkProfile.networkPolicy": "network.dataplane",
    "networkProfile.networkDataplane": "network.dataplane", "networkProfile.podCidr": "network.podCidr",
    "networkProfile.serviceCidr": "network.serviceCidr", "networkProfile.dnsServiceIP": "network.dnsServiceIp",
    "networkProfile.outboundType": "network.outboundType",
    "apiServerAccessProfile.enablePrivateCluster": "network.privateCluster",
}  # fmt: skip


def look(inputs: Mapping[str, Any], dotted: str) -> Any:
    value: Any = inputs
    for part in dotted.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def identity(context: Context, before: Previous, now: Previous) -> Iterator[Finding]:
    """What a cluster is made with: a change deletes it, with everything in it."""
    old, new = before.cluster, now.cluster
    if old.existing.casefold() != new.existing.casefold():
        yield finding(
            "CHG009",
            "error" if new.protect else "warning",
            "aks-dra:cluster.existing",
            from_to(old.existing or "a cluster of this stack", new.existing or "a cluster of this stack"),
            "the stack moves to another cluster: all it has made in the first one is deleted",
            "put the earlier cluster back; another cluster is another stack"
            + (". When it is meant: cluster.protect: false" if new.protect else ""),
            "Azure Resource Manager: resource ids",
        )
        return
    if new.existing:
        return
    said = set()
    for name, row in context.facts.cluster_fields.items():
        parts = {"name": "name", "resourceGroup": "resource_group", "location": "location"}
        had = getattr(old, parts[name]) if name in parts else look(old.inputs, name)
        has = getattr(new, parts[name]) if name in parts else look(new.inputs, name)
        path = f"aks-dra:cluster.{SETTINGS.get(name, name)}"
        if name == "location":
            had, has = (str(value).replace(" ", "").casefold() for value in (had, has))
        named = (old.name, new.name), (f"rg-{old.name}", f"rg-{new.name}")  # what follows from the name by default
        follows = name in ("dnsPrefix", "resourceGroup") and (had, has) in named
        if had == has or path in said or follows:
            continue
        said.add(path)
        key = path.removeprefix("aks-dra:")
        if row.change != "replace":
            yield finding(
                "CHG010",
                "warning",
                path,
                from_to(had, has),
                f"whether Azure changes {name} of a cluster that exists is not known here; it may refuse it",
                "put the earlier value back, or try it on a cluster that may be lost",
                row.source,
            )
            continue
        yield finding(
            "CHG009",
            "error" if new.protect else "warning",
            path,
            from_to(had, has),
            f"{name} is fixed when a cluster is made: the cluster, every pool and all that is in it would be deleted "
            "and made anew",
            (f"write {key}: {had}" if had is not None else f"remove {key}")
            + "; another cluster is another stack"
            + (". When it is meant: cluster.protect: false" if new.protect else ""),
            row.source,
        )


def system_pool(context: Context, before: Previous, now: Previous) -> Iterator[Finding]:
    old, new = before.cluster.system_pool, now.cluster.system_pool
    if not old or not new:
        return
    fields = [name for name in changed_fields(old, new) if name != "orchestratorVersion"]
    if new.get("enableAutoScaling") or "count" not in old:
        fields = [name for name in fields if name != "count"]
    refused = [name for name in fields if (row := context.facts.pool_fields.get(name)) and row.change == "replace"]
    for name in refused:
        yield finding(
            "CHG012",
            "error",
            setting(SYSTEM, name),
            from_to(old.get(name), new.get(name)),
            f"Azure refuses to change {name} of the system pool, and it goes with the cluster",
            f"write {old.get(name)}; another system pool means another cluster, in another stack",
            context.facts.pool_fields[name].source,
        )
    if fields and not refused:
        pools = sorted(now.pools)
        meanwhile = f": {', '.join(pools)}" if 0 < len(pools) <= 8 else f" ({len(pools)} pools)"
        yield finding(
            "CHG013",
            "warning",
            SYSTEM,
            "; ".join(f"{name}: {from_to(old.get(name), new.get(name))}" for name in fields),
            "a change to the system pool updates the cluster, and Azure shows every pool as Scaling meanwhile"
            + (meanwhile if pools else ""),
            "wait until no pool scales or is upgraded; acknowledge this when it is meant",
            "AKS: a PUT of the cluster touches all of its pools",
        )


def version(context: Context, before: Previous, now: Previous) -> Iterator[Finding]:
    had, has = before.cluster.kubernetes_version, now.cluster.kubernetes_version
    if before.cluster.existing or now.cluster.existing or had == has or (0, 0) in (minor(had), minor(has)):
        return
    path = "aks-dra:cluster.kubernetesVersion"
    old, new = minor(had), minor(has)
    if new < old or (new == old and _patch(has) >= 0 and _patch(has) < _patch(had)):
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


def _patch(text: str) -> int:
    """The patch; -1 where only the minor is given, which means the latest."""
    parts = text.split(".")
    return int(parts[2]) if len(parts) > 2 and parts[2].isdigit() else -1


def login(context: Context, before: Previous, now: Previous) -> Iterator[Finding]:
    had, has = before.cluster.login, now.cluster.login
    if had != has:
        local = "admin" in (had, has)
        yield finding(
            "CHG016",
            "warning",
            "aks-dra:cluster.access." + ("localAccounts" if local else "login"),
            from_to(had, has),
            "the contents of the in-cluster provider change; clusterIdentifier keeps its identity, so nothing in the "
            "cluster is replaced",
            "see that whoever runs the next `pulumi up` can log in this way; acknowledge this when it is meant",
            "pulumi-kubernetes: Provider, clusterIdentifier",
        )


def dra_stack(context: Context, before: Previous, now: Previous) -> Iterator[Finding]:
    had, has = before.dra_stack, now.dra_stack
    if had and has and had != has:
        yield finding(
            "CHG022",
            "error",
            "aks-dra:gpu.draStack",
            from_to(had, has),
            "nothing moves a living cluster from one way of running the DRA driver to the other: the first is "
            "uninstalled under the pods that hold devices",
            f"write draStack: {had}; make a cluster for draStack: {has}, in another stack",
            "NVIDIA GPU Operator docs: GPUCluster, no migration in place",
        )


RULES = (identity, system_pool, version, login, dra_stack)
