"""Autoscaling of DRA pools: what may sleep for ever, and which pools an autoscaler does not see."""

from __future__ import annotations

from pathlib import Path

import pytest

from aks_dra import names
from tests.stacks import DRA, OPERATOR, PLUGIN, PLUGIN_AKS, check, cluster, only, planned, pool, warnings

T4, A100, H100 = "Standard_NC4as_T4_v3", "Standard_NC24ads_A100_v4", "Standard_NC40ads_H100_v5"
POOL = f"aks-dra:pools: {{t4: {{vmSize: {T4}}}}}\n"


def test_a_dra_pool_may_sleep_for_ever_and_does_not_by_default(tmp_path: Path) -> None:
    sharing = "sharing: {mode: mig, layout: all-1g.10gb}"
    zero = f"aks-dra:pools: {{a: {{vmSize: {A100}, {sharing}, nodes: {{min: 0, max: 3}}}}}}"
    finding = only(tmp_path, zero, "AUT001")
    assert (finding.severity, finding.path) == ("warning", "aks-dra:pools.a.nodes.min")
    assert finding.remedy == "write min: 1, or a fixed count (nodes: {count: 1}), which AUT002 asks for as well"
    assert only(tmp_path, zero, "AUT002").remedy.startswith("give a a fixed count, which settles AUT001 too, or ")
    older = cluster("1.34") + zero
    assert only(tmp_path, older, "AUT001").remedy == "write min: 1"
    assert pool(planned(tmp_path, zero), "a").inputs["minCount"] == 0
    omitted = zero.replace("min: 0, ", "")
    assert "AUT001" not in {f.code for f in check(tmp_path, omitted)}
    assert pool(planned(tmp_path, omitted), "a").inputs["minCount"] == 1
    legacy = f"aks-dra:pools: {{t: {{vmSize: {T4}, allocation: devicePlugin, nodes: {{min: 0, max: 3}}}}}}"
    assert check(tmp_path, legacy) == []
    assert pool(planned(tmp_path, legacy.replace("min: 0, ", "")), "t").inputs["minCount"] == 0


def test_the_test_pool_has_the_same_rule(tmp_path: Path) -> None:
    body = "aks-dra:testPool: {enabled: true, nodes: {min: 0, max: 1}}"
    assert ("AUT001", "aks-dra:testPool.nodes.min") in warnings(tmp_path, body)


SYSTEM = "aks-dra:cluster: {{kubernetesVersion: '{}', access: {{azureRbac: true}}, systemPool: {{nodes: {}}}}}\n"
FLEET = (
    f"aks-dra:pools: {{d1: {{vmSize: {T4}}}, d2: {{vmSize: {A100}}}, "
    f"legacy: {{vmSize: {T4}, allocation: devicePlugin%s}}}}\n"
)


@pytest.mark.parametrize(
    ("version", "system", "legacy", "scaled"),
    [
        ("1.36", "{min: 1, max: 3}", "", "system"), ("1.35", "{min: 1, max: 3}", "", "system"),
        ("1.35.7", "{count: 3}", ", nodes: {min: 1, max: 2}", "legacy"),
        ("1.37", "{min: 1, max: 3}", ", nodes: {min: 1, max: 2}", "legacy, system"), ("1.36", "{count: 3}", "", ""),
        ("1.34", "{min: 1, max: 3}", ", nodes: {min: 1, max: 2}", ""),
    ],
)  # fmt: skip
def test_pools_without_nvidia_com_gpu_beside_an_autoscaler_are_named(
    tmp_path: Path, version: str, system: str, legacy: str, scaled: str
) -> None:
    body = SYSTEM.format(version, system) + FLEET % legacy
    found = [f for f in check(tmp_path, body) if f.code == "AUT002"]
    assert [f.value for f in found] == ([scaled] if scaled else [])
    for finding in found:
        assert "the nodes of d1, d2 are" in finding.message
        assert finding.severity == "warning"


def test_only_the_right_pools_are_named(tmp_path: Path) -> None:
    system = SYSTEM.format("1.36", "{min: 1, max: 3}")
    plugin_only = f"aks-dra:pools: {{a: {{vmSize: {T4}, allocation: devicePlugin, nodes: {{min: 1, max: 2}}}}}}"
    assert "AUT002" not in {f.code for f in check(tmp_path, system + plugin_only)}
    renamed = plugin_only.replace("nodes:", "sharing: {mode: timeSlicing, replicas: 2, rename: true}, nodes:")
    assert "the nodes of a are" in only(tmp_path, system + renamed, "AUT002").message
    assert "AUT002" not in {f.code for f in check(tmp_path, system)}
    existing = "/subscriptions/s/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters/c"
    there = f"aks-dra:cluster: {{existing: {existing}, systemPool: {{nodes: {{min: 1, max: 3}}}}}}\n{POOL}"
    assert "AUT002" not in {f.code for f in check(tmp_path, there)}, "its system pool is not ours"


def test_what_pins_a_pod_to_a_pool_is_known_before_a_node_is_there(tmp_path: Path) -> None:
    """At zero nodes the autoscaler knows what is declared on the pool and what AKS itself sets, and nothing else."""
    nodes = "nodes: {min: 1, max: 2}"
    body = f"aks-dra:pools: {{p: {{vmSize: {T4}, labels: {{team: x}}, taints: ['sku=gpu:NoSchedule'], {nodes}}}}}"
    plan = planned(tmp_path, body + "\naks-dra:testPool: {enabled: true}")
    by_aks = {names.LABEL_AGENT_POOL}
    for entry in plan.pools:
        assert set(entry.pod.node_selector) <= set(entry.inputs["nodeLabels"]) | by_aks
        declared = {taint.partition("=")[0].partition(":")[0] for taint in entry.inputs["nodeTaints"]}
        assert {toleration["key"] for toleration in entry.pod.tolerations} == declared
    for release in (OPERATOR, DRA, PLUGIN, PLUGIN_AKS):
        assert "feature.node.kubernetes.io" not in str([r.values for r in plan.releases if r.name == release])


def test_below_1_35_nothing_is_known_of_it(tmp_path: Path) -> None:
    body = cluster("1.34") + f"aks-dra:pools: {{d: {{vmSize: {T4}, nodes: {{min: 1, max: 2}}}}}}"
    assert "AUT002" not in {f.code for f in check(tmp_path, body)}


def test_findings_point_to_the_pool_that_is_meant(tmp_path: Path) -> None:
    scaled = "aks-dra:testPool: {enabled: true, nodes: {min: 1, max: 2}}"
    for body, path in (
        (scaled, "aks-dra:testPool.nodes"),
        (f"aks-dra:pools: {{d: {{vmSize: {T4}}}}}\n{scaled}", "aks-dra:testPool.nodes"),
        (f"aks-dra:pools: {{d: {{vmSize: {T4}, nodes: {{min: 1, max: 2}}}}}}\n{scaled}", "aks-dra:pools"),
    ):
        finding = only(tmp_path, body, "AUT002")
        assert finding.path == path
        assert finding.line > 1
    off = "aks-dra:testPool: {enabled: true, nodes: {count: 0}}"
    assert only(tmp_path, off, "ALL002").path == "aks-dra:testPool.nodes"
    assert only(tmp_path, cluster("1.35") + off, "ALL006").path == "aks-dra:testPool"
