"""The rows that every form of the report shares: pools, classes, claims, what would be created."""

from __future__ import annotations

from collections import Counter

from aks_dra.planning.devices import Device
from aks_dra.planning.model import Plan, PlannedPool


def describe_device(device: Device) -> str:
    """ "NVIDIA H100 NVL 1g.12gb" or "Tesla T4 16384Mi"."""
    product = str(device.attributes.get("productName", device.driver))
    profile = device.attributes.get("profile")
    memory = device.capacity.get("memory")
    return f"{product} {profile}" if profile else f"{product} {memory}" if isinstance(memory, str) else product


def publishes(pool: PlannedPool) -> str:
    """What one node of the pool offers: devices under DRA, resources under the device plugin."""
    if pool.allocation == "devicePlugin":
        return ", ".join(f"{count}x {name}" for name, count in pool.extended_resources.items()) or "nothing"
    counts = Counter(describe_device(device) for device in pool.devices)
    return ", ".join(f"{count}x {name}" for name, count in counts.items()) or "nothing"


POOL_COLUMNS = ("pool", "VM size", "nodes", "served by", "one node publishes", "device classes")
CLASS_COLUMNS = ("class", "made by", "pools (devices per node)")
CLAIM_COLUMNS = ("claim", "kind", "asks for", "pools")


def pool_rows(plan: Plan) -> list[tuple[str, ...]]:
    """The cells of POOL_COLUMNS."""
    return [
        (
            pool.name,
            pool.vm_size,
            pool.nodes,
            f"{'DRA' if pool.allocation == 'dra' else 'device plugin'}, {pool.sharing}",
            publishes(pool),
            ", ".join(pool.device_classes) or "-",
        )
        for pool in plan.pools
    ]


def class_rows(plan: Plan) -> list[tuple[str, ...]]:
    """The cells of CLASS_COLUMNS."""
    rows: list[tuple[str, ...]] = []
    for match in plan.matches:
        pools = ", ".join(f"{name} ({count})" for name, count in match.pools.items()) or "none"
        if match.undecided:
            pools += f", if {', '.join(match.undecided)} fits"
        rows.append((match.device_class, match.origin, pools))
    return rows


def claim_rows(plan: Plan) -> list[tuple[str, ...]]:
    """The cells of CLAIM_COLUMNS."""
    rows: list[tuple[str, ...]] = []
    for claim in plan.claims:
        asks = " else ".join(f"{count}x {name}" for name, count in claim.asks)
        pools = " else ".join(", ".join(claim.pools.get(name, ())) or "none" for name, _ in claim.asks)
        kind = "claim" if claim.kind == "ResourceClaim" else "template"
        rows.append((f"{claim.namespace}/{claim.name}", kind, asks, pools))
    return rows


def created(plan: Plan) -> list[str]:
    """What `pulumi up` creates on an empty subscription, in order."""
    lines = []
    if not plan.cluster.existing:
        if plan.cluster.create_resource_group:
            lines.append(f"resource group {plan.cluster.resource_group}")
        lines.append(
            f"AKS cluster {plan.cluster.name} (Kubernetes {plan.cluster.kubernetes_version}, {plan.cluster.location})"
        )
    lines += [f"node pool {pool.name} ({pool.nodes} x {pool.vm_size})" for pool in plan.pools]
    lines += [f"Helm release {release.name} ({release.version or release.chart})" for release in plan.releases]
    kinds = Counter(entry.kind for entry in (*plan.namespaces, *plan.objects))
    lines += [f"{count} {kind}" for kind, count in sorted(kinds.items())]
    return lines
