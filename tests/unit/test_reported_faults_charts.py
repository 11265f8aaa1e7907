"""Faults that people met with NVIDIA's charts: guards, gates, versions and names."""

from __future__ import annotations

from pathlib import Path

import pytest

from aks_dra.facts import load_facts
from tests.stacks import DRA, OPERATOR, check, cluster, errors, only, planned, release, values, warnings

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


@pytest.mark.parametrize("version", ["1.34", "1.35", "1.34.2"])
def test_below_1_36_dra_cannot_serve_pods_that_ask_for_nvidia_com_gpu(tmp_path: Path, version: str) -> None:
    asked = cluster(version) + POOL + "aks-dra:gpu: {legacyRequests: dra}"
    assert errors(tmp_path, asked) == [("ALL001", "aks-dra:gpu.legacyRequests")]
    assert warnings(tmp_path, cluster(version) + POOL) == [("ALL006", "aks-dra:pools")]
    assert check(tmp_path, cluster(version) + LEGACY) == []


@pytest.mark.parametrize(("version", "expected"), [("1.36", ["ALL007"]), ("1.36.2", ["ALL007"]), ("1.37", [])])
def test_from_1_36_it_can_and_while_that_is_beta_it_is_said(tmp_path: Path, version: str, expected: list[str]) -> None:
    body = cluster(version) + POOL + "aks-dra:gpu: {legacyRequests: dra}"
    assert [(f.severity, f.code) for f in check(tmp_path, body)] == [("warning", code) for code in expected]
    if expected:
        assert "DRAExtendedResource" in only(tmp_path, body, "ALL007").message


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


def test_the_table_has_both_kinds_of_charts() -> None:
    assert {"25.3.0", "25.8.1", "25.12.0"} <= set(OLD)
    assert NEW == ["0.4.0", "0.4.1", "0.5.0"]


@pytest.mark.parametrize("version", OLD)
def test_a_version_that_had_another_name_is_not_looked_for_where_it_is_not(tmp_path: Path, version: str) -> None:
    bare = POOL + f"aks-dra:gpu: {{charts: {{draDriver: {{version: {version}}}}}}}"
    assert ("CHT015", "aks-dra:gpu.charts.draDriver.version") in errors(tmp_path, bare)
    assert release(
        tmp_path, POOL + bare.split("\n")[1].replace("}}}", ", source: 'oci://example.com/charts'}}}"), DRA
    ).chart == ("oci://example.com/charts/nvidia-dra-driver-gpu")


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


@pytest.mark.parametrize(
    ("version", "name", "refused"),
    [
        ("0.4.0", "nvidia-dra-driver-gpu", True),
        ("0.4.0", "gpu-driver", False),
        ("0.4.1", "nvidia-dra-driver-gpu", False),
        ("0.5.0", "nvidia-dra-driver-gpu", False),
    ],
)
def test_the_old_name_of_the_chart_is_refused_where_it_renders_a_key_twice(
    tmp_path: Path, version: str, name: str, refused: bool
) -> None:
    expected = [("CHT011", f"{DRA_VALUES}.nameOverride")] if refused else []
    assert errors(tmp_path, POOL + dra(f"{{nameOverride: {name}}}", version)) == expected
