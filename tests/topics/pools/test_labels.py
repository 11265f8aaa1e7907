"""Labels, taints and tags of pools: what AKS takes, what it would undo, what is sent each time."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.stacks import check, errors, only, planned, pool


def test_a_mig_label_of_the_users_reaches_the_pool_where_the_package_sets_none(tmp_path: Path) -> None:
    labels = (
        planned(
            tmp_path,
            "aks-dra:pools: {p: {vmSize: Standard_NC24ads_A100_v4, labels: {nvidia.com/mig.config: all-1g.10gb}}}",
        )
        .pools[0]
        .inputs["nodeLabels"]
    )
    assert labels["nvidia.com/mig.config"] == "all-1g.10gb"


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
    "nvidia.com/gpu.deploy.operands", "nvidia.com/anything", "notkubernetes.io/x", "mykubernetes.azure.com/x",
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


@pytest.mark.parametrize(
    "key",
    [
        "nvidia.com/gpu.deploy.driver",
        "nvidia.com/gpu.deploy.device-plugin",
        "feature.node.kubernetes.io/pci-10de.present",
    ],
)
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


def test_a_spot_taint_that_the_user_writes_is_sent_once(tmp_path: Path) -> None:
    spot = "kubernetes.azure.com/scalesetpriority=spot:NoSchedule"
    plan = planned(tmp_path, T4 + f", spot: true, taints: ['{spot}']}}}}")
    assert plan.pools[0].inputs["nodeTaints"] == [spot]
    assert plan.pools[0].inputs["nodeLabels"]["aks-dra.dev/allocation"] == "dra"
    assert plan.findings == ()


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
