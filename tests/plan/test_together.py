"""Findings as a whole: their order, acknowledged ones, secrets."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.stacks import check, errors, planned


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


T4, A100 = "{vmSize: Standard_NC4as_T4_v3%s}", "{vmSize: Standard_NC24ads_A100_v4%s}"


@pytest.mark.parametrize(
    "pool",
    [
        T4 % ", labels: {node.kubernetes.io/tier: gpu, team: vision}",
        A100 % ", labels: {nvidia.com/mig.config: all-1g.10gb}",
        A100 % ", sharing: {mode: mig, layout: all-1g.10gb}",
        A100 % ", sharing: {mode: mig, layout: [{profiles: {3g.40gb: 1, 2g.20gb: 1, 1g.10gb: 2}}]}",
        T4 % ", allocation: devicePlugin, nodes: {min: 0, max: 2}",
        "{vmSize: standard_nc4as_t4_v3}",
    ],
)
def test_accepted(tmp_path: Path, pool: str) -> None:
    assert errors(tmp_path, f"aks-dra:pools: {{t4inference: {pool}}}") == []
