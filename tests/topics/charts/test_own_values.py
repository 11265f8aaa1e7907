"""Chart values of a user's own that take something away, or that Kubernetes takes as text only; nulls and lists."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.stacks import DRA as DRA_CHART
from tests.stacks import OPERATOR as OPERATOR_CHART
from tests.stacks import check, errors, only, planned, values, warnings

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


@pytest.mark.parametrize(
    ("chart", "values", "path", "shown"),
    [
        ("operator", {"operator": {"nodeSelector": {"gpu": True}}}, f"{OPERATOR}.operator.nodeSelector.gpu", "true"),
        (
            "draDriver",
            {"controller": {"podAnnotations": {"scrape": 1}}},
            f"{DRA}.controller.podAnnotations.scrape",
            "1",
        ),
    ],
)
def test_labels_that_yaml_reads_as_no_text_are_shown_in_quotes(
    tmp_path: Path, chart: str, values: Any, path: str, shown: str
) -> None:
    found = [(f.path, f.remedy) for f in check(tmp_path, stack(chart, values, T4)) if f.path == path]
    assert found == [(path, f'write "{shown}"')]


def test_a_section_of_a_chart_that_is_misspelt(tmp_path: Path) -> None:
    finding = only(tmp_path, stack("operator", {"drver": {"enabled": True}}, T4), "CHT004")
    assert finding.path == f"{OPERATOR}.drver"
    assert "driver" in finding.remedy


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


@pytest.mark.parametrize("pool", [T4, T4_PLUGIN % "", A100 % (", driver: aks", "all-1g.10gb")])
def test_the_operators_policy_is_not_taken_away(tmp_path: Path, pool: str) -> None:
    body = stack("operator", {"clusterPolicy": {"deployCR": False}}, pool)
    assert errors(tmp_path, body) == [("CHT025", f"{OPERATOR}.clusterPolicy.deployCR")]
    assert check(tmp_path, stack("operator", {"clusterPolicy": {"deployCR": True}}, pool)) == []


POOL = "aks-dra:pools: {t4: {vmSize: Standard_NC4as_T4_v3}}\n"
DRA_VALUES = "aks-dra:gpu.charts.draDriver.values"


def dra(given: str) -> str:
    return f"aks-dra:gpu: {{charts: {{draDriver: {{values: {given}}}}}}}"


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ("{controller: {priorityClassName: null}}", "controller.priorityClassName"),
        ("{controller: ~}", "controller"),
        ("{controller: {affinity: null}}", "controller.affinity"),
        ("{webhook: {tolerations: null}}", "webhook.tolerations"),
        ("{controller: {tolerations: [{key: a, operator: Exists, effect: null}]}}", "controller.tolerations.0.effect"),
        ("{image: {tag: }}", "image.tag"),
    ],
)
def test_a_null_that_would_not_reach_helm_is_refused_with_its_path(tmp_path: Path, given: str, path: str) -> None:
    assert ("CHT010", f"{DRA_VALUES}.{path}") in errors(tmp_path, POOL + dra(given))


EXTRA: dict[str, Any] = {"key": "extra", "operator": "Exists"}
LISTS = [
    ("draDriver", "{kubeletPlugin: {tolerations: %s}}", DRA_CHART, ("kubeletPlugin", "tolerations")),
    ("operator", "{daemonsets: {tolerations: %s}}", OPERATOR_CHART, ("daemonsets", "tolerations")),
    ("operator", "{node-feature-discovery: {worker: {tolerations: %s}}}", OPERATOR_CHART,
     ("node-feature-discovery", "worker", "tolerations")),
]  # fmt: skip


@pytest.mark.parametrize(("chart", "given", "name", "keys"), LISTS, ids=[".".join(row[3]) for row in LISTS])
def test_one_more_toleration_is_added_to_those_that_are_needed(
    tmp_path: Path, chart: str, given: str, name: str, keys: tuple[str, ...]
) -> None:
    def tolerations(extra: str) -> list[dict[str, Any]]:
        found: Any = values(
            planned(tmp_path, POOL + f"aks-dra:gpu: {{charts: {{{chart}: {{values: {given % extra}}}}}}}"), name
        )
        for key in keys:
            found = found[key]
        return list(found)

    one = "[{key: extra, operator: Exists}]"
    before = tolerations("[]")
    assert {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"} in before
    assert tolerations(one) == [*before, EXTRA]
    assert errors(tmp_path, POOL + f"aks-dra:gpu: {{charts: {{{chart}: {{values: {given % one}}}}}}}") == []
    emptied = POOL + f"aks-dra:gpu: {{charts: {{{chart}: {{values: {given % '[]'}}}}}}}"
    assert [code for code, _ in errors(tmp_path, emptied)] == ["CHT005"]


def test_a_users_list_that_is_not_the_packages_is_passed_on_whole(tmp_path: Path) -> None:
    plan = planned(tmp_path, POOL + dra("{controller: {tolerations: [{key: extra, operator: Exists}]}}"))
    assert values(plan, DRA_CHART)["controller"]["tolerations"] == [EXTRA]
