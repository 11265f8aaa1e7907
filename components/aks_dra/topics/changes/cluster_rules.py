"""Changes to the cluster itself: what would make it anew, what Azure refuses, and what every pool feels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from aks_dra.context.context import Context
from aks_dra.context.previous import Previous
from aks_dra.facts import PoolField
from aks_dra.findings.build import finding
from aks_dra.findings.finding import Finding
from aks_dra.settings.fields import CLUSTER, setting_of
from aks_dra.topics.changes.pool_rules import changed_fields, from_to, setting, shown

SYSTEM = "aks-dra:cluster.systemPool"
DEFAULTS = {"apiServerAccessProfile.privateDNSZone": "system"}


def look(inputs: Mapping[str, Any], dotted: str) -> Any:
    value: Any = inputs
    for part in dotted.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def identity(context: Context, before: Previous, now: Previous) -> Iterator[Finding]:
    """What a cluster is made with: a change deletes it, with everything in it."""
    old, new = before.cluster, now.cluster
    if old.existing != new.existing:
        yield _elsewhere(before, now)
    if old.existing or new.existing:
        return
    said = set()
    for name, row in context.facts.cluster_fields.items():
        parts = {"name": "name", "resourceGroup": "resource_group", "location": "location"}
        had = getattr(old, parts[name]) if name in parts else look(old.inputs, name)
        has = getattr(new, parts[name]) if name in parts else look(new.inputs, name)
        path = f"aks-dra:cluster.{setting_of(CLUSTER, name)}"
        if name == "location":
            had, has = (str(value).replace(" ", "").casefold() for value in (had, has))
        if row.change == "stays":
            if had and not has:
                yield _stays(path, name, row)
            continue
        had, has = (DEFAULTS.get(name) if value is None else value for value in (had, has))
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
            "error" if new.protect or _held(before) or not old.takes_along else "warning",
            path,
            from_to(had, has),
            f"{name} is fixed when a cluster is made: the cluster, every pool and all that is in it would be deleted "
            "and made anew",
            (f"write {key}: {shown(had)}" if had is not None else f"remove {key}")
            + "; another cluster is another stack"
            + (_meant(before, now) or _first_alone(before)),
            row.source,
        )


def _held(before: Previous) -> bool:
    """Whether the state protects something that a replacement of the cluster would take along."""
    return before.cluster.protect or any(pool.protect for pool in before.pools.values())


def _meant(before: Previous, now: Previous) -> str:
    """How to do it all the same: what the state protects is let go by a run before, not by the one that deletes it."""
    if not now.cluster.protect and not _held(before):
        return ""
    pools = "" if all(not pool.protect for pool in now.pools.values()) else ", for its pools too"
    return f". When it is meant: cluster.protect: false{pools}" + (
        ", and one `pulumi up` with that alone before" if _held(before) else ""
    )


def _first_alone(before: Previous) -> str:
    """What is not recorded as gone with the cluster, the engine would delete by itself, in the new cluster."""
    if before.cluster.takes_along:
        return ""
    return (
        ". When it is meant: one `pulumi up` with the earlier settings before, or the new cluster ends empty: the "
        "state is an earlier release's, which does not say that what is in a cluster goes with it"
    )


def _elsewhere(before: Previous, now: Previous) -> Finding:
    old, new = before.cluster, now.cluster
    path, source = "aks-dra:cluster.existing", "Azure Resource Manager: resource ids"
    if old.existing.casefold() == new.existing.casefold():
        return finding(
            "CHG009",
            "error",
            path,
            from_to(old.existing, new.existing),
            "this is the same cluster in another spelling, but clusterIdentifier changes with it: everything in the "
            "cluster would be deleted and made anew",
            f"write {old.existing}",
            "pulumi-kubernetes: Provider, clusterIdentifier",
        )
    own = old if new.existing else new
    ends = f"/resourcegroups/{own.resource_group}/providers/microsoft.containerservice/managedclusters/{own.name}"
    if not old.existing and new.existing.casefold().endswith(ends.casefold()):
        return finding(
            "CHG009",
            "error",
            path,
            from_to("a cluster of this stack", new.existing),
            "that is the cluster that this stack has made: the stack would delete it, as it makes it no more",
            "remove existing. Another stack may name the cluster so",
            source,
        )
    held = new.protect or (not old.existing and _held(before))
    return finding(
        "CHG009",
        "error" if held else "warning",
        path,
        from_to(old.existing or "a cluster of this stack", new.existing or "a cluster of this stack"),
        "the stack moves to another cluster: all it has made in the first one is deleted",
        "put the earlier cluster back; another cluster is another stack. A Kubernetes provider of your own must get "
        "the new cluster's id as cluster_identifier" + (_meant(before, now) if held else ""),
        source,
    )


def _stays(path: str, name: str, row: PoolField) -> Finding:
    return finding(
        "CHG025",
        "error" if row.verified else "warning",
        path,
        "on → off",
        f"Azure does not turn {name} off again in a cluster that exists"
        + ("" if row.verified else "; it may refuse the change or leave things as they are"),
        "put the earlier settings back; a cluster without it is another cluster, in another stack",
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
    if old.get("name") != new.get("name"):
        refused.append("name")
    for name in refused:
        row = context.facts.pool_fields.get(name)
        yield finding(
            "CHG012",
            "error",
            "aks-dra:cluster.network.subnetId" if name == "vnetSubnetID" else setting(SYSTEM, name),
            from_to(old.get(name), new.get(name)),
            f"Azure refuses to change {name} of the system pool, and it goes with the cluster",
            (f"write {shown(old[name])}" if name in old else "remove it again")
            + "; another system pool means another cluster, in another stack",
            row.source if row else "AKS: a cluster's PUT adds no pool (aka.ms/agent-pool-rest-api)",
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


RULES = (identity, system_pool, login, dra_stack)
