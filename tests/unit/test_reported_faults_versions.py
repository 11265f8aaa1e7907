"""Faults that people met with versions and zones: of Kubernetes on pools, of the GPU driver, and where nodes are."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.stacks import OPERATOR, check, cluster, errors, only, planned, release, warnings

T4 = "aks-dra:pools: {t4: {vmSize: Standard_NC4as_T4_v3%s}}\n"
T4_SIZE = "Standard_NC4as_T4_v3"
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


@pytest.mark.parametrize("zones", ["[1, 2, 3]", "['1', '2', '3']", "['1', 2, '3']"])
def test_zones_are_taken_with_and_without_quotes(tmp_path: Path, zones: str) -> None:
    body = f"aks-dra:pools: {{a100: {{vmSize: Standard_NC24ads_A100_v4, zones: {zones}}}}}"
    assert [(f.code, f.severity) for f in check(tmp_path, body)] == [("SIZ009", "warning")]
    assert planned(tmp_path, body).pools[0].inputs["availabilityZones"] == ["1", "2", "3"]
    system = f"aks-dra:cluster: {{access: {{azureRbac: true}}, systemPool: {{zones: {zones}}}}}"
    assert check(tmp_path, system) == []


@pytest.mark.parametrize(
    ("zones", "index", "remedy"),
    [
        ("['1', '1']", 1, "name it once"), ("[swedencentral-2]", 0, 'write "2"'), ("['0']", 0, 'for example "1"'),
        ("['']", 0, 'for example "1"'), ("[true]", None, ""), ("[1.5]", None, ""),
    ],
)  # fmt: skip
def test_what_is_no_zone_is_refused(tmp_path: Path, zones: str, index: int | None, remedy: str) -> None:
    body = T4 % f", zones: {zones}"
    if index is None:
        assert errors(tmp_path, body) == [("SET002", "aks-dra:pools.t4.zones.0")]
        return
    assert errors(tmp_path, body) == [("SIZ011", f"aks-dra:pools.t4.zones.{index}")]
    assert only(tmp_path, body, "SIZ011").remedy == remedy


RAW = "{charts: {operator: {values: {driver: {version: '%s'}}}}}"
SETTING = "{driverVersion: '%s'}"


@pytest.mark.parametrize(
    ("setting", "path"),
    [(SETTING, "aks-dra:gpu.driverVersion"), (RAW, "aks-dra:gpu.charts.operator.values.driver.version")],
)
def test_the_operators_driver_has_a_version_that_dra_works_with(tmp_path: Path, setting: str, path: str) -> None:
    def body(version: str, pool: str = "") -> str:
        return f"aks-dra:gpu: {setting % version}\n" + T4 % pool

    assert errors(tmp_path, body("550.163.01")) == [("DRV011", path)]
    assert only(tmp_path, body("550.163.01"), "DRV011").message == ("GPUs by the DRA driver need driver 565 or later")
    assert check(tmp_path, body("550.163.01", ", allocation: devicePlugin")) == []
    for fine in ("580.126.20", "565.57.01", "595.91.07-rhel9.4", "sha256:0123"):
        assert check(tmp_path, body(fine)) == []
        assert release(tmp_path, body(fine), OPERATOR).values["driver"]["version"] == fine
    for wrong in ("latest", "v580.126.20", "58", "580.x"):
        assert errors(tmp_path, body(wrong)) == [("DRV010", path)]
    assert warnings(tmp_path, body("580")) == [("DRV010", path)]


def test_a_branch_is_the_version_of_precompiled_images(tmp_path: Path) -> None:
    driver = "{charts: {operator: {values: {driver: {version: '580', usePrecompiled: true}}}}}"
    assert check(tmp_path, f"aks-dra:gpu: {driver}\n" + T4 % "") == []


@pytest.mark.parametrize(
    ("gpu", "of_pool", "allocation", "warned"),
    [
        ("legacyRequests: dra", "1.35", "dra", True), ("extendedResources: true", "1.35.6", "dra", True),
        ("legacyRequests: dra", "1.37", "dra", False), ("legacyRequests: dra", "1.35", "devicePlugin", False),
        ("legacyRequests: devicePlugin", "1.35", "dra", False),
    ],
)  # fmt: skip
def test_nodes_that_do_not_read_the_claim_of_an_extended_resource_are_said(
    tmp_path: Path, gpu: str, of_pool: str, allocation: str, warned: bool
) -> None:
    pool = f"vmSize: Standard_NC40ads_H100_v5, allocation: {allocation}, kubernetesVersion: '{of_pool}'"
    body = cluster("1.37") + (
        f"aks-dra:gpu: {{{gpu}}}\n"
        f"aks-dra:pools: {{p: {{{pool}, sharing: {{mode: mig, layout: all-1g.12gb}}}}, t4: {{vmSize: {T4_SIZE}}}}}\n"
    )
    expected = [("EXT007", "aks-dra:pools.p.kubernetesVersion")] if warned else []
    assert [found for found in warnings(tmp_path, body) if found[0] == "EXT007"] == expected
    assert errors(tmp_path, body) == []


MINIMUM = """
[driver_minimum.gpu_allocation]
version = "%s"
what = "GPUs"
source = "a test"
verified = %s
"""


@pytest.mark.parametrize(
    ("minimum", "verified", "version", "expected"),
    [
        ("570.158.01", "true", "570.100.1", "error"), ("570.158.01", "true", "570.158.01", ""),
        ("570.158.01", "true", "580.1", ""), ("570.158.01", "false", "566.1.1", "warning"),
        ("570.158.01", "true", "566.1.1", "error"), ("R570", "true", "565.1.1", "error"), ("next", "true", "565.1", ""),
    ],
)  # fmt: skip
def test_the_lowest_driver_is_a_row_of_the_facts(
    tmp_path: Path, minimum: str, verified: str, version: str, expected: str
) -> None:
    (tmp_path / "stacks").mkdir()
    (tmp_path / "stacks" / "own.toml").write_text(MINIMUM % (minimum, verified))
    body = f"aks-dra:facts: own.toml\naks-dra:gpu: {{driverVersion: '{version}'}}\n" + T4 % ""
    assert [f.severity for f in check(tmp_path, body) if f.code == "DRV011"] == ([expected] if expected else [])


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
