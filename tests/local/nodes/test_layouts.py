"""MIG layouts on the simulated nodes: what a name comes to, and whether it fits."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.nodes.hardware import Machine, tables
from local.nodes.partitions import LayoutError, Partition, at_boot, generated, partition, place, target


def machine(vm_size: str) -> Machine:
    found = tables().machine(vm_size)
    assert found is not None
    return found


A100 = machine("standard_nc24ads_a100_v4")  # any case, as Azure takes it
H100 = machine("Standard_ND96isr_H100_v5")

SEVEN = (True, tuple(("1g.10gb", slot) for slot in range(7)))
BALANCED = (True, (("2g.20gb", 0), ("1g.10gb", 2), ("1g.10gb", 3), ("3g.40gb", 4)))


@pytest.mark.parametrize(
    ("layout", "expected"),
    [
        ("all-disabled", (False, ())),
        ("all-enabled", (True, ())),
        ("all-1g.10gb", SEVEN),
        ("all-1g.10gb.me", (True, (("1g.10gb+me", 0),))),
        ("all-1g.20gb", (True, tuple(("1g.20gb", slot) for slot in (0, 2, 4, 6)))),
        ("all-3g.40gb", (True, (("3g.40gb", 0), ("3g.40gb", 4)))),
        ("all-7g.80gb", (True, (("7g.80gb", 0),))),
        ("all-balanced", BALANCED),
    ],
)
def test_generated_layouts(layout: str, expected: tuple[bool, tuple[tuple[str, int], ...]]) -> None:
    assert target(A100, layout, None) == (Partition(*expected),)
    assert target(H100, layout, None) == (Partition(*expected),) * 8


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ({"3g.40gb": 1, "4g.40gb": 1}, (("4g.40gb", 0), ("3g.40gb", 4))),  # as printed from a real H100
        ({"3g.40gb": 2, "1g.10gb": 1}, None),  # the two take all memory slots
        ({"4g.40gb": 2}, None),  # one start only
        ({"2g.20gb": 4}, None),
        ({"2g.20gb": 3, "1g.10gb": 1}, (("2g.20gb", 0), ("2g.20gb", 2), ("2g.20gb", 4), ("1g.10gb", 6))),
        ({"1g.10gb": 8}, None),
        ({}, ()),
    ],
)
def test_placements(counts: Mapping[str, int], expected: tuple[tuple[str, int], ...] | None) -> None:
    assert place(H100.gpu, counts) == expected


@given(st.data())
def test_what_is_placed_never_overlaps_and_stays_within_the_gpu(data: st.DataObject) -> None:
    known = tables()
    gpu = known.gpu(data.draw(st.sampled_from([name for name, row in known.gpus.items() if row.get("mig")])))
    counts = data.draw(st.dictionaries(st.sampled_from(sorted(gpu.profiles)), st.integers(1, 4), max_size=3))
    placed = place(gpu, counts)
    if placed is not None:
        slots = [slot for name, start in placed for slot in range(start, start + gpu.profiles[name].memory)]
        assert len(slots) == len(set(slots))
        assert not slots or max(slots) < gpu.memory_slices
        assert {name: [item for item, _ in placed].count(name) for name in counts} == counts


def test_every_generated_layout_of_every_gpu_fits() -> None:
    known = tables()
    for name, row in known.gpus.items():
        gpu = known.gpu(name)
        assert gpu.mig_capable == bool(row["mig"])
        for enabled, counts in generated(gpu).values():
            assert partition(gpu, enabled, counts).mig == enabled


CUSTOM = """
version: v1
mig-configs:
  half:
    - devices: [0]
      mig-enabled: false
    - devices: [1, 2, 3, 4, 5, 6, 7]
      mig-enabled: true
      mig-devices: {"3g.40gb": 2}
  some:
    - devices: [0]
      mig-enabled: false
  filtered:
    - device-filter: ["0x20B710DE"]
      devices: all
      mig-enabled: true
      mig-devices: {"1g.6gb": 4}
    - device-filter: "0x233010DE"
      devices: all
      mig-enabled: true
      mig-devices: {"7g.80gb": 1}
"""


def test_a_custom_file_replaces_the_generated_one() -> None:
    halves = Partition(True, (("3g.40gb", 0), ("3g.40gb", 4)))
    assert target(H100, "half", CUSTOM) == (Partition(), *[halves] * 7)
    assert target(H100, "filtered", CUSTOM) == (Partition(True, (("7g.80gb", 0),)),) * 8
    for layout, text in (("all-disabled", "no layout"), ("some", "not all GPUs match")):
        with pytest.raises(LayoutError, match=text):
            target(H100, layout, CUSTOM)
    with pytest.raises(LayoutError, match="no layout"):
        target(H100, "half", "]")


def test_at_boot_only_aks_partitions() -> None:
    assert at_boot(A100, "MIG1g", True) == (Partition(*SEVEN),)
    assert at_boot(A100, "MIG1g", False) == (Partition(),)
    assert at_boot(A100, "", True) == (Partition(),)
    vgpu = Machine("x", A100.gpu, 1, mig_capable=False, aks_driver="1")
    assert at_boot(vgpu, "MIG1g", True) == (Partition(),)
