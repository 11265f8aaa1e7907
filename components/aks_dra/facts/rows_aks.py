"""The rows about AKS and Azure: fields, labels, names, limits, drivers, osSKUs, roles."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from aks_dra.facts.fact import Fact, table


@table("pool_field")
@dataclass(frozen=True, kw_only=True)
class PoolField(Fact):
    """A field of an AKS pool or cluster (its name in Azure Resource Manager) and what a change to it does.

    `upgrade`: in place and node by node, with rules of its own. `stays`: what is on once cannot be turned off.
    """

    change: Literal["replace", "reimage", "update", "upgrade", "unverified", "stays"]
    moves_by_itself: bool = False  # an autoscaler changes it: ignore it while it does


@table("cluster_field")
@dataclass(frozen=True, kw_only=True)
class ClusterField(PoolField):
    """The same for a cluster."""


@table("label_rule")
@dataclass(frozen=True, kw_only=True)
class LabelRule(Fact):
    """Which label keys a pool may have; `package` means that the package sets them and a user does not."""

    match: Literal["exact", "prefix", "domain"]
    pattern: str
    verdict: Literal["allow", "warn", "refuse", "package"]
    reason: str

    def matches(self, label: str) -> bool:
        """`domain` matches keys in the domain and in every one below it."""
        if self.match == "exact":
            return label == self.pattern
        if self.match == "prefix":
            return label.startswith(self.pattern)
        domain, slash, _ = label.partition("/")
        return bool(slash) and (domain == self.pattern or domain.endswith("." + self.pattern))


@table("name_rule")
@dataclass(frozen=True, kw_only=True)
class NameRule(Fact):
    """How a name must look, whole; `what` ends the sentence "its name has …"."""

    pattern: str
    what: str
    longest: int

    def allows(self, name: str) -> bool:
        return re.fullmatch(self.pattern, name) is not None


@table("limit")
@dataclass(frozen=True, kw_only=True)
class Limit(Fact):
    """A number that something may not pass."""

    value: int
    what: str


@table("reserved_range")
@dataclass(frozen=True, kw_only=True)
class ReservedRange(Fact):
    """An address range that a service keeps for itself."""

    cidr: str


@table("role")
@dataclass(frozen=True, kw_only=True)
class Role(Fact):
    """A built-in role of Azure: the id of its definition, and what a cluster needs it for."""

    name: str
    id: str
    what: str


@table("aks_driver")
@dataclass(frozen=True, kw_only=True)
class AksDriver(Fact):
    """The GPU driver that AKS installs; version "" is not known."""

    version: str
    image: str


@table("gpu_instance_profile")
@dataclass(frozen=True, kw_only=True)
class GpuInstanceProfile(Fact):
    """What AKS makes of gpuInstanceProfile: every GPU is filled with instances of one profile."""

    gi_profile_id: int


@table("os_sku")
@dataclass(frozen=True, kw_only=True)
class OsSku(Fact):
    """An osSKU: minor versions of Kubernetes it goes with, "" for no bound that is known."""

    min_kubernetes: str
    max_kubernetes: str
    linux: bool
    gpu_operator: Literal["yes", "no", "unverified"]
    fips: Literal["yes", "no", "unverified"] = "unverified"
    # By the minor version from which on it is another osSKU's image; {} where it is an image of its own.
    means: Mapping[str, str] = field(default_factory=dict)

    def image(self, version: tuple[int, int]) -> str:
        """The osSKU whose image nodes of this Kubernetes version run."""
        minors = {tuple(int(part) for part in low.split(".")): sku for low, sku in self.means.items()}
        fitting = [low for low in minors if low <= version]
        return minors[max(fitting)] if fitting else self.key


@table("aks_fault")
@dataclass(frozen=True, kw_only=True)
class AksFault(Fact):
    """What is broken in some Kubernetes versions of AKS."""

    versions: tuple[str, ...]
    effect: str
    remedy: str
