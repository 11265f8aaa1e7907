"""What a change does to the installed software and to the names by which pods ask."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from aks_dra.context.previous import as_plain, from_plain, previous_of
from aks_dra.stack_plan import plan_file
from tests.stacks import changes, planned, stack, summary
from tests.topics.changes.bodies import T4

VERSION = "aks-dra:gpu: {charts: {%s: {version: %s}}}\n" + T4 % ""
OLD = "aks-dra:pools: {old: {vmSize: Standard_NC4as_T4_v3, allocation: devicePlugin%s}, %s}"
SLICED = ", sharing: {mode: timeSlicing, replicas: 4%s}"
OTHER = "more: {vmSize: Standard_NC4as_T4_v3, allocation: devicePlugin, sharing: {mode: timeSlicing, replicas: 2%s}}"
MIG = "aks-dra:gpu: {extendedResources: %s}\naks-dra:pools: {h100: {vmSize: Standard_NC40ads_H100_v5, "
MIG += "sharing: {mode: mig, layout: all-1g.12gb}}}"


def test_a_chart_that_steps_back(tmp_path: Path) -> None:
    (found,) = changes(tmp_path, VERSION % ("draDriver", "0.5.0"), VERSION % ("draDriver", "0.4.1"))
    assert (found.code, found.severity, found.path, found.value) == (
        "CHG027", "warning", "aks-dra:gpu.charts.draDriver.version", "0.5.0 → 0.4.1",
    )  # fmt: skip
    assert found.message == (
        "the release dra-driver-nvidia-gpu steps back; NVIDIA supports its DRA driver forward only: the older one may "
        "not read what the newer one prepared"
    )
    assert changes(tmp_path, VERSION % ("draDriver", "0.4.1"), VERSION % ("draDriver", "0.5.0")) == []


@pytest.mark.parametrize(("had", "has", "codes"), [
    ("25.12.0", "0.5.0", []),  # the numbering began anew: this goes forward
    ("0.5.0", "25.12.0", ["CHG027"]),
    ("", "0.4.1", []),  # a packed chart's version is not known
    ("0.5.0", "", []),
])  # fmt: skip
def test_the_order_of_a_charts_versions_is_that_of_their_release(
    tmp_path: Path, had: str, has: str, codes: list[str]
) -> None:
    before = replace(previous_of(planned(tmp_path, T4 % "")), releases={"dra-driver-nvidia-gpu": had})
    source = "source: charts" if not has else f"version: {has}"
    _, findings = plan_file(
        stack(tmp_path, f"aks-dra:gpu: {{charts: {{draDriver: {{{source}}}}}}}\n" + T4 % ""), previous=before
    )
    assert [f.code for f in findings if f.code.startswith("CHG")] == codes


@pytest.mark.parametrize(("before", "after", "value"), [
    ("driverVersion: 580.105.08", "driverVersion: 595.91.07", "580.105.08 → 595.91.07"),
    ("driverVersion: 580.105.08", "driver: operator", ""),  # the chart's, whatever it is
    ("driverVersion: 580.105.08", "driverVersion: 580.105.08", ""),
])  # fmt: skip
def test_another_driver_is_put_on_the_nodes(tmp_path: Path, before: str, after: str, value: str) -> None:
    found = changes(tmp_path, f"aks-dra:gpu: {{{before}}}\n" + T4 % "", f"aks-dra:gpu: {{{after}}}\n" + T4 % "")
    assert [(f.code, f.path, f.value) for f in found] == (
        [("CHG028", "aks-dra:gpu.driverVersion", value)] * bool(value)
    )


def test_a_name_that_no_pool_advertises_any_more(tmp_path: Path) -> None:
    renamed, plain = OLD % (SLICED % ", rename: true", OTHER % ""), OLD % (SLICED % "", OTHER % "")
    (found,) = changes(tmp_path, renamed, plain)
    assert (found.code, found.severity, found.path, found.value) == (
        "CHG029", "warning", "aks-dra:pools.old.sharing", "nvidia.com/gpu.shared → nvidia.com/gpu",
    )  # fmt: skip
    assert changes(tmp_path, plain, renamed) == []  # the other pool still advertises nvidia.com/gpu
    assert changes(tmp_path, renamed, OLD % (SLICED % "", OTHER % ", rename: true")) == []


def test_a_class_that_no_longer_serves_a_name(tmp_path: Path) -> None:
    found = changes(tmp_path, MIG % "true", MIG % "false")
    assert summary(found) == [("CHG029", "warning", "aks-dra:gpu.extendedResources")]
    assert found[0].value == "nvidia.com/mig-1g.12gb → nothing"
    body = "aks-dra:deviceClasses: {mine: {require: {memory: '>=10Gi'}%s}}\n" + T4 % ""
    found = changes(tmp_path, body % ", extendedResourceName: example.com/gpu", body % "")
    assert summary(found) == [("CHG029", "warning", "aks-dra:deviceClasses.mine.extendedResourceName")]


def test_a_taint_that_ends_running_pods(tmp_path: Path) -> None:
    no_schedule, no_execute = ', taints: ["a=b:NoSchedule"]', ', taints: ["a=b:NoExecute"]'
    assert changes(tmp_path, T4 % "", T4 % no_schedule) == []
    found = changes(tmp_path, T4 % no_schedule, T4 % no_execute)
    assert [(f.code, f.path, f.value) for f in found] == [("CHG030", "aks-dra:pools.t4.taints", "a=b:NoExecute")]
    assert changes(tmp_path, T4 % no_execute, T4 % "") == []


def test_what_an_earlier_release_wrote_is_not_known_and_finds_nothing(tmp_path: Path) -> None:
    whole = as_plain(previous_of(planned(tmp_path, T4 % "")))
    for key in ("releases", "driver", "extended"):
        whole.pop(key)
    for key in ("resources", "evicting"):
        whole["pools"]["t4"].pop(key)
    file = stack(tmp_path, "aks-dra:gpu: {driverVersion: 580.105.08}\n" + T4 % ', taints: ["a=b:NoExecute"]')
    _, findings = plan_file(file, previous=from_plain(json.loads(json.dumps(whole))))
    assert [f.code for f in findings if f.code.startswith("CHG")] == []
