"""The stack against what a subscription offers: samples in the shape that the Azure CLI prints."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from aks_dra.cli import app
from aks_dra.context.snapshot import SnapshotError, read_snapshot
from aks_dra.stack_plan import plan_file
from tests.stacks import stack

ROOT = Path(__file__).resolve().parents[3]
SAMPLE = ROOT / "tests" / "data" / "azure"


def codes(folder: Path, body: str, snapshot: Path = SAMPLE) -> list[tuple[str, str, str]]:
    findings = plan_file(stack(folder, body), snapshot=read_snapshot(snapshot))[1]
    return [(f.code, f.path, f.remedy) for f in findings if f.code.startswith(("AZS", "SIZ009", "VER"))]


def test_what_the_subscription_offers(tmp_path: Path) -> None:
    body = "aks-dra:pools: {t4: {vmSize: standard_nc4as_t4_v3, nodes: {count: 2}, zones: ['1']}}"
    assert codes(tmp_path, body) == []


def test_sizes_zones_and_spot(tmp_path: Path) -> None:
    body = """
        aks-dra:pools:
          t4: {vmSize: Standard_NC4as_T4_v3, zones: ["1", "2"]}
          a100: {vmSize: Standard_NC24ads_A100_v4, spot: true}
          h100: {vmSize: Standard_NC40ads_H100_v5}
          big: {vmSize: Standard_NC48ads_A100_v4}
    """
    found = codes(tmp_path, body)
    assert [(code, path) for code, path, _ in found] == [
        ("AZS004", "aks-dra:pools.a100.spot"),
        ("AZS001", "aks-dra:pools.big.vmSize"),
        ("AZS002", "aks-dra:pools.h100.vmSize"),
        ("AZS003", "aks-dra:pools.t4.zones"),
        ("AZS005", "aks-dra:pools.a100"),
    ]
    assert found[1][2] == "did you mean Standard_NC24ads_A100_v4?"
    assert found[3][2] == "write zones out of 1"


def test_quota_counts_what_pools_may_grow_to(tmp_path: Path) -> None:
    body = "aks-dra:pools: {t4: {vmSize: Standard_NC4as_T4_v3, nodes: {min: 1, max: %d}, allocation: devicePlugin}}"
    assert codes(tmp_path, body % 4) == []
    findings = plan_file(stack(tmp_path, body % 5), snapshot=read_snapshot(SAMPLE))[1]
    assert [(f.code, f.message) for f in findings if f.code == "AZS005"] == [
        ("AZS005", "these pools may need 20 vCPUs of quota Standard NCASv3_T4 Family, and 16 of 16 are free")
    ]


@pytest.mark.parametrize(
    ("cluster", "expected"),
    [
        ("kubernetesVersion: '1.36'", []),
        ("kubernetesVersion: 1.36.2", []),
        ("kubernetesVersion: 1.36.9", ["AZS006"]),
        ("kubernetesVersion: '1.35'", ["AZS006"]),
        ("kubernetesVersion: '1.37'", ["AZS007"]),
        ("kubernetesVersion: '1.34'", ["AZS008"]),
        ("kubernetesVersion: '1.34', tier: Premium, lts: true", []),
        ("kubernetesVersion: '1.37', tier: Premium, lts: true", ["AZS008", "AZS007"]),
    ],
)
def test_versions(tmp_path: Path, cluster: str, expected: list[str]) -> None:
    body = f"aks-dra:cluster: {{{cluster}, access: {{azureRbac: true}}}}"
    assert [code for code, _, _ in codes(tmp_path, body)] == expected


def test_a_missing_file_is_not_checked_against(tmp_path: Path) -> None:
    folder = tmp_path / "only-versions"
    folder.mkdir()
    shutil.copy(SAMPLE / "versions.json", folder)
    body = "aks-dra:pools: {h100: {vmSize: Standard_NC40ads_H100_v5}}"
    assert codes(tmp_path, body, folder) == []


@pytest.mark.parametrize("text", ["", "{}", "[1]", '[{"name": {}}]', '{"values": 3}', "[[]]", "null"])
@pytest.mark.parametrize("name", ["skus", "usage", "versions"])
def test_a_file_of_another_shape_is_told(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / f"{name}.json").write_text(text)
    with pytest.raises(SnapshotError, match=rf"{name}\.json is not"):
        read_snapshot(tmp_path)


def test_the_command(tmp_path: Path) -> None:
    file = stack(tmp_path, "aks-dra:pools: {h100: {vmSize: Standard_NC40ads_H100_v5}}")
    run = CliRunner().invoke(app, ["check", str(file), "--azure-snapshot", str(SAMPLE), "--format", "json"])
    assert run.exit_code == 1
    assert [finding["code"] for finding in json.loads(run.stdout)[0]["findings"]] == ["AZS002"]
    empty = CliRunner().invoke(app, ["check", str(file), "--azure-snapshot", str(tmp_path)])
    assert empty.exit_code == 2
    assert "none of skus.json" in " ".join(empty.output.replace("│", " ").split())


def test_the_script_asks_the_azure_cli_and_writes_what_is_read(tmp_path: Path) -> None:
    """An `az` that prints the samples, by the command it is asked for."""
    az = tmp_path / "az"
    az.write_text(f"""#!/bin/sh
case "$1 $2" in
"account show") ;;
"vm list-skus") cat {SAMPLE}/skus.json ;;
"vm list-usage") cat {SAMPLE}/usage.json ;;
"aks get-versions") cat {SAMPLE}/versions.json ;;
*) exit 1 ;;
esac
""")
    az.chmod(0o755)
    script = ROOT / "docs" / "collect-azure-snapshot.sh"
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    subprocess.run([str(script), "swedencentral", str(tmp_path / "out")], env=environment, check=True)
    assert read_snapshot(tmp_path / "out").versions == read_snapshot(SAMPLE).versions
    assert read_snapshot(tmp_path / "out").skus == read_snapshot(SAMPLE).skus


@pytest.mark.parametrize(
    ("az", "said"),
    [
        ("", "az is not on PATH"),
        ("exit 1", "az login"),
        ('case "$1" in account) ;; vm) echo "[]" ;; *) exit 3 ;; esac', ""),
        ('case "$1 $2" in "account show") ;; *) echo "[{"; exit 1 ;; esac', ""),
    ],
)
def test_what_fails_writes_nothing(tmp_path: Path, az: str, said: str) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "temporary").mkdir()
    path = str(tmp_path / "bin")
    if az:
        (tmp_path / "bin" / "az").write_text(f"#!/bin/sh\n{az}\n")
        (tmp_path / "bin" / "az").chmod(0o755)
        path += f":{os.environ['PATH']}"
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "skus.json").write_text("[1]")
    script = ROOT / "docs" / "collect-azure-snapshot.sh"
    environment = {**os.environ, "PATH": path, "TMPDIR": str(tmp_path / "temporary")}
    for folder in ("out", "new"):
        run = subprocess.run(
            [str(script), "swedencentral", str(tmp_path / folder)], env=environment, capture_output=True, text=True
        )
        assert run.returncode != 0
        assert said in run.stderr
    assert [entry.name for entry in (tmp_path / "out").iterdir()] == ["skus.json"]
    assert (tmp_path / "out" / "skus.json").read_text() == "[1]"
    assert not (tmp_path / "new").exists()
    assert not list((tmp_path / "temporary").iterdir())
