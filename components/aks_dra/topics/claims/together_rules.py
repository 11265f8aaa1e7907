"""Constraints that no node can keep: what must be alike in all devices of a claim, or differ in each.

Only requests without alternatives are looked at, each pool as if it were empty, so what is called impossible is. A
value that only the node knows counts as any value, unless it is known whose it is (see `alike`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from aks_dra.context.context import Context
from aks_dra.findings.build import finding
from aks_dra.findings.finding import Finding
from aks_dra.kube.claims import Ask, Claim, Constraint
from aks_dra.kube.devices import GPU_DRIVER, Device
from aks_dra.matching.alike import can_be_alike, has, value_of
from aks_dra.matching.counters import most_at_once
from aks_dra.model.plan import PlannedPool
from aks_dra.topics.claims.enough_rules import met_somewhere

SOURCE = "Kubernetes: allocator of dynamic-resource-allocation, constraints"


@dataclass(frozen=True)
class _Wanted:
    """What one request takes of one node: so many of these devices."""

    count: int
    devices: tuple[Device, ...]


def kept_by_some_node(context: Context) -> Iterator[Finding]:
    for claim in context.claims:
        if not met_somewhere(context, claim):
            continue  # said of its requests
        for constraint in claim.constraints:
            attribute = constraint.match or constraint.distinct or ""
            asks = [
                request.asks[0]
                for request in claim.requests
                if not request.ranked and (not constraint.requests or request.name in constraint.requests)
            ]
            if "/" not in attribute or not asks or (constraint.match is None) == (constraint.distinct is None):
                continue
            if any(not _all_have(context, ask, attribute) for ask in asks):
                continue  # said of the attribute
            yield from (_alike if constraint.match else _different)(context, claim, constraint, asks)


def _all_have(context: Context, ask: Ask, attribute: str) -> bool:
    devices = context.matcher.devices_of(context.claim_matches.matched(ask))
    return bool(devices) and any(has(device, attribute) for device in devices)


def _wanted(context: Context, pool: PlannedPool, ask: Ask) -> _Wanted:
    kinds = {device.kind() for device in context.matcher.devices_of(context.claim_matches.matched(ask))}
    devices = tuple(device for device in pool.all_devices if device.kind() in kinds)
    return _Wanted(len(devices) if ask.every else ask.count, devices)


def _shared(wanted: list[_Wanted]) -> bool:
    """Whether one device may be taken several times."""
    return any(device.allow_multiple_allocations for entry in wanted for device in entry.devices)


def _alike(context: Context, claim: Claim, constraint: Constraint, asks: list[Ask]) -> Iterator[Finding]:
    attribute = constraint.match or ""
    most = total = 0
    for pool in context.plan.pools:
        wanted = [_wanted(context, pool, ask) for ask in asks]
        total = max(total, sum(entry.count for entry in wanted))
        if _shared(wanted):
            return
        holders = [device for entry in wanted for device in entry.devices if has(device, attribute)]
        if can_be_alike(attribute, [(entry.count, entry.devices) for entry in wanted], pool.devices):
            return
        for value in {value_of(device, attribute) for device in holders}:
            group = {(d.driver, d.name): d for d in holders if value_of(d, attribute) in (value, None)}
            most = max(most, most_at_once(group.values(), pool.devices))
    if total < 2:
        return
    about = "every device has a value of its own" if most < 2 else f"no node has more than {most} that go together"
    yield finding(
        "CON016",
        "error",
        f"{constraint.holder}.matchAttribute",
        attribute,
        f"no node has {total} devices for request {', '.join(ask.reference for ask in asks)} that have the same "
        f"{attribute}: {about}",
        "remove the constraint, name an attribute that such devices share, or ask for fewer",
        SOURCE,
    )


def _different(context: Context, claim: Claim, constraint: Constraint, asks: list[Ask]) -> Iterator[Finding]:
    attribute = constraint.distinct or ""
    # Within one request the allocator compares a device with the one before it only.
    needed = max(len(asks), 2 if any(ask.least > 1 for ask in asks) else 1)
    most = 0
    for pool in context.plan.pools:
        wanted = [_wanted(context, pool, ask) for ask in asks]
        values = {value_of(d, attribute) for entry in wanted for d in entry.devices if has(d, attribute)}
        if None in values or len(values) >= needed:
            return
        most = max(most, len(values))
    yield finding(
        "CON017",
        "error",
        f"{constraint.holder}.distinctAttribute",
        attribute,
        f"the devices of one node that request {', '.join(ask.reference for ask in asks)} can get have no more than "
        f"{most} value{'s' if most > 1 else ''} of {attribute}, and each device of the claim needs another",
        f"remove the constraint, or name an attribute in which they differ, e.g. {GPU_DRIVER}/uuid",
        SOURCE,
    )


RULES = (kept_by_some_node,)
