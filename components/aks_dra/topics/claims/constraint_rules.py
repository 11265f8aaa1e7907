"""What devices of a claim have in common, the taints they may have, and how much of them is taken.

Below 1.36 the API server drops tolerations and capacity in silence and refuses distinctAttribute with a text that says
something else, so all three are errors there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from aks_dra.cel.vocabulary import Vocabulary
from aks_dra.context.context import Context
from aks_dra.findings.build import did_you_mean, finding
from aks_dra.findings.finding import Finding, Severity
from aks_dra.kube import quantity
from aks_dra.kube.claims import Ask, Claim, Constraint
from aks_dra.kube.devices import GPU_DRIVER, MAYBE, STANDARD_DOMAIN, Device, Unknown
from aks_dra.kube.labels import KEY, QUALIFIED, VALUE
from aks_dra.topics.devices.other_drivers import is_qualified

API = "Kubernetes: resource.k8s.io/v1, constraints; tried"
AZURE = "AKS: GPUs come through VMBus (ResourceSlice of an AKS node, 2026-08)"
CAPACITY = "Kubernetes: allocator of dynamic-resource-allocation, consumable capacity"
PARTITIONS_ONLY = {f"{GPU_DRIVER}/parentUUID", f"{GPU_DRIVER}/profile"}


def constraints(context: Context) -> Iterator[Finding]:
    most = context.facts.limit("constraints_per_claim")
    for claim in context.claims:
        if len(claim.constraints) > most:
            where = claim.constraints[0].holder.rpartition(".")[0]
            yield finding(
                "CON001", "error", where, len(claim.constraints), f"at most {most} constraints", "remove some", API
            )
        for constraint in claim.constraints:
            yield from _constraint(context, claim, constraint)


def _constraint(context: Context, claim: Claim, constraint: Constraint) -> Iterator[Finding]:
    if (constraint.match is None) == (constraint.distinct is None):
        yield finding(
            "CON002",
            "error",
            constraint.holder,
            "matchAttribute, distinctAttribute" if constraint.match else "",
            "a constraint has matchAttribute or distinctAttribute, one of the two",
            "write matchAttribute: gpu.nvidia.com/parentUUID, or the like",
            API,
        )
        return
    yield from unknown_requests("CON003", claim, f"{constraint.holder}.requests", constraint.requests)
    key = "matchAttribute" if constraint.match is not None else "distinctAttribute"
    path, attribute = f"{constraint.holder}.{key}", constraint.match or constraint.distinct or ""
    if key == "distinctAttribute" and context.lacks("distinct_attribute"):
        yield _dropped(context, "CON004", "distinct_attribute", path, attribute, "is refused with a misleading text")
    if not QUALIFIED.fullmatch(attribute):
        remedy = f"write {_with_domain(context, attribute)}"
        yield finding("CON005", "error", path, attribute, "an attribute is named with its domain", remedy, API)
    elif attribute == f"{STANDARD_DOMAIN}/pcieRoot":
        yield finding(
            "CON006",
            "warning",
            path,
            attribute,
            "Azure passes GPUs through without a PCIe root, so no device there is known to have this attribute and "
            "the claim would never be allocated",
            "leave the constraint out on AKS",
            AZURE,
        )
    else:
        yield from _published(context, claim, constraint, path, attribute)


def _with_domain(context: Context, name: str) -> str:
    """The attribute that was meant by a name without a domain."""
    known = Vocabulary(context.matcher.devices).attributes
    domains = [domain for domain, names in sorted(known.items()) if name in names]
    if domains:
        return f"{GPU_DRIVER if GPU_DRIVER in domains else domains[0]}/{name}"
    return f"{GPU_DRIVER}/{name}" if re.fullmatch(r"\w{1,32}", name, re.ASCII) else f"{GPU_DRIVER}/parentUUID"


def _instead(attribute: str, devices: tuple[Device, ...]) -> str:
    """What to write for an attribute that none of the devices has."""
    domain, _, name = attribute.partition("/")
    known = {f"{d}/{n}" for device in devices for d, held in device.qualified_attributes().items() for n in held}
    if any(name in device.qualified_capacity().get(domain, {}) for device in devices):
        return f"{name} is a capacity, and a constraint compares attributes: {did_you_mean('', known, most=20)}"
    if attribute in PARTITIONS_ONLY:
        return "only MIG devices have it: ask for such, or remove the constraint"
    elsewhere = sorted(d for d, names in Vocabulary(devices).attributes.items() if d != domain and name in names)
    return f"write {elsewhere[0]}/{name}" if elsewhere else did_you_mean(attribute, known, most=20)


def _published(context: Context, claim: Claim, constraint: Constraint, path: str, attribute: str) -> Iterator[Finding]:
    """A device that lacks the attribute is never taken."""
    domain, _, name = attribute.partition("/")
    for ask in claim.selected(constraint.requests):
        devices = context.matcher.devices_of(context.claim_matches.matched(ask))
        having = [device for device in devices if name in device.qualified_attributes().get(domain, {})]
        if devices and not having:
            yield finding(
                "CON007",
                "error",
                path,
                attribute,
                f"no device that request {ask.reference} can get has this attribute, so the claim is never allocated",
                _instead(attribute, devices),
                "aks-dra: matching",
            )
        elif having and all(_maybe(device, domain, name) for device in having):
            yield finding(
                "CON008",
                "warning",
                path,
                attribute,
                "whether a device has this attribute depends on the node and on the driver's version; without it the "
                "claim is never allocated",
                "look at the slices of a node of the pool first",
                "NVIDIA DRA driver: attributes of a slice",
            )


def _maybe(device: Device, domain: str, name: str) -> bool:
    return device.qualified_attributes().get(domain, {}).get(name) is MAYBE


def unknown_requests(code: str, claim: Claim, path: str, references: tuple[str, ...]) -> Iterator[Finding]:
    for index, reference in enumerate(references):
        if reference not in claim.references:
            yield finding(
                code,
                "error",
                f"{path}.{index}",
                reference,
                "the claim has no request of this name",
                did_you_mean(reference, claim.references),
                API,
            )


def _dropped(context: Context, code: str, need: str, path: str, value: object, effect: str) -> Finding:
    row = context.facts.kubernetes.needs[need]
    return finding(
        code,
        "error",
        path,
        value,
        f"below Kubernetes {row.minimum} this {effect}",
        f"set cluster.kubernetesVersion to {row.minimum} or newer, or remove it",
        row.source,
    )


def tolerations(context: Context) -> Iterator[Finding]:
    most = context.facts.limit("tolerations_per_request")
    for claim in context.claims:
        for ask in claim.asks:
            path = ask.at("tolerations")
            if ask.tolerations and context.lacks("claim_tolerations"):
                yield _dropped(context, "CON009", "claim_tolerations", path, "tolerations", "is dropped silently")
            if len(ask.tolerations) > most:
                rule = f"at most {most} tolerations"
                yield finding("CON010", "error", path, len(ask.tolerations), rule, "remove some", API)
            for index, held in enumerate(ask.tolerations):
                if wrong := _wrong_toleration(held):
                    yield finding("CON010", "error", f"{path}.{index}", dict(held), *wrong, API)


def _wrong_toleration(held: object) -> tuple[str, str] | None:
    entry = dict(held) if isinstance(held, dict) else {}
    operator = entry.get("operator", "Equal")
    if not (KEY.fullmatch(str(entry.get("key") or "a")) and VALUE.fullmatch(str(entry.get("value", "")))):
        return "key and value are those of a taint: letters, digits, '-', '_' and '.', at most 63", "correct them"
    if operator not in ("Equal", "Exists"):
        return "operator is Equal or Exists", "write one of them"
    if operator == "Exists" and entry.get("value"):
        return "operator Exists takes no value", "remove value, or write operator: Equal"
    if operator == "Equal" and not entry.get("key"):
        return "a toleration without a key has operator Exists", "add key, or write operator: Exists"
    if entry.get("effect") not in (None, "NoSchedule", "NoExecute"):
        return "the effect of a device's taint is NoSchedule or NoExecute", "write one of them, or leave it out"
    if "tolerationSeconds" in entry and entry.get("effect") != "NoExecute":
        return "tolerationSeconds belongs to effect NoExecute", "set effect: NoExecute, or remove tolerationSeconds"
    return None


def capacity(context: Context) -> Iterator[Finding]:
    for claim in context.claims:
        for request in claim.requests:
            for ask in request.asks:
                if ask.capacity and context.lacks("claim_capacity"):
                    path = ask.at("capacity")
                    yield _dropped(context, "CON011", "claim_capacity", path, dict(ask.capacity), "is dropped silently")
                yield from _amounts(context, ask, "warning" if request.ranked else "error")


def _amounts(context: Context, ask: Ask, severity: Severity) -> Iterator[Finding]:
    """The scheduler passes a device by that has no capacity of the name, or less of it, whoever else uses it."""
    devices = context.matcher.devices_of(context.claim_matches.matched(ask))
    for name, amount in (ask.capacity or {}).items():
        path = f"{ask.at('capacity')}.{name}"
        if not is_qualified(name):
            rule = "no device has such a name: letters, digits and _, at most 32, perhaps a domain and / before it"
            yield finding("CON014", "error", path, name, rule, "rename it", API)
            continue
        if not quantity.is_quantity(amount):
            yield finding(
                "CON012", "error", path, amount, "capacity is a Kubernetes quantity", "write e.g. 10Gi or 500m", API
            )
            continue
        known = {key for device in devices for key in device.capacity}
        if devices and name not in known:
            plain = name.rpartition("/")[2]
            yield finding(
                "CON013",
                severity,
                path,
                name,
                f"no device that request {ask.reference} can get has a capacity of this name, so none is taken",
                f"write {plain}" if plain in known else did_you_mean(name, known) if known else "remove it",
                CAPACITY,
            )
        elif devices:
            held = [device.capacity.get(name) for device in devices]
            amounts = [(quantity.parse(text), text) for text in held if isinstance(text, str)]
            largest, shown = max(amounts, default=(Fraction(0), ""))
            if amounts and not any(isinstance(text, Unknown) for text in held) and quantity.parse(amount) > largest:
                yield finding(
                    "CON015",
                    severity,
                    path,
                    amount,
                    f"no device that request {ask.reference} can get has more than {shown} of {name}, so none is taken",
                    f"write {shown} or less, or name a class of larger devices",
                    CAPACITY,
                )


RULES = (constraints, tolerations, capacity)
