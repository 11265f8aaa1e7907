"""A file that is no stack file is told what it is: a fragment, or a base file of others."""

from __future__ import annotations

from pathlib import Path

from aks_dra.stack_plan import plan_file


def test_a_fragment_is_told_to_stand_below_config(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.yaml").write_text("name: gpus\nruntime: python\n")
    file = tmp_path / "Pulumi.dev.yaml"
    file.write_text("aks-dra:pools: {}\nconfg: {}\n")
    first, second = plan_file(file)[1][:2]
    assert first.code == second.code == "LOAD017"
    assert first.remedy.startswith("put it under config:")
    assert second.remedy.startswith("did you mean 'config'?")


def test_a_base_file_is_said_to_be_one(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.yaml").write_text("name: gpus\nruntime: python\nstackConfigDir: stacks\n")
    stacks = tmp_path / "stacks"
    stacks.mkdir()
    (stacks / "common.yaml").write_text("config: {}\n")
    for name, base in (("dev", "[other.yaml, ./common.yaml]"), ("prod", "common.yaml"), ("x", "[]"), ("bad", "{")):
        (stacks / f"Pulumi.{name}.yaml").write_text(f"config:\n  aks-dra:base: {base}\n")

    def remedy(name: str) -> str:
        (stacks / name).touch()
        (finding,) = [entry for entry in plan_file(stacks / name)[1] if entry.code == "LOAD024"]
        return finding.remedy

    assert remedy("common.yaml").startswith("check Pulumi.dev.yaml or Pulumi.prod.yaml instead, which build on it")
    assert remedy("other.yaml") == "check Pulumi.dev.yaml instead, which builds on it: it is a base file"
    assert remedy("alone.yaml") == "name it Pulumi.<stack>.yaml"
