"""Claims: how they are written, classes that exist, limits of the API."""

from __future__ import annotations

from collections.abc import Iterator

from aks_dra import names
from aks_dra.context.context import Context
from aks_dra.findings.build import did_you_mean, finding
from aks_dra.findings.finding import Finding
from aks_dra.kube.claims import Ask, Claim, Request
from aks_dra.kube.labels import LABEL
from aks_dra.settings import ClaimRequest, ClaimSettings
from aks_dra.topics.claims.raw import raw_claim
from aks_dra.topics.classes.provided import chart_class_remedy, class_names

LIMITS = "Kubernetes: resource.k8s.io/v1; tried"
_OF_ASKS = ("count", "all", "cel", "tolerations", "capacity")


def written(context: Context) -> Iterator[Finding]:
    """One way to write a claim at a time."""
    for namespace, claims in context.settings.claims.items():
        for name, claim in claims.items():
            path = f"aks-dra:claims.{namespace}.{name}"
            ways = [
                key
                for key, given in (
                    ("deviceClass", claim.device_class is not None),
                    ("firstAvailable", bool(claim.first_available)),
                    ("requests", bool(claim.requests)),
                    ("raw", bool(claim.raw)),
                )
                if given
            ]
            if len(ways) != 1:
                yield finding(
                    "CLM001",
                    "error",
                    path,
                    ", ".join(ways) or name,
                    "a claim names deviceClass, firstAvailable, requests or raw, one of them",
                    "write deviceClass: NAME, or firstAvailable: [{deviceClass: NAME}, …]",
                    LIMITS,
                )
            beside = _beside(claim, ("raw", "share_across") if claim.raw else ())
            if claim.raw and beside:
                rule, shown = "a raw claim says everything itself", ", ".join(beside)
                yield finding("CLM003", "error", f"{path}.{beside[0]}", shown, rule, "move it there", LIMITS)
            elif claim.requests and (moved := [key for key in beside if key in (*_OF_ASKS, "adminAccess")]):
                rule = "these keys belong to each request"
                remedy = f"move {', '.join(moved)} below requests"
                yield finding("CLM003", "error", f"{path}.{moved[0]}", ", ".join(moved), rule, remedy, LIMITS)
            entries: list[tuple[str, ClaimRequest | ClaimSettings]] = [(path, claim)]
            entries += [(f"{path}.requests.{key}", entry) for key, entry in claim.requests.items()]
            for where, entry in entries:
                yield from _ranked(where, entry)
                if isinstance(entry, ClaimRequest) and (entry.device_class is None) == (not entry.first_available):
                    rule = "a request names deviceClass or firstAvailable, one of the two"
                    yield finding("CLM001", "error", where, "", rule, "write deviceClass: NAME", LIMITS)


def _beside(claim: ClaimSettings, allowed: tuple[str, ...]) -> list[str]:
    fields = ClaimSettings.model_fields
    return [fields[key].alias or key for key in sorted(claim.model_fields_set) if key not in allowed]


def _ranked(path: str, entry: ClaimRequest | ClaimSettings) -> Iterator[Finding]:
    held = [
        key
        for key, given in (
            ("count", entry.count != 1),
            ("all", entry.all),
            ("cel", entry.cel),
            ("tolerations", entry.tolerations),
            ("capacity", entry.capacity),
            ("adminAccess", entry.admin_access),
        )
        if given
    ]
    if entry.first_available and held:
        moved = ", ".join(key for key in held if key != "adminAccess")
        remedies = [f"move {moved} into each alternative"] if moved else []
        remedies += ["remove adminAccess: it goes with one class"] if entry.admin_access else []
        yield finding(
            "CLM003",
            "error",
            f"{path}.{held[0]}",
            ", ".join(held),
            "count, all, cel, tolerations and capacity belong to each ranked alternative, adminAccess to none",
            "; ".join(remedies),
            LIMITS,
        )


def raw(context: Context) -> Iterator[Finding]:
    for namespace, claims in context.settings.claims.items():
        for name, claim in claims.items():
            for problem in raw_claim(namespace, name, claim)[1] if claim.raw else ():
                yield finding(
                    problem.code, "error", problem.path, problem.value, problem.message, problem.remedy, LIMITS
                )


