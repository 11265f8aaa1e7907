"""MIG placements: known cases, and brute force."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aks_dra.facts import MigFamily, fits, load_facts, place

FACTS = load_facts()


@pytest.mark.parametrize(
    ("family", "counts", "expected"),
    [
        ("a100-80gb", {"3g.40gb": 2, "1g.10gb": 1}, False),
        ("a100-80gb", {"3g.40gb": 1, "2g.20gb": 1, "1g.10gb": 2}, True),
        ("a100-80gb", {"4g.40gb": 1, "3g.40gb": 1}, True),
        ("a100-80gb", {"4g.40gb": 1, "2g.20gb": 1, "1g.10gb": 1}, True),
        ("a100-80gb", {"1g.10gb": 7}, True),
        ("a100-80gb", {"1g.10gb": 6, "1g.10gb+me": 1}, True),
        ("a100-80gb", {"1g.10gb": 7, "1g.10gb+me": 1}, False),
        ("a100-80gb", {"2g.20gb": 3, "1g.10gb": 1}, True),
        ("a100-80gb", {"2g.20gb": 3, "1g.10gb": 2}, False),
        ("a100-80gb", {"1g.5gb": 1}, False),
        ("a100-80gb", {"1g.10gb": -1}, False),
        ("a100-80gb", {}, True),
        ("h100-80gb", {"1g.20gb": 4}, True),
        ("h100-80gb", {"1g.20gb": 3, "1g.10gb": 1}, True),
        ("h100-80gb", {"1g.20gb": 3, "1g.10gb": 2}, True),
        ("h100-80gb", {"7g.80gb": 1, "1g.10gb": 1}, False),
        ("a30", {"1g.6gb": 2, "2g.12gb": 1}, True),
        ("a30", {"1g.6gb": 3, "2g.12gb": 1}, False),
    ],
)
def test_fits(family: str, counts: Mapping[str, int], expected: bool) -> None:
    assert fits(FACTS.families[family], counts) is expected


def brute_force(family: MigFamily, counts: Mapping[str, int]) -> bool:
    """Every choice of starts, without any order or cut."""
    wanted = [family.profiles[name] for name, count in counts.items() for _ in range(count)]
    if any(count > family.profiles[name].max for name, count in counts.items()):
        return False
    if sum(profile.compute for profile in wanted) > family.compute_slices:
        return False
    for starts in itertools.product(*(profile.placements for profile in wanted)):
        taken = [slot for p, start in zip(wanted, starts, strict=True) for slot in range(start, start + p.memory)]
        if len(taken) == len(set(taken)) and all(slot < family.memory_slices for slot in taken):
            return True
    return False


@given(data=st.data())
def test_placement_agrees_with_brute_force(data: st.DataObject) -> None:
    family = FACTS.families[data.draw(st.sampled_from(["a30", "a100-40gb", "h100-nvl", "rtxpro6000"]))]
    names = data.draw(st.lists(st.sampled_from(sorted(family.profiles)), max_size=5))
    counts = {name: names.count(name) for name in names}
    placed = place(family, counts)
    assert (placed is not None) == brute_force(family, counts)
    if placed is not None:
        slots = [slot for name, start in placed for slot in range(start, start + family.profiles[name].memory)]
        assert len(slots) == len(set(slots))
        assert sorted(name for name, _ in placed) == sorted(names)
        assert all(start in family.profiles[name].placements for name, start in placed)
