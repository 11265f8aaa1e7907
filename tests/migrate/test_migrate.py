"""The road of a pool from the device plugin to DRA: edits in place, stack files that follow each other, workloads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from aks_dra.cli import app
from aks_dra.context.previous import previous_of
from aks_dra.migrate.command import migrate
from aks_dra.migrate.steps import MigrateError, road
from aks_dra.stack_plan import plan_file
from tests.migrate.roads import A100, DEPLOYMENT, POOLS, T4, made
from tests.stacks import stack


def pools_of(text: str) -> Any:
    return yaml.safe_load(text)["config"]["aks-dra:pools"]


def test_four_stack_files_that_follow_each_other(tmp_path: Path) -> None:
    found = made(tmp_path, POOLS % ("1.36", T4, ""))
    add, move, shrink, remove = (step.text for step in found.steps)
    a100 = {"vmSize": A100}
    old = {"vmSize": T4, "nodes": {"min": 0, "max": 3}, "allocation": "devicePlugin"}
    new = {"vmSize": T4, "nodes": {"min": 1, "max": 3}, "allocation": "dra"}
    assert pools_of(add) == {"a100": a100, "old": old, "old2": new}
    assert move == add
    assert pools_of(shrink) == {"a100": a100, "old": {**old, "nodes": {"count": 0}, "protect": False}, "old2": new}
    assert pools_of(remove) == {"a100": a100, "old2": new}
    assert all("  # stays\n" in text and "# the old one\n" in text for text in (add, move, shrink, remove))
    assert [step.changed for step in found.steps] == [True, False, True, True]


SHARINGS = [
    (T4, ", sharing: {mode: timeSlicing, replicas: 4, rename: true}", {"mode": "timeSlicing", "interval": "Default"}),
    (T4, ", sharing: {mode: mps, replicas: 4}", {"mode": "mps"}),
    (A100, ", sharing: {mode: mig, layout: all-1g.10gb, strategy: mixed}", {"mode": "mig", "layout": "all-1g.10gb"}),
    (T4, "", None),
]


@pytest.mark.parametrize(("size", "sharing", "expected"), SHARINGS)
@pytest.mark.parametrize("version", ["1.35", "1.36"])
def test_every_step_passes_check_and_replaces_nothing(
    tmp_path: Path, size: str, sharing: str, expected: dict[str, Any] | None, version: str
) -> None:
    found = made(tmp_path, POOLS % (version, size, sharing))
    assert pools_of(found.steps[0].text)["old2"].get("sharing") == expected
    file = found.file
    previous = previous_of(found.before)
    strangers = [pool for pool in found.before.pools if pool.name == "a100"]
    for step in found.steps:
        file.write_text(step.text)
        plan, findings = plan_file(file, previous=previous)
        assert plan is not None
        assert plan.errors == ()
        codes = {finding.code for finding in findings if finding.code.startswith("CHG")}
        assert codes <= ({"CHG008", "CHG017", "CHG018"} if step.name == "4-remove" else set())
        assert [pool for pool in plan.pools if pool.name == "a100"] == strangers
        assert plan.cluster == found.before.cluster
        previous = previous_of(plan)
    assert codes >= {"CHG008", "CHG017"}  # of the last step


def test_a_pool_of_a_base_file_is_taken_back_in_the_stack_file(tmp_path: Path) -> None:
    file = stack(tmp_path, "aks-dra:base: [common.yaml]")
    base = (
        f"config: {{aks-dra:pools: {{old: {{vmSize: {T4}, nodes: {{min: 1, max: 2}}, allocation: devicePlugin}}}}}}\n"
    )
    (file.parent / "common.yaml").write_text(base)
    found = road(file, "old")
    shrink, remove = (pools_of(step.text) for step in found.steps[2:])
    assert shrink["old"] == {"nodes": {"count": 0, "min": None, "max": None}, "protect": False}
    assert remove["old"] is None
    assert [pool.name for pool in found.steps[3].plan.pools] == ["old2"]
    assert found.steps[2].plan.pools[0].nodes == "0"


BUDGETS = [
    ("minAvailable: 2", "", None, "allows 0 of 2 to be away; its rollout takes 0 away"),
    ("minAvailable: 50%", "strategy: {type: Recreate}", True, "allows 1 of 2 to be away, its own strategy 2"),
    ("maxUnavailable: 0", "strategy: {rollingUpdate: {maxUnavailable: 1}}", True, "allows 0 of 2"),
]


@pytest.mark.parametrize(("budget", "strategy", "gentle", "note"), BUDGETS)
def test_a_rollout_keeps_the_disruption_budget(
    tmp_path: Path, budget: str, strategy: str, gentle: bool | None, note: str
) -> None:
    deployment = DEPLOYMENT.replace("RESOURCE", "nvidia.com/gpu").replace("  replicas", f"  {strategy}\n  replicas")
    text = f"""{deployment}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{name: web, namespace: ml}}
