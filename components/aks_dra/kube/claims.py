"""What a claim asks for: one model for every way to write one, and the one reader of claims as Kubernetes writes them.

Stack files write claims in several ways, workload files and plans in Kubernetes' own. Checks, matching, manifests,
tables and simulations all read this model. Of a stack file each part knows where it stands and under which keys, so
that a finding names the line that somebody wrote.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal

from aks_dra.kube import quantity
from aks_dra.trees import mapping, sequence

ClaimKind = Literal["ResourceClaim", "ResourceClaimTemplate"]
KINDS: tuple[ClaimKind, ...] = ("ResourceClaim", "ResourceClaimTemplate")
ALL = "All"

# What a claim as Kubernetes writes it calls these.
_RAW_KEYS = {
    "deviceClass": "deviceClassName",
    "all": "allocationMode",
    "capacity": "capacity.requests",
    "cel": "selectors",
}


@dataclass(frozen=True)
class Ask:
    """Devices of one class: all that a request wants, or one of its ranked alternatives."""

    reference: str  # what config, constraints and results call it: "gpu", or "gpu/h100" for an alternative
    device_class: str
    count: int = 1
    every: bool = False  # all devices of the class on the node
    cel: tuple[str, ...] = ()
    tolerations: tuple[Mapping[str, Any], ...] = ()
    capacity: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    holder: str = ""  # path in the stack file
    count_given: bool = False
    raw: bool = False

    def __str__(self) -> str:
        return f"{'all' if self.every else f'{self.count}x'} {self.device_class}"

    @property
    def least(self) -> int:
        """How many devices it takes at least."""
        return 1 if self.every else self.count

    @property
    def name(self) -> str:
        return self.reference.rpartition("/")[2]

    @property
    def amounts(self) -> tuple[tuple[str, str], ...]:
        """The capacities that it asks for, as far as they are quantities."""
        return tuple(sorted((name, amount) for name, amount in self.capacity.items() if quantity.is_quantity(amount)))

    def at(self, key: str) -> str:
        """The path of one of its keys, named as in the settings."""
        return f"{self.holder}.{_RAW_KEYS.get(key, key) if self.raw else key}"

    def cel_at(self, index: int) -> str:
        return f"{self.at('cel')}.{index}" + (".cel.expression" if self.raw else "")


@dataclass(frozen=True)
class Request:
    """One request of a claim: one ask, or several that are tried in turn."""

    name: str
    asks: tuple[Ask, ...]
    ranked: bool = False
    admin_access: bool = False
    holder: str = ""
    raw: bool = False

    @property
    def takes(self) -> bool:
        """Whether it takes what it gets; one with admin access looks on. Alternatives have no such access."""
        return self.ranked or not self.admin_access

    @property
    def admin_path(self) -> str:
        return f"{self.holder}.exactly.adminAccess" if self.raw else f"{self.holder}.adminAccess"


@dataclass(frozen=True)
class Constraint:
    requests: tuple[str, ...]  # empty for all
    match: str | None
    distinct: str | None
    holder: str = ""


@dataclass(frozen=True)
class Config:
    """Parameters for a driver. `holder` is the path of the config, `requests` empty for all of them."""

    requests: tuple[str, ...]
    driver: str
    parameters: Mapping[str, Any]
    holder: str = ""
    raw: bool = False

    @property
    def driver_path(self) -> str:
        return f"{self.holder}.opaque.driver" if self.raw else f"{self.holder}.driver"

    @property
    def parameters_path(self) -> str:
        return f"{self.holder}.opaque.parameters" if self.raw else f"{self.holder}.parameters"


@dataclass(frozen=True)
class Claim:
    """A claim in full. `manifest` is set where a stack file has it as Kubernetes writes it."""

    requests: tuple[Request, ...]
    constraints: tuple[Constraint, ...] = ()
    configs: tuple[Config, ...] = ()
    namespace: str = ""
    name: str = ""
    kind: ClaimKind = "ResourceClaim"
    path: str = ""
    manifest: Mapping[str, Any] | None = None

    @property
    def asks(self) -> Iterator[Ask]:
        for request in self.requests:
            yield from request.asks

    @property
    def references(self) -> tuple[str, ...]:
        """Every name that a constraint or config may use: requests, and alternatives as request/alternative."""
        names: list[str] = []
        for request in self.requests:
            names.append(request.name)
            if request.ranked:
                names += [ask.reference for ask in request.asks]
        return tuple(names)

    def selected(self, references: tuple[str, ...]) -> Iterator[Ask]:
        """The asks that a constraint or config is about; a request's name means all of its alternatives."""
        for request in self.requests:
            for ask in request.asks:
                if not references or request.name in references or ask.reference in references:
                    yield ask


