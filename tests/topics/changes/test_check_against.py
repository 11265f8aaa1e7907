"""check --against: earlier files, revisions and states, and what they are kept as."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from aks_dra.cli import app
from aks_dra.context.previous import PreviousError, as_plain, from_plain, previous_of
from aks_dra.stack_plan import plan_file
from aks_dra.topics.changes.pool_rules import free_name
from tests.stacks import planned, stack
from tests.topics.changes.bodies import A100, T4, TRAIN


def test_the_same_settings_find_nothing(tmp_path: Path) -> None:
    for file in ("dev", "local", "prod"):
        path = Path(__file__).parents[3] / "stacks" / f"Pulumi.{file}.yaml"
        earlier, _ = plan_file(path)
        assert earlier is not None
        through = from_plain(json.loads(json.dumps(as_plain(previous_of(earlier)), sort_keys=True)))
        assert through == previous_of(earlier)
        _, findings = plan_file(path, previous=through)
        assert [f for f in findings if f.code.startswith("CHG")] == []


def test_numbers_that_became_floats_and_what_is_no_description(tmp_path: Path) -> None:
    plain = as_plain(previous_of(planned(tmp_path, T4 % ", maxPods: 50")))
    floats = json.loads(json.dumps(plain), parse_int=float)
    assert from_plain(floats) == from_plain(plain)
    for bad in (None, 3, {}, {"format": 2}, {**plain, "pools": 3}, {k: v for k, v in plain.items() if k != "cluster"}):
        with pytest.raises(PreviousError):
            from_plain(bad)
    assert from_plain({**plain, "later": 1}) == from_plain(plain)


@pytest.mark.parametrize(
    ("name", "taken", "proposal"),
    [
        ("train", [], "train2"),
        ("train", ["train2"], "train3"),
        ("t4", [], "t4b"),
        ("t4", ["t4b"], "t4c"),
        ("t4inference", [], "t4inference2"),
        ("averylongone", [], "averylongon2"),
    ],
)
def test_a_proposed_name_is_free_and_short_enough(name: str, taken: list[str], proposal: str) -> None:
    assert free_name(name, [name, *taken]) == proposal


def check(*arguments: str) -> list[str]:
    run = CliRunner().invoke(app, ["check", *arguments, "--format", "json"])
    assert run.exception is None or isinstance(run.exception, SystemExit), run.output
    return [f["code"] for f in json.loads(run.stdout)[0]["findings"]] if run.exit_code < 2 else [run.output]


def test_check_against_a_file_a_revision_and_a_state(tmp_path: Path) -> None:
    file = stack(tmp_path, TRAIN % "")
    earlier = tmp_path / "earlier.yaml"
    earlier.write_text(file.read_text())
    git = ["git", "-C", str(tmp_path), "-c", "user.name=t", "-c", "user.email=t@example.com"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
        subprocess.run([*git, *command], check=True)
    before, _ = plan_file(file)
    assert before is not None
    state = {"deployment": {"resources": [
        {"type": "pulumi:pulumi:Stack", "outputs": {"previous": as_plain(previous_of(before))}},
    ]}}  # fmt: skip
    (tmp_path / "state.json").write_text(json.dumps(state))
    stack(tmp_path, TRAIN.replace("NC24ads", "NC48ads") % "")
    for against in (str(earlier), "HEAD", str(tmp_path / "state.json")):
        assert check(str(file), "--against", against) == ["CHG001"]
    assert check(str(file)) == []


def test_a_revision_has_its_own_base_files(tmp_path: Path) -> None:
    file = stack(tmp_path, "aks-dra:base: [common.yaml]")
    base = file.parent / "common.yaml"
    base.write_text("config: {aks-dra:pools: {t4: {vmSize: Standard_NC4as_T4_v3}}}\n")
    git = ["git", "-C", str(tmp_path), "-c", "user.name=t", "-c", "user.email=t@example.com"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
        subprocess.run([*git, *command], check=True)
    base.write_text("config: {aks-dra:pools: {t4: {vmSize: Standard_NC8as_T4_v3}}}\n")
    assert check(str(file), "--against", "HEAD") == ["CHG001"]
    other = stack(tmp_path, T4 % "").rename(file.with_name("Pulumi.new.yaml"))
    assert check(str(other), "--against", "HEAD") == []  # it has no such file
    file = stack(tmp_path, "aks-dra:base: [common.yaml]")
    base.write_text("config: [")
    subprocess.run([*git, "commit", "-qam", "two"], check=True)
    base.write_text("config: {aks-dra:pools: {t4: {vmSize: Standard_NC8as_T4_v3}}}\n")
    assert check(str(file), "--against", "HEAD") == []  # what could not be read never was


def test_against_nothing_that_there_is(tmp_path: Path) -> None:
    file = stack(tmp_path, T4 % "")
    bad = tmp_path / "state.json"
    bad.write_text('{"deployment": {"resources": []}}')
    [unknown] = check(str(file), "--against", "no-such-thing")
    assert "neither a file nor a revision" in " ".join(unknown.replace("│", " ").split())
    [empty] = check(str(file), "--against", str(bad))
    assert "has no output previous" in " ".join(empty.replace("│", " ").split())


def test_a_change_of_a_warning_can_be_acknowledged(tmp_path: Path) -> None:
    ack = "\naks-dra:acknowledge: [{code: CHG004, reason: in the night}]"
    earlier = planned(tmp_path, A100 % "")
    file = stack(tmp_path, A100 % ", osSku: AzureLinux" + ack)
    later, findings = plan_file(file, previous=previous_of(earlier))
    assert later is not None
    assert [(f.code, f.acknowledged) for f in findings if f.code == "CHG004"] == [("CHG004", "in the night")]
    assert later.warnings == tuple(f for f in findings if f.code != "CHG004" and f.severity == "warning")
    assert replace(later, findings=()).errors == ()
