"""Devices that exclude each other: they consume counters of one set, and the set holds only so much.

Dynamic MIG publishes a device for every place that a partition could have, and the whole GPU beside them. All of one
GPU share its memory slices, engines and memory. How many can exist at once is what matching counts: never fewer than
there can be, so that what it calls impossible is impossible.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from aks_dra.kube import quantity
from aks_dra.kube.devices import Device

SLICE = "memory-slice-"
Counters = Mapping[str, str]


def most_at_once(devices: Iterable[Device], published: Iterable[Device] = ()) -> int:
    """How many of the devices can be allocated together on a node that publishes all of `published`."""
    free = 0
    shared: dict[str, list[Counters]] = {}
    for device in devices:
        if not device.consumes:
            free += 1
        for name, counters in device.consumes.items():
            shared.setdefault(name, []).append(counters)
    if not shared:
        return free
    totals = _totals(published)
    return free + sum(min(_places(held), _engines(held, totals.get(name, {}))) for name, held in shared.items())


def _totals(published: Iterable[Device]) -> dict[str, dict[str, Fraction]]:
    """What each set holds: as much as its largest device takes, which is the whole GPU."""
    totals: dict[str, dict[str, Fraction]] = {}
    for device in published:
        for name, counters in device.consumes.items():
            held = totals.setdefault(name, {})
            for counter, amount in counters.items():
                held[counter] = max(held.get(counter, Fraction(0)), quantity.parse(amount))
    return totals


def _places(consumers: Sequence[Counters]) -> int:
    """As many as have memory slices of their own. The one that ends first is taken first: best for intervals."""
    places = sorted(
        (frozenset(int(key.removeprefix(SLICE)) for key in held if key.startswith(SLICE)) for held in consumers),
        key=lambda slots: (max(slots, default=-1), len(slots)),
    )
    taken: set[int] = set()
    packed = 0
    for slots in places:
        if taken.isdisjoint(slots):
            taken |= slots
            packed += 1
    return packed


def _engines(consumers: Sequence[Counters], totals: Mapping[str, Fraction]) -> int:
    """As many as the other counters have room for, where each of the devices needs some."""
    most = len(consumers)
    for counter, total in totals.items():
        least = min(quantity.parse(held.get(counter, "0")) for held in consumers)
        if least > 0 and not counter.startswith(SLICE):
            most = min(most, total // least)
    return most
