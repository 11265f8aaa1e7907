"""Faults that people met with shared GPUs: the device plugin's config, MIG layouts, gates and strategies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aks_dra.facts import load_facts
from aks_dra.model.plan import Plan
from tests.stacks import DRA, OPERATOR, PLUGIN, check, errors, only, planned, pool, values

FACTS = load_facts()
T4 = "Standard_NC4as_T4_v3"
A100, A100X2 = "Standard_NC24ads_A100_v4", "Standard_NC48ads_A100_v4"
LAYOUT = "aks-dra:pools.p.sharing.layout"


def one(size: str, sharing: str, allocation: str = "dra") -> str:
    return f"aks-dra:pools: {{p: {{vmSize: {size}, allocation: {allocation}, sharing: {sharing}}}}}\n"


def configs(plan: Plan, name: str = "aks-dra-device-plugin") -> dict[str, Any]:
    (config_map,) = [o.manifest for o in plan.objects if o.manifest["metadata"]["name"] == name]
    assert config_map["metadata"]["namespace"] == "gpu-operator"
    return {key: json.loads(text) for key, text in config_map["data"].items()}


@pytest.mark.parametrize(
    ("sharing", "path", "remedy"),
    [
        ("{mode: timeSlicing, replicas: 2, flags: {renameByDefault: true}}", "flags", ""),
        ("{mode: timeSlicing, replicas: 2, renameByDefault: true}", "renameByDefault", "did you mean rename?"),
        ("{mode: timeSlicing, replicas: 2, resources: [{name: nvidia.com/gpu, rename: x}]}", "resources", ""),
        ("{mode: timeSlicing, timeSlicing: {replicas: 2}}", "timeSlicing", ""),
        ("{mode: timeSlicing, Replicas: 2}", "Replicas", "did you mean replicas?"),
        ("{mode: mps, replicas: 2, failRequestsGreaterThanOnes: true}", "failRequestsGreaterThanOnes",
         "did you mean failRequestsGreaterThanOne?"),
    ],
)  # fmt: skip
def test_a_key_of_the_plugins_config_in_the_wrong_place_is_refused(
    tmp_path: Path, sharing: str, path: str, remedy: str
) -> None:
    body = one(T4, sharing, "devicePlugin")
    found = [f for f in check(tmp_path, body) if f.code == "SET001"]
    assert [f.path for f in found] == [f"aks-dra:pools.p.sharing.{path}"]
    assert found[0].remedy == remedy or (not remedy and "rename" in found[0].remedy)


def test_the_right_key_is_written_where_the_plugin_reads_it(tmp_path: Path) -> None:
    plan = planned(tmp_path, one(T4, "{mode: timeSlicing, replicas: 4, rename: true}", "devicePlugin"))
    assert configs(plan)["p"]["sharing"] == {
        "timeSlicing": {"renameByDefault": True, "resources": [{"name": "nvidia.com/gpu", "replicas": 4}]}
    }
    assert pool(plan, "p").extended_resources == {"nvidia.com/gpu.shared": 4}


FLEET = f"""
aks-dra:pools:
  plain: {{vmSize: {T4}, allocation: devicePlugin}}
  slices: {{vmSize: {T4}, allocation: devicePlugin, sharing: {{mode: timeSlicing, replicas: 4}}}}
  mps: {{vmSize: {T4}, allocation: devicePlugin, sharing: {{mode: mps, replicas: 3}}}}
  mixed: {{vmSize: {A100}, allocation: devicePlugin, sharing: {{mode: mig, layout: all-balanced}}}}
  even: {{vmSize: {A100}, allocation: devicePlugin, sharing: {{mode: mig, layout: all-1g.10gb}}}}
  dra: {{vmSize: {T4}}}
