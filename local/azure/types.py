"""The resource types that exist here, by azure-native's tokens: where each lives in ARM, and what the provider itself
decides.

`replaces` is the provider's own list for these types (its replacement.go, read in 2026), not ARM's: what ARM refuses
to change beyond it is refused at update, as there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from local.azure.arm import API_VERSION, SUBSCRIPTION, ArmError, Properties

GROUP = "azure-native:resources:ResourceGroup"
CLUSTER = "azure-native:containerservice:ManagedCluster"
POOL = "azure-native:containerservice:AgentPool"
IDENTITY = "azure-native:managedidentity:UserAssignedIdentity"
ROLE_ASSIGNMENT = "azure-native:authorization:RoleAssignment"
WORKSPACE = "azure-native:operationalinsights:Workspace"
NETWORK = "azure-native:network:VirtualNetwork"
SUBNET = "azure-native:network:Subnet"
RULE = "azure-native:monitor:DataCollectionRule"
ASSOCIATION = "azure-native:monitor:DataCollectionRuleAssociation"
MAINTENANCE = "azure-native:containerservice:MaintenanceConfiguration"

GROUP_NAME = r"^[-\w\._\(\)]{0,89}[-\w_\(\)]$"
CLUSTER_NAME = r"^[a-zA-Z0-9]$|^[a-zA-Z0-9][-_a-zA-Z0-9]{0,61}[a-zA-Z0-9]$"
POOL_NAME = r"^[a-z][a-z0-9]{0,11}$"
COMMON = ("name", "type", "azureApiVersion")


@dataclass(frozen=True)
class ArmType:
    token: str
    arm: str
    path: str
    # The path's parameters, the resource's own name last, each with the pattern that the provider checks.
    parameters: dict[str, str]
    has_location: bool = True
    required: tuple[str, ...] = ()
    computed: tuple[str, ...] = ()
    replaces: tuple[str, ...] = ()

    @property
    def name_parameter(self) -> str:
        return list(self.parameters)[-1]

    def id(self, inputs: Properties) -> str:
        values = {name: str(inputs[name]).strip("/") for name in self.parameters}
        return self.path.format(subscription=SUBSCRIPTION, **values)

    @property
    def forces(self) -> tuple[str, ...]:
        """Every property whose change makes the provider replace the resource."""
        return (*self.parameters, *(("location",) if self.has_location else ()), *self.replaces)


def in_group(provider: str) -> str:
    return "/subscriptions/{subscription}/resourceGroups/{resourceGroupName}/providers/" + provider


TYPES: dict[str, ArmType] = {
    kind.token: kind
    for kind in (
        ArmType(
            GROUP,
            "Microsoft.Resources/resourceGroups",
            "/subscriptions/{subscription}/resourceGroups/{resourceGroupName}",
            {"resourceGroupName": GROUP_NAME},
            computed=("properties",),
        ),
        ArmType(
            CLUSTER,
            "Microsoft.ContainerService/ManagedClusters",
            in_group("Microsoft.ContainerService/managedClusters/{resourceName}"),
            {"resourceGroupName": GROUP_NAME, "resourceName": CLUSTER_NAME},
            computed=(
                "azurePortalFQDN",
                "currentKubernetesVersion",
                "eTag",
                "fqdn",
                "maxAgentPools",
                "powerState",
                "privateFQDN",
                "provisioningState",
                "resourceUID",
                "systemData",
                "oidcIssuerProfile",
                "nodeResourceGroup",
                "identityProfile",
                "networkProfile",
                "agentPoolProfiles",
                "identity",
            ),
            replaces=(
                "dnsPrefix",
                "fqdnSubdomain",
                "nodeResourceGroup",
                "linuxProfile",
                "diskEncryptionSetID",
                "networkProfile.serviceCidr",
                "networkProfile.serviceCidrs",
                "networkProfile.dnsServiceIP",
                "networkProfile.networkPlugin",
                "networkProfile.networkPluginMode",
                "networkProfile.networkPolicy",
                "networkProfile.networkDataplane",
                "networkProfile.podCidr",
                "networkProfile.podCidrs",
                "networkProfile.outboundType",
            ),
        ),
        ArmType(
            POOL,
            "Microsoft.ContainerService/managedClusters/agentPools",
            in_group("Microsoft.ContainerService/managedClusters/{resourceName}/agentPools/{agentPoolName}"),
            {"resourceGroupName": GROUP_NAME, "resourceName": CLUSTER_NAME, "agentPoolName": POOL_NAME},
            has_location=False,
            computed=(
                "currentOrchestratorVersion",
                "eTag",
                "nodeImageVersion",
                "provisioningState",
                "status",
                "powerState",
            ),
            replaces=("vmSize", "gpuInstanceProfile", "networkProfile.nodePublicIPTags"),
        ),
        ArmType(
            MAINTENANCE,
            "Microsoft.ContainerService/managedClusters/maintenanceConfigurations",
            in_group(
                "Microsoft.ContainerService/managedClusters/{resourceName}/maintenanceConfigurations/{configName}"
            ),
            {"resourceGroupName": GROUP_NAME, "resourceName": CLUSTER_NAME, "configName": ".+"},
            has_location=False,
            computed=("systemData",),
        ),
        ArmType(
            RULE,
            "Microsoft.Insights/dataCollectionRules",
            in_group("Microsoft.Insights/dataCollectionRules/{dataCollectionRuleName}"),
            {"resourceGroupName": GROUP_NAME, "dataCollectionRuleName": r"^[a-zA-Z0-9][-\w.]{1,62}[a-zA-Z0-9]$"},
            computed=("endpoints", "etag", "immutableId", "metadata", "provisioningState", "systemData"),
        ),
        ArmType(
            ASSOCIATION,
            "Microsoft.Insights/dataCollectionRuleAssociations",
            "/{resourceUri}/providers/Microsoft.Insights/dataCollectionRuleAssociations/{associationName}",
            {"resourceUri": ".+", "associationName": ".+"},
            has_location=False,
            computed=("etag", "metadata", "provisioningState", "systemData"),
        ),
        ArmType(
            IDENTITY,
            "Microsoft.ManagedIdentity/userAssignedIdentities",
            in_group("Microsoft.ManagedIdentity/userAssignedIdentities/{resourceName}"),
            {"resourceGroupName": GROUP_NAME, "resourceName": r"^[a-zA-Z0-9][-_a-zA-Z0-9]{2,127}$"},
            computed=("clientId", "principalId", "systemData", "tenantId"),
        ),
        ArmType(
            ROLE_ASSIGNMENT,
            "Microsoft.Authorization/roleAssignments",
            "/{scope}/providers/Microsoft.Authorization/roleAssignments/{roleAssignmentName}",
            {"scope": ".+", "roleAssignmentName": r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"},
            has_location=False,
            required=("principalId", "roleDefinitionId"),
            computed=("createdBy", "createdOn", "updatedBy", "updatedOn", "systemData"),
            replaces=("principalId", "principalType", "roleDefinitionId"),
        ),
        ArmType(
            WORKSPACE,
            "Microsoft.OperationalInsights/workspaces",
            in_group("Microsoft.OperationalInsights/workspaces/{workspaceName}"),
            {"resourceGroupName": GROUP_NAME, "workspaceName": r"^[A-Za-z0-9][A-Za-z0-9-]{2,61}[A-Za-z0-9]$"},
            computed=("createdDate", "customerId", "etag", "modifiedDate", "provisioningState", "systemData"),
        ),
        ArmType(
            NETWORK,
            "Microsoft.Network/virtualNetworks",
            in_group("Microsoft.Network/virtualNetworks/{virtualNetworkName}"),
            {"resourceGroupName": GROUP_NAME, "virtualNetworkName": r"^[a-zA-Z0-9]([-\w.]{0,62}\w)?$"},
            computed=("etag", "provisioningState", "resourceGuid"),
        ),
        ArmType(
            SUBNET,
            "Microsoft.Network/virtualNetworks/subnets",
            in_group("Microsoft.Network/virtualNetworks/{virtualNetworkName}/subnets/{subnetName}"),
            {
                "resourceGroupName": GROUP_NAME,
                "virtualNetworkName": ".+",
                "subnetName": r"^[a-zA-Z0-9]([-\w.]{0,78}\w)?$",
            },
            has_location=False,
            computed=("etag", "provisioningState", "purpose"),
        ),
    )
}
VERSIONED = re.compile(r"^azure-native:(?P<module>[^/:]+)/v\d+(preview)?:(?P<name>\w+)$")


def of(token: str) -> ArmType:
    found = VERSIONED.match(token)
    plain = f"azure-native:{found['module']}:{found['name']}" if found else token
    if plain not in TYPES:
        raise ArmError(
            400,
            "NotSimulated",
            f"The simulated Azure has no {token}. It has: {', '.join(sorted(TYPES))}.",
        )
    return TYPES[plain]


def common(kind: ArmType, name: str) -> Properties:
    """What every answer of the provider carries."""
    return {"name": name, "type": kind.arm, "azureApiVersion": API_VERSION}
