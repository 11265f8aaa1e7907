"""VM sizes and node counts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from aks_dra.context.context import Context
from aks_dra.findings.build import did_you_mean, finding
from aks_dra.findings.finding import Finding
from aks_dra.settings import Nodes

SIZES = "Azure: GPU accelerated VM sizes (learn.microsoft.com/azure/virtual-machines/sizes/overview)"
COUNTS = "AKS: node pool limits (0 to 1000 nodes in user pools)"


def known_size(context: Context) -> Iterator[Finding]:
    for _, path, pool in context.pools():
        size = context.facts.vm_size(pool.vm_size)
        if size is None:
            yield finding(
                "SIZ001",
                "error",
                f"{path}.vmSize",
                pool.vm_size,
                "no GPU VM size of this name is known",
                did_you_mean(pool.vm_size, context.facts.vm_sizes) + ", or add it to a facts file of your own "
                "(aks-dra:facts)",
                SIZES,
            )
        elif size.retired:
            yield finding(
                "SIZ010", "error", f"{path}.vmSize", pool.vm_size, size.retired, "take another size", size.source
            )
        elif not size.verified:
            yield finding(
                "SIZ002",
                "warning",
                f"{path}.vmSize",
                pool.vm_size,
                "what this size publishes is unverified",
                "compare with `az vm list-skus`",
                size.source,
            )


def node_counts(context: Context) -> Iterator[Finding]:
    limit = context.facts.limit
    places = [(f"{path}.nodes", pool.nodes, limit("user_pool_min_nodes")) for _, path, pool in context.pools()]
    places.append(
        ("aks-dra:cluster.systemPool.nodes", context.settings.cluster.system_pool.nodes, limit("system_pool_min_nodes"))
    )
    for path, nodes, lowest in places:
        yield from _counts(path, nodes, lowest, limit("nodes_per_pool"))


def _counts(path: str, nodes: Nodes, lowest: int, most: int) -> Iterator[Finding]:
    if nodes.count is not None and nodes.autoscaled:
        yield finding(
            "SIZ003",
            "error",
            path,
            f"count {nodes.count}, min {nodes.min}, max {nodes.max}",
            "count and min/max exclude each other",
            "write count for a fixed pool, or min, max and initial",
            "AKS: cluster autoscaler",
        )
    for name in ("count", "min", "max", "initial"):
        value = getattr(nodes, name)
        if value is not None and not lowest <= value <= most:
            yield finding(
                "SIZ004",
                "error",
                f"{path}.{name}",
                value,
                f"a number of nodes is {lowest} to {most} here",
                f"write {min(max(value, lowest), most)}",
                COUNTS,
            )
    if nodes.autoscaled and nodes.max is None:
        yield finding(
            "SIZ005",
            "error",
            path,
            f"min {nodes.min}",
            "an autoscaled pool needs max beside min",
            "add max",
            "AKS: cluster autoscaler",
        )
    if nodes.min is not None and nodes.max is not None and nodes.min > nodes.max:
        yield finding(
            "SIZ006",
            "error",
            path,
            f"min {nodes.min}, max {nodes.max}",
            "min is greater than max",
            "exchange the two, or raise max",
            "AKS: cluster autoscaler",
        )
    if nodes.initial is not None and nodes.autoscaled:
        low, high = nodes.min or 0, nodes.max if nodes.max is not None else most
        if not low <= nodes.initial <= high:
            yield finding(
                "SIZ007",
                "error",
                f"{path}.initial",
                nodes.initial,
                f"initial is outside min {low} and max {high}",
                f"write {min(max(nodes.initial, low), high)}",
                "AKS: cluster autoscaler",
            )
    if nodes.initial is not None and not nodes.autoscaled:
        yield finding(
            "SIZ008",
            "error",
            f"{path}.initial",
            nodes.initial,
            "initial belongs to an autoscaled pool",
            "write count instead, or add min and max",
            "AKS: cluster autoscaler",
        )


def zones(context: Context) -> Iterator[Finding]:
    for _, path, pool in context.pools():
        if pool.zones and not (context.snapshot and context.snapshot.skus):
            yield finding(
                "SIZ009",
                "warning",
                f"{path}.zones",
                ", ".join(pool.zones),
                "GPU sizes are not offered in every zone of a region",
                "check `az vm list-skus --size " + pool.vm_size + " --zone`, or leave zones out",
                "AKS: availability zones",
            )


def zone_names(context: Context) -> Iterator[Finding]:
    places = [(f"{path}.zones", pool.zones) for _, path, pool in context.pools()]
    if not context.settings.cluster.existing:
        places.append(("aks-dra:cluster.systemPool.zones", context.settings.cluster.system_pool.zones))
    for path, given in places:
        for index, zone in enumerate(given):
            number = re.search(r"([1-9])$", zone)
            if zone in given[:index]:
                message, remedy = "this zone is named twice", "name it once"
            elif not re.fullmatch("[1-9]", zone):
                message = "a zone is a number; its region is the cluster's"
                remedy = f'write "{number[1]}"' if number else 'for example "1"'
            else:
                continue
            yield finding("SIZ011", "error", f"{path}.{index}", zone, message, remedy, "AKS: availability zones")


RULES = (known_size, node_counts, zones, zone_names)
