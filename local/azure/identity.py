"""Identities and what they may do: object ids that follow from names, so that a simulated one is the same in every
run.
"""

from __future__ import annotations

import datetime
from typing import Any

from local.azure import arm
from local.azure.arm import ArmError, Properties
from local.azure.store import Record, Store
from local.azure.types import IDENTITY, ROLE_ASSIGNMENT, TYPES, common


def principal(resource_id: str) -> str:
    return arm.stable_uuid(resource_id, "principal")


def client(resource_id: str) -> str:
    return arm.stable_uuid(resource_id, "client")


def as_map(identity: Properties) -> Properties:
    """Programs give the user-assigned ids as a list; ARM wants an object with an empty value for each."""
    given = identity.get("userAssignedIdentities")
    if isinstance(given, list):
        return {**identity, "userAssignedIdentities": {str(item): {} for item in given}}
    return identity


def complete(resource_id: str, given: Properties | None) -> Properties | None:
    """A resource's identity as ARM answers it."""
    if not given:
        return None
    kind = str(given.get("type", "SystemAssigned"))
    answer: Properties = {"type": kind}
    if "SystemAssigned" in kind:
        answer |= {"principalId": principal(resource_id), "tenantId": arm.TENANT}
    users = as_map(given).get("userAssignedIdentities")
    if users:
        answer["userAssignedIdentities"] = {
            name: {"clientId": client(name), "principalId": principal(name)} for name in users
        }
    return answer


def kubelet(cluster_id: str, node_group: str) -> Properties:
    name = f"{arm.name_of(cluster_id)}-agentpool"
    full = f"{arm.group_id(node_group)}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/{name}"
    return {"resourceId": full, "clientId": client(full), "objectId": principal(full)}


def put(store: Store, resource_id: str, body: Properties) -> Record:
    answer: dict[str, Any] = {
        **body,
        **common(TYPES[IDENTITY], arm.name_of(resource_id)),
        "clientId": client(resource_id),
        "principalId": principal(resource_id),
        "tenantId": arm.TENANT,
    }
    return store.put(Record(resource_id, IDENTITY, answer))


def put_role_assignment(store: Store, resource_id: str, body: Properties) -> Record:
    """One assignment per principal, role and scope; nothing of one can be changed but its description."""
    scope = resource_id.lower().rsplit("/providers/microsoft.authorization/", 1)[0]
    for other in store.all(ROLE_ASSIGNMENT):
        same = all(
            str(other.properties.get(key)).lower() == str(body.get(key)).lower()
            for key in ("principalId", "roleDefinitionId")
        )
        if other.id.lower() == resource_id.lower():
            if not same:
                raise ArmError(
                    409,
                    "RoleAssignmentUpdateNotPermitted",
                    "Tenant ID, application ID, principal ID, and scope are not allowed to be updated.",
                )
        elif same and str(other.properties.get("scope")).strip("/").lower() == scope.strip("/"):
            raise ArmError(
                409,
                "RoleAssignmentExists",
                f"The role assignment already exists. The ID of the existing role assignment is "
                f"{arm.name_of(other.id)}.",
            )
    old = store.get(resource_id)
    now = datetime.datetime.now(datetime.UTC).isoformat()
    created = old.properties["createdOn"] if old is not None else now
    answer = {
        "principalType": "ServicePrincipal",
        **body,
        **common(TYPES[ROLE_ASSIGNMENT], arm.name_of(resource_id)),
        "scope": "/" + resource_id.strip("/").rsplit("/providers/Microsoft.Authorization/", 1)[0],
        "createdOn": created,
        "updatedOn": created,
        "createdBy": "",
        "updatedBy": "",
    }
    return store.put(Record(resource_id, ROLE_ASSIGNMENT, answer))
