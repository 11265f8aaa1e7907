"""What a component takes for itself: Azure's ids, and objects in a cluster. Two that are equal are one thing.

The subscription is part of every id. It is known where the configuration says it or where an id is given; what a
provider of the program's own has is not, so such a provider is compared as the object that it is. DNS prefixes are left
out: Azure appends characters of its own, and takes the same prefix twice.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import pulumi

from aks_dra.model.plan import Plan, PlannedCluster, PlannedIdentity, PlannedObject, PlannedRelease
from aks_dra.resources import access

AZURE = "azure-native:resources:ResourceGroup"
AKS = "Microsoft.ContainerService/managedClusters"

Subscription = str | pulumi.ProviderResource
"""An id in small letters, "" for that of the default provider, or the provider that alone knows it."""
Key = tuple[Any, ...]
Kind = Literal["name", "pool", "role", "cluster", "object"]
"""What helps where a thing is taken: another name, another pool, another cluster …"""


@dataclass(frozen=True)
class Holding:
    """One thing that exists once.

    `path` is the setting below `cluster` that gives its name, `proposal` what to write there, from another cluster's
    name. `within` is the key of what it goes with: where that is taken too, this one needs no word of its own.
    """

    what: str
    shown: str
    key: Key
    kind: Kind
    path: str = "name"
    proposal: str = "{name}"
    within: Key = ()


class ClusterPlace(NamedTuple):
    """Where a cluster is in Azure: its ARM id, as far as it is known."""

    subscription: Subscription
    group: str
    name: str

    @property
    def key(self) -> Key:
        return ("resource", *_same(self.subscription, self.group, AKS, self.name))

    @property
    def shown(self) -> str:
        return shown_id(self.subscription, self.group, AKS, self.name)


def subscription_of(opts: pulumi.ResourceOptions | None) -> Subscription:
    """The subscription that resources with these options go to."""
    if (given := access.provider_in(opts, AZURE)) is not None:
        return given
    configured = pulumi.Config("azure-native").get("subscriptionId") or os.environ.get("ARM_SUBSCRIPTION_ID") or ""
    return configured.lower()


def place_of(planned: PlannedCluster, opts: pulumi.ResourceOptions | None) -> ClusterPlace:
    """Where the plan's cluster is, made or found."""
    if planned.existing:
        found = access.parse_cluster_id(planned.existing)
        return ClusterPlace(found.subscription.lower(), found.resource_group, found.name)
    return ClusterPlace(subscription_of(opts), planned.resource_group, planned.name)


def shown_id(subscription: Subscription, group: str, provider: str = "", name: str = "") -> str:
    start = f"/subscriptions/{subscription}" if subscription and isinstance(subscription, str) else ""
    return f"{start}/resourceGroups/{group}" + (f"/providers/{provider}/{name}" if provider else "")


def _same(*parts: Any) -> Key:
    """Azure takes no notice of small and capital letters."""
    return tuple(part.lower() if isinstance(part, str) else part for part in parts)


def of_cluster(planned: PlannedCluster, place: ClusterPlace) -> Iterator[Holding]:
    """What an AksCluster makes, and the rights that it assigns."""
    if not planned.existing:
        yield from _of_new_cluster(planned, place)
    for role in planned.roles:
        scope = next((_identity_key(i, place) for i in planned.identities if i.key == role.scope), role.scope.lower())
        shown = f"{role.name} ({role.role} on {role.scope})"
        kind: Kind = "role" if planned.existing else "name"  # the GUID follows from the cluster's name
        yield Holding("role assignment", shown, ("role", scope, role.name), kind, within=place.key)


