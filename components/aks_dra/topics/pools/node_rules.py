"""What the nodes of a pool are made of and how they are upgraded: OS image, disk, pods, spot, reservations, tags."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal

from aks_dra.context.context import Context
from aks_dra.findings.build import did_you_mean, finding
from aks_dra.findings.finding import Finding
from aks_dra.kube.versions import minor
from aks_dra.settings import Pool, Spot
from aks_dra.settings.pools_of import driver_owner, node_counts

SURGE = re.compile(r"(\d+)(%?)")
UPGRADES = "AKS: rolling upgrades of node pools (upgrade-aks-node-pools-rolling)"
ONE_OS = "NVIDIA GPU Operator: platform support (one operating system version for all GPU nodes)"
# What Azure takes in no tag's name.
TAG_FORBIDDEN = re.compile(r"[<>%&\\?/]")
TAG_RESERVED = ("microsoft", "azure", "windows")


def os_skus(context: Context) -> Iterator[Finding]:
    cluster = context.settings.cluster
    places = [(f"{path}.osSku", pool.os_sku, pool.kubernetes_version or context.version, True, pool.fips)
              for _, path, pool in context.pools()]  # fmt: skip
    if not cluster.existing:
        places.append(("aks-dra:cluster.systemPool.osSku", cluster.system_pool.os_sku, context.version, False, False))
    for path, name, version, gpu, fips in places:
        row = context.facts.os_skus.get(name)
        if row is None:
            known = [key for key, sku in context.facts.os_skus.items() if sku.linux]
            message = "AKS has no such osSKU"
            yield finding("NOD001", "error", path, name, message, did_you_mean(name, known), "AKS API: osSKU")
            continue
        if not row.linux or row.gpu_operator == "no":
            message = "DRA and NVIDIA's operator run on Linux nodes" if gpu else "a system pool runs Linux"
            yield finding("NOD002", "error", path, name, message, "write Ubuntu", row.source)
            continue
        low = minor(row.min_kubernetes) if row.min_kubernetes else (0, 0)
        high = minor(row.max_kubernetes) if row.max_kubernetes else (99, 0)
        if minor(version) > (0, 0) and not low <= minor(version) <= high:
            bounds = " ".join(
                text for text in (row.min_kubernetes and f"from {row.min_kubernetes}",
                                  row.max_kubernetes and f"up to {row.max_kubernetes}") if text
            )  # fmt: skip
            message = f"AKS has this image for Kubernetes {bounds}, and these nodes run {version}"
            severity = "error" if row.verified else "warning"
            yield finding("NOD003", severity, path, name, message, "write Ubuntu", row.source)  # type: ignore[arg-type]
        elif gpu and row.gpu_operator == "unverified":
            message = "that NVIDIA's operator runs on this image is unverified"
            yield finding("NOD004", "warning", path, name, message, "write Ubuntu, or try it first", row.source)
        image = context.facts.os_skus.get(row.image(minor(version)), row)
        if fips and image.fips != "yes":
            sure = image.fips == "no" and image.verified
            message = f"{image.key} has no FIPS image" if sure else f"that {image.key} has a FIPS image is unverified"
            remedy = "set osSku: AzureLinux3 or Ubuntu2204, or fips: false" if sure else "see `az aks nodepool add -h`"
            where = path.replace(".osSku", ".fips")
            yield finding("NOD005", "error" if sure else "warning", where, "true", message, remedy, image.source)


def one_image(context: Context) -> Iterator[Finding]:
    """Every GPU pool has the image of the first one."""
    first: tuple[str, str] | None = None
    for name, path, pool in context.pools():
        row = context.facts.os_skus.get(pool.os_sku)
        if row is None or not row.linux:
            continue
        image = row.image(minor(pool.kubernetes_version or context.version))
        if first is None:
            first = (name, image)
        elif image != first[1]:
            owned = any(driver_owner(context.settings, other) == "operator" for _, _, other in context.pools())
            same_sku = (
                pool.os_sku == context.settings.pools[first[0]].os_sku if first[0] in context.settings.pools else False
            )
            yield finding(
                "NOD006",
                "error" if owned else "warning",
                f"{path}.kubernetesVersion" if same_sku else f"{path}.osSku",
                pool.kubernetes_version if same_sku else pool.os_sku,
                f"these nodes run {image}, those of pool {first[0]} run {first[1]}, and the operator serves one image",
                f"give all GPU pools the image {first[1]}",
                ONE_OS,
            )


def pods_per_node(context: Context) -> Iterator[Finding]:
    limits = context.facts.limits
    low, high, least = limits["max_pods_lowest"], limits["max_pods_highest"], limits["pods_per_pool"]
    system = context.settings.cluster.system_pool
    places = [(path, pool.max_pods, pool.nodes, pool.allocation) for _, path, pool in context.pools()]
    if not context.settings.cluster.existing:
        places.append(("aks-dra:cluster.systemPool", system.max_pods, system.nodes, "devicePlugin"))
    for path, pods, nodes, allocation in places:
        if pods is None:
            continue
        if not low.value <= pods <= high.value:
            message = f"a node runs {low.value} to {high.value} pods"
            remedy = f"write {min(max(pods, low.value), high.value)}"
            yield finding("NOD007", "error", f"{path}.maxPods", pods, message, remedy, low.source)
        elif 0 < pods * (count := node_counts(nodes, allocation)["count"]) < least.value:
            message = f"{count} nodes of {pods} pods: a pool must have room for {least.value} pods"
            remedy = f"write {-(-least.value // count)}, or start with more nodes"
            yield finding("NOD007", "error", f"{path}.maxPods", pods, message, remedy, least.source)


def disks(context: Context) -> Iterator[Finding]:
    low, high = context.facts.limits["os_disk_size_lowest"], context.facts.limits["os_disk_size_highest"]
    for _, path, pool in context.pools():
        size = pool.os_disk_size_gb
        if size is None or low.value <= size <= high.value:
            continue
        severity = "error" if size < 0 else "warning"
        message = f"an OS disk has {low.value} to {high.value} GB; drivers and GPU images take tens of GB"
        remedy = f"write {min(max(size, low.value), high.value)}, or leave the size to AKS"
        yield finding("NOD008", severity, f"{path}.osDiskSizeGb", size, message, remedy, high.source)  # type: ignore[arg-type]


def spot(context: Context) -> Iterator[Finding]:
    decimals = context.facts.limits["spot_max_price_decimals"]
    for _, path, pool in context.pools():
        if not pool.spot:
            continue
        price = Decimal(str(pool.spot.max_price)) if isinstance(pool.spot, Spot) else Decimal(-1)
        if not price.is_finite() or (price != -1 and (price <= 0 or _decimals(price) > decimals.value)):
            fits = price.is_finite() and 0 < price < 10**9  # beyond, rounding has more digits than Decimal keeps
            fitting = round(price, decimals.value) if fits else Decimal(-1)
            remedy = f"write {fitting if fitting != 0 else Decimal('0.00001'):f}" + (
                "" if fitting > 0 else ", which is up to the regular price"
            )
            message = f"a price is -1, or above 0 with at most {decimals.value} decimals"
            yield finding("NOD009", "error", f"{path}.spot.maxPrice", f"{price:f}", message, remedy, decimals.source)
        if pool.capacity_reservation_group:
            yield finding(
                "NOD010",
                "error",
                f"{path}.capacityReservationGroup",
                pool.capacity_reservation_group,
                "reserved capacity is regular capacity, and this pool is spot",
                "remove one of the two",
                "Azure: on-demand capacity reservation, limitations",
            )
        if pool.max_surge is not None or pool.max_unavailable is not None:
            name = "maxSurge" if pool.max_surge is not None else "maxUnavailable"
            value = pool.max_surge if pool.max_surge is not None else pool.max_unavailable
            message = "that AKS upgrades spot pools by surge is unverified"
            yield finding(
                "NOD011",
                "warning",
                f"{path}.{name}",
                value,
                message,
                "leave it out",
                "AKS: spot node pools, unverified",
            )


def _decimals(price: Decimal) -> int:
    return -int(price.normalize().as_tuple().exponent)


def upgrades(context: Context) -> Iterator[Finding]:
    for _, path, pool in context.pools():
        for name, value in (("maxSurge", pool.max_surge), ("maxUnavailable", pool.max_unavailable)):
            match = SURGE.fullmatch(str(value)) if value is not None else None
            if value is not None and (match is None or (match[2] and not 1 <= int(match[1]) <= 100)):
                message = "this is a number of nodes, or a share of 1% to 100%"
                yield finding("NOD012", "error", f"{path}.{name}", value, message, 'write 1 or "10%"', UPGRADES)
        if str(pool.max_surge) == "0" and str(pool.max_unavailable) in ("None", "0"):
            message = "an upgrade could neither add nor take away a node, so it would never begin"
            remedy = "set maxUnavailable: 1 beside maxSurge: 0"
            yield finding("NOD013", "error", f"{path}.maxSurge", pool.max_surge, message, remedy, UPGRADES)
        yield from _minutes(context, path, pool)


def _minutes(context: Context, path: str, pool: Pool) -> Iterator[Finding]:
    limits = context.facts.limits
    for name, value, low, high in (
        (
            "drainTimeoutMinutes",
            pool.drain_timeout_minutes,
            context.facts.limit("drain_timeout_lowest"),
            limits["drain_timeout_highest"],
        ),
        ("nodeSoakMinutes", pool.node_soak_minutes, 0, limits["node_soak_highest"]),
    ):
        if value is not None and not low <= value <= high.value:
            message = f"this is {low} to {high.value} minutes"
            remedy = f"write {min(max(value, low), high.value)}"
            yield finding("NOD014", "error", f"{path}.{name}", value, message, remedy, high.source)


def tags(context: Context) -> Iterator[Finding]:
    settings = context.settings
    sets = [("aks-dra:tags", settings.tags, {}), ("aks-dra:cluster.tags", settings.cluster.tags, settings.tags)]
    sets += [(f"{path}.tags", pool.tags, settings.tags) for _, path, pool in context.pools()]
    for path, own, inherited in sets:
        yield from _tag_set(context, path, own, inherited)


def _tag_set(context: Context, path: str, own: Mapping[str, str], inherited: Mapping[str, str]) -> Iterator[Finding]:
    limits = context.facts.limits
    source = limits["tags"].source
    names: dict[str, str] = {}
    for name, value in own.items():
        where = f"{path}.{name}"
        if TAG_FORBIDDEN.search(name) or not name:
            remedy = f"for example {TAG_FORBIDDEN.sub('-', name) or 'team'}"
            yield finding("NOD015", "error", where, name, r"a tag's name has none of < > % & \ ? /", remedy, source)
        if name.lower().startswith(TAG_RESERVED):
            message = "Azure keeps names that begin with microsoft, azure or windows for itself"
            yield finding("NOD015", "error", where, name, message, "rename it", source)
        for text, limit in ((name, limits["tag_key_length"]), (value, limits["tag_value_length"])):
            if len(text) > limit.value:
                message = f"{len(text)} characters; at most {limit.value} {limit.what}"
                yield finding("NOD016", "error", where, text[:40] + "…", message, "shorten it", source)
        other = names.setdefault(name.lower(), name)
        if other != name:
            message = f"to Azure this is the tag {other}: names differ in more than case"
            yield finding("NOD017", "error", where, name, message, "remove one of the two", source)
    whole = {name.lower() for name in (*own, *inherited)}
    if own and len(whole) > context.facts.limit("tags"):
        message = f"a resource has at most {context.facts.limit('tags')} tags, and these come to {len(whole)}"
        yield finding("NOD018", "error", path, len(whole), message, "put several into one as JSON", source)


RULES = (os_skus, one_image, pods_per_node, disks, spot, upgrades, tags)
