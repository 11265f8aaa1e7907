"""Feature gates of the DRA driver: derived from what asks, refused where they exclude each other; dynamic MIG."""

from __future__ import annotations

from pathlib import Path

import pytest

from aks_dra.model.plan import Plan
from tests.stacks import check, planned

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


@pytest.mark.parametrize(
    ("size", "more", "code", "severity"),
    [
        ("Standard_NC40ads_H100_v5", ", sharing: {mode: mig, layout: all-1g.12gb}", "DYN004", "error"),
        (
            "Standard_NC40ads_H100_v5",
            ", allocation: devicePlugin, sharing: {mode: mig, layout: all-1g.12gb}",
            "DYN005",
            "error",
        ),
        ("Standard_NC40ads_H100_v5", "", "DYN006", "error"),
        ("Standard_NC4as_T4_v3", "", "DYN007", "warning"),
        ("Standard_NC24ads_A100_v4", ", sharing: {mode: dynamicMig}", "DYN002", "warning"),
    ],
)
def test_what_dynamic_mig_cannot_live_beside(tmp_path: Path, size: str, more: str, code: str, severity: str) -> None:
    (finding,) = check(tmp_path, DYNAMIC % (size, more))
    assert (finding.code, finding.severity) == (code, severity)
    assert ".other" in finding.path
    assert "cut" in finding.message or code == "DYN002"


def test_dynamic_mig_below_kubernetes_1_36(tmp_path: Path) -> None:
    body = "aks-dra:cluster: {kubernetesVersion: '1.35', access: {azureRbac: true}}\n"
    findings = check(tmp_path, body + pool(H100 + ", sharing: {mode: dynamicMig}"))
    assert [(f.code, f.path) for f in findings if f.severity == "error"] == [("CHT012", "aks-dra:pools.p.sharing.mode")]


def test_versions_whose_dynamic_mig_publishes_nothing_on_a_t4(tmp_path: Path) -> None:
    body = "aks-dra:gpu: {charts: {draDriver: {version: %s}}}\n" + DYNAMIC % ("Standard_NC4as_T4_v3", "")
    old = {(f.code, f.severity) for f in check(tmp_path, body % "25.12.0")}
    assert ("CHT011", "error") in old
    assert "CHT011" not in {f.code for f in check(tmp_path, body % "0.4.1")}


def test_devices_of_dynamic_mig(tmp_path: Path) -> None:
    """Every place of every profile and the whole GPU; the class of a profile counts what can exist at once."""
    plan = planned(tmp_path, pool(H100 + ", sharing: {mode: dynamicMig}"))
    (made,) = plan.pools
    assert len(made.devices) == 26
    whole = made.devices[0]
    assert (whole.name, whole.capacity["memory"], whole.capacity["multiprocessors"]) == ("gpu-0", "95360Mi", "132")
    assert not any(name.startswith("memorySlice") for device in made.devices for name in device.capacity)
    taken = {device.name: device.consumes["gpu-0-counter-set"] for device in made.devices}
    assert [key for key in taken["gpu-0-mig-3g47gb-9-4"] if key.startswith("memory-slice")] == [
        f"memory-slice-{slot}" for slot in (4, 5, 6, 7)
    ]
    assert taken["gpu-0"]["memory-slice-0"] == "1"
    counts = {match.device_class: dict(match.pools) for match in plan.matches}
    assert counts["h100-nvl"] == {"p": 1}
    assert counts["h100-nvl-1g.12gb"] == {"p": 7}
    assert counts["h100-nvl-3g.47gb"] == {"p": 2}
    assert made.labels["aks-dra.dev/mig-owner"] == "none"
    assert "nvidia.com/mig.config" not in made.labels
    assert plan.releases[0].values["migManager"] == {"enabled": False}


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
