"""What every check reads: the settings, the facts, and the plan worked out so far."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from aks_dra.context.previous import Previous
from aks_dra.context.snapshot import Snapshot
from aks_dra.facts import Facts
from aks_dra.findings.finding import Finding
from aks_dra.kube.claims import Claim
from aks_dra.kube.versions import minor
from aks_dra.matching.claim_matches import ClaimMatches
from aks_dra.matching.matcher import Matcher
from aks_dra.model.classes import PlannedClass
from aks_dra.model.plan import Plan
from aks_dra.settings import Pool, Settings, Sharing
from aks_dra.settings.pools_of import all_pools

POOLS = "aks-dra:pools"


@dataclass(frozen=True)
class Context:
    settings: Settings
    facts: Facts
    plan: Plan
    classes: list[PlannedClass]
    matcher: Matcher
    today: str
    snapshot: Snapshot | None = None
    claims: tuple[Claim, ...] = ()
    claim_matches: ClaimMatches = field(default_factory=lambda: ClaimMatches(Matcher((), (0, 0)), (), 0))
    previous: Previous | None = None

    @property
    def version(self) -> str:
        return self.plan.cluster.kubernetes_version

    @property
    def minor(self) -> tuple[int, int]:
        return minor(self.version)

    @property
    def cel_minor(self) -> tuple[int, int]:
        """The version whose CEL selectors are read with, also where the cluster's is not to be read."""
        return self.minor if self.minor > (0, 0) else minor(self.facts.kubernetes.default)

    def lacks(self, need: str) -> bool:
        """Whether the cluster's version is known and lower than what the need of this name (facts: need) asks for."""
        return (0, 0) < self.minor < self.facts.since(need)

    def pools(self) -> Iterator[tuple[str, str, Pool]]:
        """Name, path in the stack file, settings of every GPU pool, the test pool included."""
        for name, (path, pool) in all_pools(self.settings).items():
            yield name, path, pool

    def sharing_of(self, claim: Claim) -> Sharing | None:
        """What the settings of a claim say of sharing."""
        written = self.settings.claims.get(claim.namespace, {}).get(claim.name)
        return written.own_sharing if written else None

    def place(self, paths: Sequence[str]) -> str:
        """Where a finding about these paths of pools points to: the one that is meant, or all of `aks-dra:pools`."""
        below = [path for path in paths if path.startswith(f"{POOLS}.")]
        return POOLS if len(paths) > 1 and below else paths[0]


Check = Callable[[Context], Iterable[Finding]]
