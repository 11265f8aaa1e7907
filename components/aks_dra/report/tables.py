"""The rows that every form of the report shares: pools, classes, claims, what would be created."""

from __future__ import annotations

from collections import Counter

from aks_dra.kube.devices import Device
from aks_dra.matching.counters import most_at_once
from aks_dra.model.plan import ClassMatch, Plan, PlannedAsk, PlannedObject, PlannedPool, PlannedRole


def describe_device(device: Device) -> str:
    """ "NVIDIA H100 NVL 1g.12gb" or "Tesla T4 16384Mi"."""
    product = str(device.attributes.get("productName", device.driver))
    profile = device.attributes.get("profile")
    memory = device.capacity.get("memory")
    return f"{product} {profile}" if profile else f"{product} {memory}" if isinstance(memory, str) else product


def publishes(pool: PlannedPool) -> str:
    """What one node of the pool offers: devices under DRA, resources under the device plugin."""
    parts = [f"{count}x {name}" for name, count in pool.extended_resources.items()]
    whole = [device for device in pool.all_devices if not device.consumes or "profile" not in device.attributes]
    parts += [f"{count}x {name}" for name, count in Counter(describe_device(device) for device in whole).items()]
    places: dict[str, list[Device]] = {}
    for device in pool.all_devices:
        if device.consumes and "profile" in device.attributes:
            places.setdefault(str(device.attributes["profile"]), []).append(device)
    cut = ", ".join(f"{most_at_once(devices, pool.devices)}x {profile}" for profile, devices in places.items())
    return (", ".join(parts) or "nothing") + (f", cut as claims ask into {cut}" if cut else "")


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


def class_matches(plan: Plan) -> tuple[ClassMatch, ...]:
    """Every class, the one that decides who serves nvidia.com/gpu behind the others that the stack makes."""
    if plan.legacy_match is None:
        return plan.matches
    made = [match for match in plan.matches if match.origin != "chart"]
    return (*made, plan.legacy_match, *(match for match in plan.matches if match.origin == "chart"))


def class_rows(plan: Plan) -> list[tuple[str, ...]]:
    """The cells of CLASS_COLUMNS."""
    rows: list[tuple[str, ...]] = []
    for match in class_matches(plan):
        if match.resource_served_by == "devicePlugin":
            rows.append((match.device_class, match.made_by, f"{match.extended_resource}: device plugin"))
            continue
        pools = ", ".join(f"{name} ({number(match, name)})" for name in match.pools) or "none"
        pools = "unknown" if match.unknown else pools
        if match.undecided:
            pools += f", if {', '.join(match.undecided)} fits"
        if match.extended_resource:
            pools += f"; also as {match.extended_resource}"
        rows.append((match.device_class, match.made_by, pools))
    return rows


def number(match: ClassMatch, pool: str) -> str:
    """Devices per node: "7", or "7 of 14" where fourteen are published that exclude each other."""
    return f"{match.pools[pool]} of {match.places[pool]}" if pool in match.places else str(match.pools[pool])


def claim_rows(plan: Plan) -> list[tuple[str, ...]]:
    """The cells of CLAIM_COLUMNS."""
    rows: list[tuple[str, ...]] = []
    for planned in plan.claims:
        claim, asks, pools = planned.claim, list[str](), list[str]()
        for request, asked in planned.requests:
            text = " else ".join(str(entry.ask) for entry in asked)
            asks.append(text + (" (looked at only)" if request.admin_access else ""))
            pools.append(" else ".join(_pools(entry) for entry in asked))
        kind = "claim" if claim.kind == "ResourceClaim" else "template"
        rows.append((f"{claim.namespace}/{claim.name}", kind, " and ".join(asks), " and ".join(pools)))
    return rows


def _pools(ask: PlannedAsk) -> str:
    return "unknown" if ask.unknown else ", ".join(ask.pools) or "none"


INCOMPLETE = "This plan is incomplete. It leaves out what cannot be read"
"""What every form of the report says before the paths of it."""


def _before_cluster(plan: Plan) -> list[str]:
    lines = [f"identity {identity.name}" for identity in plan.cluster.identities if not identity.existing]
    lines += [f"right {_right(plan, role)}" for role in plan.cluster.roles if role.before_cluster]
    workspace = plan.cluster.workspace
    if workspace is not None and not workspace.existing:
        lines.append(f"Log Analytics workspace {workspace.name} ({workspace.retention_days} days)")
    return lines


def _right(plan: Plan, role: PlannedRole) -> str:
    """ "Network Contributor on subnet aks for id-gpus"."""
    names: dict[str, str] = {identity.key: identity.name for identity in plan.cluster.identities}
    who = names.get(role.principal, "the kubelet identity that AKS makes")
    kind, _, name = role.scope.rpartition("/")
    scope = f"identity {names[role.scope]}" if role.scope in names else f"{kind.rpartition('/')[2]}/{name}"
    return f"{role.role} on {scope} for {who}"


def created(plan: Plan) -> list[str]:
    """What `pulumi up` creates on an empty subscription, in order."""
    lines = []
    if not plan.cluster.existing:
        if plan.cluster.create_resource_group:
            lines.append(f"resource group {plan.cluster.resource_group}")
        lines += _before_cluster(plan)
        lines.append(
            f"AKS cluster {plan.cluster.name} (Kubernetes {plan.cluster.kubernetes_version}, {plan.cluster.location})"
        )
    lines += [f"right {_right(plan, role)}" for role in plan.cluster.roles if not role.before_cluster]
    if plan.cluster.workspace is not None:
        lines.append(f"data collection rule dcr-{plan.cluster.name} and its association with the cluster")
    lines += [f"maintenance window {name}" for name in plan.cluster.maintenance]
    lines += [f"node pool {pool.name} ({pool.nodes} x {pool.vm_size})" for pool in plan.pools]
    lines += [f"Helm release {release.name} ({release.version or release.chart})" for release in plan.releases]
    kinds = Counter(entry.kind for entry in _objects(plan) if not entry.patch)
    lines += [f"{count} {kind}" for kind, count in sorted(kinds.items())]
    return lines


def changed(plan: Plan) -> list[str]:
    """What is somebody else's, and only gets what the plan lays over it."""
    return [
        f"{entry.kind} {entry.manifest['metadata']['name']}, which exists: labels and annotations"
        for entry in _objects(plan)
        if entry.patch
    ]


def _objects(plan: Plan) -> tuple[PlannedObject, ...]:
    return (*plan.namespaces, *plan.objects, *plan.smoke_test)
