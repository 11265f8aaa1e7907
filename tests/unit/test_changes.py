"""What may become of a stack that lives: an earlier plan, a changed one, and all that is found about the change."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from aks_dra.cli import app
from aks_dra.planning import Plan
from aks_dra.planning.checks.changes_pools import free_name
from aks_dra.planning.from_file import plan_file
from aks_dra.planning.model import Finding
from aks_dra.planning.previous import PreviousError, as_plain, from_plain, previous_of
from tests.unit.planning_help import planned, stack

pytestmark = pytest.mark.unit

CLUSTER = 'aks-dra:cluster: {access: {azureRbac: true}, kubernetesVersion: "1.36"%s}\n'
TRAIN = "aks-dra:pools: {train: {vmSize: Standard_NC24ads_A100_v4%s}, t4inf: {vmSize: Standard_NC4as_T4_v3}}"
T4 = "aks-dra:pools: {t4: {vmSize: Standard_NC4as_T4_v3%s}}"
A100 = "aks-dra:pools: {a100: {vmSize: Standard_NC24ads_A100_v4%s}}"


def both(folder: Path, before: str, after: str, today: str = "") -> tuple[Plan, Plan]:
    """The plan before, and the one after with the findings of the change."""
    access = "aks-dra:cluster" not in before
    earlier = planned(folder, before, access=access)
    later, findings = plan_file(stack(folder, after, access=access), today, previous=previous_of(earlier))
    assert later is not None, findings
    return earlier, later


def changes(folder: Path, before: str, after: str, today: str = "") -> list[Finding]:
    return [finding for finding in both(folder, before, after, today)[1].findings if finding.code.startswith("CHG")]


def summary(found: list[Finding]) -> list[tuple[str, str, str]]:
    return [(finding.code, finding.severity, finding.path) for finding in found]


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
    (", protect: false, name: other", "CHG009", "warning", "name"),
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
    ("1.37", "1.36", "", [("CHG011", "error"), ("CHG011", "error")]),
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


def test_the_only_pool_of_a_class_that_claims_still_name(tmp_path: Path) -> None:
    objects = (
        "\naks-dra:deviceClasses: {a100-train: {require: {memory: '>=70Gi'}}}"
        "\naks-dra:claims: {ml: {big: {deviceClass: a100-train}, small: {deviceClass: t4}}}"
    )
    gone = "aks-dra:pools: {t4inf: {vmSize: Standard_NC4as_T4_v3}}"
    [found] = changes(tmp_path, TRAIN % "" + objects, gone + objects)
    assert (found.code, found.severity, found.path) == ("CHG008", "warning", "aks-dra:pools.train")
    assert found.message.endswith(
        "no other pool has devices for classes a100-80gb, a100-train, which the claim ml/big still names"
    )
    assert "write protect: false for train and run `pulumi up` once" in found.remedy
    assert "kubectl drain -l kubernetes.azure.com/agentpool=train" in found.remedy


def test_the_last_device_plugin_pool_goes(tmp_path: Path) -> None:
    two = "aks-dra:pools: {t4: {vmSize: Standard_NC4as_T4_v3}, old: {vmSize: Standard_NC4as_T4_v3, allocation: %s}}"
    found = changes(tmp_path, two % "devicePlugin", T4 % "")
    assert summary(found) == [
        ("CHG017", "warning", "aks-dra:pools"),
        ("CHG008", "warning", "aks-dra:pools.old"),
    ]
    assert found[0].message == (
        "the last device-plugin pool goes: pods that ask for nvidia.com/gpu are served by DRA from now on (class "
        "aks-dra-legacy-requests), with a whole GPU of any DRA pool that they tolerate"
    )
    below = CLUSTER.replace("1.36", "1.35") % ""
    [nobody] = [f for f in changes(tmp_path, below + two % "devicePlugin", below + T4 % "") if f.code == "CHG017"]
    assert "nobody serves nvidia.com/gpu any more" in nobody.message


def test_a_class_that_is_renamed_lists_who_names_it(tmp_path: Path) -> None:
    text = (
        T4 % ""
        + "\naks-dra:deviceClasses: {%s: {require: {type: gpu}}}\naks-dra:claims: {ml: {one: {deviceClass: %s}}}"
    )
    found = changes(tmp_path, text % ("small", "small"), text % ("mig-small", "mig-small"))
    [renamed] = [f for f in found if f.code == "CHG018"]
    assert renamed.path == "aks-dra:deviceClasses.small"
    assert renamed.message.startswith("class small becomes mig-small: ")
    assert renamed.message.endswith("in this stack ml/one")
    assert "keep small beside mig-small until no claim names it" in renamed.remedy


def test_claims_that_go_are_renamed_or_become_another_object(tmp_path: Path) -> None:
    before = (
        T4 % ""
        + "\naks-dra:claims: {ml: {gone: {deviceClass: t4, count: 1}, kept: {deviceClass: t4}, x: {deviceClass: t4}}}"
    )
    after = T4 % "" + "\naks-dra:claims: {ml: {kept: {deviceClass: t4}, x: {deviceClass: t4, shareAcross: pods}}}"
    assert summary(changes(tmp_path, before, after)) == [
        ("CHG019", "warning", "aks-dra:claims.ml.gone"),
        ("CHG020", "warning", "aks-dra:claims.ml.x.shareAcross"),
    ]
    named = T4 % "" + "\naks-dra:claims: {ml: {%s: {deviceClass: t4, shareAcross: pods}}}"
    [renamed] = changes(tmp_path, named % "one", named % "other")
    assert renamed.message.startswith("claim ml/one becomes ml/other: ")
    [fixed] = changes(tmp_path, named % "one", named.replace("pods", 'pods, cel: ["true"]') % "one")
    assert (fixed.code, fixed.path) == ("CHG020", "aks-dra:claims.ml.one")


def test_a_namespace_that_leaves_stays_in_the_cluster(tmp_path: Path) -> None:
    found = changes(tmp_path, T4 % "" + "\naks-dra:namespaces: {ml: {}}", T4 % "")
    assert summary(found) == [("CHG021", "warning", "aks-dra:namespaces.ml")]
    others = "\naks-dra:namespaces: {ml: {create: false, labels: {team: a}}}"
    assert changes(tmp_path, T4 % "" + others, T4 % "") == []


def test_the_dra_driver_is_run_in_one_way_for_ever(tmp_path: Path) -> None:
    found = changes(tmp_path, T4 % "", "aks-dra:gpu: {draStack: operator}\n" + T4 % "")
    assert ("CHG022", "error", "aks-dra:gpu.draStack") in summary(found)


def test_the_same_settings_find_nothing(tmp_path: Path) -> None:
    for file in ("dev", "local", "prod"):
        path = Path(__file__).parents[2] / "stacks" / f"Pulumi.{file}.yaml"
        earlier, _ = plan_file(path)
        assert earlier is not None
        through = from_plain(json.loads(json.dumps(as_plain(previous_of(earlier)), sort_keys=True)))
        assert through == previous_of(earlier)
        _, findings = plan_file(path, previous=through)
        assert [f for f in findings if f.code.startswith("CHG")] == []


def test_numbers_that_became_floats_and_what_is_no_description(tmp_path: Path) -> None:
    plain = as_plain(previous_of(planned(tmp_path, T4 % ", maxPods: 50")))
    floats = json.loads(json.dumps(plain), parse_int=float)
    assert from_plain(floats) == from_plain(plain)
    for bad in (None, 3, {}, {"format": 2}, {**plain, "pools": 3}, {k: v for k, v in plain.items() if k != "cluster"}):
        with pytest.raises(PreviousError):
            from_plain(bad)
    assert from_plain({**plain, "later": 1}) == from_plain(plain)


@pytest.mark.parametrize(
    ("name", "taken", "proposal"),
    [
        ("train", [], "train2"),
        ("train", ["train2"], "train3"),
        ("t4", [], "t4b"),
        ("t4", ["t4b"], "t4c"),
        ("t4inference", [], "t4inference2"),
        ("averylongone", [], "averylongon2"),
    ],
)
def test_a_proposed_name_is_free_and_short_enough(name: str, taken: list[str], proposal: str) -> None:
    assert free_name(name, [name, *taken]) == proposal


def check(*arguments: str) -> list[str]:
    run = CliRunner().invoke(app, ["check", *arguments, "--format", "json"])
    assert run.exception is None or isinstance(run.exception, SystemExit), run.output
    return [f["code"] for f in json.loads(run.stdout)[0]["findings"]] if run.exit_code < 2 else [run.output]


def test_check_against_a_file_a_revision_and_a_state(tmp_path: Path) -> None:
    file = stack(tmp_path, TRAIN % "")
    earlier = tmp_path / "earlier.yaml"
    earlier.write_text(file.read_text())
    git = ["git", "-C", str(tmp_path), "-c", "user.name=t", "-c", "user.email=t@example.com"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
        subprocess.run([*git, *command], check=True)
    before, _ = plan_file(file)
    assert before is not None
    state = {"deployment": {"resources": [
        {"type": "pulumi:pulumi:Stack", "outputs": {"previous": as_plain(previous_of(before))}},
    ]}}  # fmt: skip
    (tmp_path / "state.json").write_text(json.dumps(state))
    stack(tmp_path, TRAIN.replace("NC24ads", "NC48ads") % "")
    for against in (str(earlier), "HEAD", str(tmp_path / "state.json")):
        assert check(str(file), "--against", against) == ["CHG001"]
    assert check(str(file)) == []


def test_a_revision_has_its_own_base_files(tmp_path: Path) -> None:
    file = stack(tmp_path, "aks-dra:base: [common.yaml]")
    base = file.parent / "common.yaml"
    base.write_text("config: {aks-dra:pools: {t4: {vmSize: Standard_NC4as_T4_v3}}}\n")
    git = ["git", "-C", str(tmp_path), "-c", "user.name=t", "-c", "user.email=t@example.com"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
        subprocess.run([*git, *command], check=True)
    base.write_text("config: {aks-dra:pools: {t4: {vmSize: Standard_NC8as_T4_v3}}}\n")
    assert check(str(file), "--against", "HEAD") == ["CHG001"]
    other = stack(tmp_path, T4 % "").rename(file.with_name("Pulumi.new.yaml"))
    assert check(str(other), "--against", "HEAD") == []  # it has no such file
    file = stack(tmp_path, "aks-dra:base: [common.yaml]")
    base.write_text("config: [")
    subprocess.run([*git, "commit", "-qam", "two"], check=True)
    base.write_text("config: {aks-dra:pools: {t4: {vmSize: Standard_NC8as_T4_v3}}}\n")
    assert check(str(file), "--against", "HEAD") == []  # what could not be read never was


def test_against_nothing_that_there_is(tmp_path: Path) -> None:
    file = stack(tmp_path, T4 % "")
    bad = tmp_path / "state.json"
    bad.write_text('{"deployment": {"resources": []}}')
    [unknown] = check(str(file), "--against", "no-such-thing")
    assert "neither a file nor a revision" in " ".join(unknown.replace("│", " ").split())
    [empty] = check(str(file), "--against", str(bad))
    assert "has no output previous" in " ".join(empty.replace("│", " ").split())


def test_a_change_of_a_warning_can_be_acknowledged(tmp_path: Path) -> None:
    ack = "\naks-dra:acknowledge: [{code: CHG004, reason: in the night}]"
    earlier = planned(tmp_path, A100 % "")
    file = stack(tmp_path, A100 % ", osSku: AzureLinux" + ack)
    later, findings = plan_file(file, previous=previous_of(earlier))
    assert later is not None
    assert [(f.code, f.acknowledged) for f in findings if f.code == "CHG004"] == [("CHG004", "in the night")]
    assert later.warnings == tuple(f for f in findings if f.code != "CHG004" and f.severity == "warning")
    assert replace(later, findings=()).errors == ()


def test_a_value_that_was_not_there_is_removed_again(tmp_path: Path) -> None:
    (found,) = changes(tmp_path, T4 % "", T4 % ", spot: true")
    assert found.remedy.startswith(
        "remove it again and add a pool with the new value under another name, for example t4b"
    )
