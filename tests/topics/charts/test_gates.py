"""Feature gates of the DRA driver: derived from what asks, refused where they exclude each other."""

from __future__ import annotations

from pathlib import Path

import pytest

from aks_dra.facts import load_facts
from aks_dra.model.plan import Plan
from tests.stacks import DRA, check, errors, planned, values

T4 = "{vmSize: Standard_NC4as_T4_v3"
H100 = "{vmSize: Standard_NC40ads_H100_v5"


def pool(text: str) -> str:
    return f"aks-dra:pools: {{p: {text}}}}}"


def gates(plan: Plan) -> dict[str, bool]:
    release = next(release for release in plan.releases if release.key == "dra-driver-nvidia-gpu")
    return dict(release.values.get("featureGates", {}))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (pool(T4), {}),
        (pool(T4 + ", sharing: {mode: timeSlicing, interval: Short}"), {"TimeSlicingSettings": True}),
        (pool(T4 + ", sharing: {mode: mps}"), {"MPSSupport": True}),
        (pool(H100 + ", sharing: {mode: dynamicMig}"), {"DynamicMIG": True}),
        (
            pool(T4) + "\naks-dra:claims: {ml: {c: {deviceClass: t4, shareAcross: pods, sharing: {mode: mps}}}}",
            {"MPSSupport": True},
        ),
        (
            pool(T4) + "\naks-dra:deviceClasses: {x: {require: {type: gpu}, sharing: {mode: timeSlicing}}}",
            {"TimeSlicingSettings": True},
        ),
        (
            pool(T4)
            + "\naks-dra:claims: {ml: {c: {deviceClass: t4, config: [{parameters: {apiVersion: "
            + "resource.nvidia.com/v1beta1, kind: GpuConfig, sharing: {strategy: MPS}}}]}}}",
            {"MPSSupport": True},
        ),
    ],
)
def test_gates_follow_from_what_asks(tmp_path: Path, body: str, expected: dict[str, bool]) -> None:
    assert gates(planned(tmp_path, body)) == expected


def test_gates_that_exclude_each_other_name_both_pools(tmp_path: Path) -> None:
    body = f"""
aks-dra:pools:
  cut: {H100}, sharing: {{mode: dynamicMig}}}}
  daemon: {T4}, sharing: {{mode: mps}}}}
"""
    (finding,) = [entry for entry in check(tmp_path, body) if entry.code == "CHT007"]
    assert finding.path == "aks-dra:pools.cut.sharing.mode"
    assert "pool cut (mode dynamicMig)" in finding.message
    assert "pool daemon (mode mps)" in finding.message


@pytest.mark.parametrize("gate", ["PassthroughSupport", "NVMLDeviceHealthCheck"])
def test_dynamic_mig_and_a_gate_that_it_excludes(tmp_path: Path, gate: str) -> None:
    body = f"aks-dra:gpu: {{featureGates: {{{gate}: true}}}}\n" + pool(H100 + ", sharing: {mode: dynamicMig}")
    (finding,) = [entry for entry in check(tmp_path, body) if entry.code == "CHT007"]
    assert gate in finding.message
    assert "pool p" in finding.message


def test_a_gate_that_is_switched_off_and_needed(tmp_path: Path) -> None:
    body = "aks-dra:gpu: {featureGates: {MPSSupport: false}}\n" + pool(T4 + ", sharing: {mode: mps}")
    (finding,) = [entry for entry in check(tmp_path, body) if entry.severity == "error"]
    assert (finding.code, finding.path) == ("CHT009", "aks-dra:gpu.featureGates.MPSSupport")
    assert "pool p (mode mps)" in finding.message


DYNAMIC = f"""
aks-dra:pools:
  cut: {H100}, sharing: {{mode: dynamicMig}}}}
  other: {{vmSize: %s%s}}
"""


