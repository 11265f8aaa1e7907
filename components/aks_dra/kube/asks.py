"""What pods ask for, read from ordinary manifests: devices by claims, extended resources, node labels, taints borne.

Only what decides where a pod can go is kept, in one form for whole claims, ranked alternatives and resource names.
Manifests are taken as the API server takes them; what it would refuse is found by those who read the files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from aks_dra.kube import quantity
from aks_dra.kube.claims import Ask, Claim, pod_claims, read_manifest
from aks_dra.kube.devices import Device

Manifest = Mapping[str, Any]
IMPLICIT = "deviceclass.resource.kubernetes.io/"
"""With a class's name behind it, this is a resource name that the scheduler maps to the class."""


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
    claims: tuple[Claim, ...] = ()  # by the names that the pod gives them
    missing: tuple[Missing, ...] = ()
    resources: Mapping[str, int] = field(default_factory=dict)
    node_selector: Mapping[str, str] = field(default_factory=dict)
    tolerations: tuple[Manifest, ...] = ()

    @property
    def asks(self) -> Iterator[Ask]:
        for claim in self.claims:
            yield from claim.asks


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
    found: list[Claim] = []
    missing: list[Missing] = []
    for named in pod_claims(spec):
        known = (claims if named.kind == "ResourceClaim" else templates).get((namespace, named.claim))
        if known is None:
            missing.append(Missing(named.kind, namespace, named.claim))
        else:
            found.append(read_manifest(known, named.name))
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
