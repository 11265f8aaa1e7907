"""What the asks of claims match: the class's selectors first, then the ask's own, as Kubernetes evaluates them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from aks_dra.kube import quantity
from aks_dra.kube.claims import Ask, Claim
from aks_dra.kube.devices import Device
from aks_dra.matching.matcher import Matched, Matcher
from aks_dra.model.classes import DeviceType, PlannedClass
from aks_dra.model.plan import PlannedAsk, PlannedClaim


def _shares(device: Device, capacity: Mapping[str, str], most: int) -> int:
    """How often a device that may be shared can be taken, with so much of its capacity each time."""
    times = most
    for name, amount in capacity.items():
        held = device.capacity.get(name)
        if isinstance(held, str) and quantity.is_quantity(amount) and (wanted := quantity.parse(amount)) > 0:
            times = min(times, int(quantity.parse(held) / wanted))
    return times


class ClaimMatches:
    """Asks against the devices of all pools. `classes` are all that exist: the package's, the user's, the chart's.

    `most` devices are what one claim can hold; no ask for more passes the checks.
    """

    def __init__(self, matcher: Matcher, classes: Iterable[PlannedClass], most: int) -> None:
        self.matcher = matcher
        self.most = most
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

    def room(self, ask: Ask) -> Mapping[str, int]:
        """How many devices a node of each pool can give an ask, one that several claims may share more than once."""
        found = self.matched(ask)
        shared = {kind for kind in found.kinds if self.matcher.devices[kind].allow_multiple_allocations}
        if not shared:
            return found.pools
        total = dict(self.matcher.number(found.kinds - shared))
        for kind in shared:
            times = _shares(self.matcher.devices[kind], ask.capacity, self.most)
            for name, count in self.matcher.number(frozenset({kind})).items():
                total[name] = total.get(name, 0) + count * times
        return {name: total[name] for name in found.pools}

    def cannot_give_all(self, ask: Ask, most: int | None = None) -> Mapping[str, tuple[int, int]]:
        """Pools whose nodes can never give every device that matches: how many they publish, how many exist at once."""
        found, most = self.matched(ask), self.most if most is None else most
        numbers = {name: (found.places.get(name, at_once), at_once) for name, at_once in found.pools.items()}
        return {name: (there, at_once) for name, (there, at_once) in numbers.items() if there > min(at_once, most)}

    def pools(self, ask: Ask) -> tuple[str, ...]:
        """Pools whose nodes have enough devices for an ask."""
        wanted = 1 if ask.every else ask.count
        never = self.cannot_give_all(ask) if ask.every else {}
        return tuple(name for name, count in self.room(ask).items() if count >= wanted and name not in never)

    def unknown(self, ask: Ask) -> bool:
        """Whether a condition of the class or of the ask cannot be read."""
        entry = self.classes.get(ask.device_class)
        return bool(entry and entry.unread) or self.matcher.unreadable(self.selectors(ask) or ask.cel)

    def planned(self, claim: Claim) -> PlannedClaim:
        """A claim with the pools for each of its asks."""
        requests = (
            (request, tuple(PlannedAsk(ask, self.pools(ask), self.unknown(ask)) for ask in request.asks))
            for request in claim.requests
        )
        return PlannedClaim(claim, tuple(requests))