spec: {{{budget}, selector: {{matchLabels: {{app: web}}}}}}
"""
    [advice] = made(tmp_path, POOLS % ("1.36", T4, ""), text, claims=True).advice
    assert advice.patch is not None
    assert note in advice.notes[0]
    expected = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}}
    found = advice.patch["spec"].get("strategy")
    assert found == ({"$retainKeys": ["type", "rollingUpdate"], **expected} if gentle else None)


REFUSED = [
    ({"pool": "a100"}, POOLS % ("1.36", T4, ""), "it is a DRA pool already; device-plugin pools: old"),
    ({"pool": "nothing"}, POOLS % ("1.36", T4, ""), "there is no such pool; device-plugin pools: old"),
    ({"to": "a100"}, POOLS % ("1.36", T4, ""), "there is a pool of this name already"),
    ({"to": "Not-a-name"}, POOLS % ("1.36", T4, ""), "NAM001"),
    ({}, POOLS % ("1.36", "Standard_NC4as_T4_v9", ""), "has errors of its own: SIZ001"),
    ({}, "x: 1\n" + POOLS % ("1.36", T4, ", labels: {x: {secure: v1abc}}"), "SET003"),
]


@pytest.mark.parametrize(("options", "body", "text"), REFUSED)
def test_what_has_no_road_is_refused_with_the_reason(
    tmp_path: Path, options: dict[str, Any], body: str, text: str
) -> None:
    with pytest.raises(MigrateError, match=text):
        made(tmp_path, body.removeprefix("x: 1\n"), **options)


def test_the_command_writes_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stack(tmp_path, POOLS % ("1.36", T4, ", sharing: {mode: timeSlicing, replicas: 4}"))
    (tmp_path / "w.yaml").write_text(DEPLOYMENT.replace("RESOURCE", "nvidia.com/gpu"))
    monkeypatch.chdir(tmp_path)
    run = CliRunner().invoke(app, ["migrate", "test", "--pool", "old", "--workloads", "w.yaml"])
    assert run.exit_code == 0, run.output
    folder = tmp_path / "migrate-test-old"
    assert sorted(str(path.relative_to(folder)) for path in folder.rglob("*.*")) == [
        "1-add.yaml", "2-move.yaml", "3-shrink.yaml", "4-remove.yaml", "README.md",
        "workloads/ml-deployment-web.manifest.yaml", "workloads/ml-deployment-web.patch.yaml",
    ]  # fmt: skip
    text = (folder / "README.md").read_text()
    for line in (
        "cp migrate-test-old/1-add.yaml stacks/Pulumi.test.yaml",
        "aks-dra check stacks/Pulumi.test.yaml --against HEAD",
        "kubectl cordon -l kubernetes.azure.com/agentpool=old",
        "kubectl patch deployment web -n ml --type strategic --patch-file "
        "migrate-test-old/workloads/ml-deployment-web.patch.yaml",
        "kubectl rollout status deployment/web -n ml",
        "kubectl drain -l kubernetes.azure.com/agentpool=old --ignore-daemonsets --delete-emptydir-data",
        "`old` was the last device-plugin pool: `nvidia.com/gpu` turns to DRA with this step (class "
        "aks-dra-legacy-requests). From now on a pod that asks for it gets a whole GPU of any DRA pool that it "
        "tolerates.",
    ):
        assert line in text.splitlines()
    again, _, written = migrate("test", "old", workloads=[Path("w.yaml")])
    assert len(written) == 7
    assert again.steps[0].text == (folder / "1-add.yaml").read_text()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["nowhere", "--pool", "old"], "there is no stack file nowhere"),
        (["test", "--pool", "old", "--workloads", "absent.yaml"], "absent.yaml"),
        (["test", "--pool", "a100"], "it is a DRA pool already"),
    ],
)
def test_the_command_refuses_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], text: str
) -> None:
    stack(tmp_path, POOLS % ("1.36", T4, ""))
    monkeypatch.chdir(tmp_path)
    run = CliRunner().invoke(app, ["migrate", *arguments])
    assert run.exit_code == 1
    assert text in run.output
    assert "Traceback" not in run.output
