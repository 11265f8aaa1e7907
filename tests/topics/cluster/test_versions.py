"""Versions of Kubernetes: those of the cluster, those of its pools, and when their support ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from aks_dra.facts import load_facts
from tests.stacks import check, cluster, errors, only, planned, warnings

OPEN = "aks-dra:pools: {t4: {vmSize: Standard_NC4as_T4_v3"


@pytest.mark.parametrize(
    ("of_cluster", "of_pool", "expected"),
    [
        ("1.34", "1.35", ["VER004"]), ("1.36", "1.37", ["VER004"]), ("1.35", "1.35", []), ("1.36.2", "1.36", []),
        ("1.36", "1.36", []), ("1.36", "1.35", []), ("1.37", "1.36", []),
    ],
)  # fmt: skip
def test_a_pool_is_never_newer_than_its_cluster(
    tmp_path: Path, of_cluster: str, of_pool: str, expected: list[str]
) -> None:
    body = cluster(of_cluster) + OPEN + f", kubernetesVersion: '{of_pool}'}}}}"
    assert [code for code, _ in errors(tmp_path, body)] == expected
    if expected:
        finding = only(tmp_path, body, "VER004")
        assert finding.path == "aks-dra:pools.t4.kubernetesVersion"
        assert of_cluster in finding.message
    else:
        assert planned(tmp_path, body).pools[0].inputs["orchestratorVersion"] == of_pool


LATEST = 'write "1.36"'
VERSIONS = [
    ('"1.33"', "VER002", LATEST), ('"1.32"', "VER002", LATEST), ('"1.34.0"', "VER002", LATEST),
    ('"1.34.1"', "VER002", LATEST), ("v1.34", "VER001", 'write "1.34"'), ('"latest"', "VER001", 'write a version such as "1.36"'),
    ('"1.34.x"', "VER001", 'write a version such as "1.36"'), ("1.34", "SET002", 'write "1.34"'), ("1.40", "SET002", 'write "1.40"'),
    ('"1.34"', "", ""), ('"1.34.2"', "", ""), ('"1.35"', "", ""), ('"1.36"', "", ""), ('"1.36.2"', "", ""),
]  # fmt: skip


@pytest.mark.parametrize(("version", "code", "remedy"), VERSIONS)
def test_versions_below_the_floor_and_versions_that_are_none_are_refused(
    tmp_path: Path, version: str, code: str, remedy: str
) -> None:
    """The floor is one of patches, and a minor alone is its latest patch."""
    found = check(tmp_path, f"aks-dra:cluster: {{kubernetesVersion: {version}, access: {{azureRbac: true}}}}")
    path = "aks-dra:cluster.kubernetesVersion"
    assert [(f.code, f.path, f.remedy) for f in found] == ([(code, path, remedy)] if code else [])
    if code == "VER002":
        assert f"below {load_facts().kubernetes.floor}" in found[0].message


def test_a_version_that_the_tables_do_not_know_is_answered_with_a_facts_file(tmp_path: Path) -> None:
    finding = only(tmp_path, cluster("1.99"), "VER003")
    assert finding.path == "aks-dra:cluster.kubernetesVersion"
    assert "facts" in finding.message + finding.remedy


LTS_ONLY = """
[version."1.34"]
lts_only = true
source = "az aks get-versions"
verified = true
"""


def test_a_version_that_is_under_long_term_support_only_is_said(tmp_path: Path) -> None:
    body = "aks-dra:cluster: {kubernetesVersion: '1.34', access: {azureRbac: true}%s}\naks-dra:facts: own.toml\n"
    (tmp_path / "stacks").mkdir()
    (tmp_path / "stacks" / "own.toml").write_text(LTS_ONLY)
    assert warnings(tmp_path, body % "") == [("VER007", "aks-dra:cluster.kubernetesVersion")]
    assert "cluster.lts: true and cluster.tier: Premium" in only(tmp_path, body % "", "VER007").remedy
    assert check(tmp_path, body % ", lts: true, tier: Premium") == []
    assert check(tmp_path, (body % "").replace("1.34", "1.36")) == []


T4 = "aks-dra:pools: {t4: {vmSize: Standard_NC4as_T4_v3%s}}\n"
POOL_VERSION = "aks-dra:pools.t4.kubernetesVersion"
EXISTING = (
    "aks-dra:cluster: {existing: /subscriptions/00000000-1111-2222-3333-444444444444/resourceGroups/rg/providers/"
    "Microsoft.ContainerService/managedClusters/prod%s}\n"
)


@pytest.mark.parametrize(
    ("of_cluster", "of_pool", "expected"),
    [
        ("1.36.1", "1.36.2", [("VER004", POOL_VERSION)]), ("1.36.2", "1.36.1", []), ("1.36.2", "1.36.2", []),
        ("1.36", "1.36.2", []), ("1.36.1", "1.36", []), ("1.37", "1.34", []),
        ("1.38", "1.34", [("VER008", POOL_VERSION)]), ("1.38", "1.35", []),
    ],
)  # fmt: skip
def test_a_pool_is_no_patch_newer_and_no_more_than_three_minors_older_than_its_cluster(
    tmp_path: Path, of_cluster: str, of_pool: str, expected: list[tuple[str, str]]
) -> None:
    body = cluster(of_cluster) + T4 % f", kubernetesVersion: '{of_pool}'"
    assert errors(tmp_path, body) == expected


def test_a_pool_is_not_refused_for_the_version_of_a_cluster_that_the_stack_does_not_say(tmp_path: Path) -> None:
    body = EXISTING % "" + T4 % ", kubernetesVersion: '1.37'"
    assert [(f.code, f.severity, f.path, f.remedy) for f in check(tmp_path, body)] == [
        ("VER004", "warning", POOL_VERSION, "write the cluster's version as cluster.kubernetesVersion")
    ]
    said = EXISTING % ", kubernetesVersion: '1.37'" + T4 % ", kubernetesVersion: '1.37'"
    assert check(tmp_path, said) == []
    said = EXISTING % ", kubernetesVersion: '1.36'" + T4 % ", kubernetesVersion: '1.37'"
    assert errors(tmp_path, said) == [("VER004", POOL_VERSION)]


@pytest.mark.parametrize(
    ("given", "right"),
    [("01.36", "1.36"), ("1.036", "1.36"), ("1.36.02", "1.36.2"), ("V1.36", "1.36"), (" 1.36", "1.36")],
)
def test_a_version_is_written_as_kubernetes_writes_it(tmp_path: Path, given: str, right: str) -> None:
    body = f'aks-dra:cluster: {{kubernetesVersion: "{given}", access: {{azureRbac: true}}}}'
    assert errors(tmp_path, body) == [("VER001", "aks-dra:cluster.kubernetesVersion")]
    assert only(tmp_path, body, "VER001").remedy == f'write "{right}"'


@pytest.mark.parametrize(
    ("lts", "today", "message"),
    [
        (False, "2026-11-30", ""), (False, "2026-12-01", "standard support ended on 2026-11-30"),
        (True, "2026-12-01", ""), (True, "2027-12-01", "long-term support ended on 2027-11-30"),
    ],
)  # fmt: skip
def test_the_end_of_the_support_that_a_cluster_has_is_said(tmp_path: Path, lts: bool, today: str, message: str) -> None:
    plan = "lts: true, tier: Premium, " if lts else ""
    body = f"aks-dra:cluster: {{kubernetesVersion: '1.34', {plan}access: {{azureRbac: true}}}}\n"
    said = [f.message for f in check(tmp_path, body, today=today)]
    assert said == ([message] if message else [])


def test_support_end_only_warns_and_changes_nothing(tmp_path: Path) -> None:
    body = "aks-dra:cluster: {kubernetesVersion: '1.34', access: {azureRbac: true}}"
    before, after = (planned(tmp_path, body, today=day) for day in ("2026-01-01", "2027-01-01"))
    assert [f.code for f in before.findings] == []
    assert [(f.code, f.severity) for f in after.findings] == [("VER006", "warning")]
    assert before.cluster == after.cluster
