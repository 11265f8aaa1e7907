"""Tenants: lists and quotas that say what was meant."""

from __future__ import annotations

from collections.abc import Iterator

from aks_dra.context.context import Context
from aks_dra.facts import load_facts
from aks_dra.findings.build import did_you_mean, finding
from aks_dra.findings.finding import Finding
from aks_dra.kube.claims import Claim, selector_texts
from aks_dra.kube.devices import GPU_DRIVER
from aks_dra.model.classes import CHART_CLASSES
from aks_dra.topics.classes.provided import class_names
from aks_dra.topics.tenants.policies import exempt_namespaces, governed_classes, governs

POLICIES = "aks-dra: docs/tenants.md"


QUOTA = "Kubernetes: quota of resource claims; tried, 1.34 to 1.37"


TEST_POOL = "aks-dra: docs/test-pool.md"


def lists(context: Context) -> Iterator[Finding]:
    settings = context.settings
    planned = [str(o.manifest["metadata"]["name"]) for o in context.plan.objects if o.kind == "DeviceClass"]
    known = governed_classes(settings, planned)
    others = {name for name, entry in settings.device_classes.items() if entry.driver != GPU_DRIVER}
    for namespace, entry in settings.namespaces.items():
        path = f"aks-dra:namespaces.{namespace}.allow"
        if entry.allow is not None and namespace in exempt_namespaces(settings):
            yield finding(
                "TEN001",
                "error",
                path,
                namespace,
                "the policies leave this namespace alone: it is the system's, the operator's, the driver's or the test "
                "pool's",
                "remove allow",
                POLICIES,
            )
        for index, name in enumerate(entry.allow or ()):
            if name in others:
                yield finding(
                    "TEN002",
                    "error",
                    f"{path}.{index}",
                    name,
                    "this class is of another driver; only the GPU classes are handed out by namespace, and every "
                    "namespace may use this one",
                    "remove it from the list",
                    POLICIES,
                )
            elif name not in known:
                nearest = did_you_mean(name, known)
                yield finding(
                    "TEN003",
                    "error",
                    f"{path}.{index}",
                    name,
                    "no such device class: neither the package, the DRA chart nor the stack file makes it",
                    f"{nearest}{'' if nearest.endswith('?') else '.'} Where somebody else makes {name}, "
                    f"set aks-dra:deviceClasses.{name}: {{driver: …, create: false}}",
                    "aks-dra plan lists the classes",
                )


def claims_of_the_stack(context: Context) -> Iterator[Finding]:
    settings = context.settings
    if not governs(settings):
        return
    planned = [str(o.manifest["metadata"]["name"]) for o in context.plan.objects if o.kind == "DeviceClass"]
    governed = set(governed_classes(settings, planned))
    for claim in context.claims:
        namespace = claim.namespace
        if namespace in exempt_namespaces(settings):
            continue
        entry = settings.namespaces.get(namespace)
        allowed = set(entry.allow or ()) if entry else set()
        asked = {ask.device_class for request in claim.requests if request.takes for ask in request.asks} & governed
        for device_class in sorted(asked - allowed):
            listed = ", ".join(sorted((allowed & governed) | {device_class}))
            yield finding(
                "TEN004",
                "error",
                claim.path,
                device_class,
                f"namespace {namespace} may not use device class {device_class}, so the API server refuses this claim",
                f"set aks-dra:namespaces.{namespace}.allow: [{listed}]",
                POLICIES,
            )


