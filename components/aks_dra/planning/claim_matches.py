"""What the asks of claims match: the class's selectors first, then the ask's own, as Kubernetes evaluates them."""

from __future__ import annotations

from collections.abc import Iterable

from aks_dra.planning.claim_shape import Ask, ClaimShape
from aks_dra.planning.classes import DeviceType, PlannedClass
from aks_dra.planning.matching import Matched, Matcher
from aks_dra.planning.model import PlannedAsk, PlannedClaim, PlannedRequest


class ClaimMatches:
    """Asks against the devices of all pools. `classes` are all that exist: the package's, the user's, the chart's."""

    def __init__(self, matcher: Matcher, classes: Iterable[PlannedClass]) -> None:
        self.matcher = matcher
        self.classes = {entry.name: entry for entry in classes}

    def selectors(self, ask: Ask) -> tuple[str, ...] | None:
        """Those of the class and the ask; None when there is no such class."""
        entry = self.classes.get(ask.device_class)
        return None if entry is None else (*entry.selectors, *ask.cel)

    def matched(self, ask: Ask) -> Matched:
        selectors = self.selectors(ask)
        return Matched() if selectors is None else self.matcher.matched(selectors)

    def type_of(self, ask: Ask) -> DeviceType:
        """What kind of device an ask is for."""
        selectors = self.selectors(ask)
        return "gpu" if selectors is None else self.matcher.type_of(selectors)

    def pools(self, ask: Ask) -> tuple[str, ...]:
        """Pools whose nodes have enough devices for an ask."""
        wanted = 1 if ask.every else ask.count
        return tuple(name for name, count in self.matched(ask).pools.items() if count >= wanted)

    def planned(self, shape: ClaimShape) -> PlannedClaim:
        """One claim for people."""
        requests = tuple(
            PlannedRequest(
                request.name,
                tuple(
                    PlannedAsk(ask.reference, ask.device_class, None if ask.every else ask.count, self.pools(ask))
                    for ask in request.asks
                ),
                request.admin_access,
            )
            for request in shape.requests
        )
        return PlannedClaim(shape.namespace, shape.name, shape.kind, requests)
