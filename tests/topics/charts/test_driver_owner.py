"""The GPU driver on AKS and what goes with its owner: two owners, two feature discoveries, the toolkit, GRID."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aks_dra.facts import load_facts
from tests.stacks import DRA, OPERATOR, PLUGIN, PLUGIN_AKS, errors, only, planned, pool, values, warnings

POOL = "aks-dra:pools: {t4: {vmSize: Standard_NC4as_T4_v3}}\n"
OPERATOR_VALUES, DRA_VALUES = "aks-dra:gpu.charts.operator.values", "aks-dra:gpu.charts.draDriver.values"


def gpu(owner: str, chart: str, given: str) -> str:
    return POOL + f"aks-dra:gpu: {{driver: {owner}, charts: {{{chart}: {{values: {given}}}}}}}"


def test_a_driver_version_that_azures_driver_would_hide_is_refused_with_both_ways_out(tmp_path: Path) -> None:
    for body, code, path in (
        (POOL + "aks-dra:gpu: {driver: aks, driverVersion: 580.105.08}", "DRV002", "aks-dra:gpu.driverVersion"),
        (gpu("aks", "operator", "{driver: {version: 580.105.08}}"), "DRV004", f"{OPERATOR_VALUES}.driver.version"),
    ):
        assert errors(tmp_path, body) == [(code, path)]
        finding = only(tmp_path, body, code)
        assert "gpu.driver: operator goes with gpuProfile.driver None, driver.enabled true" in finding.message
        assert "gpu.driver: aks with gpuProfile.driver Install, false" in finding.message
        assert "set gpu.driver: operator, or remove" in finding.remedy
    plan = planned(tmp_path, POOL + "aks-dra:gpu: {driver: operator, driverVersion: 580.105.08}")
    assert values(plan, OPERATOR)["driver"]["version"] == "580.105.08"
    assert plan.findings == ()


@pytest.mark.parametrize("given", ["{driver: {enabled: %s}}", "{toolkit: {enabled: %s}}"])
@pytest.mark.parametrize(("owner", "wrong", "right"), [("aks", "true", "false"), ("operator", "false", "true")])
def test_a_chart_value_against_the_drivers_owner_is_refused(
    tmp_path: Path, given: str, owner: str, wrong: str, right: str
) -> None:
    key = given.split(":")[0].strip("{")
    assert errors(tmp_path, gpu(owner, "operator", given % wrong)) == [("CHT005", f"{OPERATOR_VALUES}.{key}.enabled")]
    message = only(tmp_path, gpu(owner, "operator", given % wrong), "CHT005").message
    assert f"the package sets {key}.enabled to {right} from gpu.driver" in message
    assert "gpu.driver: aks with gpuProfile.driver Install" in message
    assert errors(tmp_path, gpu(owner, "operator", given % right)) == []


@pytest.mark.parametrize(
    ("owner", "profile", "enabled", "root"),
    [("operator", "None", True, "/run/nvidia/driver"), ("aks", "Install", False, "/")],
)
def test_five_values_follow_from_the_drivers_owner(
    tmp_path: Path, owner: str, profile: str, enabled: bool, root: str
) -> None:
    plan = planned(tmp_path, POOL + f"aks-dra:gpu: {{driver: {owner}}}")
    assert plan.pools[0].inputs["gpuProfile"]["driver"] == profile
    assert values(plan, OPERATOR)["driver"]["enabled"] is enabled
    assert values(plan, OPERATOR)["toolkit"]["enabled"] is enabled
    assert values(plan, DRA)["nvidiaDriverRoot"] == root
    legacy = planned(
        tmp_path, POOL.replace("v3}", "v3, allocation: devicePlugin}") + f"aks-dra:gpu: {{driver: {owner}}}"
    )
    assert values(legacy, PLUGIN if owner == "operator" else PLUGIN_AKS)["nvidiaDriverRoot"] == root


@pytest.mark.parametrize(
    ("owner", "root", "right"),
    [("operator", "/", False), ("operator", "/run/nvidia/driver", True), ("operator", "/run/nvidia", False),
     ("operator", '""', False), ("aks", "/run/nvidia/driver", False), ("aks", "/", True), ("aks", "/usr", False)],
)  # fmt: skip
def test_a_driver_root_that_is_not_the_owners_is_refused(tmp_path: Path, owner: str, root: str, right: bool) -> None:
    expected = [] if right else [("CHT005", f"{DRA_VALUES}.nvidiaDriverRoot")]
    assert errors(tmp_path, gpu(owner, "draDriver", f"{{nvidiaDriverRoot: {root}}}")) == expected


def test_a_folder_of_the_driver_where_nobody_looks_for_it_is_refused(tmp_path: Path) -> None:
    moved = "{hostPaths: {driverInstallDir: /opt/nvidia}}"
    assert errors(tmp_path, gpu("operator", "operator", moved)) == [
        ("DRV005", f"{OPERATOR_VALUES}.hostPaths.driverInstallDir")
    ]
    assert errors(tmp_path, gpu("aks", "operator", moved)) == []
    assert errors(tmp_path, gpu("operator", "operator", moved.replace("/opt/nvidia", "/run/nvidia/driver"))) == []


MIXED = """
aks-dra:pools:
  t4: {vmSize: Standard_NC4as_T4_v3, driver: aks%s}
  h100: {vmSize: Standard_NC40ads_H100_v5}
