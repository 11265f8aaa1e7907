"""The functions that a program may invoke. An unknown one is refused by name: nothing is made up."""

from __future__ import annotations

import base64
from collections.abc import Callable

from local.azure import arm, servers
from local.azure.arm import ArmError, Properties
from local.azure.service import Service
from local.azure.types import CLUSTER, GROUP, IDENTITY, NETWORK, POOL, SUBNET, TYPES, WORKSPACE

# Nobody's: what the simulation answers when asked who is logged in.
CLIENT = "00000000-0000-0000-0000-000000000002"
GETTERS = {
    "azure-native:resources:getResourceGroup": GROUP,
    "azure-native:containerservice:getManagedCluster": CLUSTER,
    "azure-native:containerservice:getAgentPool": POOL,
    "azure-native:managedidentity:getUserAssignedIdentity": IDENTITY,
    "azure-native:operationalinsights:getWorkspace": WORKSPACE,
    "azure-native:network:getVirtualNetwork": NETWORK,
    "azure-native:network:getSubnet": SUBNET,
}


def what_are_you(_service: Service, _arguments: Properties) -> Properties:
    return {"simulated": True, "of": "Azure Resource Manager"}


def client_config(_service: Service, _arguments: Properties) -> Properties:
    return {"clientId": CLIENT, "objectId": CLIENT, "subscriptionId": arm.SUBSCRIPTION, "tenantId": arm.TENANT}


def user_credentials(service: Service, arguments: Properties) -> Properties:
    return credentials(service, "clusterUser", cluster_of(service, arguments))


def admin_credentials(service: Service, arguments: Properties) -> Properties:
    cluster = cluster_of(service, arguments)
    if cluster.get("disableLocalAccounts"):
        raise ArmError(
            400,
            "BadRequest",
            "Getting static credential is not allowed because this cluster is set to disable local accounts.",
        )
    return credentials(service, "clusterAdmin", cluster)


def cluster_of(service: Service, arguments: Properties) -> Properties:
    return get(service, CLUSTER, arguments)


def credentials(service: Service, name: str, cluster: Properties) -> Properties:
    """The kubeconfig of the cluster's own API server, in Azure's shape."""
    text = servers.kubeconfig(service.store, str(cluster["id"]))
    return {"kubeconfigs": [{"name": name, "value": base64.b64encode(text.encode()).decode()}]}


def get(service: Service, token: str, arguments: Properties) -> Properties:
    kind = TYPES[token]
    missing = [name for name in kind.parameters if not arguments.get(name)]
    if missing:
        raise ArmError(400, "InvalidParameter", f"Required parameter {missing[0]} is missing (null).", missing[0])
    resource_id = kind.id(arguments)
    group = arm.group_of(resource_id)
    if service.read(arm.group_id(group)) is None:
        raise arm.group_not_found(group)
    record = service.read(resource_id)
    if record is None:
        raise arm.resource_not_found(resource_id)
    return {**service.answer(record), "id": record.id}


FUNCTIONS: dict[str, Callable[[Service, Properties], Properties]] = {
    "azure-native:aksdra:whatAreYou": what_are_you,
    "azure-native:authorization:getClientConfig": client_config,
    "azure-native:containerservice:listManagedClusterUserCredentials": user_credentials,
    "azure-native:containerservice:listManagedClusterAdminCredentials": admin_credentials,
}


def invoke(service: Service, token: str, arguments: Properties) -> Properties:
    if token in GETTERS:
        return get(service, GETTERS[token], arguments)
    if token in FUNCTIONS:
        return FUNCTIONS[token](service, arguments)
    have = ", ".join(sorted([*FUNCTIONS, *GETTERS]))
    raise ArmError(400, "NotSimulated", f"The simulated Azure has no function {token}. It has: {have}.")
