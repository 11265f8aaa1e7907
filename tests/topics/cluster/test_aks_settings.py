"""Settings of the cluster and its identities: what Azure gets, in which order, and what is refused."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest

from aks_dra.facts import load_facts
from aks_dra.report.tables import created
from tests.stacks import check, planned

SUB = "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg-shared/providers"
SUBNET = f"{SUB}/Microsoft.Network/virtualNetworks/hub/subnets/aks"
TABLE = f"{SUB}/Microsoft.Network/routeTables/rt"
ZONE = f"{SUB}/Microsoft.Network/privateDnsZones/privatelink.swedencentral.azmk8s.io"
IDENTITY = f"{SUB}/Microsoft.ManagedIdentity/userAssignedIdentities/own"
KUBELET = f"{SUB}/Microsoft.ManagedIdentity/userAssignedIdentities/nodes"
REGISTRY = f"{SUB}/Microsoft.ContainerRegistry/registries/images"
LOGS = f"{SUB}/Microsoft.OperationalInsights/workspaces/logs"
GROUP = "11111111-2222-3333-4444-555555555555"
T4 = "aks-dra:pools: {t4: {vmSize: Standard_NC4as_T4_v3, nodes: {count: 1}}}"


def cluster(rest: str, access: str = "azureRbac: true") -> str:
    return f"aks-dra:cluster: {{access: {{{access}}}, {rest}}}\n{T4}\n"


def told(tmp_path: Path, body: str) -> list[tuple[str, str, str, str]]:
    return [(f.code, f.severity, f.path, f.remedy) for f in check(tmp_path, body)]


def roles(tmp_path: Path, body: str) -> list[tuple[str, str, str, bool]]:
    plan = planned(tmp_path, body)
    assert plan.findings == ()
    return [(role.role, role.scope, role.principal, role.before_cluster) for role in plan.cluster.roles]


# Identities and rights


def test_a_cluster_with_nothing_of_its_own_is_system_assigned_and_gets_no_rights(tmp_path: Path) -> None:
    plan = planned(tmp_path, cluster("name: gpus"))
    assert plan.cluster.inputs["identity"] == {"type": "SystemAssigned"}
    assert (plan.cluster.identities, plan.cluster.roles) == ((), ())


def test_what_is_ones_own_is_opened_to_an_identity_before_the_cluster(tmp_path: Path) -> None:
    network = f"outboundType: userDefinedRouting, subnetId: {SUBNET}, routeTableId: {TABLE}, privateCluster: true"
    body = cluster(f"name: gpus, network: {{{network}, privateDnsZone: {{existing: {ZONE}}}}}")
    assert roles(tmp_path, body) == [
        ("Network Contributor", SUBNET.removesuffix("/subnets/aks"), "identity", True),
        ("Network Contributor", TABLE, "identity", True),
        ("Private DNS Zone Contributor", ZONE, "identity", True),
    ]
    plan = planned(tmp_path, body)
    assert [(i.key, i.name, i.existing) for i in plan.cluster.identities] == [("identity", "id-gpus", "")]
    assert plan.cluster.inputs["identity"] == {"type": "UserAssigned"}
    assert plan.cluster.inputs["apiServerAccessProfile"] == {"enablePrivateCluster": True, "privateDNSZone": ZONE}


def test_an_own_identity_is_used_and_its_rights_may_be_there_already(tmp_path: Path) -> None:
    network = f"network: {{subnetId: {SUBNET}}}"
    given = cluster(f"identity: {{existing: {IDENTITY}}}, {network}")
    assert roles(tmp_path, given) == [("Network Contributor", SUBNET, "identity", True)]
    plan = planned(tmp_path, given)
    assert plan.cluster.inputs["identity"] == {"type": "UserAssigned", "userAssignedIdentities": [IDENTITY]}
    assert roles(tmp_path, cluster(f"identity: {{existing: {IDENTITY}, assignRoles: false}}, {network}")) == []


def test_registries_are_opened_to_the_identity_that_pulls(tmp_path: Path) -> None:
    assert roles(tmp_path, cluster(f"registries: [{REGISTRY}]")) == [("AcrPull", REGISTRY, "kubelet", False)]
    own = cluster(f"kubeletIdentity: {{existing: {KUBELET}}}, registries: [{REGISTRY}]")
    assert roles(tmp_path, own) == [
        ("Managed Identity Operator", "kubelet-identity", "identity", True),
        ("AcrPull", REGISTRY, "kubelet-identity", False),
    ]


def test_names_of_assignments_are_guids_that_follow_from_what_is_assigned(tmp_path: Path) -> None:
    body = cluster(f"name: gpus, registries: [{REGISTRY}], network: {{subnetId: {SUBNET}}}")
    names = [role.name for role in planned(tmp_path, body).cluster.roles]
    again = [role.name for role in planned(tmp_path, body.replace("{name", "{tier: Free, name")).cluster.roles]
    other = [role.name for role in planned(tmp_path, body.replace("gpus", "gpus2")).cluster.roles]
    assert [str(uuid.UUID(name)) for name in names] == names
    assert names == again
    assert set(names).isdisjoint(other)


def test_the_plan_for_people_names_rights_in_the_order_in_which_they_come(tmp_path: Path) -> None:
    rest = f"name: gpus, kubeletIdentity: {{}}, registries: [{REGISTRY}], network: {{subnetId: {SUBNET}}}"
    windows = f"monitoring: {{logAnalytics: {{}}}}, maintenance: {{default: {{{WINDOW}}}}}"
    lines = created(planned(tmp_path, cluster(f"{rest}, {windows}")))
    assert lines[: lines.index("node pool t4 (1 x Standard_NC4as_T4_v3)")] == [
        "resource group rg-gpus",
        "identity id-gpus",
        "identity id-gpus-kubelet",
        "right Network Contributor on subnets/aks for id-gpus",
        "right Managed Identity Operator on identity id-gpus-kubelet for id-gpus",
        "Log Analytics workspace log-gpus (30 days)",
        "AKS cluster gpus (Kubernetes 1.36, swedencentral)",
        "right AcrPull on registries/images for id-gpus-kubelet",
        "data collection rule dcr-gpus and its association with the cluster",
        "maintenance window default",
    ]


def test_a_found_cluster_gets_pull_rights_and_nothing_else(tmp_path: Path) -> None:
    existing = f"{SUB}/Microsoft.ContainerService/managedClusters/there"
    body = f"aks-dra:cluster: {{existing: {existing}, registries: [{REGISTRY}]}}\n{T4}\n"
    plan = planned(tmp_path, body)
    assert plan.findings == ()
    assert [(role.role, role.principal) for role in plan.cluster.roles] == [("AcrPull", "kubelet")]
    assert (plan.cluster.identities, plan.cluster.inputs) == ((), {})


@pytest.mark.parametrize(
    ("rest", "access", "expected"),
    [
        ("name: a", "adminGroups: [gpu-admins]",
         ("ACC005", "error", "aks-dra:cluster.access.adminGroups.0",
          "write what `az ad group show --group NAME --query id` prints")),
        ("name: a", "azureRbac: true, oidcIssuer: false",
         ("ACC006", "error", "aks-dra:cluster.access.oidcIssuer",
          "set oidcIssuer: true, or workloadIdentity: false")),
        ("name: a", "localAccounts: true, login: msi",
         ("ACC007", "error", "aks-dra:cluster.access.login",
          "set access.adminGroups or access.azureRbac, or remove login")),
        (f"identity: {{existing: {IDENTITY}, name: id-new}}", "azureRbac: true",
         ("ACC008", "error", "aks-dra:cluster.identity", "keep existing alone, or remove it")),
        (f"monitoring: {{logAnalytics: {{existing: {LOGS}, retentionDays: 60}}}}", "azureRbac: true",
         ("ACC008", "error", "aks-dra:cluster.monitoring.logAnalytics", "keep existing alone, or remove it")),
        ("identity: {name: x}", "azureRbac: true",
         ("ACC009", "error", "aks-dra:cluster.identity.name", "set identity.name")),
        (f"identity: {{existing: {IDENTITY}}}, kubeletIdentity: {{existing: {IDENTITY}}}", "azureRbac: true",
         ("ACC010", "error", "aks-dra:cluster.kubeletIdentity", "take an identity of its own for the nodes")),
        ("monitoring: {logAnalytics: {retentionDays: 7}}", "azureRbac: true",
         ("ACC011", "error", "aks-dra:cluster.monitoring.logAnalytics.retentionDays", "write 30")),
        ("monitoring: {logAnalytics: {name: a_b}}", "azureRbac: true",
         ("ACC012", "error", "aks-dra:cluster.monitoring.logAnalytics.name", "write another name")),
        ("identity: {existing: own}", "azureRbac: true",
         ("ACC003", "error", "aks-dra:cluster.identity.existing",
          "write /subscriptions/ID/resourceGroups/GROUP/providers/Microsoft.ManagedIdentity/"
          "userAssignedIdentities/NAME")),
        ('kubeletIdentity: {existing: ""}', "azureRbac: true",
         ("ACC003", "error", "aks-dra:cluster.kubeletIdentity.existing",
          "write /subscriptions/ID/resourceGroups/GROUP/providers/Microsoft.ManagedIdentity/"
          "userAssignedIdentities/NAME")),
        (f"registries: [{SUBNET}]", "azureRbac: true",
         ("ACC003", "error", "aks-dra:cluster.registries.0",
          "write /subscriptions/ID/resourceGroups/GROUP/providers/Microsoft.ContainerRegistry/registries/NAME")),
        ("network: {subnetId: aks}", "azureRbac: true",
         ("ACC003", "error", "aks-dra:cluster.network.subnetId",
          "write /subscriptions/ID/resourceGroups/GROUP/providers/Microsoft.Network/virtualNetworks/NAME/"
          "subnets/NAME")),
    ],
)  # fmt: skip
def test_access_and_identities_that_cannot_work(
    tmp_path: Path, rest: str, access: str, expected: tuple[str, str, str, str]
) -> None:
    assert told(tmp_path, cluster(rest, access)) == [expected]


@pytest.mark.parametrize(
    ("access", "login"),
    [
        ("azureRbac: true", "azurecli"),
        (f"adminGroups: [{GROUP}], login: workloadidentity", "workloadidentity"),
        ("localAccounts: true", "admin"),
        ("localAccounts: true, azureRbac: true, login: msi", "msi"),
    ],
)
def test_the_login_follows_from_who_may_log_in(tmp_path: Path, access: str, login: str) -> None:
    plan = planned(tmp_path, cluster("name: a", access))
    assert (plan.findings, plan.cluster.login) == ((), login)


def test_settings_of_a_cluster_that_exists_are_named_when_they_do_nothing(tmp_path: Path) -> None:
    existing = f"{SUB}/Microsoft.ContainerService/managedClusters/there"
    body = f"aks-dra:cluster: {{existing: {existing}, tier: Free, identity: {{}}}}\n{T4}\n"
    remedy = "remove it, or write null where a base file sets it"
    assert told(tmp_path, body) == [
        ("ACC013", "warning", "aks-dra:cluster.identity", remedy),
        ("ACC013", "warning", "aks-dra:cluster.tier", remedy),
    ]


# Monitoring and maintenance


def test_container_logs_go_to_a_workspace_by_the_clusters_identity(tmp_path: Path) -> None:
    plan = planned(tmp_path, cluster(f"monitoring: {{logAnalytics: {{existing: {LOGS}}}}}"))
    config = {"useAADAuth": "true", "logAnalyticsWorkspaceResourceID": LOGS}
    assert plan.cluster.inputs["addonProfiles"] == {"omsagent": {"enabled": True, "config": config}}
    made = planned(tmp_path, cluster("name: gpus, monitoring: {logAnalytics: {retentionDays: 90}}")).cluster
    assert made.inputs["addonProfiles"] == {"omsagent": {"enabled": True, "config": {"useAADAuth": "true"}}}
    assert made.workspace is not None
    assert (made.workspace.name, made.workspace.existing, made.workspace.retention_days) == ("log-gpus", "", 90)
    assert "addonProfiles" not in planned(tmp_path, cluster("name: a")).cluster.inputs


WINDOW = (
    "maintenanceWindow: {schedule: {weekly: {intervalWeeks: 1, dayOfWeek: Sunday}}, durationHours: 4, "
    'startTime: "02:00"}'
)


def test_a_maintenance_window_is_planned_as_it_is_written(tmp_path: Path) -> None:
    plan = planned(tmp_path, cluster(f"maintenance: {{aksManagedAutoUpgradeSchedule: {{{WINDOW}}}}}"))
    assert plan.findings == ()
    assert plan.cluster.maintenance == {
        "aksManagedAutoUpgradeSchedule": {
            "maintenanceWindow": {
                "schedule": {"weekly": {"intervalWeeks": 1, "dayOfWeek": "Sunday"}},
                "durationHours": 4,
                "startTime": "02:00",
            }
        }
    }


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (f"aksManagedUpgrade: {{{WINDOW}}}",
         ("AZR004", "aksManagedUpgrade", "did you mean aksManagedAutoUpgradeSchedule?")),
        (f"default: {{{WINDOW.replace('dayOfWeek', 'day')}}}",
         ("AZR001", "default.maintenanceWindow.schedule.weekly.day", "did you mean dayOfWeek?")),
        (f"default: {{{WINDOW.replace('Sunday', 'Sonntag')}}}",
         ("AZR002", "default.maintenanceWindow.schedule.weekly.dayOfWeek",
          "write one of Friday, Monday, Saturday, Sunday, Thursday, Tuesday, Wednesday")),
        (f"default: {{{WINDOW.replace(': 4', ': four')}}}",
         ("AZR002", "default.maintenanceWindow.durationHours", "write a whole number")),
        ("default: {maintenanceWindow: {schedule: {daily: {intervalDays: 1}}, durationHours: 4}}",
         ("AZR002", "default.maintenanceWindow", "add startTime")),
        ("default: {}",
         ("AZR005", "default", "add maintenanceWindow with schedule, durationHours and startTime, or remove it")),
    ],
)  # fmt: skip
def test_a_maintenance_window_that_azure_would_drop(tmp_path: Path, given: str, expected: tuple[str, str, str]) -> None:
    (line,) = told(tmp_path, cluster(f"maintenance: {{{given}}}"))
    assert (line[0], line[2].removeprefix("aks-dra:cluster.maintenance."), line[3]) == expected


def test_every_role_of_the_facts_has_the_id_of_a_definition() -> None:
    assert {key: role.name for key, role in load_facts().roles.items() if str(uuid.UUID(role.id)) == role.id} == {
        "acr-pull": "AcrPull",
        "managed-identity-operator": "Managed Identity Operator",
        "network-contributor": "Network Contributor",
        "private-dns-zone-contributor": "Private DNS Zone Contributor",
    }


def test_nobody_can_log_in(tmp_path: Path) -> None:
    findings = check(tmp_path, "aks-dra:cluster: {access: {localAccounts: false}}")
    assert [(f.code, f.severity) for f in findings] == [("ACC001", "error")]