"""


def test_dra_pools_with_two_driver_owners_are_refused(tmp_path: Path) -> None:
    body = MIXED % ""
    assert errors(tmp_path, body) == [("DRV001", "aks-dra:pools.t4.driver")]
    finding = only(tmp_path, body, "DRV001")
    assert "aks: t4; operator: h100" in finding.message
    assert "remove driver from pool t4, set gpu.driver: aks for all, or make it a devicePlugin pool" in finding.remedy
    other = body + "aks-dra:gpu: {driver: aks}\n"
    assert errors(tmp_path, other) == []
    assert errors(tmp_path, other.replace("H100_v5}", "H100_v5, driver: operator}")) == [
        ("DRV001", "aks-dra:pools.h100.driver")
    ]


def test_a_device_plugin_pool_of_the_other_owner_gets_a_release_of_its_own(tmp_path: Path) -> None:
    plan = planned(
        tmp_path,
        MIXED % ", allocation: devicePlugin" + "  old: {vmSize: Standard_NC4as_T4_v3, allocation: devicePlugin}\n",
    )
    assert [f for f in plan.findings if f.severity == "error"] == []
    assert [release.name for release in plan.releases] == [OPERATOR, PLUGIN_AKS, PLUGIN, DRA]
    roots = {name: values(plan, name)["nvidiaDriverRoot"] for name in (PLUGIN_AKS, PLUGIN, DRA)}
    assert roots == {PLUGIN_AKS: "/", PLUGIN: "/run/nvidia/driver", DRA: "/run/nvidia/driver"}
    for owner, name in (("aks", PLUGIN_AKS), ("operator", PLUGIN)):
        selector = values(plan, name)["nodeSelector"]
        served = [
            p.name
            for p in plan.pools
            if selector.items() - {("nvidia.com/gpu.deploy.client", "true")} <= p.labels.items()
        ]
        assert served == {"aks": ["t4"], "operator": ["old"]}[owner]
    assert {p.name: p.inputs["gpuProfile"]["driver"] for p in plan.pools} == {
        "h100": "None",
        "old": "None",
        "t4": "Install",
    }


def test_every_taint_of_a_gpu_pool_is_tolerated_by_all_that_must_run_there(tmp_path: Path) -> None:
    plan = planned(
        tmp_path,
        "aks-dra:pools: {t4: {vmSize: Standard_NC4as_T4_v3, "
        "taints: ['sku=gpu:NoSchedule', 'team=ml:NoExecute', 'own:NoSchedule']}}",
    )
    wanted: list[dict[str, Any]] = [
        {"key": "sku", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"},
        {"key": "team", "operator": "Equal", "value": "ml", "effect": "NoExecute"},
        {"key": "own", "operator": "Exists", "effect": "NoSchedule"},
        {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
    ]
    operator = values(plan, OPERATOR)
    places = [
        operator["daemonsets"]["tolerations"],
        operator["node-feature-discovery"]["worker"]["tolerations"],
        values(plan, DRA)["kubeletPlugin"]["tolerations"],
    ]
    for tolerations in places:
        assert [entry for entry in wanted if entry not in tolerations] == []
        assert len(tolerations) == len({str(sorted(entry.items())) for entry in tolerations})
    control_plane = {
        "key": "node-role.kubernetes.io/control-plane",
        "operator": "Equal",
        "value": "",
        "effect": "NoSchedule",
    }
    assert control_plane in places[1]


def test_with_a_feature_discovery_that_exists_there_is_one_and_every_selector_can_still_be_met(tmp_path: Path) -> None:
    body = POOL + "aks-dra:gpu: {existingNfd: true}"
    plan = planned(tmp_path, body)
    assert values(plan, OPERATOR)["nfd"] == {"enabled": False}
    assert values(planned(tmp_path, POOL), OPERATOR)["nfd"] == {"enabled": True}
    plugin = values(plan, DRA)["kubeletPlugin"]
    ours = {*plan.pools[0].labels, "nvidia.com/gpu.deploy.client", "nvidia.com/mig.config.state"}
    terms = plugin["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert {entry["key"] for term in terms for entry in term["matchExpressions"]} <= ours
    assert set(plugin["nodeSelector"]) <= ours
    assert any(met(term, plan.pools[0].labels) for term in terms), "the pool's own labels are enough"


def met(term: dict[str, Any], labels: dict[str, str] | Any) -> bool:
    answers = {
        "In": lambda key, wanted: labels.get(key) in wanted,
        "NotIn": lambda key, wanted: labels.get(key) not in wanted,
    }
    return all(answers[entry["operator"]](entry["key"], entry["values"]) for entry in term["matchExpressions"])


def test_a_second_feature_discovery_is_refused(tmp_path: Path) -> None:
    body = POOL + "aks-dra:gpu: {existingNfd: true, charts: {operator: {values: {nfd: {enabled: true}}}}}"
    assert errors(tmp_path, body) == [("CHT005", f"{OPERATOR_VALUES}.nfd.enabled")]
    assert "gpu.existingNfd" in only(tmp_path, body, "CHT005").message
    for key in ("gfd", "nfd"):
        second = POOL + f"aks-dra:gpu: {{charts: {{devicePlugin: {{values: {{{key}: {{enabled: true}}}}}}}}}}"
        assert ("CHT005", f"aks-dra:gpu.charts.devicePlugin.values.{key}.enabled") in errors(tmp_path, second)


def test_a_feature_discovery_that_exists_must_tolerate_the_pools_taints(tmp_path: Path) -> None:
    tainted = POOL.replace("v3}", "v3, taints: ['sku=gpu:NoSchedule']}") + "aks-dra:gpu: {existingNfd: true}"
    assert warnings(tmp_path, tainted) == [("CHT018", "aks-dra:gpu.existingNfd")]
    assert only(tmp_path, tainted, "CHT018").value == "sku=gpu:NoSchedule"
    assert warnings(tmp_path, POOL + "aks-dra:gpu: {existingNfd: true}") == []


def env(plan: Any) -> dict[str, str]:
    return {entry["name"]: entry["value"] for entry in values(plan, OPERATOR)["toolkit"]["env"]}


def test_the_toolkit_reads_containerds_config_from_the_file_unless_the_user_says_otherwise(tmp_path: Path) -> None:
    assert env(planned(tmp_path, POOL))["RUNTIME_CONFIG_SOURCE"].startswith("file")
    source = "{name: RUNTIME_CONFIG_SOURCE, value: file=/etc/containerd/config.toml}"
    own = f"{{toolkit: {{env: [{source}, {{name: X, value: y}}]}}}}"
    plan = planned(tmp_path, gpu("operator", "operator", own))
    assert env(plan) == {"RUNTIME_CONFIG_SOURCE": "file=/etc/containerd/config.toml", "X": "y"}
    assert [f for f in plan.findings if f.severity == "error"] == []
    more = planned(tmp_path, gpu("operator", "operator", "{toolkit: {env: [{name: X, value: y}]}}"))
    assert env(more) == {"RUNTIME_CONFIG_SOURCE": "file", "X": "y"}
    assert "env" not in values(planned(tmp_path, POOL + "aks-dra:gpu: {driver: aks}"), OPERATOR)["toolkit"]


FACTS = load_facts()
GRID = sorted(name for name, size in FACTS.vm_sizes.items() if size.grid)


@pytest.mark.parametrize("size", GRID)
@pytest.mark.parametrize("allocation", ["dra", "devicePlugin"])
def test_a_size_whose_driver_only_azure_has_is_refused_with_the_operators(
    tmp_path: Path, size: str, allocation: str
) -> None:
    body = f"aks-dra:pools: {{v: {{vmSize: {size}, allocation: {allocation}}}}}"
    assert ("DRV003", "aks-dra:pools.v.vmSize") in errors(tmp_path, body)
    assert only(tmp_path, body, "DRV003").remedy == "set driver: aks"
    right = body.replace("}}", ", driver: aks}}") + "\naks-dra:gpu: {driver: aks}"
    assert "DRV003" not in {code for code, _ in errors(tmp_path, right)}
    assert pool(planned(tmp_path, right), "v").inputs["gpuProfile"]["driver"] == "Install"


def test_fractional_a10_sizes_are_among_them() -> None:
    assert {f"Standard_NV{n}_A10_v5" for n in ("6ads", "12ads", "18ads", "36ads", "36adms", "72ads")} <= set(GRID)
