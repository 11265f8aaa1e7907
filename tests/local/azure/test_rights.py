"""What the simulated AKS asks of the cluster's identity before it creates the cluster, and the records around it."""

from __future__ import annotations

from typing import Any

import pytest

from local.azure import arm, identity, rights, types
from tests.local.azure.cloud import CLUSTER, GROUP, Cloud, cloud

__all__ = ["cloud"]  # a fixture
HOME = f"{arm.group_id('rg')}/providers"
VNET = f"{HOME}/Microsoft.Network/virtualNetworks/hub"
SUBNET = f"{VNET}/subnets/aks"
TABLE = f"{HOME}/Microsoft.Network/routeTables/rt"
ZONE = f"{HOME}/Microsoft.Network/privateDnsZones/privatelink.swedencentral.azmk8s.io"
OWN, NODES = (f"{HOME}/Microsoft.ManagedIdentity/userAssignedIdentities/{name}" for name in ("own", "nodes"))
USER: dict[str, Any] = {"identity": {"type": "UserAssigned", "userAssignedIdentities": [OWN]}}
SYSTEM: dict[str, Any] = {"identity": {"type": "SystemAssigned"}}
IN_SUBNET = {"agentPoolProfiles": [{**CLUSTER["agentPoolProfiles"][0], "vnetSubnetID": SUBNET}]}
ROUTED = {**IN_SUBNET, "networkProfile": {"outboundType": "userDefinedRouting"}}
ZONED = {"apiServerAccessProfile": {"enablePrivateCluster": True, "privateDNSZone": ZONE}}
KUBELET = {"identityProfile": {"kubeletidentity": {"resourceId": NODES}}}


def network(cloud: Cloud, table: bool = True) -> None:
    cloud.put(types.GROUP, GROUP)
    hub = {"resourceGroupName": "rg", "virtualNetworkName": "hub", "location": "swedencentral"}
    cloud.put(types.NETWORK, {**hub, "addressSpace": {"addressPrefixes": ["10.20.0.0/16"]}})
    subnet = {"resourceGroupName": "rg", "virtualNetworkName": "hub", "subnetName": "aks"}
    cloud.put(
        types.SUBNET, {**subnet, "addressPrefix": "10.20.0.0/20"} | ({"routeTable": {"id": TABLE}} if table else {})
    )


def assign(cloud: Cloud, scope: str, role: str, who: str = OWN) -> None:
    given = {"scope": scope, "principalId": identity.principal(who), "roleDefinitionId": f"/roleDefinitions/{role}"}
    cloud.put(types.ROLE_ASSIGNMENT, {**given, "roleAssignmentName": arm.stable_uuid(scope, role, who)})


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({**SYSTEM, **ROUTED}, "CustomRouteTableWithUnsupportedMSIType"),
        ({**SYSTEM, **ZONED}, "CustomPrivateDNSZoneWithSystemAssignedMSI"),
        ({**SYSTEM, **KUBELET}, "CustomKubeletIdentityOnlySupportedOnUserAssignedMSICluster"),
        ({**USER, **IN_SUBNET}, "LinkedAuthorizationFailed"),
        ({**USER, **ZONED}, "CustomPrivateDNSZoneMissingPermissionError"),
        ({**USER, **KUBELET}, "CustomKubeletIdentityMissingPermissionError"),
    ],
)
def test_a_cluster_without_the_right_is_refused(cloud: Cloud, body: dict[str, Any], code: str) -> None:
    network(cloud)
    assert f'Code="{code}"' in cloud.refused(types.CLUSTER, CLUSTER, **body)
    assert cloud.service.store.all(types.CLUSTER) == []


