"""The stack against what one subscription offers: sizes, zones, spot, quotas, versions. Only with a snapshot."""

from __future__ import annotations

from collections.abc import Iterator

from aks_dra.context.context import Context
from aks_dra.context.snapshot import REGIONAL_QUOTA, SPOT_QUOTA, Sku, Snapshot
from aks_dra.findings.build import did_you_mean, finding
from aks_dra.findings.finding import Finding

SKUS = "az vm list-skus"
USAGE = "az vm list-usage"
VERSIONS = "az aks get-versions"


def sizes(context: Context) -> Iterator[Finding]:
    snapshot = context.snapshot
    if snapshot is None or snapshot.skus is None:
        return
    region = context.plan.cluster.location.lower().replace(" ", "")
    system = context.settings.cluster.system_pool
    places = [(path, pool.vm_size, pool.zones, bool(pool.spot)) for _, path, pool in context.pools()]
    if not context.plan.cluster.existing:
        places.append(("aks-dra:cluster.systemPool", system.vm_size, system.zones, False))
    for path, size, wanted, spot in places:
        sku = snapshot.sku(size)
        if sku is None or (region and region not in sku.locations):
            names = [entry.name for entry in snapshot.skus.values() if not region or region in entry.locations]
            message = f"the snapshot has no such size in {region or 'its region'}"
            yield finding("AZS001", "error", f"{path}.vmSize", size, message, did_you_mean(size, names), SKUS)
            continue
        if sku.restricted:
            message = f"this subscription cannot use the size here ({sku.restricted})"
            yield finding("AZS002", "error", f"{path}.vmSize", size, message, "ask for access, or take another", SKUS)
        yield from _zones(path, sku, wanted)
        if spot and not sku.spot:
            message = "this size has no spot capacity here"
            yield finding("AZS004", "error", f"{path}.spot", "true", message, "remove spot, or take another size", SKUS)


def _zones(path: str, sku: Sku, wanted: tuple[str, ...]) -> Iterator[Finding]:
    usable = sku.zones - sku.restricted_zones
    bad = [zone for zone in wanted if zone not in usable]
    if bad:
        remedy = f"write zones out of {', '.join(sorted(usable))}" if usable else "leave zones out"
        message = f"zone {', '.join(bad)} does not offer {sku.name} to this subscription"
        yield finding("AZS003", "error", f"{path}.zones", ", ".join(wanted), message, remedy, SKUS)


def quotas(context: Context) -> Iterator[Finding]:
    """vCPUs that the pools may grow to, against what is free. What runs already is counted by Azure as used."""
    snapshot = context.snapshot
    if snapshot is None or snapshot.skus is None or snapshot.usage is None:
        return
    needs: dict[str, dict[str, int]] = {}
    for path, vcpus, family, spot in _demands(context, snapshot):
        for quota in (SPOT_QUOTA,) if spot else (family, REGIONAL_QUOTA):
            needs.setdefault(quota, {})[path] = vcpus
    for quota, by_path in sorted(needs.items()):
        usage = snapshot.usage.get(quota.lower())
        total = sum(by_path.values())
        if usage is None or total <= usage.free:
            continue
        listed = ", ".join(f"{path.removeprefix('aks-dra:')} {vcpus}" for path, vcpus in sorted(by_path.items()))
        message = f"these pools may need {total} vCPUs of quota {quota}, and {usage.free} of {usage.limit} are free"
        remedy = "raise the quota, lower max or count, or acknowledge this when these nodes run already"
        yield finding("AZS005", "warning", context.place(list(by_path)), listed, message, remedy, USAGE)


def _demands(context: Context, snapshot: Snapshot) -> Iterator[tuple[str, int, str, bool]]:
    for pool in context.plan.pools:
        if sku := snapshot.sku(pool.vm_size):
            most = int(pool.inputs.get("maxCount") or pool.inputs["count"])
            spot = pool.inputs.get("scaleSetPriority") == "Spot"
            yield pool.path, most * sku.vcpus, sku.family, spot
    system = context.settings.cluster.system_pool
    if not context.plan.cluster.existing and (sku := snapshot.sku(system.vm_size)):
        most = system.nodes.max or system.nodes.count or 1
        yield "aks-dra:cluster.systemPool", most * sku.vcpus, sku.family, False


def versions(context: Context) -> Iterator[Finding]:
    snapshot = context.snapshot
    if snapshot is None or snapshot.versions is None:
        return
    path = "aks-dra:cluster.kubernetesVersion"
    minor = ".".join(context.version.split(".")[:2])
    offered = snapshot.versions.get(minor)
    if offered is None or (context.version.count(".") == 2 and context.version not in offered.patches):
        known = sorted({*snapshot.versions, *(patch for row in snapshot.versions.values() for patch in row.patches)})
        message = "this region does not offer the version"
        yield finding(
            "AZS006", "error", path, context.version, message, did_you_mean(context.version, known, 20), VERSIONS
        )
        return
    if offered.preview:
        message = "this version is a preview here, without support"
        yield finding("AZS007", "warning", path, context.version, message, "take a version that is not", VERSIONS)
    wanted = "AKSLongTermSupport" if context.settings.cluster.lts else "KubernetesOfficial"
    if offered.plans and wanted not in offered.plans:
        remedy = (
            "set cluster.tier: Premium and cluster.lts: true"
            if wanted == "KubernetesOfficial"
            else "remove cluster.lts"
        )
        message = f"this version has support plan {', '.join(sorted(offered.plans))} only"
        yield finding("AZS008", "error", path, context.version, message, f"{remedy}, or take another version", VERSIONS)


RULES = (sizes, quotas, versions)
