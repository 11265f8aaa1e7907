"""The plan as the simulated cluster shows it: nodes, slices, and values that only a node would know."""

from __future__ import annotations

from pathlib import Path

import pytest

from aks_dra.facts import load_facts
from aks_dra.simulate.fleet import class_manifests, machine, node_manifest, node_names, node_pools, slice_manifests
from tests.stacks import planned

FLEET = """
aks-dra:pools:
  t4:
    vmSize: Standard_NC4as_T4_v3
    nodes: {min: 1, max: 4, initial: 2}
    taints: ["sku=gpu:NoSchedule", "quiet:NoExecute"]
    zones: ["1", "2"]
    labels: {team: ml}
  old: {vmSize: Standard_NC4as_T4_v3, allocation: devicePlugin, sharing: {mode: timeSlicing, replicas: 3}}
  slices: {vmSize: Standard_NC48ads_A100_v4, sharing: {mode: mig, layout: all-1g.10gb}}
"""


def test_nodes_are_what_the_pools_say(tmp_path: Path) -> None:
    plan = planned(tmp_path, FLEET)
    first = {pool.name: pool for pool in node_pools(plan)}
    assert {name: pool.count for name, pool in first.items()} == {"system": 3, "old": 1, "slices": 1, "t4": 2}
    assert {pool.name: pool.count for pool in node_pools(plan, "max")}["t4"] == 4
    assert node_names(first["t4"]) == ["aks-t4-vmss000000", "aks-t4-vmss000001"]
    node = node_manifest(first["t4"], "aks-t4-vmss000001", 1, load_facts(), "r1", "2026-11-30T00:00:00Z")
    assert node["spec"]["taints"] == [
        {"key": "sku", "value": "gpu", "effect": "NoSchedule"},
        {"key": "quiet", "effect": "NoExecute"},
    ]
    labels = node["metadata"]["labels"]
    assert labels["simulated.aks-dra.dev/run"] == "r1"
    assert labels["topology.kubernetes.io/zone"] == "swedencentral-2"
    assert labels["kubernetes.azure.com/agentpool"] == "t4"
    assert labels["aks-dra.dev/allocation"] == "dra"
    assert labels["team"] == "ml"
    assert node["status"]["allocatable"]["cpu"] == "3680m"
    old = node_manifest(first["old"], "n", 0, load_facts(), "r1", "")
    assert old["status"]["allocatable"]["nvidia.com/gpu"] == "3"
    assert "spec" not in old
    assert list(slice_manifests(first["old"].devices, "n", "r1")) == []


def test_partitions_of_one_gpu_have_one_parent_and_ids_of_their_own(tmp_path: Path) -> None:
    (pool,) = [pool for pool in node_pools(planned(tmp_path, FLEET)) if pool.name == "slices"]
    (one,) = slice_manifests(pool.devices, "node-a", "r1")
    (other,) = slice_manifests(pool.devices, "node-b", "r1")
    devices = one["spec"]["devices"]
    assert one["spec"]["pool"] == {"name": "node-a", "generation": 1, "resourceSliceCount": 1}
    assert len(devices) == 14

    def values(entries: list[dict[str, dict[str, dict[str, str]]]], name: str) -> set[str]:
        return {entry["attributes"][name]["string"] for entry in entries}

    assert len(values(devices, "parentUUID")) == 2
    assert len(values(devices[:7], "parentUUID")) == 1
    assert len(values(devices, "uuid")) == 14
    assert values(devices, "uuid").isdisjoint(values(other["spec"]["devices"], "uuid"))
    assert devices == next(slice_manifests(pool.devices, "node-a", "r2"))["spec"]["devices"]
    assert "addressingMode" not in devices[0]["attributes"]


def test_places_of_dynamic_mig_lie_behind_their_counters(tmp_path: Path) -> None:
    fleet = """
    aks-dra:pools:
      h100: {vmSize: Standard_ND96isr_H100_v5, nodes: {count: 1}, sharing: {mode: dynamicMig}}
    """
    (pool,) = [pool for pool in node_pools(planned(tmp_path, fleet)) if pool.name == "h100"]
    counters, *rest = slice_manifests(pool.devices, "n", "r1")
    sets = counters["spec"]["sharedCounters"]
    assert [entry["name"] for entry in sets] == [f"gpu-{index}-counter-set" for index in range(8)]
    assert {name for name in sets[0]["counters"] if name.startswith("memory-slice")} == {
        f"memory-slice-{slot}" for slot in range(8)
    }
    assert sum(len(entry["spec"]["devices"]) for entry in rest) == len(pool.devices) > 64
    assert max(len(entry["spec"]["devices"]) for entry in rest) == 64
    assert {entry["spec"]["pool"]["resourceSliceCount"] for entry in (counters, *rest)} == {1 + len(rest)}
    whole = next(device for device in rest[0]["spec"]["devices"] if device["name"] == "gpu-0")
    (takes,) = whole["consumesCounters"]
    assert takes == {"counterSet": sets[0]["name"], "counters": sets[0]["counters"]}


def test_the_chart_s_classes_come_before_those_of_the_plan(tmp_path: Path) -> None:
    chart, own = class_manifests(planned(tmp_path, FLEET))
    names = [entry["metadata"]["name"] for entry in chart]
    assert names[:3] == ["gpu.nvidia.com", "mig.nvidia.com", "vfio.gpu.nvidia.com"]
    assert chart[0]["spec"]["extendedResourceName"] == "nvidia.com/gpu"
    by_name = {entry["metadata"]["name"]: entry["spec"] for entry in own}
    assert by_name["aks-dra-legacy-requests"]["selectors"] == [{"cel": {"expression": "false"}}]
    assert "t4" in by_name


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        ("Standard_NC4as_T4_v3", (4, 28, "amd64")),
        ("Standard_D8ds_v5", (8, 32, "amd64")),
        ("Standard_E16s_v5", (16, 128, "amd64")),
        ("of its own", (8, 32, "amd64")),
    ],
)
def test_machines_outside_the_table_go_by_their_names(size: str, expected: tuple[int, int, str]) -> None:
    assert machine(load_facts(), size) == expected
