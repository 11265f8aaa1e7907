"""Settings in another tool's words, in another place, or in another shape."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.stacks import check, errors, only

POOL = "aks-dra:pools: {p: {vmSize: Standard_NC24ads_A100_v4, %s}}\n"
HERE = "aks-dra:pools.p"


@pytest.mark.parametrize(
    ("given", "path", "remedy"),
    [
        ("nodeTaints: ['a=b:NoSchedule']", "nodeTaints", "did you mean taints?"),
        ("nodeLabels: {a: b}", "nodeLabels", "did you mean labels?"),
        ("availabilityZones: ['1']", "availabilityZones", "did you mean zones?"),
        ("orchestratorVersion: '1.36'", "orchestratorVersion", "did you mean kubernetesVersion?"),
        ("gpuInstanceProfile: MIG1g", "gpuInstanceProfile", "did you mean sharing.layout?"),
        ("gpuDriver: none", "gpuDriver", "write driver: operator for none, driver: aks for install"),
        ("scaleSetPriority: Spot", "scaleSetPriority", "write spot: true"),
        ("nodes: {minCount: 1}", "nodes.minCount", "did you mean min?"),
        ("sharing: {flags: {renameByDefault: true}}", "sharing.flags",
         "write rename for renameByDefault and strategy for migStrategy, beside mode"),
        ("sharing: {renameByDefault: true}", "sharing.renameByDefault", "did you mean rename?"),
        ("sharing: {resources: [{name: nvidia.com/gpu, rename: x}]}", "sharing.resources",
         "write replicas, and rename: true for nvidia.com/gpu.shared; single resources get no name of their own"),
        ("sharing: {mode: mig, layout: [{profiles: {1g.10gb: 7}, mig-devices: {}}]}", "sharing.layout.0.mig-devices",
         "did you mean profiles?"),
        ("shering: {}", "shering", "did you mean sharing?"),
    ],
)  # fmt: skip
def test_a_key_of_another_tool_is_answered_with_the_setting(tmp_path: Path, given: str, path: str, remedy: str) -> None:
    body = POOL % given
    assert errors(tmp_path, body) == [("SET001", f"{HERE}.{path}")]
    assert only(tmp_path, body, "SET001").remedy == remedy


def test_a_chart_and_a_repository_are_answered_with_the_source(tmp_path: Path) -> None:
    body = "aks-dra:gpu: {charts: {operator: {chart: nvidia/gpu-operator, repo: https://helm.ngc.nvidia.com/nvidia}}}"
    path = "aks-dra:gpu.charts.operator"
    assert [(f.code, f.path, f.remedy) for f in check(tmp_path, body)] == [
        ("SET001", f"{path}.chart", "write source, the place of the charts; the package knows the chart's name"),
        ("SET001", f"{path}.repo", "did you mean source?"),
    ]


@pytest.mark.parametrize(
    ("given", "path", "message", "remedy"),
    [
        ("sharing: none", "sharing", "a map of settings is needed", "write {mode: exclusive}, or remove it"),
        ("sharing: mps", "sharing", "a map of settings is needed", "write {mode: mps}"),
        ("nodes: 3", "nodes", "a map of settings is needed", "write {count: 3}"),
        ("taints: 'a=b:NoSchedule'", "taints", "a list is needed", 'write ["a=b:NoSchedule"]'),
        ("taints: [{key: a, value: b, effect: NoSchedule}]", "taints.0", "text is needed", 'write "a=b:NoSchedule"'),
        ("spot: 'yes'", "spot", "true or false is needed, without quotes", "write true"),
        ("spot: []", "spot", "a map of settings or true or false is needed", "see docs/settings.md for the shape"),
        ("maxSurge: 1.5", "maxSurge", "text or a whole number is needed", "see docs/settings.md for the shape"),
        ("sharing: {mode: mig, layout: 3}", "sharing.layout", "text or a list is needed",
         "see docs/settings.md for the shape"),
        ("sharing: {mode: mig, layout: [{devices: 0, profiles: {1g.10gb: 7}}]}", "sharing.layout.0.devices",
         "'all' or a list is needed", "see docs/settings.md for the shape"),
        ("sharing: {mode: mig, layout: [{devices: every, profiles: {1g.10gb: 7}}]}", "sharing.layout.0.devices",
         "this value is not among the allowed ones", "write 'all'"),
        ("sharing: {mode: mig, layout: [{profiles: {1g.10gb: '7'}}]}", "sharing.layout.0.profiles.1g.10gb",
         "a whole number is needed", "write 7 without quotes"),
    ],
)  # fmt: skip
def test_a_value_of_another_shape_has_one_finding_at_its_place(
    tmp_path: Path, given: str, path: str, message: str, remedy: str
) -> None:
    assert [(f.code, f.path, f.message, f.remedy) for f in check(tmp_path, POOL % given)] == [
        ("SET002", f"{HERE}.{path}", message, remedy)
    ]


def test_the_path_has_no_name_of_a_type(tmp_path: Path) -> None:
    assert errors(tmp_path, "aks-dra:gpu: {extendedResources: {a: 1}}") == [
        ("SET002", "aks-dra:gpu.extendedResources.a")
    ]
    assert errors(tmp_path, "aks-dra:gpu: {extendedResources: [a]}") == [("SET002", "aks-dra:gpu.extendedResources")]
    # Keys that read like names of types stay what they are.
    assert errors(tmp_path, "aks-dra:gpu: {extendedResources: {bool: 1, str: 2}}") == [
        ("SET002", "aks-dra:gpu.extendedResources.bool"), ("SET002", "aks-dra:gpu.extendedResources.str")
    ]  # fmt: skip


def test_json_text_inside_a_setting_is_told_from_a_name(tmp_path: Path) -> None:
    body = 'aks-dra:pools: {p: \'{"vmSize": "Standard_NC4as_T4_v3"}\'}'
    assert errors(tmp_path, body) == [("SET002", "aks-dra:pools.p")]
    assert only(tmp_path, body, "SET002").remedy == "write it as YAML, without the quotes around it"


T4 = "Standard_NC4as_T4_v3"


def one(size: str, sharing: str, allocation: str = "dra") -> str:
    return f"aks-dra:pools: {{p: {{vmSize: {size}, allocation: {allocation}, sharing: {sharing}}}}}\n"


@pytest.mark.parametrize(
    ("sharing", "path", "remedy"),
    [
        ("{mode: timeSlicing, timeSlicing: {replicas: 2}}", "timeSlicing", ""),
        ("{mode: timeSlicing, Replicas: 2}", "Replicas", "did you mean replicas?"),
        ("{mode: mps, replicas: 2, failRequestsGreaterThanOnes: true}", "failRequestsGreaterThanOnes",
         "did you mean failRequestsGreaterThanOne?"),
    ],
)  # fmt: skip
def test_a_key_of_the_plugins_config_in_the_wrong_place_is_refused(
    tmp_path: Path, sharing: str, path: str, remedy: str
) -> None:
    body = one(T4, sharing, "devicePlugin")
    found = [f for f in check(tmp_path, body) if f.code == "SET001"]
    assert [f.path for f in found] == [f"aks-dra:pools.p.sharing.{path}"]
    assert found[0].remedy == remedy or (not remedy and "rename" in found[0].remedy)


@pytest.mark.parametrize(
    "both", ["[dra, devicePlugin]", "both", "dra+devicePlugin", "{dra: true, devicePlugin: true}", "true"]
)
def test_a_pool_that_asks_for_both_allocations_is_refused(tmp_path: Path, both: str) -> None:
    body = f"aks-dra:pools: {{t4: {{vmSize: {T4}, allocation: {both}}}}}"
    assert errors(tmp_path, body) == [("SET002", "aks-dra:pools.t4.allocation")]
    assert "'dra' or 'devicePlugin'" in only(tmp_path, body, "SET002").remedy


def test_what_a_pool_cannot_be_without_is_named(tmp_path: Path) -> None:
    body = "aks-dra:pools: {t4: {}}"
    assert errors(tmp_path, body) == [("SET002", "aks-dra:pools.t4.vmSize")]
    assert "add vmSize" in only(tmp_path, body, "SET002").remedy
