"""What pods ask for, read from ordinary manifests: devices by claims, extended resources, node labels, taints borne.

Only what decides where a pod can go is kept, in one form for whole claims, ranked alternatives and resource names.
Manifests are taken as the API server takes them; what it would refuse is found by those who read the files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from aks_dra.kube import quantity
from aks_dra.kube.devices import Device

Manifest = Mapping[str, Any]
IMPLICIT = "deviceclass.resource.kubernetes.io/"
"""With a class's name behind it, this is a resource name that the scheduler maps to the class."""

ALL = "All"


@dataclass(frozen=True)
class Ask:
    """One request for devices, or one alternative of a ranked one (its name is then `request/alternative`)."""

    name: str
    device_class: str
    selectors: tuple[str, ...] = ()
    count: int = 1
    every: bool = False  # all devices that match
    admin: bool = False  # looks on, and takes nothing
    capacity: tuple[tuple[str, str], ...] = ()  # name and amount

    def __str__(self) -> str:
        return f"{'all' if self.every else self.count}x {self.device_class}"


@dataclass(frozen=True)
class Request:
    """Alternatives in order of preference; a plain request has one."""

    name: str
    alternatives: tuple[Ask, ...]


@dataclass(frozen=True)
class ClaimAsks:
    """The requests of one claim, and the attributes that devices of some requests must share."""

    name: str
    requests: tuple[Request, ...]
    same: tuple[tuple[str, frozenset[str]], ...] = ()  # (attribute, requests; none means all)

    def shared_attributes(self, request: str) -> tuple[str, ...]:
        return tuple(attribute for attribute, names in self.same if not names or request in names)


@dataclass(frozen=True)
class Missing:
    """A claim or template that a pod names and that is not there."""

    kind: str
    namespace: str
    name: str


@dataclass(frozen=True)
class PodAsks:
    """One pod. `resources` are whole numbers of extended resources, summed over what runs at the same time."""

    namespace: str
    name: str
    claims: tuple[ClaimAsks, ...] = ()
    missing: tuple[Missing, ...] = ()
    resources: Mapping[str, int] = field(default_factory=dict)
    node_selector: Mapping[str, str] = field(default_factory=dict)
    tolerations: tuple[Manifest, ...] = ()

    @property
    def asks(self) -> Iterator[Ask]:
        for claim in self.claims:
            for request in claim.requests:
                yield from request.alternatives


def claim_asks(name: str, spec: Manifest) -> ClaimAsks:
    """From `spec` of a ResourceClaim, or `spec.spec` of a template."""
    devices = spec.get("devices") or {}
    requests = []
    for entry in devices.get("requests") or ():
        own = str(entry["name"])
        if ranked := entry.get("firstAvailable"):
            alternatives = tuple(_ask(f"{own}/{item['name']}", item) for item in ranked)
        else:
            alternatives = (_ask(own, entry.get("exactly") or {}),)
        requests.append(Request(own, alternatives))
    same = tuple(
        # a constraint may name one alternative; the whole request is then left to the scheduler
        (str(item["matchAttribute"]), frozenset(str(name) for name in item.get("requests") or ()))
        for item in devices.get("constraints") or ()
        if item.get("matchAttribute")
    )
    return ClaimAsks(name, tuple(requests), same)


def _ask(name: str, entry: Manifest) -> Ask:
    every = entry.get("allocationMode") == ALL
    return Ask(
        name,
        str(entry.get("deviceClassName", "")),
        tuple(str(item["cel"]["expression"]) for item in entry.get("selectors") or () if item.get("cel")),
        0 if every else int(entry.get("count") or 1),
        every,
        bool(entry.get("adminAccess")),
        _amounts(entry.get("capacity")),
    )


def _amounts(capacity: Any) -> tuple[tuple[str, str], ...]:
    asked = capacity.get("requests") if isinstance(capacity, Mapping) else None
    named = asked.items() if isinstance(asked, Mapping) else ()
    return tuple(sorted((str(name), str(amount)) for name, amount in named if quantity.is_quantity(str(amount))))


def has_room(device: Device, amounts: Iterable[tuple[str, str]]) -> bool:
    """Whether the device has each capacity, by that very name, and as much of it when nobody uses it."""
    return all(
        (held := device.capacity.get(name)) is not None
        and (not isinstance(held, str) or quantity.parse(held) >= quantity.parse(amount))
        for name, amount in amounts
    )


def pod_asks(
    namespace: str,
    name: str,
    spec: Manifest,
    claims: Mapping[tuple[str, str], Manifest],
    templates: Mapping[tuple[str, str], Manifest],
) -> PodAsks:
    """From a pod's `spec`, with the claims and templates that there are, by namespace and name."""
    found: list[ClaimAsks] = []
    missing: list[Missing] = []
    for entry in spec.get("resourceClaims") or ():
        by_template = entry.get("resourceClaimTemplateName")
        key = (namespace, str(by_template or entry.get("resourceClaimName")))
        known = (templates if by_template else claims).get(key)
        if known is None:
            missing.append(Missing("ResourceClaimTemplate" if by_template else "ResourceClaim", *key))
        else:
            inner = known["spec"]["spec"] if by_template else known["spec"]
            found.append(claim_asks(str(entry["name"]), inner))
    return PodAsks(
        namespace,
        name,
        tuple(found),
        tuple(missing),
        extended_resources(spec),
        {str(key): str(value) for key, value in (spec.get("nodeSelector") or {}).items()},
        tuple(spec.get("tolerations") or ()),
    )


def extended_resources(spec: Manifest) -> dict[str, int]:
    """Extended resources that the pod needs at one time: its containers together, or one init container's."""
    together: dict[str, int] = {}
    for container in spec.get("containers") or ():
        for name, number in _of_container(container).items():
            together[name] = together.get(name, 0) + number
    for container in spec.get("initContainers") or ():
        for name, number in _of_container(container).items():
            together[name] = max(together.get(name, 0), number)
    return together


def _of_container(container: Manifest) -> dict[str, int]:
    resources = container.get("resources") or {}
    named = {**(resources.get("requests") or {}), **(resources.get("limits") or {})}
    return {str(name): number for name, text in named.items() if is_extended(str(name)) and (number := _whole(text))}


def is_extended(name: str) -> bool:
    domain, slash, _ = name.partition("/")
    if name.startswith(IMPLICIT):
        return True
    return bool(slash) and domain != "kubernetes.io" and not domain.endswith(".kubernetes.io")


def _whole(text: Any) -> int:
    try:
        return int(quantity.parse(str(text)))
    except ValueError:
        return 0


def tolerates(tolerations: tuple[Manifest, ...], taint: str) -> bool:
    """Whether one of a pod's tolerations bears a taint written key=value:Effect or key:Effect."""
    key_value, _, effect = taint.rpartition(":")
    key, _, value = key_value.partition("=")
    if effect == "PreferNoSchedule":
        return True
    for item in tolerations:
        operator = item.get("operator") or "Equal"
        if item.get("effect") not in (None, "", effect):
            continue
        if not item.get("key"):
            if operator == "Exists":
                return True
        elif item["key"] == key and (operator == "Exists" or str(item.get("value") or "") == value):
            return True
    return False
