"""Damaged workload files: each is refused with a text that names the file, or answered; none ends in a traceback."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aks_dra.kube.reading import WorkloadError, read_text
from aks_dra.kube.workloads import Workloads, workloads
from aks_dra.model.plan import Plan
from aks_dra.simulate.command import without_cluster
from aks_dra.simulate.pods import daemon_pod, pod_manifest
from tests.stacks import planned

TWO = """
aks-dra:pools:
  t4: {vmSize: Standard_NC4as_T4_v3, nodes: {count: 5}}
  a100: {vmSize: Standard_NC24ads_A100_v4}
"""
JUNK: st.SearchStrategy[Any] = st.sampled_from(
    [None, 0, -1, True, 1.5, "", "text", [], [1], ["a"], {}, {"a": 1}, [[]], [{}], [None], {"a": {}}]
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, item in inner for place in places(item, (*path, key)))]


@pytest.fixture(scope="module")
def whole() -> list[dict[str, Any]]:
    file = Path(__file__).parents[1] / "simulation" / "simulated" / "workload.yaml"
    return [manifest.content for manifest in read_text(file.read_text(), "w.yaml")]


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    return planned(tmp_path_factory.mktemp("stack"), TWO)


@settings(max_examples=200)
@given(data=st.data())
def test_no_input_ends_in_a_traceback(data: st.DataObject, whole: list[dict[str, Any]], plan: Plan) -> None:
    manifests = copy.deepcopy(whole)
    for _ in range(data.draw(st.integers(1, 3))):
        *before, last = data.draw(st.sampled_from(places(manifests)[1:]))
        holder: Any = manifests
        for key in before:
            holder = holder[key]
        holder[last] = data.draw(JUNK)
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": manifests})
    found: Workloads | None = None
    said = ""
    try:
        found = workloads(read_text(text, "w.yaml"))
    except WorkloadError as error:
        said = str(error)
    if found is None:
        assert said.startswith("w.yaml"), said
        return
    report = without_cluster(plan, found, "told so")
    assert len(report.pods) == sum(len(group.pods) for group in found.groups)
    for group in found.groups:
        for pod in group.pods:
            assert pod_manifest(daemon_pod(pod, "n") if pod.every_node else pod, {})["kind"] == "Pod"
