"""Whether some node has the devices that a claim asks for: conditions without which no scheduler can allocate it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from aks_dra.context.context import Context
from aks_dra.context.linted import mentioned
from aks_dra.findings.build import finding
from aks_dra.findings.finding import Finding
from aks_dra.kube.claims import Ask, Claim, Request
from aks_dra.matching.nearest import nearest_miss
from aks_dra.topics.claims.selector_rules import has_errors

ALL = "Kubernetes: allocator of dynamic-resource-allocation, allocationMode All"


def enough_devices(context: Context) -> Iterator[Finding]:
    """Necessary conditions, and no more: which devices go together is the scheduler's to say."""
    for claim in context.claims:
        said = list(_of_requests(context, claim))
        yield from said
        if len(claim.requests) > 1 and not _refused(said) and not _somewhere(context, claim):
            yield finding(
                "CLM013",
                "error",
                claim.path,
                ", ".join(request.name for request in claim.requests),
                "no node has the devices of all requests together, and a claim is allocated on one node",
                "write a claim for each, or ask for fewer devices, or for such as one pool has",
                "Kubernetes: node-local devices",
            )


def met_somewhere(context: Context, claim: Claim) -> bool:
    """Whether nothing is said here of what a claim asks for."""
    return not _refused(_of_requests(context, claim)) and _somewhere(context, claim)


def _of_requests(context: Context, claim: Claim) -> Iterator[Finding]:
    for request in claim.requests:
        for ask in request.asks:
            yield from _enough(context, request, ask)
            yield from _all_of_them(context, request, ask)


def _refused(said: Iterable[Finding]) -> bool:
    return any(found.severity == "error" for found in said)


def _somewhere(context: Context, claim: Claim) -> bool:
    """Whether some pool has enough for each request, and for those together that could take the same devices."""
    pools = {pool.name for pool in context.plan.pools}
    together: list[tuple[int, bool, frozenset[int]]] = []
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
            every = not request.ranked and request.asks[0].every
            together.append((min(ask.least for ask in request.asks), every, kinds))
    sets = {kinds for *_, kinds in together} | {frozenset().union(*(kinds for *_, kinds in together))}
    for kinds in sets:
        there = context.matcher.number(kinds)
        pools = {
            name
            for name in pools
            if there.get(name, 0)
            >= sum(
                context.matcher.number(own).get(name, 0) if every else count
                for count, every, own in together
                if own <= kinds
            )
        }
    return bool(pools)


def _all_of_them(context: Context, request: Request, ask: Ask) -> Iterator[Finding]:
    """Every device or none: where a node can never give all, it gives nothing."""
    most = context.facts.limit("devices_per_claim")
    never = context.claim_matches.cannot_give_all(ask, most) if ask.every else {}
    if not never:
        return
    others = [name for name in context.claim_matches.matched(ask).pools if name not in never]
    if others and (request.ranked or all(there <= most for there, _ in never.values())):
        return  # those nodes are passed by
    reasons = "; ".join(
        f"a node of pool {name} has {there} of them"
        if there > most
        else f"of the {there} that a node of pool {name} publishes, only {at_once} can exist at once"
        for name, (there, at_once) in never.items()
    )
    effect = "so this alternative is never taken" if request.ranked else "so the claim is never allocated"
    if others:
        effect = "and a claim too large ends its pod's scheduling as soon as the scheduler looks at such a node"
    yield finding(
        "CLM021",
        "warning" if others or request.ranked else "error",
        ask.at("all"),
        "all",
        f"all means every device that matches, at most {most} in a claim: {reasons}, {effect}",
        f"keep the pods from {', '.join(never)} with the label of another pool, or write a count"
        if others
        else "write a count, or a class that fewer devices match",
        ALL,
    )


def _enough(context: Context, request: Request, ask: Ask) -> Iterator[Finding]:
    entry = context.claim_matches.classes.get(ask.device_class)
    if entry is None or context.claim_matches.matched(ask).undecided:
        return
    shared = any(
        device.allow_multiple_allocations for device in context.matcher.devices_of(context.claim_matches.matched(ask))
    )
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
    elif not known or ask.count > context.facts.limit("devices_per_claim") or has_errors(context, ask):
        return
    elif not found.pools and not mentioned(context, "pcieRoot", ask.cel):
        devices = context.matcher.devices_of(of_class)
        yield finding(
            "CLM014",
            "error" if severity == "error" else "warning",
            ask.at("cel"),
            " && ".join(ask.cel),
            f"no device of class {ask.device_class} meets these conditions"
            + nearest_miss(context.claim_matches.selectors(ask) or (), devices, context.cel_minor),
            "loosen them, or name another class",
            "aks-dra: matching",
        )
    elif found.pools and not ask.every and ask.count > (largest := max(context.claim_matches.room(ask).values())) > 0:
        # A claim is allocated on one node, so the largest node decides.
        shared = any(device.allow_multiple_allocations for device in context.matcher.devices_of(found))
        yield finding(
            "CLM009",
            "error" if severity == "error" else "warning",
            ask.at("count"),
            ask.count,
            f"no node has {'room for ' if shared else ''}more than {largest} devices of class {ask.device_class}"
            + (" at once" if found.places else "")
            + ", and a claim is allocated on one node",
            f"write {largest} or less, or take a larger VM size",
            "Kubernetes: node-local devices",
        )


RULES = (enough_devices,)