def test_each_right_is_asked_for_by_itself(cloud: Cloud) -> None:
    network(cloud)
    whole = {**USER, **ROUTED, **ZONED, **KUBELET}
    for scope, role, code in (
        (NODES, rights.OPERATOR, "CustomKubeletIdentityMissingPermissionError"),
        (ZONE, rights.ZONE, "CustomPrivateDNSZoneMissingPermissionError"),
        (SUBNET, rights.NETWORK, "LinkedAuthorizationFailed"),
        (TABLE, rights.NETWORK, "CustomRouteTableMissingPermission"),
    ):
        assert f'Code="{code}"' in cloud.refused(types.CLUSTER, CLUSTER, **whole)
        assign(cloud, scope, role)
    _, answer = cloud.put(types.CLUSTER, CLUSTER, **whole)
    assert answer["identityProfile"] == KUBELET["identityProfile"]
    assert answer["identity"]["userAssignedIdentities"].keys() == {OWN}


@pytest.mark.parametrize(
    ("scope", "role", "who", "enough"),
    [
        (VNET, rights.NETWORK, OWN, True),
        (arm.group_id("rg"), rights.ALWAYS[1], OWN, True),
        (SUBNET, rights.ZONE, OWN, False),
        (SUBNET, rights.NETWORK, NODES, False),
        (SUBNET + "2", rights.NETWORK, OWN, False),
    ],
)
def test_a_right_holds_below_its_scope_and_for_its_principal(
    cloud: Cloud,
    scope: str,
    role: str,
    who: str,
    enough: bool,
) -> None:
    network(cloud)
    assign(cloud, scope, role, who)
    if enough:
        cloud.put(types.CLUSTER, CLUSTER, **USER, **IN_SUBNET)
    else:
        assert "LinkedAuthorizationFailed" in cloud.refused(types.CLUSTER, CLUSTER, **USER, **IN_SUBNET)


def test_routing_of_ones_own_needs_a_table_on_the_subnet(cloud: Cloud) -> None:
    network(cloud, table=False)
    assert "ExistingRouteTableNotAssociatedWithSubnet" in cloud.refused(types.CLUSTER, CLUSTER, **USER, **ROUTED)


def test_autoscaler_settings_have_the_providers_names(cloud: Cloud) -> None:
    network(cloud)
    text = cloud.refused(types.CLUSTER, CLUSTER, autoScalerProfile={"scan-interval": "20"})
    assert "azure-native has no property autoScalerProfile.scan-interval" in text
    assert "unknown field" in cloud.refused(types.CLUSTER, CLUSTER, autoScalerProfile={"scanIntervall": "20"})
    _, answer = cloud.put(types.CLUSTER, CLUSTER, autoScalerProfile={"scanInterval": "20"})
    assert answer["autoScalerProfile"] == {"scanInterval": "20"}


def test_a_rule_is_in_its_workspaces_region_and_ends_with_nothing_left(cloud: Cloud) -> None:
    network(cloud)
    workspace, _ = cloud.put(
        types.WORKSPACE, {"resourceGroupName": "rg", "workspaceName": "logs", "location": "swedencentral"}
    )
    rule = {
        "resourceGroupName": "rg",
        "dataCollectionRuleName": "dcr-demo",
        "destinations": {"logAnalytics": [{"name": "x", "workspaceResourceId": workspace}]},
    }
    assert "InvalidPayload" in cloud.refused(types.RULE, rule, location="westeurope")
    rule_id, _ = cloud.put(types.RULE, rule, location="swedencentral")
    cluster, _ = cloud.put(types.CLUSTER, CLUSTER)
    association = {"resourceUri": cluster, "associationName": "ContainerInsightsExtension"}
    assert "InvalidAssociation" in cloud.refused(types.ASSOCIATION, association, dataCollectionRuleId=rule_id + "2")
    cloud.put(types.ASSOCIATION, association, dataCollectionRuleId=rule_id)
    window = {"resourceGroupName": "rg", "resourceName": "demo", "timeInWeek": [{"day": "Sunday", "hourSlots": [1]}]}
    assert "configName" in cloud.refused(types.MAINTENANCE, window, configName="weekly")
    cloud.put(types.MAINTENANCE, window, configName="default")
    cloud.service.delete(types.TYPES[types.CLUSTER], cluster)
    assert [
        record.token for token in (types.ASSOCIATION, types.MAINTENANCE) for record in cloud.service.store.all(token)
    ] == []
