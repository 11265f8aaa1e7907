"""Findings as a whole: their order, acknowledged ones, secrets, versions and dates."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.stacks import check, planned

VERSIONS = [
    ("'1.33'", "VER002", "below 1.34.2"),
    ("'1.34.1'", "VER002", "below 1.34.2"),
    ("v1.34", "VER001", 'write "1.34"'),
    ("'1.99'", "VER003", "facts"),
    ("1.40", "SET002", 'write "1.40"'),
]


@pytest.mark.parametrize(("version", "code", "text"), VERSIONS)
def test_version(tmp_path: Path, version: str, code: str, text: str) -> None:
    body = f"aks-dra:cluster: {{kubernetesVersion: {version}, access: {{azureRbac: true}}}}"
    findings = [f for f in check(tmp_path, body) if f.path == "aks-dra:cluster.kubernetesVersion"]
    assert [f.code for f in findings] == [code]
    assert text in findings[0].message + findings[0].remedy


@pytest.mark.parametrize("version", ["'1.34'", "'1.34.2'", "'1.35'", "'1.36'", "'1.36.2'"])
def test_good_version(tmp_path: Path, version: str) -> None:
    assert not check(tmp_path, f"aks-dra:cluster: {{kubernetesVersion: {version}, access: {{azureRbac: true}}}}")


def test_support_end_only_warns_and_changes_nothing(tmp_path: Path) -> None:
    body = "aks-dra:cluster: {kubernetesVersion: '1.34', access: {azureRbac: true}}"
    before, after = (planned(tmp_path, body, today=day) for day in ("2026-01-01", "2027-01-01"))
    assert [f.code for f in before.findings] == []
    assert [(f.code, f.severity) for f in after.findings] == [("VER006", "warning")]
    assert before.cluster == after.cluster


def test_nobody_can_log_in(tmp_path: Path) -> None:
    findings = check(tmp_path, "aks-dra:cluster: {access: {localAccounts: false}}")
    assert [(f.code, f.severity) for f in findings] == [("ACC001", "error")]


def test_pool_newer_than_cluster(tmp_path: Path) -> None:
    body = """
        aks-dra:cluster: {kubernetesVersion: "1.34", access: {azureRbac: true}}
        aks-dra:pools: {h100: {vmSize: Standard_NC40ads_H100_v5, kubernetesVersion: "1.35"}}
    """
    findings = check(tmp_path, body)
    errors = [(f.code, f.path) for f in findings if f.severity == "error"]
    assert errors == [("VER004", "aks-dra:pools.h100.kubernetesVersion")]


def test_all_findings_at_once_errors_first(tmp_path: Path) -> None:
    body = """
        aks-dra:pools:
          GPU: {vmSize: Standard_NC4as_T4_v9, nodes: {min: 3, max: 1}}
          t4: {vmSize: Standard_NC4as_T4_v3, zones: ["1"], sharing: {mode: timeSlicing, replicas: 2}}
    """
    findings = check(tmp_path, body)
    assert [(f.severity, f.code) for f in findings] == [
        ("error", "NAM001"), ("error", "SIZ006"), ("error", "SIZ001"), ("error", "SHA001"),
        ("warning", "AUT002"), ("warning", "SIZ009"),
    ]  # fmt: skip
    assert findings == check(tmp_path, body)


def test_acknowledged_warning_keeps_its_reason(tmp_path: Path) -> None:
    body = """
        aks-dra:pools: {t4: {vmSize: Standard_NC4as_T4_v3, zones: ["1"]}}
        aks-dra:acknowledge: [{code: SIZ009, reason: zone 1 was tried}]
    """
    plan = planned(tmp_path, body)
    assert [(f.code, f.acknowledged) for f in plan.findings] == [("SIZ009", "zone 1 was tried")]
    assert plan.warnings == ()


def test_no_value_of_a_secret_is_shown(tmp_path: Path) -> None:
    body = "aks-dra:tags: {secure: v1:abc:SECRETTEXT}"
    findings = check(tmp_path, body)
    assert [f.code for f in findings] == ["SET003"]
    assert "SECRETTEXT" not in str(findings)
