"""Whether instances of MIG profiles fit on one GPU together, by placement.

Sums are not enough: 3g.40gb twice leaves no memory slot for a 1g.10gb although seven compute slices would do. An
instance begins only at the slots that its profile names, takes `memory` slots from there on, and no two overlap.
"""

from __future__ import annotations

from collections.abc import Mapping

from aks_dra.facts.rows import MigFamily, MigProfile

Placement = tuple[str, int]
"""A profile's name and the memory slot where its instance begins."""


def fits(family: MigFamily, counts: Mapping[str, int]) -> bool:
    """Whether so many instances of each profile fit on one GPU. An unknown profile or a negative count never does."""
    return place(family, counts) is not None


def place(family: MigFamily, counts: Mapping[str, int]) -> tuple[Placement, ...] | None:
    """A placement of all instances, largest first, by start slot where possible; None where there is none."""
    wanted: list[MigProfile] = []
    for name, count in counts.items():
        profile = family.profiles.get(name)
        if profile is None or not 0 <= count <= profile.max:
            return None
        wanted += [profile] * count
    if sum(profile.compute for profile in wanted) > family.compute_slices:
        return None
    # The largest have the fewest places: trying them first ends the search early.
    wanted.sort(key=lambda profile: (-profile.memory, -profile.compute, profile.name))
    starts = _search(family, wanted, 0, 0, -1)
    if starts is None:
        return None
    return tuple((profile.name, start) for profile, start in zip(wanted, starts, strict=True))


def _search(family: MigFamily, wanted: list[MigProfile], index: int, taken: int, previous: int) -> list[int] | None:
    """Start slots for wanted[index:], given the slots taken (a bit each) and the start of the instance before."""
    if index == len(wanted):
        return []
    profile = wanted[index]
    # Instances of one profile are alike: only rising starts need a try.
    after = previous if index and wanted[index - 1].name == profile.name else -1
    for start in sorted(profile.placements):
        slots = ((1 << profile.memory) - 1) << start
        if start <= after or slots & taken or start + profile.memory > family.memory_slices:
            continue
        rest = _search(family, wanted, index + 1, taken | slots, start)
        if rest is not None:
            return [start, *rest]
    return None
