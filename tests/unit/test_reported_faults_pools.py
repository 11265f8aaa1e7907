"""Faults that people met with node pools of AKS: labels, taints, spot, zones, names, versions."""

from __future__ import annotations

from pathlib import Path

import pytest

from aks_dra.facts import load_facts
from tests.stacks import check, cluster, errors, only, planned, pool, warnings

T4 = "aks-dra:pools: {t4: {vmSize: Standard_NC4as_T4_v3"
LABELS = "aks-dra:pools.t4.labels"

REFUSED_LABELS = [
    "node-restriction.kubernetes.io/tier",
    "kubernetes.io/role",
    "topology.kubernetes.io/zone",
    "a.k8s.io/b",
    "k8s.io/b",
    "kubernetes.azure.com/mode",
    "x.kubernetes.azure.com/y",
    "node-role.kubernetes.io/gpu",
]
ACCEPTED_LABELS = [
    "node.kubernetes.io/tier", "kubelet.kubernetes.io/tier", "team", "example.com/tier", "nvidia.com/mig.config",
    "nvidia.com/gpu.deploy.operands", "notkubernetes.io/x", "mykubernetes.azure.com/x",
]  # fmt: skip


@pytest.mark.parametrize("key", REFUSED_LABELS)
def test_a_label_that_aks_does_not_take_is_refused_with_one_that_it_takes(tmp_path: Path, key: str) -> None:
    body = T4 + f", labels: {{{key}: gpu}}}}}}"
    assert errors(tmp_path, body) == [("LAB002", f"{LABELS}.{key}")]
    remedy = only(tmp_path, body, "LAB002").remedy
    assert remedy == f"write node.kubernetes.io/{key.rpartition('/')[2]}, or use a prefix of your own"
    assert errors(tmp_path, T4 + f", labels: {{node.kubernetes.io/{key.rpartition('/')[2]}: gpu}}}}}}") == []


@pytest.mark.parametrize("key", ACCEPTED_LABELS)
def test_a_label_that_aks_takes_is_accepted_and_sent(tmp_path: Path, key: str) -> None:
    plan = planned(tmp_path, T4 + f", labels: {{{key}: all-1g.10gb}}}}}}")
    assert plan.findings == ()
    assert plan.pools[0].inputs["nodeLabels"][key] == "all-1g.10gb"


@pytest.mark.parametrize("key", ["nvidia.com/gpu.deploy.driver", "feature.node.kubernetes.io/pci-10de.present"])
def test_a_label_that_others_set_is_a_warning(tmp_path: Path, key: str) -> None:
    assert [(f.code, f.path) for f in check(tmp_path, T4 + f", labels: {{{key}: 'true'}}}}}}")] == [
        ("LAB004", f"{LABELS}.{key}")
    ]


@pytest.mark.parametrize("key", ["aks-dra.dev/allocation", "aks-dra.dev/mig-owner", "aks-dra.dev/driver-owner"])
def test_a_label_that_the_package_sets_is_refused(tmp_path: Path, key: str) -> None:
    assert errors(tmp_path, T4 + f", labels: {{{key}: dra}}}}}}") == [("LAB003", f"{LABELS}.{key}")]


@pytest.mark.parametrize("spot", ["true", "{maxPrice: 0.5, evictionPolicy: Delete}"])
def test_a_spot_pool_always_sends_the_spot_label_and_taint_with_the_users_own(tmp_path: Path, spot: str) -> None:
    body = (
        "aks-dra:pools: {t4spot: {vmSize: Standard_NC4as_T4_v3, labels: {team: vision}, taints: ['a=b:NoSchedule'], "
        f"spot: {spot}}}}}"
    )
    plan = planned(tmp_path, body)
    inputs = pool(plan, "t4spot").inputs
    assert inputs["nodeLabels"]["team"] == "vision"
    assert inputs["nodeLabels"]["kubernetes.azure.com/scalesetpriority"] == "spot"
    assert inputs["nodeTaints"] == ["a=b:NoSchedule", "kubernetes.azure.com/scalesetpriority=spot:NoSchedule"]
    assert inputs["scaleSetPriority"] == "Spot"
    tolerations = pool(plan, "t4spot").pod.tolerations
    assert {"key": "kubernetes.azure.com/scalesetpriority", "operator": "Equal", "value": "spot",
            "effect": "NoSchedule"} in tolerations  # fmt: skip


def test_a_pool_that_is_not_spot_sends_neither(tmp_path: Path) -> None:
    inputs = planned(tmp_path, T4 + ", labels: {team: vision}, spot: false}}").pools[0].inputs
    assert "kubernetes.azure.com/scalesetpriority" not in inputs["nodeLabels"]
    assert not {"nodeTaints", "scaleSetPriority", "spotMaxPrice"} & set(inputs)


def test_labels_and_taints_are_changed_in_place(tmp_path: Path) -> None:
    before = planned(tmp_path, T4 + "}}").pools[0]
    after = planned(tmp_path, T4 + ", labels: {team: x}, taints: ['sku=gpu:NoSchedule']}}").pools[0]
    changed = {key for key in {*before.inputs, *after.inputs} if before.inputs.get(key) != after.inputs.get(key)}
    assert changed == {"nodeLabels", "nodeTaints"}
    assert not changed & set(after.replace_on_changes)
    assert not changed & set(after.ignore_changes)
    assert {"vmSize", "gpuProfile", "maxPods", "scaleSetPriority", "osDiskType"} <= set(after.replace_on_changes)


