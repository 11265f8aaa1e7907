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
        ("1.36", "1.35", []),
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


VERSIONS = [
    ('"1.33"', "VER002"), ('"1.32"', "VER002"), ('"1.34.0"', "VER002"), ('"1.34.1"', "VER002"), ('"1.34"', ""),
    ('"1.34.2"', ""), ('"1.36"', ""), ("v1.34", "VER001"), ('"latest"', "VER001"), ("1.34", "SET002"),
    ('"1.34.x"', "VER001"),
]  # fmt: skip


@pytest.mark.parametrize(("version", "code"), VERSIONS)
def test_versions_below_the_floor_and_versions_that_are_none_are_refused(
    tmp_path: Path, version: str, code: str
) -> None:
    body = f"aks-dra:cluster: {{kubernetesVersion: {version}, access: {{azureRbac: true}}}}"
    found = [f for f in check(tmp_path, body) if f.severity == "error"]
    assert [f.code for f in found] == ([code] if code else [])
    if version == "v1.34":
        assert found[0].remedy == 'write "1.34"'
    if code == "VER002":
        assert load_facts().kubernetes.floor in found[0].message


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


def versions(cluster: str, own: str) -> str:
    return (
        f'aks-dra:cluster: {{kubernetesVersion: "{cluster}", access: {{azureRbac: true}}}}\n'
        f'aks-dra:pools: {{h100: {{vmSize: Standard_NC40ads_H100_v5, kubernetesVersion: "{own}"}}}}\n'
    )


@pytest.mark.parametrize(
    ("cluster", "own", "expected"),
    [
        ("1.34", "1.35", ["VER004"]),
        ("1.36", "1.36", []),
        ("1.37", "1.36", []),
    ],
)
def test_no_pool_is_newer_than_its_cluster(tmp_path: Path, cluster: str, own: str, expected: list[str]) -> None:
    lines = check(tmp_path, versions(cluster, own))
    assert [f.code for f in lines if f.code.startswith("VER")] == expected
    assert all(f.path == "aks-dra:pools.h100.kubernetesVersion" for f in lines if f.code == "VER004")


@pytest.mark.parametrize(
    ("version", "code", "remedy"),
    [
        ("1.33", "VER002", 'write "1.36"'),
        ("1.34.0", "VER002", 'write "1.36"'),
        ("1.34.1", "VER002", 'write "1.36"'),
        ("v1.34", "VER001", 'write "1.34"'),
        ("1.34", "", ""),
        ("1.34.2", "", ""),
        ("1.36", "", ""),
    ],
)
def test_the_floor_is_one_of_patches_and_a_minor_is_its_latest(
    tmp_path: Path, version: str, code: str, remedy: str
) -> None:
    body = f'aks-dra:cluster: {{kubernetesVersion: "{version}", access: {{azureRbac: true}}}}\n'
    assert [(f.code, f.remedy) for f in check(tmp_path, body)] == ([(code, remedy)] if code else [])


ON_THE_CLUSTER = [
    ("'1.33'", "VER002", "below 1.34.2"),
    ("'1.34.1'", "VER002", "below 1.34.2"),
    ("v1.34", "VER001", 'write "1.34"'),
    ("'1.99'", "VER003", "facts"),
    ("1.40", "SET002", 'write "1.40"'),
]


@pytest.mark.parametrize(("version", "code", "text"), ON_THE_CLUSTER)
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


def test_pool_newer_than_cluster(tmp_path: Path) -> None:
    body = """
        aks-dra:cluster: {kubernetesVersion: "1.34", access: {azureRbac: true}}
        aks-dra:pools: {h100: {vmSize: Standard_NC40ads_H100_v5, kubernetesVersion: "1.35"}}
    """
    findings = check(tmp_path, body)
    errors = [(f.code, f.path) for f in findings if f.severity == "error"]
    assert errors == [("VER004", "aks-dra:pools.h100.kubernetesVersion")]