def _of_new_cluster(planned: PlannedCluster, place: ClusterPlace) -> Iterator[Holding]:
    subscription, group, name = place
    if planned.create_resource_group:
        path, proposal = _named_by("resourceGroup", group, "rg-{name}", name)
        shown = shown_id(subscription, group)
        yield Holding("resource group", shown, _group_key(subscription, group), "name", path, proposal)
    yield Holding("cluster", place.shown, place.key, "name")
    given = str(planned.inputs.get("nodeResourceGroup") or "")
    nodes = given or f"MC_{group}_{name}_{planned.location}"
    yield Holding(
        "node resource group",
        shown_id(subscription, nodes),
        _group_key(subscription, nodes),
        "name",
        "nodeResourceGroup" if given else "name",
        "{name}-nodes" if given else "{name}",
        () if given else place.key,
    )
    for identity in planned.identities:
        if not identity.existing:
            kubelet = identity.key == "kubelet-identity"
            setting = "kubeletIdentity.name" if kubelet else "identity.name"
            path, proposal = _named_by(setting, identity.name, "id-{name}-kubelet" if kubelet else "id-{name}", name)
            shown = shown_id(subscription, group, _IDENTITIES, identity.name)
            yield Holding("identity", shown, _identity_key(identity, place), "name", path, proposal)
    if planned.workspace is not None and not planned.workspace.existing:
        path, proposal = _named_by("monitoring.logAnalytics.name", planned.workspace.name, "log-{name}", name)
        provider = "Microsoft.OperationalInsights/workspaces"
        parts = (subscription, group, provider, planned.workspace.name)
        yield Holding("workspace", shown_id(*parts), ("resource", *_same(*parts)), "name", path, proposal)
    if subdomain := str(planned.inputs.get("fqdnSubdomain") or ""):
        zone = str((planned.inputs.get("apiServerAccessProfile") or {}).get("privateDNSZone") or "")
        path = "azureInputs.fqdnSubdomain"
        yield Holding("DNS name", f"{subdomain} in {zone}", ("DNS name", *_same(zone, subdomain)), "name", path)
    # The inline pool shares the names of all pools of the cluster.
    for profile in planned.inputs.get("agentPoolProfiles") or ():
        yield pool(str(profile.get("name")), place)


_IDENTITIES = "Microsoft.ManagedIdentity/userAssignedIdentities"


def _identity_key(identity: PlannedIdentity, place: ClusterPlace) -> Key:
    if identity.existing:
        return (identity.existing.lower(),)
    return ("resource", *_same(place.subscription, place.group, _IDENTITIES, identity.name))


def _group_key(subscription: Subscription, group: str) -> Key:
    return ("resource group", *_same(subscription, group))


def _named_by(path: str, given: str, default: str, cluster: str) -> tuple[str, str]:
    """The setting to change for another name, and what to write there: the cluster's own where the name follows it."""
    return ("name", "{name}") if given == default.format(name=cluster) else (path, default)


def pool(name: str, place: ClusterPlace) -> Holding:
    shown = f"{place.shown}/agentPools/{name}"
    return Holding("pool", shown, ("pool", place.key, name.lower()), "pool", within=_whole_key(place))


def _whole_key(place: ClusterPlace) -> Key:
    return ("everything in", place.key)


Inside = ClusterPlace | pulumi.ProviderResource
"""How a cluster is known to who is in it: by its id, or by the provider that reaches it."""


def in_cluster(
    objects: Sequence[PlannedObject], releases: Sequence[PlannedRelease], places: Sequence[Inside]
) -> Iterator[Holding]:
    """Objects and releases, once for each way in which the cluster is known."""
    for inside in places:
        place = inside.key if isinstance(inside, ClusterPlace) else ("provider", inside)
        within = _whole_key(inside) if isinstance(inside, ClusterPlace) else ()
        for planned in objects:
            if planned.patch:
                continue  # somebody else's object
            metadata = planned.manifest["metadata"]
            namespace, name = str(metadata.get("namespace", "")), str(metadata["name"])
            shown = f"{namespace}/{name}" if namespace else name
            yield Holding(planned.kind, shown, ("object", place, planned.kind, shown), "object", within=within)
        for release in releases:
            shown = f"{release.namespace}/{release.name}"
            yield Holding("Helm release", shown, ("release", place, shown), "object", within=within)


def of_whole(plan: Plan, place: ClusterPlace, provider: pulumi.ProviderResource | None) -> list[Holding]:
    """What a DraCluster takes: the cluster, where it makes it; its pools; and everything in it."""
    existing = bool(plan.cluster.existing)
    whole = Holding(
        "everything in the cluster", place.shown, _whole_key(place), "cluster", within=() if existing else place.key
    )
    objects = (*plan.namespaces, *plan.objects, *plan.smoke_test)
    places = (place,) if provider is None else (place, provider)
    return [
        *of_cluster(plan.cluster, place),
        whole,
        *(pool(planned.name, place) for planned in plan.pools),
        *in_cluster(objects, plan.releases, places),
    ]
