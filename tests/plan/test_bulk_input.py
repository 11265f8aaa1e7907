"""Whatever is written, planning answers with findings that say where and what to do, the same each time."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.console import Console

from aks_dra.findings.finding import Finding
from aks_dra.model.plan import Plan
from aks_dra.plan import plan
from aks_dra.report import as_document, as_markdown, print_findings
from aks_dra.report.document import finding_document
from aks_dra.report.findings import github_lines
from aks_dra.settings.parse import settings_from_values
from aks_dra.stack_plan import plan_file
from tests.plan.bulk_settings import Tree, as_yaml, broken, junk, valid
from tests.stacks import stack, write

CHECKED = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large]
short = settings(max_examples=500, deadline=None, suppress_health_check=CHECKED)
nightly = settings(max_examples=20_000, deadline=None, suppress_health_check=CHECKED)
nightly_files = settings(nightly, max_examples=10_000)  # each of them is read from a file as well

trees = st.one_of(valid(), broken(), broken())
days = st.sampled_from(["", "2026-11-30", "2030-01-01"])


def from_values(tree: Any, today: str) -> tuple[Plan | None, tuple[Finding, ...]]:
    read, found = settings_from_values(tree)
    if read is None:
        return None, found
    planned = plan(read, project="gpus", stack="dev", location="swedencentral", config_findings=found, today=today)
    return planned, planned.findings


def from_file(folder: Path, raw: bytes, today: str) -> tuple[Plan | None, tuple[Finding, ...]]:
    return plan_file(write(folder, raw), today)


def check_findings(found: tuple[Finding, ...]) -> None:
    for finding in found:
        assert re.fullmatch(r"[A-Z]{3,4}\d{3}", finding.code)
        assert finding.severity in ("error", "warning")
        assert finding.path or (finding.code.startswith("LOAD") and finding.file), finding
        assert finding.message.strip(), finding
        assert finding.remedy.strip(), finding
        assert finding.source.strip(), finding
        assert isinstance(finding.value, str), finding
        for text in json.loads(json.dumps(finding_document(finding)), object_hook=lambda entry: [*entry.values()]):
            assert str(text).replace("\n", "").isprintable(), finding
    severities = [finding.severity for finding in found]
    assert severities == sorted(severities), "errors come first"
    for line in github_lines(found):
        assert "\n" not in line
    console = Console(file=io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), highlight=False, width=100)
    print_findings(console, found)


def check_plan(planned: Plan | None) -> None:
    if planned is not None:
        json.dumps(as_document(planned), default=str)
        as_markdown(planned)


def from_values_twice(tree: Tree, today: str) -> None:
    planned, found = from_values(tree, today)
    check_findings(found)
    check_plan(planned)
    assert (planned, found) == from_values(tree, today)
    assert planned is not None or found, "without a plan there is a reason"


def from_file_twice(folder: Path, raw: bytes, today: str) -> None:
    planned, found = from_file(folder, raw, today)
    check_findings(found)
    check_plan(planned)
    assert (planned, found) == from_file(folder, raw, today)
    assert all(finding.file and finding.line for finding in found), found
    assert planned is not None or found, "without a plan there is a reason"


@short
@given(tree=trees, today=days)
def test_no_settings_break_planning(tree: Tree, today: str) -> None:
    from_values_twice(tree, today)


@short
@given(tree=trees, ascii_only=st.booleans(), today=days)
def test_no_stack_file_breaks_planning(tmp_path: Path, tree: Tree, ascii_only: bool, today: str) -> None:
    from_file_twice(tmp_path, as_yaml(tree, ascii_only), today)


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A stack file to the text of which something was done."""
    text = as_yaml(draw(valid()), True).decode()
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 12)))
        put = draw(
            st.sampled_from(
                ["", "\n", "\t", " ", ":", "- ", "{", "]", '"', "&a ", "*a", "<<: ", "\x07", "é", "1.40", "~"]
            )
        )
        text = text[:start] + put + text[end:]
    return text.encode()


@short
@given(raw=damaged())
def test_no_damage_to_a_file_breaks_planning(tmp_path: Path, raw: bytes) -> None:
    from_file_twice(tmp_path, raw, "")


@short
@given(tree=st.dictionaries(st.text(max_size=5), junk, max_size=3))
def test_no_junk_breaks_planning(tree: Tree) -> None:
    from_values_twice(tree, "")


@pytest.mark.nightly
@nightly
@given(tree=trees, today=days)
def test_no_settings_break_planning_in_a_long_run(tree: Tree, today: str) -> None:
    from_values_twice(tree, today)


@pytest.mark.nightly
@nightly_files
@given(tree=trees, ascii_only=st.booleans(), today=days)
def test_no_stack_file_breaks_planning_in_a_long_run(tmp_path: Path, tree: Tree, ascii_only: bool, today: str) -> None:
    from_file_twice(tmp_path, as_yaml(tree, ascii_only), today)


@pytest.mark.nightly
@nightly_files
@given(raw=damaged())
def test_no_damage_to_a_file_breaks_planning_in_a_long_run(tmp_path: Path, raw: bytes) -> None:
    from_file_twice(tmp_path, raw, "")


@settings(short, max_examples=200)
@given(tree=valid())
def test_most_valid_settings_have_no_error(tree: Tree) -> None:
    """The valid ones are worth their name: what is refused of them is refused by a rule, not for its shape."""
    planned, found = from_values(tree, "")
    assert planned is not None, found
    assert not {finding.code for finding in found} & {
        "SET001",
        "SET002",
        "NAM001",
        "NAM003",
        "LAB001",
        "LAB006",
        "MIG004",
    }


MANY = """
aks-dra:pools:
  a:
    vmSize: Standard_NC48ads_A100_v4
    sharing: {mode: mig, layout: [{devices: [0, 5, 4, 3, 9], profiles: {1g.5gb: 1, x: 2}}]}
  B: {vmSize: nope, labels: {k8s.io/a: b, k8s.io/c: d, "x y": z}, taints: [a, b, c], tags: {SkipGPUDriverInstall: "1"}}
aks-dra:claims: {ml: {one: {deviceClass: t5}, two: {deviceClass: t6, count: 40}}}
aks-dra:gpu: {featureGates: {DynamicMIG: true, MPSSupport: true, NVMLDeviceHealthCheck: true, Nope: true}}
"""


def test_the_order_of_findings_is_the_same_in_every_process(tmp_path: Path) -> None:
    """Sets of texts are walked in another order in every process; one more run in this one would not show it."""
    file = stack(tmp_path, MANY)
    printed = []
    for seed in ("1", "2", "3", "4"):
        command = [sys.executable, "-m", "aks_dra.cli", "check", str(file), "--format", "json"]
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        printed.append(subprocess.run(command, env=environment, capture_output=True, text=True).stdout)
    assert len(set(printed)) == 1
    assert len(json.loads(printed[0])[0]["findings"]) > 15
