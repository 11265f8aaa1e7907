"""Changes around a cluster that lives: what the stack made for it, what Azure keeps on, what the state protects."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from aks_dra.context.previous import as_plain, from_plain, previous_of
from aks_dra.findings.finding import Finding
from aks_dra.stack_plan import plan_file
from tests.stacks import changes, planned, stack, summary

CLUSTER = "aks-dra:cluster: {access: {azureRbac: true}%s}\n"
T4 = "aks-dra:pools: {t4: {vmSize: Standard_NC4as_T4_v3%s}}"
SUBSCRIPTION = "/subscriptions/11111111-1111-1111-1111-111111111111"
GROUP = f", resourceGroup: {{existing: {SUBSCRIPTION}/resourceGroups/rg-aks-dra-test}}"
IDENTITY = f"{SUBSCRIPTION}/resourceGroups/x/providers/Microsoft.ManagedIdentity/userAssignedIdentities/a"
WORKSPACE = f"{SUBSCRIPTION}/resourceGroups/x/providers/Microsoft.OperationalInsights/workspaces/w"
AKS = f"{SUBSCRIPTION}/resourceGroups/%s/providers/Microsoft.ContainerService/managedClusters/%s"


def of_cluster(folder: Path, before: str, after: str) -> list[Finding]:
    return changes(folder, CLUSTER % before + T4 % "", CLUSTER % after + T4 % "")


def test_a_resource_group_that_leaves_the_stack_takes_the_cluster_along(tmp_path: Path) -> None:
    (found,) = of_cluster(tmp_path, "", GROUP)
    assert replace(found, file="") == Finding(
        "CHG023",
        "error",
        "aks-dra:cluster.resourceGroup",
        "the stack deletes its resource group rg-aks-dra-test, and Azure all that is in it, the cluster too",
        "rg-aks-dra-test of this stack → nothing that the stack makes",
        "write cluster.resourceGroup: rg-aks-dra-test. When it is meant: write cluster.protect: false and run "
        "`pulumi up` once, or its deletion is refused; to keep rg-aks-dra-test, take it out of the state first "
        "(`pulumi state delete` and its URN)",
        "Pulumi: what a program no longer names is deleted",
        line=3,
    )
    (let_go,) = of_cluster(tmp_path, ", protect: false", ", protect: false" + GROUP)
    assert (let_go.code, let_go.severity) == ("CHG023", "warning")
    (joins,) = of_cluster(tmp_path, GROUP, "")
    assert summary([joins]) == [("CHG024", "warning", "aks-dra:cluster.resourceGroup")]
    assert joins.message == "resource group rg-aks-dra-test exists, so the stack cannot make it: `pulumi up` ends there"


@pytest.mark.parametrize(
    ("before", "after", "key"),
    [
        (", identity: {}", f", identity: {{existing: {IDENTITY}}}", "identity"),
        (", identity: {}", ", identity: {name: other}", "identity"),
        (", identity: {}, kubeletIdentity: {}", ", identity: {}", "kubeletIdentity"),
        (
            ", monitoring: {logAnalytics: {}}",
            f", monitoring: {{logAnalytics: {{existing: {WORKSPACE}}}}}",
            "monitoring.logAnalytics",
        ),
        (", monitoring: {logAnalytics: {}}", "", "monitoring.logAnalytics"),
    ],
)
def test_what_the_stack_made_and_names_no_longer(tmp_path: Path, before: str, after: str, key: str) -> None:
    assert summary(of_cluster(tmp_path, before, after)) == [("CHG023", "error", f"aks-dra:cluster.{key}")]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", ", resourceGroup: rg-aks-dra-test"),
        (", identity: {}", ", identity: {name: id-aks-dra-test}"),
        ("", ", monitoring: {logAnalytics: {}}"),
        (", monitoring: {logAnalytics: {}}", ", monitoring: {logAnalytics: {retentionDays: 90}}"),
        (", network: {privateCluster: true}", ", network: {privateCluster: true, privateDnsZone: system}"),
        (', systemPool: {zones: ["1", "2"]}', ', systemPool: {zones: ["2", "1"]}'),
    ],
)
def test_another_way_to_write_the_same_is_no_change(tmp_path: Path, before: str, after: str) -> None:
    assert of_cluster(tmp_path, before, after) == []


def test_what_an_earlier_release_wrote_says_nothing_of_what_is_made(tmp_path: Path) -> None:
    plain = as_plain(previous_of(planned(tmp_path, CLUSTER % "" + T4 % "")))
    del plain["cluster"]["made"], plain["pools"]["t4"]["count"], plain["pools"]["t4"]["path"]
    after = CLUSTER % GROUP + T4 % ", nodes: {min: 2, max: 3}"
    _, findings = plan_file(stack(tmp_path, after), previous=from_plain(plain))
    assert [f for f in findings if f.code.startswith("CHG")] == []


FIXED = [
    (f", azureInputs: {{diskEncryptionSetID: {IDENTITY}}}", "azureInputs.diskEncryptionSetID"),
    (
        ", azureInputs: {linuxProfile: {adminUsername: u, ssh: {publicKeys: [{keyData: ssh-rsa AAAA}]}}}",
        "azureInputs.linuxProfile",
    ),
]


@pytest.mark.parametrize(("given", "where"), FIXED, ids=[row[1] for row in FIXED])
def test_raw_inputs_that_replace_a_cluster(tmp_path: Path, given: str, where: str) -> None:
    assert summary(of_cluster(tmp_path, "", given)) == [("CHG009", "error", f"aks-dra:cluster.{where}")]


def test_a_replacement_needs_the_protection_gone_a_run_before(tmp_path: Path) -> None:
    """The engine refuses it where a dependent pool is protected in the state, whatever the program says now."""
    (held,) = of_cluster(tmp_path, "", ", protect: false, dnsPrefix: other")
    assert held.severity == "error"
    assert held.remedy == (
        "write cluster.dnsPrefix: aks-dra-test; another cluster is another stack. When it is meant: "
        "cluster.protect: false, and one `pulumi up` with that alone before"
    )
    (free,) = of_cluster(tmp_path, ", protect: false", ", protect: false, dnsPrefix: other")
    assert (free.severity, free.remedy) == (
        "warning",
        "write cluster.dnsPrefix: aks-dra-test; another cluster is another stack",
    )
    own = T4 % ", protect: true"
    (pool,) = changes(tmp_path, CLUSTER % ", protect: false" + own, CLUSTER % ", protect: false, name: other" + own)
    assert pool.severity == "error"
    assert pool.remedy.endswith("cluster.protect: false, for its pools too, and one `pulumi up` with that alone before")


def test_a_state_of_an_earlier_release_gets_a_run_without_the_replacement_first(tmp_path: Path) -> None:
    """It does not say that what is in the cluster goes with it, so the engine would delete that in the new cluster."""
    plain = as_plain(previous_of(planned(tmp_path, CLUSTER % ", protect: false" + T4 % "")))
    renamed = stack(tmp_path, CLUSTER % ", protect: false, name: other" + T4 % "")
    severities = []
    for recorded in (plain, {**plain, "cluster": {k: v for k, v in plain["cluster"].items() if k != "takes_along"}}):
        _, findings = plan_file(renamed, previous=from_plain(recorded))
        (found,) = [finding for finding in findings if finding.code == "CHG009"]
        severities.append(found.severity)
    assert severities == ["warning", "error"]
    assert "When it is meant: one `pulumi up` with the earlier settings before" in found.remedy


def test_an_existing_cluster_is_named_in_one_spelling(tmp_path: Path) -> None:
    there = AKS % ("rg", "prod")
    (spelled,) = of_cluster(
        tmp_path, f", existing: {there}", f", existing: {there.replace('resourceGroups', 'resourcegroups')}"
    )
    assert (spelled.code, spelled.severity, spelled.remedy) == ("CHG009", "error", f"write {there}")
    assert "clusterIdentifier changes with it" in spelled.message
    own = AKS % ("rg-aks-dra-test", "aks-dra-test")
    for protect in ("", ", protect: false"):
        (made,) = of_cluster(tmp_path, protect, f"{protect}, existing: {own}")
        assert (made.code, made.severity, made.path) == ("CHG009", "error", "aks-dra:cluster.existing")
        assert (
            made.message
            == "that is the cluster that this stack has made: the stack would delete it, as it makes it no more"
        )
    (other,) = of_cluster(tmp_path, ", protect: false", f", protect: false, existing: {there}")
    assert (other.code, other.severity) == ("CHG009", "warning")


def test_what_azure_keeps_on(tmp_path: Path) -> None:
    off = CLUSTER.replace("azureRbac: true", "azureRbac: true, oidcIssuer: false, workloadIdentity: false")
    (issuer,) = changes(tmp_path, CLUSTER % "" + T4 % "", off % "" + T4 % "")
    assert summary([issuer]) == [("CHG025", "error", "aks-dra:cluster.access.oidcIssuer")]
    assert issuer.message == "Azure does not turn oidcIssuerProfile.enabled off again in a cluster that exists"
    assert changes(tmp_path, off % "" + T4 % "", CLUSTER % "" + T4 % "") == []
    local = CLUSTER.replace("azureRbac", "localAccounts")
    entra, login = changes(tmp_path, CLUSTER % "" + T4 % "", local % "" + T4 % "")
    assert summary([entra, login]) == [
        ("CHG025", "warning", "aks-dra:cluster.access"),
        ("CHG016", "warning", "aks-dra:cluster.access.localAccounts"),
    ]


def test_a_system_pool_is_not_renamed_and_its_subnet_is_the_clusters(tmp_path: Path) -> None:
    (renamed,) = of_cluster(tmp_path, "", ", systemPool: {name: sys}")
    assert summary([renamed]) == [("CHG012", "error", "aks-dra:cluster.systemPool.name")]
    assert renamed.remedy == "write system; another system pool means another cluster, in another stack"
    subnet = f"{SUBSCRIPTION}/resourceGroups/net/providers/Microsoft.Network/virtualNetworks/v/subnets/s"
    found = of_cluster(tmp_path, ", identity: {}", f", identity: {{}}, network: {{subnetId: {subnet}}}")
    assert summary(found) == [("CHG012", "error", "aks-dra:cluster.network.subnetId")]
    assert found[0].remedy == "remove it again; another system pool means another cluster, in another stack"


def test_no_password_of_a_raw_input_gets_into_the_outputs(tmp_path: Path) -> None:
    raw = ", azureInputs: {windowsProfile: {adminUsername: u, adminPassword: %s}}"
    plan = planned(tmp_path, CLUSTER % (raw % "hunter2-hunter2") + T4 % "")
    inputs = as_plain(previous_of(plan))["cluster"]["inputs"]
    assert inputs["windowsProfile"] == {"adminUsername": "u", "adminPassword": "[secret]"}
    assert of_cluster(tmp_path, raw % "hunter2-hunter2", raw % "other-other-1") == []
