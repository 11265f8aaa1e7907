"""MIG layouts: this GPU's own, a stack's own, as a setting and as a label."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aks_dra.facts import load_facts
from aks_dra.model.plan import Plan
from tests.stacks import OPERATOR, check, cluster, errors, only, planned, pool, values

FACTS = load_facts()
A100, A100X2 = "Standard_NC24ads_A100_v4", "Standard_NC48ads_A100_v4"
LAYOUT = "aks-dra:pools.p.sharing.layout"


def one(size: str, sharing: str, allocation: str = "dra") -> str:
    return f"aks-dra:pools: {{p: {{vmSize: {size}, allocation: {allocation}, sharing: {sharing}}}}}\n"


def configs(plan: Plan, name: str = "aks-dra-device-plugin") -> dict[str, Any]:
    (config_map,) = [o.manifest for o in plan.objects if o.manifest["metadata"]["name"] == name]
    assert config_map["metadata"]["namespace"] == "gpu-operator"
    return {key: json.loads(text) for key, text in config_map["data"].items()}


MIG_SIZES = {
    family.key: name
    for name, size in sorted(FACTS.vm_sizes.items())
    if (family := FACTS.family(size)) and not size.retired and not size.grid
}
"""One size for each way of cutting a GPU."""


@pytest.mark.parametrize("size", MIG_SIZES.values(), ids=MIG_SIZES)
def test_a_layout_of_another_gpu_is_refused_with_this_ones_profiles(tmp_path: Path, size: str) -> None:
    family = FACTS.family(FACTS.vm_sizes[size])
    assert family is not None
    every = {layout for other in FACTS.families.values() for layout in other.layouts}
    for layout in sorted(every):
        body = one(size, f"{{mode: mig, layout: {layout}}}")
        if layout in family.layouts:
            assert not {code for code, _ in errors(tmp_path, body)} & {"MIG004", "MIG009"}
        else:
            assert ("MIG004", LAYOUT) in errors(tmp_path, body)
            message = only(tmp_path, body, "MIG004").message
            assert all(name in message for name in family.profiles if "+" not in name)


def test_the_layouts_of_the_40_gb_part_on_the_80_gb_part(tmp_path: Path) -> None:
    body = one(A100, "{mode: mig, layout: all-1g.5gb}")
    assert errors(tmp_path, body) == [("MIG004", LAYOUT)]
    assert "1g.10gb, 1g.20gb, 2g.20gb, 3g.40gb, 4g.40gb, 7g.80gb" in only(tmp_path, body, "MIG004").message
    assert errors(tmp_path, one(A100, "{mode: mig, layout: all-1g.10gb}")) == []


CUSTOM = [
    ("{3g.40gb: 2, 1g.10gb: 1}", ["MIG009"]), ("{3g.40gb: 1, 2g.20gb: 1, 1g.10gb: 2}", []),
    ("{1g.10gb: 8}", ["MIG009"]), ("{1g.10gb: 7}", []), ("{7g.80gb: 1, 1g.10gb: 1}", ["MIG009"]),
    ("{4g.40gb: 1, 3g.40gb: 1}", []), ("{4g.40gb: 2}", ["MIG009"]), ("{2g.20gb: 3, 1g.10gb: 1}", []),
    ("{1g.20gb: 4}", []), ("{1g.20gb: 5}", ["MIG009"]),
    ("{1g.5gb: 1}", ["MIG007"]), ("{1g.10gb: 0}", ["MIG008"]), ("{1g.10gb: -3}", ["MIG008"]),
]  # fmt: skip


@pytest.mark.parametrize(("profiles", "codes"), CUSTOM)
def test_a_layout_of_ones_own_fits_on_the_gpu_or_is_refused(tmp_path: Path, profiles: str, codes: list[str]) -> None:
    body = one(A100, f"{{mode: mig, layout: [{{profiles: {profiles}}}]}}")
    assert [code for code, _ in errors(tmp_path, body)] == codes
    if codes == ["MIG009"] and "3g.40gb: 2" in profiles:
        assert "7 of 7 compute and 9 of 8 memory slices" in only(tmp_path, body, "MIG009").message
    if not codes:
        plan = planned(tmp_path, body)
        label = pool(plan, "p").labels["nvidia.com/mig.config"]
        assert {"all-disabled", label} <= set(configs(plan, "aks-dra-mig-layouts")["config.yaml"]["mig-configs"])
        assert values(plan, OPERATOR)["migManager"]["config"] == {
            "name": "aks-dra-mig-layouts",
            "default": "all-disabled",
        }


SIZES = [(A100, 1), (A100X2, 2), ("Standard_NC96ads_A100_v4", 4), ("Standard_ND96isr_H100_v5", 8)]


@pytest.mark.parametrize(("size", "gpus"), SIZES)
def test_indices_name_the_gpus_that_the_size_has_and_each_once(tmp_path: Path, size: str, gpus: int) -> None:
    def codes(*groups: list[int]) -> list[str]:
        family = FACTS.family(FACTS.vm_sizes[size])
        assert family is not None
        profile = next(name for name in family.profiles if name.startswith("1g."))
        listed = ", ".join(f"{{devices: {group}, profiles: {{{profile}: 1}}}}" for group in groups)
        return [code for code, _ in errors(tmp_path, one(size, f"{{mode: mig, layout: [{listed}]}}"))]

    whole = list(range(gpus))
    assert codes(whole) == []
    assert codes([*whole, gpus]) == ["MIG005"]
    assert codes([*whole, -1]) == ["MIG005"]
    assert codes(whole, [0]) == ["MIG006"]
    assert codes(*[[index] for index in whole]) == []
    if gpus > 1:
        assert codes(whole[1:]) == ["MIG010"]


def test_the_layout_for_eight_gpus_on_a_node_with_two(tmp_path: Path) -> None:
    body = one(A100X2, "{mode: mig, layout: [{devices: [0, 1, 2, 3], profiles: {1g.10gb: 7}}]}")
    found = [f for f in check(tmp_path, body) if f.code == "MIG005"]
    assert [f.value for f in found] == ["2", "3"]
    assert {f.message for f in found} == {f"{A100X2} has GPUs 0-1"}


@pytest.mark.parametrize(
    ("layout", "strategy", "codes", "written"),
    [
        ("all-balanced", "single", ["MIG014"], "single"), ("all-balanced", "mixed", [], "mixed"),
        ("all-balanced", "", [], "mixed"), ("all-1g.10gb", "single", [], "single"),
        ("all-1g.10gb", "mixed", [], "mixed"), ("all-1g.10gb", "", [], "single"),
        ("[{profiles: {3g.40gb: 1, 1g.10gb: 1}}]", "single", ["MIG014"], "single"),
        ("[{profiles: {3g.40gb: 2}}]", "", [], "single"), ("[{profiles: {3g.40gb: 1, 1g.10gb: 1}}]", "", [], "mixed"),
    ],
)  # fmt: skip
def test_the_mig_strategy_is_each_pools_own(
    tmp_path: Path, layout: str, strategy: str, codes: list[str], written: str
) -> None:
    chosen = f", strategy: {strategy}" if strategy else ""
    body = one(A100, f"{{mode: mig, layout: {layout}{chosen}}}", "devicePlugin")
    assert [code for code, _ in errors(tmp_path, body)] == codes
    assert configs(planned(tmp_path, body))["p"]["flags"]["migStrategy"] == written


MIG = "aks-dra:pools.p.labels.nvidia.com/mig.config"
H100_MIG = "h: {vmSize: Standard_NC40ads_H100_v5, sharing: {mode: mig, layout: all-1g.12gb}}"


def labelled(value: str, size: str = A100, others: str = "", more: str = "") -> str:
    rest = f", {others}" if others else ""
    return f"aks-dra:pools: {{p: {{vmSize: {size}, labels: {{nvidia.com/mig.config: {value}}}{more}}}{rest}}}\n"


@pytest.mark.parametrize("allocation", ["dra", "devicePlugin"])
@pytest.mark.parametrize(
    ("size", "value", "right"),
    [
        (A100, "all-1g.5gb", "all-1g.10gb"), ("Standard_ND96amsr_A100_v4", "all-3g.20gb", "all-3g.40gb"),
        ("Standard_ND96asr_v4", "all-3g.40gb", "all-3g.20gb"), ("Standard_NC40ads_H100_v5", "all-1g.10gb", "all-1g.12gb"),
        ("Standard_ND96isr_H200_v5", "all-7g.80gb", "all-7g.141gb"),
    ],
)  # fmt: skip
def test_a_layout_of_another_gpu_is_refused_as_a_label_as_well_as_in_the_settings(
    tmp_path: Path, size: str, value: str, right: str, allocation: str
) -> None:
    body = labelled(value, size, more=f", allocation: {allocation}")
    assert errors(tmp_path, body) == [("MIG019", MIG)]
    assert only(tmp_path, body, "MIG019").remedy == f"did you mean {right}?"
    body = (
        f"aks-dra:pools: {{p: {{vmSize: {size}, allocation: {allocation}, sharing: {{mode: mig, layout: {value}}}}}}}"
    )
    assert errors(tmp_path, body) == [("MIG004", "aks-dra:pools.p.sharing.layout")]
    assert only(tmp_path, body, "MIG004").remedy == f"did you mean {right}?"
    assert errors(tmp_path, body.replace(value, right)) == []
    # The same profile in a layout of one's own: both codes mean the same one.
    group = body.replace(value, f"[{{profiles: {{{value.removeprefix('all-')}: 1}}}}]")
    assert only(tmp_path, group, "MIG007").remedy == f"did you mean {right.removeprefix('all-')}?"


@pytest.mark.parametrize(
    ("layout", "remedy"),
    [
        ("1g.10gb", "did you mean all-1g.10gb?"), ("ALL-1G.10GB", "did you mean all-1g.10gb?"),
        ("all-1g.10gb+me", "did you mean all-1g.10gb.me?"), ("all-balance", "did you mean all-balanced?"),
        ("all-disabled", "write mode: exclusive, which leaves the GPUs whole"),
    ],
)  # fmt: skip
def test_a_layout_that_is_misspelt_is_shown_as_it_is_written(tmp_path: Path, layout: str, remedy: str) -> None:
    body = f"aks-dra:pools: {{p: {{vmSize: {A100}, sharing: {{mode: mig, layout: {layout}}}}}}}"
    assert only(tmp_path, body, "MIG004").remedy == remedy


def test_a_label_that_is_no_layout_is_refused(tmp_path: Path) -> None:
    assert errors(tmp_path, labelled("a")) == [("MIG019", MIG)]


def test_a_layout_label_on_whole_gpus_is_read_by_nobody_or_makes_the_plan_wrong(tmp_path: Path) -> None:
    assert [(f.severity, f.code, f.path) for f in check(tmp_path, labelled("all-1g.10gb"))] == [
        ("warning", "MIG020", MIG)
    ]
    remedy = only(tmp_path, labelled("all-1g.10gb"), "MIG020").remedy
    assert remedy == "set sharing: {mode: mig, layout: all-1g.10gb} instead"
    body = labelled("all-1g.10gb", others=H100_MIG)
    assert errors(tmp_path, body) == [("MIG019", MIG)]
    assert only(tmp_path, body, "MIG019").remedy == remedy
    for harmless in (labelled("all-disabled"), labelled("all-1g.10gb", "Standard_NC4as_T4_v3")):
        assert check(tmp_path, harmless) == []


def test_a_layout_label_beside_dynamic_mig_is_refused(tmp_path: Path) -> None:
    body = cluster("1.36") + labelled("all-1g.12gb", "Standard_NC40ads_H100_v5", more=", sharing: {mode: dynamicMig}")
    assert errors(tmp_path, body) == [("MIG019", MIG)]
    assert only(tmp_path, body, "MIG019").remedy == "remove it"
