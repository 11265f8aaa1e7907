"""What may become of a stack that lives: an earlier plan, a changed one, and all that is found about the change."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.stacks import both, changes, summary
from tests.topics.changes.bodies import A100, CLUSTER, T4, TRAIN

FIELDS = [
    ("vmSize", A100 % "", "aks-dra:pools: {a100: {vmSize: Standard_NC48ads_A100_v4}}", "CHG001", "vmSize"),
    (
        "gpuInstanceProfile",
        "aks-dra:gpu: {driver: aks}\n" + A100 % ", sharing: {mode: mig, layout: all-1g.10gb}",
        "aks-dra:gpu: {driver: aks}\n" + A100 % ", sharing: {mode: mig, layout: all-3g.40gb}",
        "CHG001",
        "sharing.layout",
    ),
    ("gpuProfile", A100 % "", "aks-dra:gpu: {driver: aks}\n" + A100 % "", "CHG001", "driver"),
    ("osDiskType", A100 % ", osDiskType: Managed", A100 % ", osDiskType: Ephemeral", "CHG001", "osDiskType"),
    ("maxPods", A100 % ", maxPods: 50", A100 % ", maxPods: 60", "CHG001", "maxPods"),
    ("scaleSetPriority", A100 % "", A100 % ", spot: true", "CHG001", "spot"),
    ("spotMaxPrice", A100 % ", spot: true", A100 % ", spot: {maxPrice: 2.5}", "CHG001", "spot.maxPrice"),
    ("osSKU", A100 % "", A100 % ", osSku: AzureLinux", "CHG004", "osSku"),
    ("osDiskSizeGB", A100 % ", osDiskSizeGb: 128", A100 % ", osDiskSizeGb: 256", "CHG005", "osDiskSizeGb"),
]


@pytest.mark.parametrize(("before", "after", "code", "where"), [row[1:] for row in FIELDS], ids=[r[0] for r in FIELDS])
def test_each_field_of_a_pool_that_is_not_simply_updated(
    tmp_path: Path, before: str, after: str, code: str, where: str
) -> None:
    severity = "error" if code == "CHG001" else "warning"
    # Other partitions have another class.
    found = [entry for entry in changes(tmp_path, before, after) if entry.code != "CHG018"]
    assert summary(found) == [(code, severity, f"aks-dra:pools.a100.{where}")]


@pytest.mark.parametrize(
    "after",
    [
        T4 % ", labels: {team: vision}",
        T4 % ", taints: ['sku=gpu:NoSchedule']",
        T4 % ", nodes: {count: 3}",
        T4 % ", nodes: {min: 1, max: 3}",
        T4 % ", tags: {team: vision}",
        T4 % ", maxSurge: 33%%",
        "aks-dra:pools: {t4: {vmSize: standard_nc4as_t4_v3}}",
    ],
)
def test_what_azure_updates_in_place_is_no_finding(tmp_path: Path, after: str) -> None:
    earlier, later = both(tmp_path, T4 % "", after)
    assert [finding for finding in later.findings if finding.code.startswith("CHG")] == []
    assert later.cluster == earlier.cluster
    assert later.pools[0].replace_on_changes == earlier.pools[0].replace_on_changes
    assert not {"nodeLabels", "nodeTaints", "count", "minCount"} & set(later.pools[0].replace_on_changes)


def test_a_size_change_is_refused_with_the_way_without_it(tmp_path: Path) -> None:
    after = TRAIN.replace("NC24ads", "NC48ads") % ""
    [found] = changes(tmp_path, TRAIN % "", after)
    assert found.severity == "error"
    assert found.value == "Standard_NC24ads_A100_v4 → Standard_NC48ads_A100_v4"
    assert found.message == "Azure cannot change vmSize of a pool that exists: train would be deleted and made anew"
    assert found.remedy == (
        "put Standard_NC24ads_A100_v4 back and add a pool with the new value under another name, for example train2; "
        "move the workloads, drain train, then remove it. allowReplace: true replaces train with all that runs on it"
    )
    assert found.source.startswith("AKS docs: cannot change after creation")
    assert found.line == 4


def test_a_size_change_that_is_allowed_replaces_one_pool_and_warns(tmp_path: Path) -> None:
    after = TRAIN.replace("NC24ads", "NC48ads") % ", allowReplace: true"
    earlier, later = both(tmp_path, TRAIN % "", after)
    [found] = [finding for finding in later.findings if finding.code.startswith("CHG")]
    assert (found.code, found.severity, found.path) == ("CHG002", "warning", "aks-dra:pools.train.allowReplace")
    assert "pool train is deleted with every pod on it" in found.message
    assert found.value == "vmSize: Standard_NC24ads_A100_v4 → Standard_NC48ads_A100_v4"
    assert {pool.name: pool.protect for pool in later.pools} == {"t4inf": True, "train": False}
    assert later.pools[0] == earlier.pools[0]
    assert later.cluster == earlier.cluster


def test_a_replacement_that_protect_forbids(tmp_path: Path) -> None:
    after = TRAIN.replace("NC24ads", "NC48ads") % ", allowReplace: true, protect: true"
    assert summary(changes(tmp_path, TRAIN % ", protect: true", after)) == [
        ("CHG003", "error", "aks-dra:pools.train.protect")
    ]


def test_autoscaling_of_one_pool_leaves_the_cluster_alone(tmp_path: Path) -> None:
    before = "aks-dra:pools: {t4inf: {vmSize: Standard_NC4as_T4_v3, allocation: devicePlugin}}"
    after = before.replace("devicePlugin", "devicePlugin, nodes: {min: 0, max: 3}")
    earlier, later = both(tmp_path, before, after)
    assert later.cluster == earlier.cluster
    assert later.objects == earlier.objects
    assert later.pools[0].inputs == {
        **earlier.pools[0].inputs, "enableAutoScaling": True, "count": 1, "minCount": 0, "maxCount": 3,
    }  # fmt: skip
    assert later.pools[0].ignore_changes == ("count",)
    assert later.errors == ()


def test_the_system_pool_says_what_the_other_pools_feel(tmp_path: Path) -> None:
    before = CLUSTER % ", systemPool: {nodes: {min: 2, max: 3}}" + T4 % ""
    after = CLUSTER % ", systemPool: {nodes: {min: 2, max: 5}}" + T4 % ""
    earlier, later = both(tmp_path, before, after)
    [found] = [finding for finding in later.findings if finding.code.startswith("CHG")]
    assert (found.code, found.severity, found.path) == ("CHG013", "warning", "aks-dra:cluster.systemPool")
    assert found.message.endswith("Azure shows every pool as Scaling meanwhile: t4")
    assert found.value == "maxCount: 3 → 5"
    assert later.pools == earlier.pools


def test_a_count_that_the_autoscaler_moves_is_no_change(tmp_path: Path) -> None:
    before = CLUSTER % ", systemPool: {nodes: {min: 2, max: 5, initial: 5}}" + T4 % ""
    after = CLUSTER % ", systemPool: {nodes: {min: 2, max: 5, initial: 2}}" + T4 % ""
    assert changes(tmp_path, before, after) == []


CLUSTERS = [
    (", network: {podCidr: 10.10.0.0/16}", "CHG009", "error", "network.podCidr"),
    (", network: {dataplane: cilium}", "CHG009", "error", "network.dataplane"),
    (", name: other", "CHG009", "error", "name"),
    (", resourceGroup: rg-other", "CHG009", "error", "resourceGroup"),
    (", location: westeurope", "CHG009", "error", "location"),
    (", nodeResourceGroup: rg-nodes", "CHG009", "error", "nodeResourceGroup"),
    (", protect: false, name: other", "CHG009", "error", "name"),  # the state protects the cluster still
    (", network: {privateCluster: true}", "CHG010", "warning", "network.privateCluster"),
    (", systemPool: {vmSize: Standard_D8ds_v5}", "CHG012", "error", "systemPool.vmSize"),
]


@pytest.mark.parametrize(("given", "code", "severity", "where"), CLUSTERS, ids=[row[3] + row[2] for row in CLUSTERS])
def test_what_a_cluster_is_made_with(tmp_path: Path, given: str, code: str, severity: str, where: str) -> None:
    found = changes(tmp_path, CLUSTER % "" + T4 % "", CLUSTER % given + T4 % "")
    assert summary(found) == [(code, severity, f"aks-dra:cluster.{where}")]


VERSIONS = [
    ("1.36", "1.37", "", [("CHG015", "warning")]),
    ("1.35", "1.37", "2026-12-01", [("CHG014", "error"), ("CHG015", "warning")]),
    ("1.35", "1.37", "2027-04-01", [("CHG014", "warning"), ("CHG015", "warning")]),
    ("1.37", "1.36", "", [("CHG011", "error")]),
    ("1.36.2", "1.36.1", "", [("CHG011", "error")]),
    ("1.36", "1.36.2", "", [("CHG015", "warning")]),
    ("1.36.2", "1.36", "", [("CHG015", "warning")]),
]


@pytest.mark.parametrize(("old", "new", "today", "codes"), VERSIONS)
def test_upgrades_go_forward_by_one_minor(
    tmp_path: Path, old: str, new: str, today: str, codes: list[tuple[str, str]]
) -> None:
    one, other = (CLUSTER.replace("1.36", version) % "" + T4 % "" for version in (old, new))
    assert [(f.code, f.severity) for f in changes(tmp_path, one, other, today)] == codes


def test_another_way_to_log_in(tmp_path: Path) -> None:
    before = 'aks-dra:cluster: {access: {localAccounts: true}, kubernetesVersion: "1.36"}\n' + T4 % ""
    [found] = changes(tmp_path, before, CLUSTER % "" + T4 % "")
    assert (found.code, found.path) == ("CHG016", "aks-dra:cluster.access.localAccounts")
    assert found.value == "admin → azurecli"
    assert "clusterIdentifier keeps its identity" in found.message


@pytest.mark.parametrize(("before", "after"), [("dra", "devicePlugin"), ("devicePlugin", "dra")])
def test_a_pool_never_flips(tmp_path: Path, before: str, after: str) -> None:
    [found] = [
        finding
        for finding in changes(
            tmp_path, T4 % f", allocation: {before}", T4 % f", allocation: {after}, allowReplace: true"
        )
        if finding.code == "CHG006"
    ]
    assert found.severity == "error"
    assert found.path == "aks-dra:pools.t4.allocation"
    assert f"a pool with allocation: {after} under another name, for example t4b; drain t4" in found.remedy


LAYOUTS = [
    (", sharing: {mode: mig, layout: all-1g.10gb}", ", sharing: {mode: mig, layout: all-3g.40gb}", ".layout"),
    ("", ", sharing: {mode: mig, layout: all-1g.10gb}", ""),
    (
        ", sharing: {mode: mig, layout: [{profiles: {3g.40gb: 2}}]}",
        ", sharing: {mode: mig, layout: [{profiles: {3g.40gb: 1, 1g.10gb: 3}}]}",
        ".layout",
    ),
]


@pytest.mark.parametrize(("before", "after", "where"), LAYOUTS)
def test_another_layout_on_a_living_pool(tmp_path: Path, before: str, after: str, where: str) -> None:
    found = [f for f in changes(tmp_path, A100 % before, A100 % after) if f.code == "CHG007"]
    assert summary(found) == [("CHG007", "warning", f"aks-dra:pools.a100.sharing{where}")]
    assert "add a pool with the new layout, for example a100b; move the workloads, drain a100" in found[0].remedy


def test_partitions_on_demand_in_place_of_a_layout_and_of_whole_gpus(tmp_path: Path) -> None:
    h100 = "aks-dra:pools: {h100: {vmSize: Standard_NC40ads_H100_v5%s}}"
    layout, dynamic = (h100 % f", sharing: {{mode: {mode}}}" for mode in ("mig, layout: all-1g.12gb", "dynamicMig"))
    for before, after, value in (
        (layout, dynamic, "all-1g.12gb → partitions on demand"),
        (h100 % "", dynamic, "no MIG → partitions on demand"),
        (dynamic, layout, "partitions on demand → all-1g.12gb"),
    ):
        found = [f for f in changes(tmp_path, before, after) if f.code == "CHG007"]
        assert [(f.path, f.value) for f in found] == [("aks-dra:pools.h100.sharing", value)]
    assert changes(tmp_path, dynamic, dynamic) == []


def test_the_dra_driver_is_run_in_one_way_for_ever(tmp_path: Path) -> None:
    found = changes(tmp_path, T4 % "", "aks-dra:gpu: {draStack: operator}\n" + T4 % "")
    assert ("CHG022", "error", "aks-dra:gpu.draStack") in summary(found)


def test_a_value_that_was_not_there_is_removed_again(tmp_path: Path) -> None:
    (found,) = changes(tmp_path, T4 % "", T4 % ", spot: true")
    assert found.remedy.startswith(
        "remove it again and add a pool with the new value under another name, for example t4b"
    )