def quotas(context: Context) -> Iterator[Finding]:
    settings = context.settings
    for namespace, entry in settings.namespaces.items():
        for name, count in entry.quota.items():
            if count < 0:
                path = f"aks-dra:namespaces.{namespace}.quota.{name}"
                yield finding("TEN005", "error", path, count, "a quota is 0 or more", "write 0", QUOTA)
    named: dict[tuple[str, str], int] = {}
    for claim in context.claims:
        namespace, path = claim.namespace, claim.path
        quota = settings.namespaces[namespace].quota if namespace in settings.namespaces else {}
        limited = {key: count for key, count in counted(claim).items() if key in quota}
        for device_class, count in limited.items():
            if claim.kind == "ResourceClaim":
                named[namespace, device_class] = named.get((namespace, device_class), 0) + count
            if count > quota[device_class]:
                yield finding(
                    "TEN006",
                    "error",
                    path,
                    count,
                    f"such a claim counts {count} against the quota of {device_class}, which is {quota[device_class]}, "
                    f"so it is always refused{_why(claim, device_class)}",
                    f"set aks-dra:namespaces.{namespace}.quota.{device_class}: {count}, or ask for less",
                    QUOTA,
                )
        ranked = sorted(
            ask.device_class
            for request in claim.requests
            if len(request.asks) > 1
            for ask in request.asks
            if ask.device_class in quota
        )
        if ranked:
            yield finding(
                "TEN007",
                "warning",
                path,
                ", ".join(dict.fromkeys(ranked)),
                "a claim with alternatives counts against the quota of every class that it names, also of those that "
                f"it does not get: {', '.join(f'{k} {limited[k]}' for k in dict.fromkeys(ranked))}",
                "leave room for it in each of these quotas, or make a claim for each class",
                QUOTA,
            )
    for (namespace, device_class), count in sorted(named.items()):
        limit = settings.namespaces[namespace].quota[device_class]
        if count > limit:
            yield finding(
                "TEN008",
                "error",
                f"aks-dra:namespaces.{namespace}.quota.{device_class}",
                limit,
                f"the claims of this stack that pods share (shareAcross: pods) count {count} together",
                f"write {count} or more",
                QUOTA,
            )


def ways_round_a_quota(context: Context) -> Iterator[Finding]:
    """Classes of a list that reach the devices of a limited class and have no limit themselves."""
    planned = {
        str(o.manifest["metadata"]["name"]): selector_texts(o.manifest["spec"])
        for o in context.plan.objects
        if o.kind == "DeviceClass"
    }
    made = class_names(context)
    selectors = {entry.name: entry.selectors for entry in CHART_CLASSES if entry.name in made} | planned
    for namespace, entry in context.settings.namespaces.items():
        # a quota on what is not allowed anyway, or of 0, limits nothing that other classes should be held to
        allowed = set(entry.allow or ())
        limited = [name for name, count in entry.quota.items() if count and name in allowed and name in selectors]
        path = f"aks-dra:namespaces.{namespace}.quota"
        round_it: dict[str, list[str]] = {}
        pools: dict[str, None] = {}
        for name in dict.fromkeys(entry.allow or ()):
            found = context.matcher.matched(selectors[name]) if name in selectors and name not in entry.quota else None
            for other in limited if found else ():
                if found and (common := found.kinds & context.matcher.matched(selectors[other]).kinds):
                    round_it.setdefault(name, []).append(other)
                    pools |= dict.fromkeys(context.matcher.number(frozenset(common)))
        if round_it:
            names_of = list(round_it)
            same = list(dict.fromkeys(other for others in round_it.values() for other in others))
            yield finding(
                "TEN009",
                "warning",
                path,
                ", ".join(names_of),
                f"the quota of {', '.join(same)} can be got round: {', '.join(names_of)} "
                f"{'match' if len(names_of) > 1 else 'matches'} devices of the same pools ({', '.join(pools)}), "
                f"{'are' if len(names_of) > 1 else 'is'} allowed and without a quota",
                f"set {', '.join(f'{path}.{name}' for name in names_of)} as well (0 for none), or take "
                f"{'them' if len(names_of) > 1 else 'it'} out of allow; a claim counts only against the class that it "
                "names, so quotas of several classes add up",
                QUOTA,
            )


def counted(claim: Claim) -> dict[str, int]:
    """What a claim counts per class: all requests together, of alternatives the largest, `All` as a claim's limit."""
    most = load_facts().limit("devices_per_claim")
    total: dict[str, int] = {}
    for request in claim.requests:
        largest: dict[str, int] = {}
        for ask in request.asks:
            largest[ask.device_class] = max(largest.get(ask.device_class, 0), most if ask.every else ask.count)
        for device_class, count in largest.items():
            total[device_class] = total.get(device_class, 0) + count
    return total


def _why(claim: Claim, device_class: str) -> str:
    asks = [(request, ask) for request in claim.requests for ask in request.asks if ask.device_class == device_class]
    if any(ask.every for _, ask in asks):
        return f": all devices count {load_facts().limit('devices_per_claim')}, the most that a claim can hold"
    if any(len(request.asks) > 1 for request, _ in asks):
        return ", also while an earlier alternative is free: each alternative counts"
    return ""


RULES = (lists, claims_of_the_stack, quotas, ways_round_a_quota)