def read_claim(spec: Any, where: str = "", namespace: str = "", name: str = "") -> Claim:
    """From `spec` of a ResourceClaim (v1), or `spec.spec` of a template, as far as it can be read.

    What is missing or of another type is left out: those who take such claims from people say so beforehand.
    """
    devices = mapping(mapping(spec).get("devices"))
    path = f"{where}.devices"
    return Claim(
        tuple(
            _request(entry, f"{path}.requests.{index}")
            for index, entry in enumerate(sequence(devices.get("requests")))
            if isinstance(entry, Mapping)
        ),
        tuple(
            _constraint(mapping(entry), f"{path}.constraints.{index}")
            for index, entry in enumerate(sequence(devices.get("constraints")))
        ),
        tuple(
            _config(mapping(entry), f"{path}.config.{index}")
            for index, entry in enumerate(sequence(devices.get("config")))
        ),
        namespace,
        name,
    )


def read_manifest(manifest: Mapping[str, Any], name: str = "") -> Claim:
    """From a ResourceClaim or ResourceClaimTemplate; `name` is what a pod calls it."""
    kind, spec, metadata = manifest["kind"], mapping(manifest.get("spec")), mapping(manifest.get("metadata"))
    inner = spec.get("spec") if kind == "ResourceClaimTemplate" else spec
    claim = read_claim(inner, "", str(metadata.get("namespace") or ""), name or str(metadata.get("name") or ""))
    return claim if kind == "ResourceClaim" else replace(claim, kind=kind)


@dataclass(frozen=True)
class PodClaim:
    """A claim or template that a pod names, and what the pod calls it."""

    name: str
    kind: ClaimKind
    claim: str


def pod_claims(pod: Mapping[str, Any]) -> Iterator[PodClaim]:
    """Those that a pod's spec names."""
    for entry in sequence(pod.get("resourceClaims")):
        for kind, key in zip(KINDS, ("resourceClaimName", "resourceClaimTemplateName"), strict=True):
            if claim := mapping(entry).get(key):
                yield PodClaim(str(mapping(entry).get("name", "")), kind, str(claim))


def selector_texts(holder: Mapping[str, Any]) -> tuple[str, ...]:
    """The CEL of an ask, or of a class's spec; "" for a selector without any."""
    return tuple(
        str(mapping(mapping(entry).get("cel")).get("expression", "")) for entry in sequence(holder.get("selectors"))
    )


def _request(entry: Mapping[str, Any], where: str) -> Request:
    name = str(entry.get("name", ""))
    if entry.get("exactly") is not None:
        exactly = mapping(entry["exactly"])
        asks = (_ask(name, exactly, f"{where}.exactly"),)
        return Request(name, asks, admin_access=exactly.get("adminAccess") is True, holder=where, raw=True)
    ranked = tuple(
        _ask(f"{name}/{mapping(item).get('name', '')}", mapping(item), f"{where}.firstAvailable.{index}")
        for index, item in enumerate(sequence(entry.get("firstAvailable")))
    )
    return Request(name, ranked, ranked=True, holder=where, raw=True)


def _ask(reference: str, entry: Mapping[str, Any], where: str) -> Ask:
    count = entry.get("count", 1)
    return Ask(
        reference,
        str(entry.get("deviceClassName", "")),
        count if isinstance(count, int) and not isinstance(count, bool) else 1,
        entry.get("allocationMode") == ALL,
        selector_texts(entry),
        tuple(item for item in sequence(entry.get("tolerations")) if isinstance(item, Mapping)),
        {str(key): str(value) for key, value in mapping(mapping(entry.get("capacity")).get("requests")).items()},
        where,
        "count" in entry,
        raw=True,
    )


def _constraint(entry: Mapping[str, Any], where: str) -> Constraint:
    named = (entry.get(key) for key in ("matchAttribute", "distinctAttribute"))
    match, distinct = (None if text is None else str(text) for text in named)
    return Constraint(_texts(entry.get("requests")), match, distinct, where)


def _config(entry: Mapping[str, Any], where: str) -> Config:
    opaque = mapping(entry.get("opaque"))
    driver = str(opaque.get("driver", ""))
    return Config(_texts(entry.get("requests")), driver, mapping(opaque.get("parameters")), where, raw=True)


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(str(item) for item in sequence(value))
