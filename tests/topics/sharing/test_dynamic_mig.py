"""Dynamic MIG: what it excludes, where it publishes nothing, and the devices that there can be."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.stacks import check, errors, planned

H100 = "{vmSize: Standard_NC40ads_H100_v5"


def pool(text: str) -> str:
    return f"aks-dra:pools: {{p: {text}}}}}"


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


A100, A100X2 = "Standard_NC24ads_A100_v4", "Standard_NC48ads_A100_v4"


def one(size: str, sharing: str, allocation: str = "dra") -> str:
    return f"aks-dra:pools: {{p: {{vmSize: {size}, allocation: {allocation}, sharing: {sharing}}}}}\n"


@pytest.mark.parametrize("other", ["MPSSupport", "PassthroughSupport", "NVMLDeviceHealthCheck"])
def test_dynamic_mig_excludes_other_gates(tmp_path: Path, other: str) -> None:
    body = f"aks-dra:gpu: {{featureGates: {{DynamicMIG: true, {other}: true}}}}"
    assert "CHT007" in {code for code, _ in errors(tmp_path, body)}
    assert errors(tmp_path, "aks-dra:gpu: {featureGates: {DynamicMIG: true}}") == []


def test_a_static_layout_and_dynamic_mig_are_refused_together(tmp_path: Path) -> None:
    static = one(A100, "{mode: mig, layout: all-1g.10gb}")
    assert errors(tmp_path, static) == []
    assert errors(tmp_path, static + "aks-dra:gpu: {featureGates: {DynamicMIG: true}}") != []
