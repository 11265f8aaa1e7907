"""Chart values against the charts' own tables, and a user's values on top of the package's."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aks_dra.stackfile.entries import UNKNOWN
from aks_dra.topics.charts.values import RULES_FILE, ValueProblem, check_values
from aks_dra.trees import Conflict, conflicts, merge_values

TABLES = RULES_FILE.parent
DRA, OPERATOR, PLUGIN = "dra-driver-nvidia-gpu", "gpu-operator", "nvidia-device-plugin"


def problems(chart: str, values: dict[str, Any]) -> list[ValueProblem]:
    return check_values(chart, values, json.loads((TABLES / f"{chart}.json").read_text()))


def seen(chart: str, values: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [(problem.kind, problem.path, problem.suggestion) for problem in problems(chart, values)]


MISTAKES = [
    # The key that an article of the vendor of AKS prints: it switches nothing off.
    (DRA, {"resources-computeDomains": {"enabled": False}}, "resources-computeDomains", "resources.computeDomains"),
    (DRA, {"controller.affinity": None}, '["controller.affinity"]', "controller.affinity"),
    (DRA, {"computeDomains": {"enabled": False}}, "computeDomains", "resources.computeDomains"),
    (DRA, {"driverRoot": "/"}, "driverRoot", "nvidiaDriverRoot"),
    (DRA, {"nvidiadriverroot": "/"}, "nvidiadriverroot", "nvidiaDriverRoot"),
    (DRA, {"kubeletPlugin": {"toleration": []}}, "kubeletPlugin.toleration", "kubeletPlugin.tolerations"),
    (DRA, {"nodeSelector": {"a": "b"}}, "nodeSelector", ""),  # three sections have one: no guess
    (DRA, {"nvidiaCtkPath": "/x"}, "nvidiaCtkPath", ""),
    (OPERATOR, {"toolkit": {"enable": True}}, "toolkit.enable", "toolkit.enabled"),
    (OPERATOR, {"migmanager": {"enabled": False}}, "migmanager", "migManager"),
    (PLUGIN, {"config": {"nam": "x"}}, "config.nam", "config.name"),
]


@pytest.mark.parametrize(("chart", "values", "path", "meant"), MISTAKES, ids=[row[2] for row in MISTAKES])
def test_a_key_that_the_chart_would_ignore_is_named_with_what_was_meant(
    chart: str, values: dict[str, Any], path: str, meant: str
) -> None:
    assert seen(chart, values) == [("unknown-key", path, meant)]


TYPES: list[tuple[str, dict[str, Any], str, str]] = [
    (DRA, {"gpuResourcesEnabledOverride": "true"}, "gpuResourcesEnabledOverride", "true"),
    (DRA, {"controller": {"replicas": "2"}}, "controller.replicas", "2"),
    (DRA, {"controller": {"replicas": True}}, "controller.replicas", ""),
    (DRA, {"controller": {"replicas": 1.5}}, "controller.replicas", ""),
    (DRA, {"kubeletPlugin": {"tolerations": {"key": "sku"}}}, "kubeletPlugin.tolerations", ""),
    (DRA, {"resources": ["gpus"]}, "resources", ""),
    (DRA, {"featureGates": "MPSSupport=true"}, "featureGates", ""),
    (OPERATOR, {"driver": {"version": 595.91}}, "driver.version", '"595.91"'),
    (OPERATOR, {"devicePlugin": {"config": {"name": False}}}, "devicePlugin.config.name", '"false"'),
    # The template asks for a text and would leave the driver root out.
    (PLUGIN, {"nvidiaDriverRoot": 5}, "nvidiaDriverRoot", '"5"'),
    (PLUGIN, {"failOnInitError": "false"}, "failOnInitError", "false"),
]


@pytest.mark.parametrize(("chart", "values", "path", "instead"), TYPES, ids=[row[2] for row in TYPES])
def test_a_value_of_the_wrong_type_is_named_with_what_to_write(
    chart: str, values: dict[str, Any], path: str, instead: str
) -> None:
    assert seen(chart, values) == [("wrong-type", path, instead)]


def test_a_key_that_the_chart_itself_refuses_gets_the_reason_and_no_guess() -> None:
    (problem,) = problems(DRA, {"nvidiaCtkPath": "/x"})
    assert problem.rule == "the chart refuses this value: the driver brings its own CDI hook, and nothing replaces it"


def test_null_removes_a_default_but_not_a_section_that_the_templates_read() -> None:
    values: dict[str, Any] = {
        "kubeletPlugin": {"affinity": None, "nodeSelector": None, "tolerations": None},
        "webhook": None,
        "logVerbosity": None,
    }
    assert seen(DRA, values) == [
        ("removed-section", "webhook", "name the single values to change"),
        ("removed-value", "logVerbosity", "write a text, in quotes"),
    ]
    assert [problem.severity for problem in problems(DRA, values)] == ["error", "warning"]
    assert seen(PLUGIN, {"runtimeClassName": None, "nvidiaDriverRoot": None}) == []


def test_an_empty_map_does_not_take_a_default_away() -> None:
    assert seen(DRA, {"kubeletPlugin": {"affinity": {}}}) == [
        ("no-effect", "kubeletPlugin.affinity", "the entries that are wanted, or remove it")
    ]
    assert seen(DRA, {"kubeletPlugin": {"nodeSelector": {}}}) == []  # nothing is there to remove


@pytest.mark.parametrize(
    ("chart", "values"),
    [
        (DRA, {"featureGates": {"MPSSupport": True}, "kubeletPlugin": {"nodeSelector": {"a.b/c": "d"}}}),
        (DRA, {"kubeletPlugin": {"affinity": {"podAffinity": {}}, "updateStrategy": {"type": "OnDelete"}}}),
        (DRA, {"kubeletPlugin": {"updateStrategy": {"rollingUpdate": {"maxUnavailable": 1}}}, "consumableShares": 4}),
        (DRA, {"controller": {"replicas": 2.0}, "maskNvidiaDriverParams": True, "global": {"anything": 1}}),
        (OPERATOR, {"operator": {"nodeSelector": {"agentpool": "system"}, "resources": {"limits": {"cpu": "1"}}}}),
        (
            OPERATOR,
            {"node-feature-discovery": {"worker": {"tolerations": [], "hostNetwork": True}, "gc": {"enable": False}}},
        ),
        (OPERATOR, {"hostPaths": {"kubeletRootDir": "/var/lib/kubelet"}, "operator": {"version": "v26.7.0"}}),
        (OPERATOR, {"driver": {"upgradePolicy": {"maxUnavailable": 2}}, "validator": {"driver": {"env": []}}}),
        (PLUGIN, {"nfd": {"enabled": False}, "config": {"map": {"default": "version: v1"}}, "migStrategy": "mixed"}),
    ],
)
def test_open_maps_and_what_the_templates_read_beyond_the_defaults_are_fine(chart: str, values: dict[str, Any]) -> None:
    assert problems(chart, values) == []


def test_a_value_that_only_pulumi_knows_is_passed_over() -> None:
    assert problems(OPERATOR, {"driver": {"version": UNKNOWN}, "toolkit": UNKNOWN}) == []


@pytest.mark.parametrize("chart", [DRA, OPERATOR, PLUGIN])
def test_the_defaults_of_each_table_pass(chart: str) -> None:
    table = json.loads((TABLES / f"{chart}.json").read_text())["values"]
    for path, row in table.items():
        if "/" not in path:
            values: Any = row["default"]
            for key in reversed(path.split(".")):
                values = {key: values}
            assert {problem.kind for problem in check_values(chart, values, table)} <= {"no-effect"}, path


def test_the_table_may_come_whole_or_as_its_values() -> None:
    whole = json.loads((TABLES / f"{DRA}.json").read_text())
    assert check_values(DRA, {"x": 1}, whole) == check_values(DRA, {"x": 1}, whole["values"])


def test_a_user_may_add_and_repeat_but_not_contradict() -> None:
    ours = {
        "driver": {"enabled": True, "version": "1"},
        "tolerations": [{"key": "a"}],
        "count": 1,
        "affinity": None,
    }
    theirs = {
        "driver": {"enabled": False, "version": "1", "env": [{"name": "A", "value": "b"}]},
        "tolerations": [{"key": "b"}],
        "count": True,
        "affinity": {"nodeAffinity": {}},
        "dcgm": {"enabled": True},
    }
    merged, found = merge_values(ours, theirs)
    assert found == (
        Conflict("driver.enabled", True, False),
        Conflict("tolerations", [{"key": "a"}], [{"key": "b"}]),
        Conflict("count", 1, True),
        Conflict("affinity", None, {"nodeAffinity": {}}),
    )
    assert merged == {
        **ours,
        "driver": {"enabled": True, "version": "1", "env": [{"name": "A", "value": "b"}]},
        "dcgm": {"enabled": True},
    }
    assert conflicts(ours, theirs) == ["driver.enabled", "tolerations", "count", "affinity"]


def test_a_label_in_a_conflict_keeps_its_name_in_one_piece() -> None:
    ours = {"operator": {"nodeSelector": {"kubernetes.io/os": "linux"}}}
    assert conflicts(ours, {"operator": {"nodeSelector": {"kubernetes.io/os": "windows"}}}) == [
        'operator.nodeSelector["kubernetes.io/os"]'
    ]


KEYS = st.sampled_from(["a", "b", "c", "d.e/f"])
LEAVES = st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=2) | st.lists(st.integers(0, 2), max_size=2)
TREES = st.dictionaries(
    KEYS, st.recursive(LEAVES, lambda inner: st.dictionaries(KEYS, inner, max_size=3), max_leaves=9)
)


@given(TREES, TREES)
def test_merging_keeps_ours_everywhere_and_changes_neither_input(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    before = copy.deepcopy((ours, theirs))
    merged, found = merge_values(ours, theirs)
    assert (ours, theirs) == before
    assert merge_values(merged, ours) == (merged, ())  # all of ours is in it
    assert merge_values(merged, theirs) == (merged, found)  # and of theirs all but the conflicts
    assert merge_values(ours, ours)[1] == ()
    assert merge_values(ours, {}) == (ours, ())
    assert merge_values({}, theirs) == (theirs, ())
