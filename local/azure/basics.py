"""The types around a cluster: resource groups, networks, subnets, Log Analytics. Little more than records with ARM's
outputs.
"""

from __future__ import annotations

import ipaddress

from local.azure import arm
from local.azure.arm import ArmError, Properties
from local.azure.store import Record, Store
from local.azure.types import GROUP, NETWORK, SUBNET, TYPES, WORKSPACE, common


def put_group(store: Store, resource_id: str, body: Properties) -> Record:
    name = arm.name_of(resource_id)
    old = store.get(resource_id)
    if old is not None and arm.location(str(old.properties["location"])) != arm.location(str(body["location"])):
        raise ArmError(
            409,
            "InvalidResourceGroupLocation",
            f"Invalid resource group location '{body['location']}'. The Resource group already exists "
            f"in location '{old.properties['location']}'.",
        )
    answer = {
        **body,
        **common(TYPES[GROUP], name),
        "location": arm.location(str(body["location"])),
        "properties": {"provisioningState": "Succeeded"},
    }
    return store.put(Record(resource_id, GROUP, answer))


def put_workspace(store: Store, resource_id: str, body: Properties) -> Record:
    days = body.get("retentionInDays", 30)
    if not isinstance(days, int | float) or not 4 <= days <= 730:
        raise arm.invalid("retentionInDays", f"'{days}' is not between 4 and 730.")
    answer = {
        "sku": {"name": "PerGB2018"},
        **body,
        **common(TYPES[WORKSPACE], arm.name_of(resource_id)),
        "retentionInDays": days,
        "location": arm.location(str(body["location"])),
        "customerId": arm.stable_uuid(resource_id, "customer"),
        "provisioningState": "Succeeded",
    }
    return store.put(Record(resource_id, WORKSPACE, answer))


def put_network(store: Store, resource_id: str, body: Properties) -> Record:
    for prefix in (body.get("addressSpace") or {}).get("addressPrefixes") or []:
        cidr(prefix, arm.name_of(resource_id))
    for item in body.get("subnets") or []:
        held = {key: value for key, value in item.items() if key not in ("name", "id", "type")}
        write_subnet(store, f"{resource_id}/subnets/{item['name']}", held, body)
    answer = {
        **{key: value for key, value in body.items() if key != "subnets"},
        **common(TYPES[NETWORK], arm.name_of(resource_id)),
        "location": arm.location(str(body["location"])),
        "resourceGuid": arm.stable_uuid(resource_id, "guid"),
        "provisioningState": "Succeeded",
    }
    return store.put(Record(resource_id, NETWORK, answer))


def network_answer(store: Store, record: Record) -> Properties:
    subnets = [{**item.properties, "id": item.id} for item in store.children(record.id) if item.token == SUBNET]
    return {**record.properties, "subnets": subnets}


def put_subnet(store: Store, resource_id: str, body: Properties) -> Record:
    return write_subnet(store, resource_id, body, store.need(arm.parent_of(resource_id)).properties)


def write_subnet(store: Store, resource_id: str, body: Properties, network: Properties) -> Record:
    name = arm.name_of(resource_id)
    space = [cidr(prefix, name) for prefix in (network.get("addressSpace") or {}).get("addressPrefixes") or []]
    mine = [cidr(prefix, name) for prefix in [body["addressPrefix"]] if prefix] if body.get("addressPrefix") else []
    mine += [cidr(prefix, name) for prefix in body.get("addressPrefixes") or []]
    for prefix in mine:
        if not any(prefix.version == outer.version and prefix.subnet_of(outer) for outer in space):  # type: ignore[arg-type]
            raise ArmError(
                400,
                "NetcfgInvalidSubnet",
                f"Subnet '{name}' is not valid because its IP address range is outside the IP address "
                "range of virtual network.",
            )
    for other in store.children(arm.parent_of(resource_id)):
        if other.token == SUBNET and other.id.lower() != resource_id.lower():
            theirs = [other.properties.get("addressPrefix"), *(other.properties.get("addressPrefixes") or [])]
            if any(prefix.overlaps(cidr(given, name)) for prefix in mine for given in theirs if given):
                raise ArmError(
                    400,
                    "NetcfgSubnetRangesOverlap",
                    f"Subnet '{name}' is not valid because its IP address range overlaps with that of "
                    "an existing subnet.",
                )
    answer = {**body, **common(TYPES[SUBNET], name), "provisioningState": "Succeeded"}
    return store.put(Record(resource_id, SUBNET, answer))


def cidr(text: object, name: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    try:
        return ipaddress.ip_network(str(text))
    except ValueError as error:
        raise ArmError(
            400, "InvalidCIDRNotation", f"The address prefix {text} in resource {name} has an invalid CIDR notation."
        ) from error
