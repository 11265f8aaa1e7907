"""The DRA driver's chart: its guard against two plugins, its controller, compute domains, the API's version."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from aks_dra.facts import load_facts
from tests.stacks import DRA, OPERATOR, check, cluster, errors, only, planned, release, values, warnings
from tests.stacks import OPERATOR as OPERATOR_CHART

POOL = "aks-dra:pools: {t4: {vmSize: Standard_NC4as_T4_v3}}\n"
LEGACY = "aks-dra:pools: {t4: {vmSize: Standard_NC4as_T4_v3, allocation: devicePlugin}}\n"
FACTS = load_facts()
DRA_VALUES = "aks-dra:gpu.charts.draDriver.values"


def dra(given: str, version: str = "") -> str:
    chosen = f"version: {version}, " if version else ""
    return f"aks-dra:gpu: {{charts: {{draDriver: {{{chosen}values: {given}}}}}}}"


@pytest.mark.parametrize(
    "given",
    [
        "{resources: {gpus: {enabled: false}}, gpuResourcesEnabledOverride: true}",
        "{resources: {gpus: {enabled: false}}}",
    ],
)
def test_switching_the_drivers_gpus_off_is_refused(tmp_path: Path, given: str) -> None:
    assert errors(tmp_path, POOL + dra(given)) == [("CHT005", f"{DRA_VALUES}.resources.gpus.enabled")]
    assert "a pool with allocation: dra, whose GPUs it publishes" in only(tmp_path, POOL + dra(given), "CHT005").message


def test_the_guard_against_two_plugins_is_lifted_only_where_no_node_has_both(tmp_path: Path) -> None:
    plan = planned(tmp_path, POOL)
    assert values(plan, DRA)["gpuResourcesEnabledOverride"] is True
    assert values(plan, DRA)["resources"]["gpus"] == {"enabled": True}
    assert values(plan, OPERATOR)["devicePlugin"]["enabled"] is False
    assert [release.name for release in planned(tmp_path, LEGACY).releases] == [OPERATOR, "nvidia-device-plugin"]
    plugin = "aks-dra:gpu: {charts: {operator: {values: {devicePlugin: {enabled: true}}}}}"
    assert errors(tmp_path, POOL + plugin) == [("CHT005", "aks-dra:gpu.charts.operator.values.devicePlugin.enabled")]
    elsewhere = "aks-dra:gpu: {charts: {devicePlugin: {values: {nodeSelector: {aks-dra.dev/allocation: dra}}}}}"
    path = 'aks-dra:gpu.charts.devicePlugin.values.nodeSelector["aks-dra.dev/allocation"]'
    assert errors(tmp_path, LEGACY + elsewhere) == [("CHT005", path)]


@pytest.mark.parametrize("text", ['"true"', '"false"', "1", "[]"])
def test_the_guards_value_is_true_and_nothing_like_it(tmp_path: Path, text: str) -> None:
    codes = {code for code, _ in errors(tmp_path, POOL + dra(f"{{gpuResourcesEnabledOverride: {text}}}"))}
    assert codes == {"CHT004", "CHT005"}


CHART = FACTS.charts["dra-driver-nvidia-gpu"]
OLD = [version for version, row in CHART.versions.items() if "preferredControllerAffinity" not in row.features]
NEW = [version for version in CHART.versions if version not in OLD]
SYSTEM = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [
                {"matchExpressions": [{"key": "kubernetes.azure.com/mode", "operator": "In", "values": ["system"]}]}
            ]
        }
    }
}


def at_version(version: str) -> str:
    return POOL + f"aks-dra:gpu: {{charts: {{draDriver: {{version: {version}, source: ./charts}}}}}}"


@pytest.mark.parametrize("version", OLD)
def test_an_old_charts_controller_goes_to_the_system_pool(tmp_path: Path, version: str) -> None:
    plan = planned(tmp_path, at_version(version))
    assert values(plan, DRA)["controller"]["affinity"] == SYSTEM
    assert "control-plane" not in " ".join(finding.message for finding in plan.findings)
    assert {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"} in values(plan, DRA)[
        "kubeletPlugin"
    ]["tolerations"]


@pytest.mark.parametrize("version", NEW)
def test_a_present_charts_controller_is_left_alone(tmp_path: Path, version: str) -> None:
    plan = planned(tmp_path, at_version(version))
    assert "controller" not in values(plan, DRA)
    assert plan.findings == ()


def test_compute_domains_are_off_and_whoever_wants_them_is_warned_and_served(tmp_path: Path) -> None:
    fleet = (
        "aks-dra:pools: {t4: {vmSize: Standard_NC4as_T4_v3}, a100: {vmSize: Standard_NC24ads_A100_v4}, "
        "h100: {vmSize: Standard_NC40ads_H100_v5}}\n"
    )
    plan = planned(tmp_path, fleet)
    assert values(plan, DRA)["resources"]["computeDomains"] == {"enabled": False}
    assert plan.findings == ()
    wanted = fleet + dra("{resources: {computeDomains: {enabled: true}}}")
    assert values(planned(tmp_path, wanted), DRA)["resources"]["computeDomains"] == {"enabled": True}
    assert [(f.severity, f.code, f.path) for f in check(tmp_path, wanted)] == [
        ("warning", "CHT013", f"{DRA_VALUES}.resources.computeDomains.enabled")
    ]
    grace = "aks-dra:pools: {g: {vmSize: Standard_ND128isr_NDR_GB200_v6}}\n" + dra(
        "{resources: {computeDomains: {enabled: true}}}"
    )
    assert "CHT013" not in {code for code, _ in warnings(tmp_path, grace)}


@pytest.mark.parametrize("api", ["v1beta1", "v1beta2", "v1alpha3"])
def test_an_old_version_of_the_api_is_refused_wherever_it_is_written(tmp_path: Path, api: str) -> None:
    old = f"resource.k8s.io/{api}"
    assert ("CHT017", f"{DRA_VALUES}.resourceApiVersion") in errors(tmp_path, dra(f"{{resourceApiVersion: {old}}}"))
    env = f"aks-dra:gpu: {{charts: {{operator: {{values: {{operator: {{annotations: {{api: {old}}}}}}}}}}}}}"
    assert errors(tmp_path, env) == [("CHT017", "aks-dra:gpu.charts.operator.values.operator.annotations.api")]


@pytest.mark.parametrize("version", ["1.34", "1.35", "1.36", "1.37"])
def test_the_api_version_is_v1_everywhere(tmp_path: Path, version: str) -> None:
    body = cluster(version) + POOL + "aks-dra:deviceClasses: {any: {require: {type: gpu}}}\n"
    plan = planned(tmp_path, body + "aks-dra:claims: {ml: {one: {deviceClass: any}}}")
    assert values(plan, DRA)["resourceApiVersion"] == "resource.k8s.io/v1"
    kinds = {
        planned.kind: planned.manifest["apiVersion"]
        for planned in plan.objects
        if "k8s.io" in planned.manifest["apiVersion"]
    }
    assert {kind for kind in kinds if kind in ("DeviceClass", "ResourceClaimTemplate")} == {
        "DeviceClass",
        "ResourceClaimTemplate",
    }
    assert {api for kind, api in kinds.items() if kind in ("DeviceClass", "ResourceClaimTemplate")} == {
        "resource.k8s.io/v1"
    }


OPERATOR_VALUES, DRA_PATH = "aks-dra:gpu.charts.operator.values", "aks-dra:gpu.charts.draDriver.values"
T4 = "{vmSize: Standard_NC4as_T4_v3}"


def stack(chart: str, values: Any, pool: str, more: str = "") -> str:
    written = yaml.safe_dump(values, default_flow_style=True, width=10000).strip()
    return f"aks-dra:gpu: {{{more}charts: {{{chart}: {{values: {written}}}}}}}\naks-dra:pools: {{p: {pool}}}\n"


def required(*keys: str) -> dict[str, Any]:
    terms = [{"matchExpressions": [{"key": key, "operator": "Exists"}]} for key in keys]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


def test_compute_domains_are_the_users_choice_with_either_stack(tmp_path: Path) -> None:
    values = {"draDriver": {"computeDomains": {"enabled": True}}}
    body = stack("operator", values, T4, "draStack: operator, ")
    assert errors(tmp_path, body) == []
    assert warnings(tmp_path, body) == [("CHT013", f"{OPERATOR_VALUES}.draDriver.computeDomains.enabled")]
    assert release(tmp_path, body, OPERATOR_CHART).values["draDriver"]["computeDomains"] == {"enabled": True}
    grace = stack("operator", values, "{vmSize: Standard_ND128isr_NDR_GB200_v6}", "draStack: operator, ")
    assert warnings(tmp_path, grace) == [("SIZ002", "aks-dra:pools.p.vmSize")]


OLD_CHART = "source: https://helm.ngc.nvidia.com/nvidia, version: 25.8.0, values"
SYSTEM_TERM = {"matchExpressions": [{"key": "kubernetes.azure.com/mode", "operator": "In", "values": ["system"]}]}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, {"required": [SYSTEM_TERM]}),
        ({"podAntiAffinity": {"x": []}}, {"required": [SYSTEM_TERM], "podAntiAffinity": {"x": []}}),
        ({"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": []}},
         {"required": [SYSTEM_TERM], "preferredDuringSchedulingIgnoredDuringExecution": []}),
        (required("example.com/own"),
         {"required": [{"matchExpressions": [{"key": "example.com/own", "operator": "Exists"}]}]}),
    ],
)  # fmt: skip
def test_an_old_charts_controller_never_falls_back_to_the_charts_control_plane_node(
    tmp_path: Path, given: dict[str, Any], expected: dict[str, Any]
) -> None:
    body = stack("draDriver", {"controller": {"affinity": given}}, T4).replace(
        "draDriver: {values", f"draDriver: {{{OLD_CHART}"
    )
    assert errors(tmp_path, body) == []
    affinity = dict(release(tmp_path, body, "dra-driver-nvidia-gpu").values["controller"]["affinity"])
    node = dict(affinity.pop("nodeAffinity"))
    terms = node.pop("requiredDuringSchedulingIgnoredDuringExecution")["nodeSelectorTerms"]
    assert {"required": terms, **node, **affinity} == expected