def test_versions_whose_dynamic_mig_publishes_nothing_on_a_t4(tmp_path: Path) -> None:
    body = "aks-dra:gpu: {charts: {draDriver: {version: %s}}}\n" + DYNAMIC % ("Standard_NC4as_T4_v3", "")
    old = {(f.code, f.severity) for f in check(tmp_path, body % "25.12.0")}
    assert ("CHT011", "error") in old
    assert "CHT011" not in {f.code for f in check(tmp_path, body % "0.4.1")}


def test_consumable_shares_are_raw_and_warned_about(tmp_path: Path) -> None:
    charts = "charts: {draDriver: {values: {consumableShares: memory}}}"
    both = f"aks-dra:gpu: {{featureGates: {{ConsumableShares: true}}, {charts}}}\n" + pool(T4)
    findings = check(tmp_path, both)
    assert [(f.code, f.severity) for f in findings] == [("GAT004", "warning")]
    assert "nothing enforces" in findings[0].message
    assert gates(planned(tmp_path, both)) == {"ConsumableShares": True}
    alone = check(tmp_path, f"aks-dra:gpu: {{{charts}}}\n" + pool(T4))
    assert [(f.code, f.severity) for f in alone] == [("GAT003", "error"), ("GAT004", "warning")]
    with_mps = check(tmp_path, both.replace("_v3}", "_v3, sharing: {mode: mps}}"))
    assert {f.code for f in with_mps} == {"GAT002", "GAT004"}


def test_gates_in_raw_values_are_sent_to_their_place(tmp_path: Path) -> None:
    raw = "aks-dra:gpu: {charts: {draDriver: {values: {featureGates: {DynamicMIG: true}}}}}\n"
    findings = [f for f in check(tmp_path, raw + pool(T4)) if f.code == "GAT001"]
    assert [f.path for f in findings] == ["aks-dra:gpu.charts.draDriver.values.featureGates"]


FACTS = load_facts()
T4_SIZE = "Standard_NC4as_T4_v3"


def one(size: str, sharing: str, allocation: str = "dra") -> str:
    return f"aks-dra:pools: {{p: {{vmSize: {size}, allocation: {allocation}, sharing: {sharing}}}}}\n"


PUBLISHES_NOTHING = FACTS.chart_faults["dynamic-mig-publishes-nothing"].versions


@pytest.mark.parametrize("version", FACTS.charts["dra-driver-nvidia-gpu"].versions)
def test_dynamic_mig_beside_gpus_without_mig_is_refused_where_it_publishes_nothing(
    tmp_path: Path, version: str
) -> None:
    body = one(T4_SIZE, "{mode: exclusive}") + (
        "aks-dra:gpu: {featureGates: {DynamicMIG: true}, "
        f"charts: {{draDriver: {{version: {version}, source: ./x}}}}}}"
    )
    refused = [path for code, path in errors(tmp_path, body) if code == "CHT011" and path.endswith("DynamicMIG")]
    assert bool(refused) == (version in PUBLISHES_NOTHING)
    if refused:
        assert "0.4.0" in next(f.remedy for f in check(tmp_path, body) if f.path == refused[0])


@pytest.mark.parametrize(
    ("mode", "gate"), [("mps", "MPSSupport"), ("timeSlicing", "TimeSlicingSettings"), ("exclusive", None)]
)
def test_a_pools_sharing_switches_its_gate_on_and_nobody_switches_it_off(
    tmp_path: Path, mode: str, gate: str | None
) -> None:
    body = one(T4_SIZE, f"{{mode: {mode}}}")
    assert values(planned(tmp_path, body), DRA).get("featureGates", {}) == ({gate: True} if gate else {})
    for name in ("MPSSupport", "TimeSlicingSettings"):
        off = errors(tmp_path, body + f"aks-dra:gpu: {{featureGates: {{{name}: false}}}}")
        assert off == ([("CHT009", f"aks-dra:gpu.featureGates.{name}")] if name == gate else [])
