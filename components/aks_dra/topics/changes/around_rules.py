"""What a stack makes around its cluster: its resource group, its identities, the workspace for its logs.

A setting that names something else takes the first one out of the stack, and what leaves a stack is deleted: a resource
group with all that is in it, an identity while the cluster still runs with it, a workspace with its logs. The engine
looks at the protection in its state, which only an earlier run can have lifted.
"""

from __future__ import annotations

from collections.abc import Iterator

from aks_dra.context.context import Context
from aks_dra.context.previous import Previous
from aks_dra.findings.build import finding
from aks_dra.findings.finding import Finding
from aks_dra.topics.changes.pool_rules import from_to

LOST = {
    "resourceGroup": "the stack deletes its resource group {name}, and Azure all that is in it, the cluster too",
    "identity": "the stack deletes the identity {name}, which the cluster runs as, with its rights",
    "kubeletIdentity": "the stack deletes the identity {name}, which the nodes run as, with its rights",
    "monitoring.logAnalytics": "the stack deletes the workspace {name}, with the logs in it",
}
WRITE = {
    "resourceGroup": "write cluster.resourceGroup: {name}",
    "identity": "write cluster.identity: {{name: {name}}}",
    "kubeletIdentity": "write cluster.kubeletIdentity: {{name: {name}}}",
    "monitoring.logAnalytics": "write cluster.monitoring.logAnalytics: {{name: {name}}}",
}


def made(context: Context, before: Previous, now: Previous) -> Iterator[Finding]:
    """What the stack has made and names no longer, and a group that it would make although it is there."""
    old, new = before.cluster, now.cluster
    if old.made is None or new.made is None or old.existing or new.existing:
        return
    if (old.name, old.location.casefold()) != (new.name, new.location.casefold()):
        return  # another cluster: that is said of it
    for setting, name in old.made.items():
        group = setting == "resourceGroup"
        if new.made.get(setting) == name or (
            group and (setting in new.made or old.resource_group != new.resource_group)
        ):
            continue  # a group of another name is another cluster
        becomes = f"{new.made[setting]} of this stack" if setting in new.made else "nothing that the stack makes"
        first = (
            "write cluster.protect: false and run `pulumi up` once, or its deletion is refused; " if old.protect else ""
        )
        yield finding(
            "CHG023",
            "error" if old.protect else "warning",
            f"aks-dra:cluster.{setting}",
            from_to(f"{name} of this stack", becomes),
            LOST[setting].format(name=name),
            f"{WRITE[setting].format(name=name)}. When it is meant: {first}to keep {name}, take it out of the state "
            "first (`pulumi state delete` and its URN)",
            "Pulumi: what a program no longer names is deleted",
        )
    if "resourceGroup" in new.made and "resourceGroup" not in old.made and old.resource_group == new.resource_group:
        yield finding(
            "CHG024",
            "warning",
            "aks-dra:cluster.resourceGroup",
            from_to(f"{old.resource_group} that exists", f"{new.resource_group} of this stack"),
            f"resource group {new.resource_group} exists, so the stack cannot make it: `pulumi up` ends there",
            "write {existing: …} again, or bring it into the state first (`pulumi import`) and acknowledge this",
            "pulumi-azure-native: cannot create already existing resource",
        )


RULES = (made,)
