"""Identities and their rights: made or found, and assigned in the order that AKS needs.

AKS looks at the rights on a subnet, a route table, a DNS zone or a kubelet identity while it creates the cluster, so
those assignments are what the cluster waits for. Object ids come from lookups that are keyed on an id alone: outputs of
a resource turn unknown while it is updated, and an unknown principal plans the replacement of its assignments.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pulumi

from aks_dra.model.plan import PlannedCluster, PlannedRole

KUBELET = "kubelet"  # the identity that AKS makes for its nodes

_ID = re.compile(r"^/subscriptions/([^/]+)/resourceGroups/([^/]+)/providers/.+/([^/]+)$", re.IGNORECASE)


class Parts(NamedTuple):
    """An ARM id, taken apart."""

    subscription: str
    group: str
    name: str


def parts_of(resource_id: str) -> Parts:
    match = _ID.match(resource_id)
    if match is None:
        raise pulumi.RunError(f"{resource_id!r} is not the ARM id of a resource in a resource group.")
    return Parts(*match.groups())


def register_identities(
    name: str, planned: PlannedCluster, group: pulumi.Input[str], parent: pulumi.Resource
) -> dict[str, pulumi.Output[str]]:
    """The ARM id of every identity by its key; new ones are registered."""
    found: dict[str, pulumi.Output[str]] = {}
    for identity in planned.identities:
        if identity.existing:
            found[identity.key] = pulumi.Output.from_input(identity.existing)
            continue
        from pulumi_azure_native.managedidentity import UserAssignedIdentity

        made = UserAssignedIdentity(
            f"{name}-{identity.key}",
            resource_group_name=group,
            resource_name_=identity.name,
            location=planned.location,
            tags=dict(planned.tags) or None,
            opts=pulumi.ResourceOptions(parent=parent, protect=planned.protect, delete_before_replace=True),
        )
        found[identity.key] = made.id
    return found


def looked_up(identity_id: pulumi.Output[str], parent: pulumi.Resource) -> pulumi.Output[Any]:
    """What Azure says of an identity: `principal_id`, `client_id`."""
    from pulumi_azure_native import managedidentity

    parts = identity_id.apply(parts_of)
    found: pulumi.Output[Any] = managedidentity.get_user_assigned_identity_output(
        resource_group_name=parts.apply(lambda p: p.group),
        resource_name=parts.apply(lambda p: p.name),
        opts=pulumi.InvokeOutputOptions(parent=parent),
    )
    return found


def kubelet_principal(cluster_id: pulumi.Output[str], parent: pulumi.Resource) -> pulumi.Output[str]:
    """The object id of the identity that AKS made for the cluster's nodes."""
    from pulumi_azure_native import containerservice

    parts = cluster_id.apply(parts_of)
    cluster = containerservice.get_managed_cluster_output(
        resource_group_name=parts.apply(lambda p: p.group),
        resource_name=parts.apply(lambda p: p.name),
        opts=pulumi.InvokeOutputOptions(parent=parent),
    )
    principal: pulumi.Output[str] = cluster.apply(_kubelet_of)
    return principal


def _kubelet_of(cluster: Any) -> str:
    kubelet = (cluster.identity_profile or {}).get("kubeletidentity")
    if kubelet is None:
        raise pulumi.RunError("Azure names no kubelet identity for the cluster, so registries cannot be opened to it.")
    object_id = kubelet.get("objectId") if isinstance(kubelet, Mapping) else kubelet.object_id
    return str(object_id)


def register_roles(
    name: str,
    roles: Sequence[PlannedRole],
    identities: Mapping[str, pulumi.Output[str]],
    parent: pulumi.Resource,
    cluster_id: pulumi.Output[str] | None = None,
) -> list[pulumi.Resource]:
    """The role assignments. Those for the kubelet identity that AKS makes need the cluster's id."""
    principals: dict[str, pulumi.Output[str]] = {}
    for role in roles:
        if role.principal in principals:
            continue
        if role.principal == KUBELET:
            assert cluster_id is not None
            principals[KUBELET] = kubelet_principal(cluster_id, parent)
        else:
            found = looked_up(identities[role.principal], parent)
            principals[role.principal] = found.apply(lambda identity: str(identity.principal_id))
    return [_assignment(name, role, identities, principals[role.principal], parent) for role in roles]


def _assignment(
    name: str,
    role: PlannedRole,
    identities: Mapping[str, pulumi.Output[str]],
    principal: pulumi.Output[str],
    parent: pulumi.Resource,
) -> pulumi.Resource:
    from pulumi_azure_native.authorization import RoleAssignment

    scope = identities[role.scope] if role.scope in identities else pulumi.Output.from_input(role.scope)
    definition = scope.apply(
        lambda found: (
            f"/subscriptions/{parts_of(found).subscription}/providers/Microsoft.Authorization/"
            f"roleDefinitions/{role.role_id}"
        )
    )
    assignment: pulumi.Resource = RoleAssignment(
        f"{name}-{role.key}",
        scope=scope,
        role_assignment_name=role.name,
        role_definition_id=definition,
        principal_id=principal,
        # Said so, because a new identity takes a while to be known everywhere, and Azure then need not look it up.
        principal_type="ServicePrincipal",
        # Its name is fixed, so a second one of the name cannot be there beside it.
        opts=pulumi.ResourceOptions(parent=parent, delete_before_replace=True),
    )
    return assignment


def with_identities(
    inputs: Mapping[str, Any], identities: Mapping[str, pulumi.Output[str]], parent: pulumi.Resource
) -> dict[str, Any]:
    """The cluster's inputs with the ids that only Azure knows."""
    filled = dict(inputs)
    if "identity" in identities:
        # azure-native takes a list where Azure's API has a map.
        filled["identity"] = {"type": "UserAssigned", "userAssignedIdentities": [identities["identity"]]}
    if (kubelet := identities.get("kubelet-identity")) is not None:
        found = looked_up(kubelet, parent)
        filled["identityProfile"] = {
            "kubeletidentity": {
                "resourceId": kubelet,
                "clientId": found.apply(lambda identity: identity.client_id),
                "objectId": found.apply(lambda identity: identity.principal_id),
            }
        }
    return filled
