"""Whether some node has the devices that a claim asks for: conditions without which no scheduler can allocate it."""

from __future__ import annotations

from collections.abc import Iterator

from aks_dra.planning.checks.context import Context, finding
from aks_dra.planning.checks.selectors import has_errors
from aks_dra.planning.claim_shape import Ask, ClaimShape, Request
from aks_dra.planning.model import Finding


def enough_devices(context: Context) -> Iterator[Finding]:
    """Necessary conditions, and no more: which devices go together is the scheduler's to say."""
    for claim in context.claims:
        sound = True
        for request in claim.requests:
            for ask in request.asks:
                found = list(_enough(context, request, ask))
                sound = sound and not (found and len(request.asks) == 1)
                yield from found
        if sound and len(claim.requests) > 1 and not _somewhere(context, claim):
            yield finding(
                "CLM013",
                "error",
                claim.path,
                ", ".join(request.name for request in claim.requests),
                "no node has the devices of all requests together, and a claim is allocated on one node",
                "write a claim for each, or ask for fewer devices, or for such as one pool has",
                "Kubernetes: node-local devices",
            )


def _somewhere(context: Context, claim: ClaimShape) -> bool:
    """Whether some pool has enough for each request, and for those together that could take the same devices."""
    pools = {pool.name for pool in context.plan.pools}
    together: list[tuple[int, frozenset[int]]] = []
    for request in claim.requests:
        if any(ask.device_class not in context.claim_matches.classes for ask in request.asks) or not request.asks:
            return True
        found = [context.claim_matches.matched(ask) for ask in request.asks]
        if any(entry.undecided for entry in found):
            return True
        pools &= {name for ask in request.asks for name in context.claim_matches.pools(ask)}
        kinds = frozenset().union(*(entry.kinds for entry in found))
        reserves = not request.admin_access and not any(
            context.matcher.devices[kind].allow_multiple_allocations for kind in kinds
        )
        if reserves:
            together.append((min(ask.least for ask in request.asks), kinds))
    sets = {kinds for _, kinds in together} | {frozenset().union(*(kinds for _, kinds in together))}
    for kinds in sets:
        wanted = sum(count for count, own in together if own <= kinds)
        there = context.matcher.number(kinds)
        pools = {name for name in pools if there.get(name, 0) >= wanted}
    return bool(pools)


def _enough(context: Context, request: Request, ask: Ask) -> Iterator[Finding]:
    entry = context.claim_matches.classes.get(ask.device_class)
    if entry is None or context.claim_matches.matched(ask).undecided:
        return
    of_class = context.matcher.matched(entry.selectors)
    found = context.claim_matches.matched(ask)
    # Without devices of its driver nothing is known of a class; a class of the user's that matches nothing has CLS005.
    known = any(device.driver == entry.driver for device in context.matcher.devices)
    severity = "warning" if request.ranked else "error"
    if not of_class.pools:
        if entry.origin != "user":
            yield finding(
                "CLM008",
                "error" if severity == "error" else "warning",
                ask.at("deviceClass"),
                ask.device_class,
                "no DRA pool publishes a device of this class, so "
                + ("this alternative is never taken" if request.ranked else "the claim's pods would stay Pending"),
                "name a class that `aks-dra plan` shows with a pool",
                "aks-dra: matching",
            )
    elif not known or ask.count > context.facts.limits["devices_per_claim"].value or has_errors(context, ask):
        return
    elif not found.pools:
        yield finding(
            "CLM014",
            "error" if severity == "error" else "warning",
            ask.at("cel"),
            " && ".join(ask.cel),
            f"no device of class {ask.device_class} meets these conditions",
            "loosen them, or name another class",
            "aks-dra: matching",
        )
    elif not ask.every and ask.count > (largest := max(found.pools.values())):
        # A claim is allocated on one node, so the largest node decides.
        yield finding(
            "CLM009",
            "error" if severity == "error" else "warning",
            ask.at("count"),
            ask.count,
            f"no node has more than {largest} devices of class {ask.device_class}"
            + (" at once" if found.places else "")
            + ", and a claim is allocated on one node",
            f"write {largest} or less, or take a larger VM size",
            "Kubernetes: node-local devices",
        )


CHECKS = (enough_devices,)
