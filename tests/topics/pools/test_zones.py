"""Zones of pools: sent as text when they are asked for, and never by default."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.stacks import check, errors, only, planned, warnings


@pytest.mark.parametrize("size", ["Standard_NC24ads_A100_v4", "Standard_NC4as_T4_v3", "Standard_ND96isr_H100_v5"])
def test_zones_of_a_gpu_size_are_a_warning_and_none_are_set_by_default(tmp_path: Path, size: str) -> None:
    zoned = f"aks-dra:pools: {{p: {{vmSize: {size}, zones: ['1', '2', '3']}}}}"
    assert [f.code for f in check(tmp_path, zoned)] == ["SIZ009"]
    assert warnings(tmp_path, zoned) == [("SIZ009", "aks-dra:pools.p.zones")]
    assert "az vm list-skus" in only(tmp_path, zoned, "SIZ009").remedy
    assert planned(tmp_path, zoned).pools[0].inputs["availabilityZones"] == ["1", "2", "3"]
    plain = planned(tmp_path, f"aks-dra:pools: {{p: {{vmSize: {size}}}}}").pools[0]
    assert "availabilityZones" not in plain.inputs


ZONED = "aks-dra:pools: {t4: {vmSize: Standard_NC4as_T4_v3%s}}\n"


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
    body = ZONED % f", zones: {zones}"
    if index is None:
        assert errors(tmp_path, body) == [("SET002", "aks-dra:pools.t4.zones.0")]
        return
    assert errors(tmp_path, body) == [("SIZ011", f"aks-dra:pools.t4.zones.{index}")]
    assert only(tmp_path, body, "SIZ011").remedy == remedy