def shape(context: Context) -> Iterator[Finding]:
    limit = context.facts.limit
    for claim in context.claims:
        if len(claim.requests) > limit("requests_per_claim"):
            rule = f"at most {limit('requests_per_claim')} requests"
            yield finding("CLM010", "error", claim.path, len(claim.requests), rule, "use several claims", LIMITS)
        yield from _names(claim)
        for request in claim.requests:
            if len(request.asks) > limit("first_available"):
                yield finding(
                    "CLM002",
                    "error",
                    f"{request.holder}.firstAvailable",
                    len(request.asks),
                    f"at most {limit('first_available')} alternatives",
                    "remove the last ones",
                    LIMITS,
                )
            for ask in request.asks:
                yield from _ask(context, request, ask)
        yield from _devices_per_claim(context, claim)


def _names(claim: Claim) -> Iterator[Finding]:
    """Each name a DNS label, and each once: pods and the driver's config go by them."""
    names = [(request.holder, request.name) for request in claim.requests]
    for request in claim.requests:
        own = [(ask.holder, ask.name) for ask in request.asks if request.ranked]
        for holder, name in (*own, *(names if request is claim.requests[0] else ())):
            if name and not LABEL.fullmatch(name):
                rule = "a name here has lowercase letters, digits and '-', at most 63"
                yield finding("CLM019", "error", holder, name, rule, "rename it", LIMITS)
        seen: set[str] = set()
        for holder, name in own:
            if name in seen:
                yield finding("CLM020", "error", holder, name, "another has this name", "rename one of them", LIMITS)
            seen.add(name)
    for holder, name in (entry for index, entry in enumerate(names) if entry[1] in [n for _, n in names[:index]]):
        yield finding("CLM020", "error", holder, name, "another has this name", "rename one of them", LIMITS)


def _ask(context: Context, request: Request, ask: Ask) -> Iterator[Finding]:
    if ask.device_class:
        yield from _class_exists(context, ask.at("deviceClass"), ask.device_class)
    elif ask.raw:
        yield finding("RAW005", "error", ask.holder, "", "deviceClassName is required", "add deviceClassName", LIMITS)
    if ask.every and ask.count_given:
        yield finding(
            "CLM011",
            "error",
            ask.at("count"),
            ask.count,
            "all means every device of the class on the node, so a count says nothing",
            "remove count, or remove " + ("allocationMode: All" if ask.raw else "all"),
            LIMITS,
        )
    if not ask.count >= 1:
        rule = "a claim asks for at least one device"
        yield finding("CLM005", "error", ask.at("count"), ask.count, rule, "write 1", LIMITS)
    fault = context.facts.aks_faults["all-in-first-available"]
    if ask.every and request.ranked and f"{context.minor[0]}.{context.minor[1]}" in fault.versions:
        yield finding("CLM012", "warning", ask.at("all"), "all", fault.effect, fault.remedy, fault.source)


def _devices_per_claim(context: Context, claim: Claim) -> Iterator[Finding]:
    most = context.facts.limit("devices_per_claim")
    least = [min((ask.least for ask in request.asks), default=0) for request in claim.requests]
    total = sum(least)
    if total > most:
        where = claim.requests[0].asks[0].at("count") if len(claim.requests) == 1 else claim.path
        yield finding(
            "CLM006",
            "error",
            where,
            total,
            f"a claim holds at most {most} devices in all",
            f"write {most} or less, or use several claims",
            LIMITS,
        )
        return
    for request, number in zip(claim.requests, least, strict=True):
        for ask in request.asks if request.ranked else ():
            if total - number + ask.least > most:
                yield finding(
                    "CLM006",
                    "warning",
                    ask.at("count"),
                    ask.count,
                    f"a claim holds at most {most} devices in all, so this alternative is never taken",
                    f"write {most - total + number} or less, or remove the alternative",
                    LIMITS,
                )


def _class_exists(context: Context, path: str, name: str) -> Iterator[Finding]:
    known = class_names(context)
    if name in known:
        return
    yield finding(
        "CLM007",
        "error",
        path,
        name,
        "no such device class: neither the package, the DRA chart nor the stack file makes it",
        chart_class_remedy(context, name) or _add_or_rename(name, known),
        "aks-dra plan lists the classes",
    )


def _add_or_rename(name: str, known: set[str]) -> str:
    return did_you_mean(name, known) if known else "add a pool whose devices it is for, or a class to deviceClasses"


def quota_classes(context: Context) -> Iterator[Finding]:
    # No claim should name the class of nvidia.com/gpu, but a quota may: the scheduler's claims count against it.
    planned = {o.manifest["metadata"]["name"] for o in context.plan.objects if o.kind == "DeviceClass"}
    for namespace, entry in context.settings.namespaces.items():
        for name in entry.quota:
            if name == names.LEGACY_CLASS and name in planned:
                continue
            yield from _class_exists(context, f"aks-dra:namespaces.{namespace}.quota.{name}", name)


RULES = (written, raw, shape, quota_classes)