@pytest.mark.parametrize("size", ["Standard_NC24ads_A100_v4", "Standard_NC4as_T4_v3", "Standard_ND96isr_H100_v5"])
def test_zones_of_a_gpu_size_are_a_warning_and_none_are_set_by_default(tmp_path: Path, size: str) -> None:
    zoned = f"aks-dra:pools: {{p: {{vmSize: {size}, zones: ['1', '2', '3']}}}}"
    assert [f.code for f in check(tmp_path, zoned)] == ["SIZ009"]
    assert warnings(tmp_path, zoned) == [("SIZ009", "aks-dra:pools.p.zones")]
    assert "az vm list-skus" in only(tmp_path, zoned, "SIZ009").remedy
    assert planned(tmp_path, zoned).pools[0].inputs["availabilityZones"] == ["1", "2", "3"]
    plain = planned(tmp_path, f"aks-dra:pools: {{p: {{vmSize: {size}}}}}").pools[0]
    assert "availabilityZones" not in plain.inputs


BAD_NAMES = [
    ("GPU-Pool", "for example gpupool"), ("gpu-enabled", "for example gpuenabled"), ("1t4", "for example t4"),
    ("averyverylong1", "for example averyverylon"), ("T4", "for example t4"), ("t4_a", "for example t4a"),
    ("gpü", "for example gp"), ("-", "choose another name"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "remedy"), BAD_NAMES)
def test_a_pool_name_that_aks_refuses_is_refused_and_never_altered(tmp_path: Path, name: str, remedy: str) -> None:
    body = f"aks-dra:pools: {{{name}: {{vmSize: Standard_NC4as_T4_v3}}}}".replace("{-:", "{'-':")
    finding = only(tmp_path, body, "NAM001")
    assert finding.severity == "error"
    assert "1 to 12 lowercase letters and digits and starts with a letter" in finding.message
    assert finding.remedy == remedy
    assert [entry.name for entry in planned(tmp_path, body).pools] == [name]


@pytest.mark.parametrize("name", ["t4inference", "t", "a1", "abcdefghijkl"])
def test_a_pool_name_that_aks_takes_is_accepted(tmp_path: Path, name: str) -> None:
    assert check(tmp_path, f"aks-dra:pools: {{{name}: {{vmSize: Standard_NC4as_T4_v3}}}}") == []


def test_the_names_of_the_system_pool_and_the_test_pool_have_the_same_rule(tmp_path: Path) -> None:
    body = "aks-dra:cluster: {systemPool: {name: System}, access: {azureRbac: true}}\n"
    assert errors(tmp_path, body) == [("NAM001", "aks-dra:cluster.systemPool.name")]
    assert [code for code, _ in errors(tmp_path, "aks-dra:testPool: {enabled: true, name: GPU-Test}")] == ["NAM001"]


@pytest.mark.parametrize(
    ("of_cluster", "of_pool", "expected"),
    [
        ("1.34", "1.35", ["VER004"]), ("1.36", "1.37", ["VER004"]), ("1.35", "1.35", []), ("1.36.2", "1.36", []),
        ("1.36", "1.35", []),
    ],
)  # fmt: skip
def test_a_pool_is_never_newer_than_its_cluster(
    tmp_path: Path, of_cluster: str, of_pool: str, expected: list[str]
) -> None:
    body = cluster(of_cluster) + T4 + f", kubernetesVersion: '{of_pool}'}}}}"
    assert [code for code, _ in errors(tmp_path, body)] == expected
    if expected:
        finding = only(tmp_path, body, "VER004")
        assert finding.path == "aks-dra:pools.t4.kubernetesVersion"
        assert of_cluster in finding.message
    else:
        assert planned(tmp_path, body).pools[0].inputs["orchestratorVersion"] == of_pool


VERSIONS = [
    ('"1.33"', "VER002"), ('"1.32"', "VER002"), ('"1.34.0"', "VER002"), ('"1.34.1"', "VER002"), ('"1.34"', ""),
    ('"1.34.2"', ""), ('"1.36"', ""), ("v1.34", "VER001"), ('"latest"', "VER001"), ("1.34", "SET002"),
    ('"1.34.x"', "VER001"),
]  # fmt: skip


@pytest.mark.parametrize(("version", "code"), VERSIONS)
def test_versions_below_the_floor_and_versions_that_are_none_are_refused(
    tmp_path: Path, version: str, code: str
) -> None:
    body = f"aks-dra:cluster: {{kubernetesVersion: {version}, access: {{azureRbac: true}}}}"
    found = [f for f in check(tmp_path, body) if f.severity == "error"]
    assert [f.code for f in found] == ([code] if code else [])
    if version == "v1.34":
        assert found[0].remedy == 'write "1.34"'
    if code == "VER002":
        assert load_facts().kubernetes.floor in found[0].message


LTS_ONLY = """
[version."1.34"]
lts_only = true
source = "az aks get-versions"
verified = true
"""


def test_a_version_that_is_under_long_term_support_only_is_said(tmp_path: Path) -> None:
    body = "aks-dra:cluster: {kubernetesVersion: '1.34', access: {azureRbac: true}%s}\naks-dra:facts: own.toml\n"
    (tmp_path / "stacks").mkdir()
    (tmp_path / "stacks" / "own.toml").write_text(LTS_ONLY)
    assert warnings(tmp_path, body % "") == [("VER007", "aks-dra:cluster.kubernetesVersion")]
    assert "cluster.lts: true and cluster.tier: Premium" in only(tmp_path, body % "", "VER007").remedy
    assert check(tmp_path, body % ", lts: true, tier: Premium") == []
    assert check(tmp_path, (body % "").replace("1.34", "1.36")) == []
