"""Changes to what is installed in a cluster that lives, and to the names by which its pods ask for GPUs."""

from __future__ import annotations

from collections.abc import Iterator

from aks_dra import names
from aks_dra.context.context import Context
from aks_dra.context.previous import Previous
from aks_dra.findings.build import finding
from aks_dra.findings.finding import Finding
from aks_dra.topics.changes.pool_rules import from_to, living

SETTINGS = {names.OPERATOR_RELEASE: "operator", names.DRA_RELEASE: "draDriver"}
PLUGIN = "nvidia-device-plugin"


def downgrades(context: Context, before: Previous, now: Previous) -> Iterator[Finding]:
    for release, old in sorted(before.releases.items()):
        new = now.releases.get(release, "")
        chart = context.facts.charts[release if release in SETTINGS else PLUGIN]
        if not old or not new or chart.at_least(new, old):
            continue  # a packed chart's version is not known
        setting = SETTINGS.get(release, "devicePlugin")
        why = "a step back is not what charts are made for: definitions and values of the newer one stay or are lost"
        if release == names.DRA_RELEASE:
            why = "NVIDIA supports its DRA driver forward only: the older one may not read what the newer one prepared"
        yield finding(
            "CHG027",
            "warning",
            f"aks-dra:gpu.charts.{setting}.version",
            from_to(old, new),
            f"the release {release} steps back; {why}",
            f"put {old} back, or drain every GPU pool first and acknowledge this",
            "kubernetes-sigs/dra-driver-nvidia-gpu: upgrade guide; Helm: upgrades",
        )


def driver(context: Context, before: Previous, now: Previous) -> Iterator[Finding]:
    if not before.driver or not now.driver or before.driver == now.driver:
        return
    yield finding(
        "CHG028",
        "warning",
        "aks-dra:gpu.driverVersion",
        from_to(before.driver, now.driver),
        "the operator puts another driver on the nodes of every pool whose driver it owns: node after node, and the "
        "pods that use a GPU there are ended first",
        "choose a quiet hour, and see that the disruption budgets leave room; acknowledge this when it is meant",
        "NVIDIA GPU Operator: driver upgrades (driver.upgradePolicy.autoUpgrade is true by default)",
    )


def resources(context: Context, before: Previous, now: Previous) -> Iterator[Finding]:
    """Names that pods ask by and that nobody serves any more, while what served them is still there."""
    paths = {pool.name: pool.path for pool in context.plan.pools}
    served = {*now.extended, *(resource for pool in now.pools.values() for resource in pool.resources)}
    if now.gpu_requests:
        served.add("nvidia.com/gpu")
    for name, old, new in living(before, now):
        gone = sorted({*old.resources} - served) if old.allocation == new.allocation else []
        if gone:
            asks = ", ".join(gone)
            yield finding(
                "CHG029",
                "warning",
                f"{paths[name]}.sharing",
                from_to(asks, ", ".join(new.resources) or "nothing"),
                f"no pool advertises {asks} any more: pods that ask for it stay Pending from their next start on",
                f"put the sharing of {name} back, or give the workloads the new name first",
                "NVIDIA/k8s-device-plugin: resource names",
            )
    for resource, device_class in sorted(before.extended.items()):
        if resource not in served and device_class in now.classes:
            yield finding(
                "CHG029",
                "warning",
                f"aks-dra:deviceClasses.{device_class}.extendedResourceName"
                if device_class in context.settings.device_classes
                else "aks-dra:gpu.extendedResources",
                from_to(resource, None),
                f"class {device_class} no longer serves {resource}, and nothing else does: pods that ask for it stay "
                "Pending from their next start on",
                "put the name back, or give the workloads a claim first",
                "Kubernetes: extended resources backed by DRA",
            )


def evictions(context: Context, before: Previous, now: Previous) -> Iterator[Finding]:
    paths = {pool.name: pool.path for pool in context.plan.pools}
    for name, old, new in living(before, now):
        added = [taint for taint in new.evicting or () if taint not in (old.evicting or ())]
        if added and old.evicting is not None:
            yield finding(
                "CHG030",
                "warning",
                f"{paths[name]}.taints",
                ", ".join(added),
                f"NoExecute ends every pod on pool {name} that does not tolerate it, as soon as the nodes have the "
                "taint; no disruption budget holds that up",
                "write NoSchedule to keep new pods away only, or give the workloads the toleration first",
                "Kubernetes: taints and tolerations",
            )


RULES = (downgrades, driver, resources, evictions)