"""


def test_every_pools_config_label_and_the_default_are_keys_of_the_map_that_both_readers_name(tmp_path: Path) -> None:
    plan = planned(tmp_path, FLEET)
    found = configs(plan)
    wanted = {p.labels["nvidia.com/device-plugin.config"] for p in plan.pools if p.allocation == "devicePlugin"}
    assert set(found) == {*wanted, "default"}
    named = {"name": "aks-dra-device-plugin", "default": "default"}
    assert values(plan, PLUGIN)["config"] == named
    assert values(plan, OPERATOR)["devicePlugin"]["config"] == named
    assert "nvidia.com/device-plugin.config" not in pool(plan, "dra").labels
    assert found["mps"]["sharing"] == {"mps": {"resources": [{"name": "nvidia.com/gpu", "replicas": 3}]}}
    assert {name: config["flags"]["migStrategy"] for name, config in found.items()} == {
        "default": "none", "plain": "none", "slices": "none", "mps": "none", "mixed": "mixed", "even": "single",
    }  # fmt: skip


@pytest.mark.parametrize("allocation", ["dra", "devicePlugin"])
def test_a_label_that_names_another_config_is_refused(tmp_path: Path, allocation: str) -> None:
    label = "nvidia.com/device-plugin.config"
    body = f"aks-dra:pools: {{p: {{vmSize: {T4}, allocation: {allocation}, labels: {{{label}: x}}}}}}"
    found = errors(tmp_path, body)
    assert found == (
        [("LAB003", "aks-dra:pools.p.labels.nvidia.com/device-plugin.config")] if allocation != "dra" else []
    )


@pytest.mark.parametrize("mode", ["timeSlicing", "mps"])
@pytest.mark.parametrize("replicas", [1, 0, -1])
def test_fewer_than_two_replicas_are_refused_with_the_way_to_share_nothing(
    tmp_path: Path, mode: str, replicas: int
) -> None:
    body = one(T4, f"{{mode: {mode}, replicas: {replicas}}}", "devicePlugin")
    assert errors(tmp_path, body) == [("SHA007", "aks-dra:pools.p.sharing.replicas")]
    assert only(tmp_path, body, "SHA007").remedy == "write 2 or more, or mode: exclusive for no sharing"


def test_a_pool_that_shares_nothing_has_no_sharing_block(tmp_path: Path) -> None:
    found = configs(planned(tmp_path, FLEET))
    assert [name for name, config in found.items() if "sharing" not in config] == ["default", "even", "mixed", "plain"]


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


# Gates and strategies of the DRA driver

PUBLISHES_NOTHING = FACTS.chart_faults["dynamic-mig-publishes-nothing"].versions


@pytest.mark.parametrize("version", FACTS.charts["dra-driver-nvidia-gpu"].versions)
def test_dynamic_mig_beside_gpus_without_mig_is_refused_where_it_publishes_nothing(
    tmp_path: Path, version: str
) -> None:
    body = one(T4, "{mode: exclusive}") + (
        "aks-dra:gpu: {featureGates: {DynamicMIG: true}, "
        f"charts: {{draDriver: {{version: {version}, source: ./x}}}}}}"
    )
    refused = [path for code, path in errors(tmp_path, body) if code == "CHT011" and path.endswith("DynamicMIG")]
    assert bool(refused) == (version in PUBLISHES_NOTHING)


@pytest.mark.parametrize("other", ["MPSSupport", "PassthroughSupport", "NVMLDeviceHealthCheck"])
def test_dynamic_mig_excludes_other_gates(tmp_path: Path, other: str) -> None:
    body = f"aks-dra:gpu: {{featureGates: {{DynamicMIG: true, {other}: true}}}}"
    assert "CHT007" in {code for code, _ in errors(tmp_path, body)}
    assert errors(tmp_path, "aks-dra:gpu: {featureGates: {DynamicMIG: true}}") == []


def test_a_static_layout_and_dynamic_mig_are_refused_together(tmp_path: Path) -> None:
    static = one(A100, "{mode: mig, layout: all-1g.10gb}")
    assert errors(tmp_path, static) == []
    assert errors(tmp_path, static + "aks-dra:gpu: {featureGates: {DynamicMIG: true}}") != []


@pytest.mark.parametrize(
    ("mode", "gate"), [("mps", "MPSSupport"), ("timeSlicing", "TimeSlicingSettings"), ("exclusive", None)]
)
def test_a_pools_sharing_switches_its_gate_on_and_nobody_switches_it_off(
    tmp_path: Path, mode: str, gate: str | None
) -> None:
    body = one(T4, f"{{mode: {mode}}}")
    assert values(planned(tmp_path, body), DRA).get("featureGates", {}) == ({gate: True} if gate else {})
    for name in ("MPSSupport", "TimeSlicingSettings"):
        off = errors(tmp_path, body + f"aks-dra:gpu: {{featureGates: {{{name}: false}}}}")
        assert off == ([("CHT009", f"aks-dra:gpu.featureGates.{name}")] if name == gate else [])


@pytest.mark.parametrize("interval", ["short", "SHORT", "10ms", "medium", "long", "default"])
def test_an_interval_is_one_of_four_words(tmp_path: Path, interval: str) -> None:
    found = check(tmp_path, one(T4, f"{{mode: timeSlicing, interval: {interval}}}"))
    assert [(f.code, f.path) for f in found] == [("SET002", "aks-dra:pools.p.sharing.interval")]
    assert all(word in found[0].remedy for word in ("Default", "Short", "Medium", "Long"))
    right = planned(tmp_path, one(T4, "{mode: timeSlicing, interval: Short}"))
    assert values(right, DRA)["featureGates"] == {"TimeSlicingSettings": True}
    assert right.findings == ()


def test_replicas_are_the_device_plugins_notion(tmp_path: Path) -> None:
    assert errors(tmp_path, one(T4, "{mode: timeSlicing, replicas: 4}")) == [
        ("SHA001", "aks-dra:pools.p.sharing.replicas")
    ]


@pytest.mark.parametrize("strategy", ["mps", "Mps", "timeSlicing", "timeslicing", "TIMESLICING"])
def test_a_strategy_in_raw_config_is_spelt_as_the_driver_reads_it(tmp_path: Path, strategy: str) -> None:
    parameters = f"{{apiVersion: resource.nvidia.com/v1beta1, kind: GpuConfig, sharing: {{strategy: {strategy}}}}}"
    body = one(T4, "{mode: exclusive}") + (
        f"aks-dra:deviceClasses: {{own: {{require: {{type: gpu}}, config: [{{parameters: {parameters}}}]}}}}"
    )
    found = [f for f in check(tmp_path, body) if f.severity == "error"]
    assert len(found) == 1
    assert found[0].path.startswith("aks-dra:deviceClasses.own.config.0.parameters.sharing.strategy")
    assert ("MPS" if "m" in strategy.lower()[:1] else "TimeSlicing") in found[0].remedy
