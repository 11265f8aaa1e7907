"""One shape for every way to write a claim: a device class, ranked alternatives, several requests, or Kubernetes' own.

Checks, matching, manifests and the plan's tables all read this shape. Each part knows where it stands in the stack file
and under which keys, so that a finding names the line that somebody wrote.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from aks_dra.settings import Sharing

ClaimKind = Literal["ResourceClaim", "ResourceClaimTemplate"]


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
    holder: str  # path in the stack file
    device_class: str
    count: int = 1
    count_given: bool = False
    every: bool = False  # all devices of the class on the node
    cel: tuple[str, ...] = ()
    tolerations: tuple[Mapping[str, Any], ...] = ()
    capacity: Mapping[str, str] | None = None
    raw: bool = False

    @property
    def least(self) -> int:
        """How many devices it takes at least."""
        return 1 if self.every else self.count

    @property
    def name(self) -> str:
        return self.reference.rpartition("/")[2]

    def at(self, key: str) -> str:
        """The path of one of its keys, named as in the settings."""
        return f"{self.holder}.{_RAW_KEYS.get(key, key) if self.raw else key}"

    def cel_at(self, index: int) -> str:
        return f"{self.at('cel')}.{index}" + (".cel.expression" if self.raw else "")


@dataclass(frozen=True)
class Request:
    """One request of a claim: one ask, or several that are tried in turn."""

    name: str
    holder: str
    asks: tuple[Ask, ...]
    ranked: bool = False
    admin_access: bool = False
    raw: bool = False

    @property
    def admin_path(self) -> str:
        return f"{self.holder}.exactly.adminAccess" if self.raw else f"{self.holder}.adminAccess"


@dataclass(frozen=True)
class Constraint:
    holder: str
    requests: tuple[str, ...]
    match: str | None
    distinct: str | None


@dataclass(frozen=True)
class Config:
    """Parameters for a driver. `holder` is the path of the config, `requests` empty for all of them."""

    holder: str
    requests: tuple[str, ...]
    driver: str
    parameters: Mapping[str, Any]
    raw: bool = False

    @property
    def parameters_path(self) -> str:
        return f"{self.holder}.opaque.parameters" if self.raw else f"{self.holder}.parameters"


@dataclass(frozen=True)
class ClaimShape:
    """A claim in full. `manifest` is set where it was written as Kubernetes writes it."""

    namespace: str
    name: str
    path: str
    kind: ClaimKind
    requests: tuple[Request, ...]
    constraints: tuple[Constraint, ...] = ()
    configs: tuple[Config, ...] = ()
    sharing: Sharing | None = None
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
