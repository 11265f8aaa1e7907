"""Findings of changes to a pool speak the settings' words, at the settings' places."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.stacks import changes, summary

T4 = "aks-dra:pools: {t4: {vmSize: Standard_NC4as_T4_v3%s}}"
A100 = "aks-dra:pools: {a100: {vmSize: Standard_NC24ads_A100_v4%s}}"
AKS = "aks-dra:gpu: {driver: aks}\n"
MIG = ", sharing: {mode: mig, layout: %s}"

WORDS = [
    (T4 % "", AKS + T4 % "", "driver: operator → driver: aks", "put driver: operator back"),
    (T4 % ", spot: true", T4 % "", "spot: true → nothing", "put spot: true back"),
    (T4 % "", T4 % ", spot: true", "nothing → spot: true", "remove it again"),
    (
        AKS + A100 % (MIG % "all-1g.10gb"),
        AKS + A100 % (MIG % "all-2g.20gb"),
        "all-1g.10gb → all-2g.20gb",
        "put all-1g.10gb back",
    ),
    (T4 % ', zones: ["1", "2"]', T4 % ', zones: ["1"]', "[1, 2] → [1]", "put [1, 2] back"),
    (T4 % "", T4 % ", azureInputs: {enableUltraSSD: true}", "nothing → true", "remove it again"),
]


@pytest.mark.parametrize(("before", "after", "value", "remedy"), WORDS, ids=[row[2] for row in WORDS])
def test_the_values_are_those_that_a_user_writes(
    tmp_path: Path, before: str, after: str, value: str, remedy: str
) -> None:
    (found,) = [f for f in changes(tmp_path, before, after) if f.code in ("CHG001", "CHG005")]
    assert found.value == value
    assert found.remedy.startswith(remedy)


def test_the_order_of_zones_says_nothing(tmp_path: Path) -> None:
    assert changes(tmp_path, T4 % ', zones: ["1", "2"]', T4 % ', zones: ["2", "1"]') == []


def test_fips_is_named_by_its_setting(tmp_path: Path) -> None:
    fips = T4 % ", osSku: Ubuntu2204, fips: true"
    assert summary(changes(tmp_path, T4 % ", osSku: Ubuntu2204", fips)) == [
        ("CHG004", "warning", "aks-dra:pools.t4.fips")
    ]


def test_a_test_pool_that_is_switched_off_is_named_where_it_was_written(tmp_path: Path) -> None:
    off = T4 % "" + "\naks-dra:testPool: {enabled: false}"
    on = off.replace("false", "true")
    found = changes(tmp_path, on, off)
    assert {f.path for f in found} == {"aks-dra:testPool"}
    assert [f.code for f in found] == ["CHG008", "CHG019", "CHG021", "CHG021"]
    assert {f.line for f in found} == {5}
    assert changes(tmp_path, off, on) == []


VERSIONS = [
    ("1.37", "1.36", "1.37", [("CHG015", "warning")]),
    ("1.37", "1.36.3", "1.36.1", [("CHG011", "error")]),
    ("1.37", "1.37", "1.36", [("CHG011", "error")]),
    ("1.37", "1.36.1", "1.36", [("CHG015", "warning")]),
    ("1.37", "1.36", "1.36", []),
]


@pytest.mark.parametrize(("cluster", "before", "after", "codes"), VERSIONS)
def test_a_pools_own_version(
    tmp_path: Path, cluster: str, before: str, after: str, codes: list[tuple[str, str]]
) -> None:
    head = f'aks-dra:cluster: {{access: {{azureRbac: true}}, kubernetesVersion: "{cluster}"}}\n'
    one, other = (head + T4 % f', kubernetesVersion: "{version}"' for version in (before, after))
    assert summary(changes(tmp_path, one, other)) == [(*code, "aks-dra:pools.t4.kubernetesVersion") for code in codes]


BOUNDS = [
    ("{min: 1, max: 3}", "{min: 2, max: 5}", [("CHG026", "min")]),
    ("{count: 1}", "{min: 2, max: 5}", [("CHG026", "min")]),
    ("{min: 1, max: 8, initial: 6}", "{min: 1, max: 3}", [("CHG026", "max")]),
    ("{min: 1, max: 3}", "{min: 1, max: 8}", []),
    ("{min: 1, max: 3}", "{count: 5}", []),
    ("{count: 2}", "{min: 1, max: 3}", []),
]


@pytest.mark.parametrize(("before", "after", "expected"), BOUNDS)
def test_bounds_that_leave_out_the_count_of_the_state(
    tmp_path: Path, before: str, after: str, expected: list[tuple[str, str]]
) -> None:
    found = changes(tmp_path, T4 % f", nodes: {before}", T4 % f", nodes: {after}")
    assert [(f.code, f.path) for f in found] == [(code, f"aks-dra:pools.t4.nodes.{key}") for code, key in expected]
    for entry in found:
        assert entry.severity == "warning"
        assert entry.remedy == f"first write nodes: {{count: {entry.value}}} and run `pulumi up`, then the bounds"
