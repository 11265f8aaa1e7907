"""Who the cluster and its nodes are in Azure, and which rights that takes.

AKS looks at a subnet, a route table and a private DNS zone of one's own while it creates the cluster, in the name of
the cluster's identity. A system-assigned identity does not exist by then, so such a cluster gets a user-assigned one
and its rights first. Nodes pull images as the kubelet identity, which AKS makes with the cluster unless one is given.
"""

from __future__ import annotations

import uuid
from typing import Literal

from aks_dra.facts import Facts
from aks_dra.model.plan import PlannedIdentity, PlannedRole
from aks_dra.settings import Existing, Identity, Settings

# Names of role assignments are GUIDs; they follow from what is assigned, so that no run makes a second one.
NAMESPACE = uuid.UUID("8c0b6a0e-4f0d-5c55-9a7e-3d1b5a6f2c11")

Principal = Literal["identity", "kubelet-identity", "kubelet"]


def own_zone(settings: Settings) -> str:
    zone = settings.cluster.network.private_dns_zone
    return zone.existing if isinstance(zone, Existing) else ""


def own_subnets(settings: Settings) -> tuple[str, ...]:
    """Every subnet of one's own that nodes are in, the system pool's first."""
    subnets = [settings.cluster.network.subnet_id, *(pool.subnet_id for _, pool in sorted(settings.pools.items()))]
    return tuple(dict.fromkeys(subnet for subnet in subnets if subnet))


def needs_rights_first(settings: Settings) -> bool:
    """Whether something of one's own has to be open to the cluster's identity before the cluster is there."""
    network = settings.cluster.network
    return bool(own_subnets(settings) or network.route_table_id or own_zone(settings))


def planned_identities(settings: Settings, name: str) -> tuple[PlannedIdentity, ...]:
    cluster = settings.cluster
    if cluster.existing:
        return ()
    found = []
    own = cluster.identity
    if own is None and (needs_rights_first(settings) or cluster.kubelet_identity is not None):
        own = Identity()  # Azure takes a kubelet identity only beside a user-assigned one of the cluster
    if own is not None:
        found.append(_planned("identity", own, f"id-{name}"))
    if cluster.kubelet_identity is not None:
        found.append(_planned("kubelet-identity", cluster.kubelet_identity, f"id-{name}-kubelet"))
    return tuple(found)


def _planned(key: Literal["identity", "kubelet-identity"], given: Identity, default: str) -> PlannedIdentity:
    if given.existing:
        return PlannedIdentity(key, given.existing.rstrip("/").rpartition("/")[2], given.existing)
    return PlannedIdentity(key, given.name or default, "")


def planned_roles(settings: Settings, facts: Facts, name: str, group: str) -> tuple[PlannedRole, ...]:
    """Every right that the settings imply, those before the cluster first."""
    cluster = settings.cluster
    found: list[PlannedRole] = []

    def assign(key: str, role: str, scope: str, principal: Principal, before: bool) -> None:
        row = facts.roles[role]
        seed = "/".join((group, name, principal, row.id, scope)).lower()
        guid = str(uuid.uuid5(NAMESPACE, seed))
        found.append(PlannedRole(f"{key}-{role}", row.name, row.id, scope, principal, before, guid))

    identities = {identity.key for identity in planned_identities(settings, name)}
    if "identity" in identities and (cluster.identity is None or cluster.identity.assign_roles):
        zone = own_zone(settings)
        for index, subnet in enumerate(_network_scopes(settings)):
            assign("subnet" if index == 0 else f"subnet-{index + 1}", "network-contributor", subnet, "identity", True)
        if cluster.network.route_table_id:
            assign("route-table", "network-contributor", cluster.network.route_table_id, "identity", True)
        if zone:
            assign("dns-zone", "private-dns-zone-contributor", zone, "identity", True)
        if "kubelet-identity" in identities:
            assign("kubelet", "managed-identity-operator", "kubelet-identity", "identity", True)
    own_kubelet = cluster.kubelet_identity
    if own_kubelet is None or own_kubelet.assign_roles:
        principal: Principal = "kubelet-identity" if "kubelet-identity" in identities else "kubelet"
        for index, registry in enumerate(dict.fromkeys(cluster.registries)):
            key = "registry" if index == 0 else f"registry-{index + 1}"
            assign(key, "acr-pull", registry, principal, False)
    return tuple(found)


def _network_scopes(settings: Settings) -> tuple[str, ...]:
    """The subnets; with a DNS zone of one's own their networks, since AKS links the zone to the network."""
    subnets = own_subnets(settings)
    if own_zone(settings):
        return tuple(dict.fromkeys(network_of(subnet) for subnet in subnets))
    return subnets


def network_of(subnet: str) -> str:
    """The ARM id of a subnet's virtual network."""
    at = subnet.lower().rfind("/subnets/")
    return subnet[:at] if at > 0 else subnet
