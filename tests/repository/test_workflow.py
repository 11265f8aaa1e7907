"""The pull request workflow: its steps' own commands are run here, on a repository made for it.

`aks-dra` and `gh` are programs of the test that say what they were asked: what they answer has tests of its own.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

CHECKOUT = Path(__file__).resolve().parents[2]
WORKFLOW = CHECKOUT / ".github" / "workflows" / "plan.yml"
PLAN = CHECKOUT / ".github" / "plan-changed-stacks.sh"
COMMENT = CHECKOUT / ".github" / "keep-one-comment.sh"

FAKE_AKS_DRA = """#!/bin/bash
if [ "$1" = check ]; then
    [ "$3" = --against ] && git cat-file -e "$4:stacks" || exit 3
    grep -q broken "$2" && { echo "$2: POOL-SIZE aks-dra:pools.a.vmSize unknown"; exit 1; }
    exit 0
fi
echo "plan of ${@: -1} as $3"
"""
FAKE_GH = """#!/bin/bash
printf '%s\\n' "$*" >>"$GH_CALLS"
case "$*" in *--paginate*) cat "$GH_FOUND";; esac
"""


def steps() -> list[dict[str, Any]]:
    document = yaml.safe_load(WORKFLOW.read_text())
    found: list[dict[str, Any]] = document["jobs"]["plan"]["steps"]
    return found


def commands() -> list[str]:
    return [step["run"] for step in steps() if "run" in step]


def program(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


def git(repository: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"]
    run = subprocess.run(["git", *identity, *arguments], cwd=repository, check=True, capture_output=True, text=True)
    return run.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    (folder / "stacks").mkdir(parents=True)
    (folder / "components").mkdir()
    for stack in ("local", "dev", "prod"):
        (folder / "stacks" / f"Pulumi.{stack}.yaml").write_text("config: {}\n")
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "base")
    git(folder, "switch", "-q", "-c", "change")
    return folder


def planned(repository: Path, tmp_path: Path) -> tuple[int, str]:
    """Runs the workflow's own planning command; gives its exit code and the report."""
    git(repository, "add", ".")
    git(repository, "commit", "-q", "--allow-empty", "-m", "change")
    fake = program(tmp_path / "aks-dra", FAKE_AKS_DRA)
    command = next(text for text in commands() if PLAN.name in text)
    (repository / ".github").mkdir(exist_ok=True)
    (repository / ".github" / PLAN.name).write_bytes(PLAN.read_bytes())
    (repository / ".github" / PLAN.name).chmod(0o755)
    run = subprocess.run(
        ["bash", "-e", "-c", command],
        cwd=repository,
        env={**os.environ, "BASE": git(repository, "rev-parse", "main"), "AKS_DRA": str(fake)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (repository / "plan.md").exists(), run.stderr
    return run.returncode, (repository / "plan.md").read_text()


def stacks_in(report: str) -> list[str]:
    return [line.split("`")[1] for line in report.splitlines() if line.startswith("## Stack")]


def test_two_changed_stacks_are_planned_and_the_third_is_not(repository: Path, tmp_path: Path) -> None:
    for stack in ("dev", "prod"):
        (repository / "stacks" / f"Pulumi.{stack}.yaml").write_text("config: {a: 1}\n")
    code, report = planned(repository, tmp_path)
    assert code == 0
    assert stacks_in(report) == ["dev", "prod"]
    assert "plan of stacks/Pulumi.dev.yaml as markdown" in report
    assert report.startswith("<!-- aks-dra plan -->\n")


def test_a_stack_with_errors_fails_the_job_and_is_in_the_report(repository: Path, tmp_path: Path) -> None:
    (repository / "stacks" / "Pulumi.dev.yaml").write_text("config: {a: broken}\n")
    (repository / "stacks" / "Pulumi.prod.yaml").write_text("config: {a: 1}\n")
    code, report = planned(repository, tmp_path)
    assert code == 1
    assert "POOL-SIZE aks-dra:pools.a.vmSize unknown" in report
    assert "plan of stacks/Pulumi.prod.yaml" in report


@pytest.mark.parametrize("path", ["components/rule.py", "stacks/common.yaml", "Pulumi.yaml"])
def test_what_all_stacks_rest_on_touches_all(repository: Path, tmp_path: Path, path: str) -> None:
    (repository / path).write_text("a: 1\n")
    assert stacks_in(planned(repository, tmp_path)[1]) == ["dev", "local", "prod"]


def test_nothing_changed_and_a_deleted_stack(repository: Path, tmp_path: Path) -> None:
    (repository / "stacks" / "Pulumi.prod.yaml").unlink()
    code, report = planned(repository, tmp_path)
    assert (code, stacks_in(report)) == (0, [])
    assert "No stack is changed" in report


def test_what_the_base_gained_meanwhile_is_not_planned(repository: Path, tmp_path: Path) -> None:
    (repository / "stacks" / "Pulumi.dev.yaml").write_text("config: {a: 1}\n")
    git(repository, "add", ".")
    git(repository, "commit", "-q", "-m", "ours")
    git(repository, "switch", "-q", "main")
    (repository / "stacks" / "Pulumi.prod.yaml").write_text("config: {b: 1}\n")
    git(repository, "commit", "-q", "-a", "-m", "theirs")
    git(repository, "switch", "-q", "change")
    assert stacks_in(planned(repository, tmp_path)[1]) == ["dev"]


def test_a_report_longer_than_a_comment_may_be_is_cut(repository: Path, tmp_path: Path) -> None:
    (repository / "stacks" / "Pulumi.dev.yaml").write_text("broken\n")
    long = 'head -c 90000 /dev/zero | tr "\\0" x | fold -w 99; exit 1'
    fake = FAKE_AKS_DRA.replace('echo "$2: POOL-SIZE aks-dra:pools.a.vmSize unknown"; exit 1;', f"{long};")
    assert fake != FAKE_AKS_DRA
    git(repository, "add", ".")
    git(repository, "commit", "-q", "-m", "change")
    run = subprocess.run(
        [PLAN, "main", "plan.md"],
        cwd=repository,
        env={**os.environ, "AKS_DRA": str(program(tmp_path / "aks-dra", fake))},
        check=False,
    )
    report = (repository / "plan.md").read_text()
    assert run.returncode == 1
    assert len(report) < 65_536
    assert "Cut: the whole report" in report


@pytest.mark.parametrize(("found", "method"), [("", "POST"), ("41\n77\n", "PATCH")])
def test_one_comment_is_kept(tmp_path: Path, found: str, method: str) -> None:
    program(tmp_path / "gh", FAKE_GH)
    calls, report = tmp_path / "calls", tmp_path / "plan.md"
    (tmp_path / "found").write_text(found)
    report.write_text("<!-- aks-dra plan -->\ntext\n")
    command = next(text for text in commands() if COMMENT.name in text)
    subprocess.run(
        ["bash", "-e", "-c", command.replace("plan.md", str(report))],
        cwd=CHECKOUT,
        env={
            **os.environ,
            "PATH": f"{tmp_path}:{os.environ['PATH']}",
            "GH_CALLS": str(calls),
            "GH_FOUND": str(tmp_path / "found"),
            "GH_TOKEN": "t",
            "REPOSITORY": "owner/name",
            "NUMBER": "7",
        },
        check=True,
    )
    asked, written = calls.read_text().splitlines()
    assert "repos/owner/name/issues/7/comments" in asked
    assert f"--method {method}" in written
    assert f"body=@{report}" in written
    assert ("comments/41 " in written) is (method == "PATCH")


def test_the_workflow_needs_no_log_in_and_installs_as_the_readme_does() -> None:
    text = WORKFLOW.read_text()
    assert "secrets." not in text
    assert "make venv" in commands()
    # Values of the event never go into the shell's text: a branch may be named like a command.
    assert not any("${{" in command for command in commands())
    assert yaml.safe_load(text)["permissions"] == {"contents": "read", "pull-requests": "write"}
