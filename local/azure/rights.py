"""What the cluster's identity must be allowed before AKS creates the cluster, in AKS's own codes.

AKS asks at once, in the name of the identity, for what it was given: a kubelet identity, a private DNS zone, the route
table of a subnet with user-defined routing, the subnets. A system-assigned identity does not exist by then.
"""

from __future__ import annotations

from collections.abc import Iterator

from local.azure import identity
from local.azure.arm import ArmError, Properties
from local.azure.store import Store
from local.azure.types import ROLE_ASSIGNMENT

# The ids of built-in roles that grant what is asked for; owner and contributor grant it too.
ALWAYS = ("8e3af657-a8ff-443c-a75c-2fe8c4bcb635", "b24988ac-6180-42a0-ab88-20f7382dd24c")
NETWORK = "4d97b98b-1d4f-4787-a291-c67834d212e7"
ZONE = "b12aa53e-6015-4669-85d0-8515ebb3ae7f"
OPERATOR = "f1a07417-d97a-45cb-824c-7a7467783830"


def check(store: Store, body: Properties) -> None:
    principal = of_cluster(body)
    zone = str((body.get("apiServerAccessProfile") or {}).get("privateDNSZone") or "")
    own_zone = zone if zone.startswith("/") else ""
    kubelet = ((body.get("identityProfile") or {}).get("kubeletidentity") or {}).get("resourceId")
    routed = str((body.get("networkProfile") or {}).get("outboundType", "")).lower() == "userdefinedrouting"
    if principal is None:
        if kubelet:
            raise ArmError(
                400,
                "CustomKubeletIdentityOnlySupportedOnUserAssignedMSICluster",
                "Custom kubelet identity is only supported on clusters with a user-assigned identity.",
                "identityProfile",
            )
        if own_zone:
            raise ArmError(
                400,
                "CustomPrivateDNSZoneWithSystemAssignedMSI",
                "A private DNS zone of your own needs a user-assigned identity.",
                "apiServerAccessProfile.privateDNSZone",
            )
    if kubelet:
        need(store, principal, str(kubelet), OPERATOR, "CustomKubeletIdentityMissingPermissionError")
    if own_zone:
        need(store, principal, own_zone, ZONE, "CustomPrivateDNSZoneMissingPermissionError")
    for subnet in subnets(body):
        record = store.get(subnet)
        table = str(((record.properties if record else {}).get("routeTable") or {}).get("id") or "")
        if routed and record is not None and not table:
            raise ArmError(
                400,
                "ExistingRouteTableNotAssociatedWithSubnet",
                f"An existing route table has not been associated with subnet {subnet}.",
                "networkProfile.outboundType",
            )
        if principal is not None:
            need(store, principal, subnet, NETWORK, "LinkedAuthorizationFailed")
        if routed and table:
            if principal is None:
                raise ArmError(
                    400,
                    "CustomRouteTableWithUnsupportedMSIType",
                    f"A system-assigned identity cannot be used with the route table {table} of your own.",
                    "identity",
                )
            need(store, principal, table, NETWORK, "CustomRouteTableMissingPermission")


def of_cluster(body: Properties) -> str | None:
    """The object id of the cluster's user-assigned identity."""
    users = identity.as_map(body.get("identity") or {}).get("userAssignedIdentities") or {}
    return next((identity.principal(name) for name in users), None)


def subnets(body: Properties) -> Iterator[str]:
    found = (profile.get("vnetSubnetID") for profile in body.get("agentPoolProfiles") or [])
    yield from dict.fromkeys(str(subnet) for subnet in found if subnet)


def need(store: Store, principal: str | None, scope: str, role: str, code: str) -> None:
    """An assignment of the role to the principal, on the scope or above it."""
    wanted = scope.strip("/").lower()
    for record in store.all(ROLE_ASSIGNMENT):
        held = record.properties
        above = str(held.get("scope", "")).strip("/").lower()
        granted = str(held.get("roleDefinitionId", "")).rpartition("/")[2].lower()
        covers = wanted == above or wanted.startswith(above + "/")
        if covers and held.get("principalId") == principal and granted in (role, *ALWAYS):
            return
    raise ArmError(
        400,
        code,
        f"The identity with object id {principal} does not have permission on {scope}; "
        f"assign it the role {role} there.",
        "identity",
    )
