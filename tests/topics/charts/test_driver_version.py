"""The driver's version: what DRA works with, and how it is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.stacks import OPERATOR, check, errors, only, release, warnings

T4 = "aks-dra:pools: {t4: {vmSize: Standard_NC4as_T4_v3%s}}\n"
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


@pytest.mark.parametrize(
    ("version", "domains", "message"),
    [
        ("570.124.06", True, "ComputeDomains with IMEXDaemonsWithDNSNames need driver 570.158.01 or later"),
        ("550.163.01", True, "ComputeDomains with IMEXDaemonsWithDNSNames need driver 570.158.01 or later"),
        ("550.163.01", False, "GPUs by the DRA driver need driver 565 or later"),
        ("570.158.01", True, ""),
        ("570.124.06", False, ""),
    ],
)
def test_compute_domains_need_a_newer_driver_than_gpus(
    tmp_path: Path, version: str, domains: bool, message: str
) -> None:
    values = f"{{resources: {{computeDomains: {{enabled: {str(domains).lower()}}}}}}}"
    body = (
        "aks-dra:pools: {t4: {vmSize: Standard_NC4as_T4_v3}}\n"
        f'aks-dra:gpu: {{driverVersion: "{version}", charts: {{draDriver: {{values: {values}}}}}}}'
    )
    assert [f.message for f in check(tmp_path, body) if f.code == "DRV011"] == ([message] if message else [])


def test_a_branch_is_the_version_of_precompiled_images(tmp_path: Path) -> None:
    driver = "{charts: {operator: {values: {driver: {version: '580', usePrecompiled: true}}}}}"
    assert check(tmp_path, f"aks-dra:gpu: {driver}\n" + T4 % "") == []


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
