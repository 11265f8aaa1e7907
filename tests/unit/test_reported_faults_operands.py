"""Faults that people met with chart values that take something away, or that Kubernetes takes as text only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.stacks import OPERATOR as OPERATOR_CHART
from tests.stacks import check, errors, only, release, warnings

OPERATOR, DRA = "aks-dra:gpu.charts.operator.values", "aks-dra:gpu.charts.draDriver.values"
PLUGIN = "aks-dra:gpu.charts.devicePlugin.values"
T4 = "{vmSize: Standard_NC4as_T4_v3}"
T4_PLUGIN = "{vmSize: Standard_NC4as_T4_v3, allocation: devicePlugin%s}"
A100 = "{vmSize: Standard_NC24ads_A100_v4%s, sharing: {mode: mig, layout: %s}}"


def stack(chart: str, values: Any, pool: str, more: str = "") -> str:
    written = yaml.safe_dump(values, default_flow_style=True, width=10000).strip()
    return f"aks-dra:gpu: {{{more}charts: {{{chart}: {{values: {written}}}}}}}\naks-dra:pools: {{p: {pool}}}\n"


@pytest.mark.parametrize(
    ("pool", "refused"),
    [
        (A100 % ("", "all-1g.10gb"), True), (T4_PLUGIN % ", sharing: {mode: mps, replicas: 2}", True),
        (A100 % (", allocation: devicePlugin", "all-balanced"), True), (T4, False), (T4_PLUGIN % "", False),
        (A100 % (", driver: aks", "all-1g.10gb"), False),
        (T4_PLUGIN % ", sharing: {mode: timeSlicing, replicas: 2}", False),
    ],
)  # fmt: skip
def test_feature_discovery_stays_where_others_select_on_its_labels(tmp_path: Path, pool: str, refused: bool) -> None:
    body = stack("operator", {"gfd": {"enabled": False}}, pool)
    assert errors(tmp_path, body) == ([("CHT020", f"{OPERATOR}.gfd.enabled")] if refused else [])


def test_the_mig_managers_own_default_partitions_no_other_pool(tmp_path: Path) -> None:
    pool = A100 % ("", "all-1g.10gb")
    body = stack("operator", {"migManager": {"config": {"default": "all-1g.5gb"}}}, pool)
    assert errors(tmp_path, body) == [("CHT021", f"{OPERATOR}.migManager.config.default")]
    assert check(tmp_path, stack("operator", {"migManager": {"config": {"default": "all-disabled"}}}, pool)) == []
    assert check(tmp_path, stack("operator", {"migManager": {"config": {"default": "all-1g.5gb"}}}, T4)) == []


def own_map(*layouts: str) -> dict[str, Any]:
    text = yaml.safe_dump({"version": "v1", "mig-configs": {name: [] for name in layouts}})
    return {"migManager": {"config": {"create": True, "name": "x", "data": {"config.yaml": text}}}}


def test_a_map_of_layouts_of_ones_own_holds_what_the_pools_need(tmp_path: Path) -> None:
    pool = A100 % ("", "all-1g.10gb")
    body = stack("operator", own_map("all-x"), pool)
    assert errors(tmp_path, body) == [("CHT022", f"{OPERATOR}.migManager.config.data")]
    message = "the map lacks all-1g.10gb, all-disabled, and pools need all-1g.10gb, all-disabled"
    assert only(tmp_path, body, "CHT022").message == message
    assert check(tmp_path, stack("operator", own_map("all-disabled", "all-1g.10gb"), pool)) == []
    named = stack("operator", {"migManager": {"config": {"name": "mine"}}}, pool)
    assert errors(tmp_path, named) == []
    assert warnings(tmp_path, named) == [("CHT022", f"{OPERATOR}.migManager.config.name")]
    custom = A100 % ("", "[{profiles: {3g.40gb: 2}}]")
    assert errors(tmp_path, stack("operator", {"migManager": {"config": {"name": "mine"}}}, custom)) == [
        ("CHT005", f"{OPERATOR}.migManager.config.name")
    ]


def test_the_device_plugins_cluster_wide_strategy_does_not_overrule_a_pools(tmp_path: Path) -> None:
    pool = A100 % (", allocation: devicePlugin", "all-1g.10gb, strategy: single")
    body = stack("devicePlugin", {"migStrategy": "mixed"}, pool)
    assert errors(tmp_path, body) == [("CHT023", f"{PLUGIN}.migStrategy")]
    message = "the chart's value wins over the pools' own strategies (p: single)"
    assert only(tmp_path, body, "CHT023").message == message
    assert check(tmp_path, stack("devicePlugin", {"migStrategy": "single"}, pool)) == []
    assert check(tmp_path, stack("devicePlugin", {"migStrategy": "mixed"}, T4)) == []


def required(*keys: str) -> dict[str, Any]:
    terms = [{"matchExpressions": [{"key": key, "operator": "Exists"}]} for key in keys]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


CONTROL_PLANE = "node-role.kubernetes.io/control-plane"
TERM = "nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms.0"


@pytest.mark.parametrize(
    ("chart", "values", "path"),
    [
        ("draDriver", {"controller": {"affinity": required(CONTROL_PLANE)}}, f"{DRA}.controller.affinity.{TERM}"),
        ("draDriver", {"controller": {"nodeSelector": {CONTROL_PLANE: ""}}},
         f"{DRA}.controller.nodeSelector.{CONTROL_PLANE}"),
        ("operator", {"operator": {"nodeSelector": {"node-role.kubernetes.io/master": ""}}},
         f"{OPERATOR}.operator.nodeSelector.node-role.kubernetes.io/master"),
        ("draDriver", {"controller": {"affinity": required(CONTROL_PLANE, "kubernetes.azure.com/mode")}}, ""),
        ("draDriver", {"controller": {"nodeSelector": {"kubernetes.azure.com/mode": "system"}}}, ""),
        ("draDriver", {"controller": {"tolerations": [{"key": CONTROL_PLANE, "operator": "Exists"}]}}, ""),
    ],
)  # fmt: skip
def test_nothing_needs_a_control_plane_node_which_aks_does_not_show(
    tmp_path: Path, chart: str, values: Any, path: str
) -> None:
    assert errors(tmp_path, stack(chart, values, T4)) == ([("CHT024", path)] if path else [])


@pytest.mark.parametrize(
    ("chart", "values", "path", "shown"),
    [
        ("operator", {"toolkit": {"env": [{"name": "X", "value": True}]}}, f"{OPERATOR}.toolkit.env.0.value", "true"),
        ("operator", {"driver": {"env": [{"name": "X", "value": 1}]}}, f"{OPERATOR}.driver.env.0.value", "1"),
        ("operator", {"daemonsets": {"tolerations": [{"key": "a", "operator": "Equal", "value": True}]}},
         f"{OPERATOR}.daemonsets.tolerations.0.value", "true"),
        ("draDriver", {"kubeletPlugin": {"tolerations": [{"key": "a", "value": 2}]}},
         f"{DRA}.kubeletPlugin.tolerations.0.value", "2"),
        ("draDriver", {"controller": {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "In", "values": ["b", True]}]}]}}}}},
         f"{DRA}.controller.affinity.{TERM}.matchExpressions.0.values.1", "true"),
    ],
)  # fmt: skip
def test_what_kubernetes_takes_as_text_only_is_refused_with_the_quoted_form(
    tmp_path: Path, chart: str, values: Any, path: str, shown: str
) -> None:
    body = stack(chart, values, T4)
    assert errors(tmp_path, body) == [("CHT019", path)]
    assert only(tmp_path, body, "CHT019").remedy == f'write "{shown}"'


def test_texts_and_seconds_are_left_alone(tmp_path: Path) -> None:
    tolerations = [{"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 60}]
    values = {"daemonsets": {"tolerations": tolerations}, "toolkit": {"env": [{"name": "X", "value": "1"}]}}
    assert check(tmp_path, stack("operator", values, T4)) == []


def test_an_empty_map_is_not_advised_to_become_a_null_which_is_refused(tmp_path: Path) -> None:
    body = stack("draDriver", {"kubeletPlugin": {"affinity": {"nodeAffinity": {}}}}, T4)
    assert only(tmp_path, body, "CHT004").remedy == "write the entries that are wanted, or remove it"


def test_the_packages_empty_text_is_shown(tmp_path: Path) -> None:
    body = stack("operator", {"mig": {"strategy": "mixed"}}, T4_PLUGIN % "")
    assert only(tmp_path, body, "CHT005").message == (
        'the package sets mig.strategy to "" from the pools\' sharing.strategy'
    )


def test_compute_domains_are_the_users_choice_with_either_stack(tmp_path: Path) -> None:
    values = {"draDriver": {"computeDomains": {"enabled": True}}}
    body = stack("operator", values, T4, "draStack: operator, ")
    assert errors(tmp_path, body) == []
    assert warnings(tmp_path, body) == [("CHT013", f"{OPERATOR}.draDriver.computeDomains.enabled")]
    assert release(tmp_path, body, OPERATOR_CHART).values["draDriver"]["computeDomains"] == {"enabled": True}
    grace = stack("operator", values, "{vmSize: Standard_ND128isr_NDR_GB200_v6}", "draStack: operator, ")
    assert warnings(tmp_path, grace) == [("SIZ002", "aks-dra:pools.p.vmSize")]


@pytest.mark.parametrize(
    "text", ["Calling [toString] on an [Output<T>] is not supported.", "Calling __str__ on an Output"]
)
def test_the_text_of_an_output_in_chart_values_is_refused_in_every_language(tmp_path: Path, text: str) -> None:
    body = stack("operator", {"driver": {"repository": text}}, T4)
    assert errors(tmp_path, body) == [("NAM006", f"{OPERATOR}.driver.repository")]


def test_a_registry_without_its_scheme_is_said(tmp_path: Path) -> None:
    body = "aks-dra:gpu: {charts: {draDriver: {source: %s}}}\naks-dra:pools: {p: " + T4 + "}\n"
    finding = only(tmp_path, body % "registry.k8s.io/dra-driver-nvidia/charts", "CHT014")
    assert (finding.severity, finding.remedy) == (
        "warning",
        "write oci://registry.k8s.io/dra-driver-nvidia/charts, or ./registry.k8s.io/dra-driver-nvidia/charts for a "
        "folder of this name",
    )
    for folder in (".local/charts", "charts", "./a.b/charts", "/srv/a.io/charts", "charts.1/x"):
        assert check(tmp_path, body % folder) == []


def test_a_charts_version_has_no_leading_zero(tmp_path: Path) -> None:
    body = "aks-dra:gpu: {charts: {operator: {version: v26.07.0}}}\n"
    assert errors(tmp_path, body) == [("CHT001", "aks-dra:gpu.charts.operator.version")]


@pytest.mark.parametrize("pool", [T4, T4_PLUGIN % "", A100 % (", driver: aks", "all-1g.10gb")])
def test_the_operators_policy_is_not_taken_away(tmp_path: Path, pool: str) -> None:
    body = stack("operator", {"clusterPolicy": {"deployCR": False}}, pool)
    assert errors(tmp_path, body) == [("CHT025", f"{OPERATOR}.clusterPolicy.deployCR")]
    assert check(tmp_path, stack("operator", {"clusterPolicy": {"deployCR": True}}, pool)) == []


OLD = "source: https://helm.ngc.nvidia.com/nvidia, version: 25.8.0, values"
SYSTEM = {"matchExpressions": [{"key": "kubernetes.azure.com/mode", "operator": "In", "values": ["system"]}]}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, {"required": [SYSTEM]}),
        ({"podAntiAffinity": {"x": []}}, {"required": [SYSTEM], "podAntiAffinity": {"x": []}}),
        ({"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": []}},
         {"required": [SYSTEM], "preferredDuringSchedulingIgnoredDuringExecution": []}),
        (required("example.com/own"),
         {"required": [{"matchExpressions": [{"key": "example.com/own", "operator": "Exists"}]}]}),
    ],
)  # fmt: skip
def test_an_old_charts_controller_never_falls_back_to_the_charts_control_plane_node(
    tmp_path: Path, given: dict[str, Any], expected: dict[str, Any]
) -> None:
    body = stack("draDriver", {"controller": {"affinity": given}}, T4).replace(
        "draDriver: {values", f"draDriver: {{{OLD}"
    )
    assert errors(tmp_path, body) == []
    affinity = dict(release(tmp_path, body, "dra-driver-nvidia-gpu").values["controller"]["affinity"])
    node = dict(affinity.pop("nodeAffinity"))
    terms = node.pop("requiredDuringSchedulingIgnoredDuringExecution")["nodeSelectorTerms"]
    assert {"required": terms, **node, **affinity} == expected
