"""What the README shows is what happens: its stack file, its finding, its program, its commands."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from aks_dra.cli import app
from tests.resources.stand_in import kubelogin, run  # noqa: F401  a fixture for every test here
from tests.stacks import write

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    return [text for name, text in fenced if name == language]


def test_its_stack_file_has_no_findings(tmp_path: Path) -> None:
    (text,) = blocks("yaml")
    run = CliRunner().invoke(app, ["check", str(write(tmp_path, text, stack="dev")), "--fail-on", "warning"])
    assert run.exit_code == 0, run.output
    assert "no findings" in run.output


def test_its_finding_is_printed_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (shown,) = [block for block in blocks("") if block.startswith("error[")]
    pool = re.search(r"6 \| +(a100: .*)", shown)
    assert pool is not None
    head = "config:\n  azure-native:location: swedencentral\n  aks-dra:cluster:\n    access: {azureRbac: true}\n"
    write(tmp_path, f"{head}  aks-dra:pools:\n    {pool[1]}\n", stack="dev")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    run = CliRunner().invoke(app, ["check", "stacks/Pulumi.dev.yaml"])
    lines = [line.rstrip() for line in run.output.splitlines()]
    for line in shown.splitlines():
        assert line.rstrip() in lines, run.output


def test_its_program_registers_a_pool_and_exports_the_kubeconfig() -> None:
    (program,) = blocks("python")
    engine, _ = run(lambda: exec(compile(program, "README.md", "exec"), {}), preview=False)
    assert engine.one(":AgentPool").inputs["vmSize"] == "Standard_NC4as_T4_v3"
    assert engine.one(":ManagedCluster").inputs["location"] == "swedencentral"


def test_every_target_of_make_and_every_file_that_it_names_is_there() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"`?make ([a-z][a-z-]+)", README))
    assert targets >= {"up", "test", "plan", "check", "simulate", "status", "down", "bench"}
    for target in targets:
        assert re.search(rf"^(?:[a-z ]+ )?{target}(?: [a-z ]+)?:", makefile, re.MULTILINE), target
    for path in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / path).exists(), path


def test_the_example_of_a_migration_writes_its_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = re.search(r"^aks-dra (migrate .*)$", (ROOT / "docs" / "migration.md").read_text(), re.MULTILINE)
    assert command is not None
    for name in ("stacks", "examples"):
        shutil.copytree(ROOT / name, tmp_path / name)
    shutil.copy(ROOT / "Pulumi.yaml", tmp_path)
    monkeypatch.chdir(tmp_path)
    run = CliRunner().invoke(app, command[1].split())
    assert run.exit_code == 0, run.output
    assert run.output.splitlines()[-1] == "7 files in migrate-prod-t4old; begin with migrate-prod-t4old/README.md"
