"""Managed clusters: their rules, their answers, and the pools that are written inside them."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import replace
from typing import Any

from local import facts
from local.azure import arm, identity, models, pools, rights, rules, servers
from local.azure.arm import ArmError, Properties, invalid
from local.azure.store import Incomplete, Record, Store
from local.azure.types import CLUSTER, GROUP, TYPES, common

TOP_LEVEL = ("location", "tags", "identity", "sku", "kind", "extendedLocation")
MOST_POOLS = 100
NEW_POOL = (
    "A new agent pool was introduced. Adding agent pools to an existing cluster is not allowed through managed cluster "
    "operations. For agent pool specific change, please use per agent pool operations: "
    "https://aka.ms/agent-pool-rest-api"
)
LONGEST_NODE_GROUP = 80


def put(store: Store, resource_id: str, body: Properties) -> Record:
    name = arm.name_of(resource_id)
    request = {key: body[key] for key in TOP_LEVEL if key in body}
    if isinstance(request.get("identity"), dict):
        request["identity"] = identity.as_map(request["identity"])
    inner = {key: value for key, value in body.items() if key not in TOP_LEVEL}
    models.check("ManagedCluster", {**request, "properties": arm_names(inner)}, "")
    old = store.get(resource_id)
    before = old.properties if old is not None and old.born else {}
    check(name, arm.group_of(resource_id), body, before)
    rights.check(store, body)
    answer = complete(resource_id, body, before)
    check_node_group(store, resource_id, str(answer["nodeResourceGroup"]))
    revision = old.revision + 1 if old is not None else 1
    answer |= {**common(TYPES[CLUSTER], name), "eTag": arm.stable_uuid(resource_id, str(revision))}
    born = bool(before)
    cluster = Record(
        resource_id, CLUSTER, {**answer, "provisioningState": "Updating" if born else "Creating"}, born, revision
    )
    # Every pool is checked before anything is written: a refused PUT leaves nothing behind.
    written = []
    for index, profile in enumerate(body.get("agentPoolProfiles") or []):
        inline = {key: value for key, value in profile.items() if key != "name"}
        pool_id = pools.pool_id(resource_id, str(profile["name"]))
        there = store.get(pool_id)
        if old is not None and old.born and there is None:
            raise ArmError(400, "BadRequest", NEW_POOL, "agentPoolProfiles")
        full = pools.complete(store, cluster, str(profile["name"]), inline, there, f"agentPoolProfiles[{index}]")
        written.append((pool_id, full, there))
    store.put(cluster)
    write_node_group(store, resource_id, answer)
    try:
        for pool_id, full, there in written:
            pools.write(store, cluster, pool_id, full, there)
    except ArmError as error:
        failed = replace(cluster, properties={**answer, "provisioningState": "Failed"})
        raise Incomplete(error, store.put(failed)) from error
    return store.put(replace(cluster, properties={**answer, "provisioningState": "Succeeded"}, born=True))


def arm_names(properties: Properties) -> Properties:
    """The request as the provider sends it: autoscaler settings have dashes in ARM, and none in azure-native."""
    profile = properties.get("autoScalerProfile")
    if not isinstance(profile, dict):
        return properties
    for key in profile:
        if "-" in key:
            path = f"autoScalerProfile.{key}"
            raise ArmError(400, "UnknownProperty", f"azure-native has no property {path}, and would drop it.", path)
    dashed = {re.sub(r"(?<=[a-z])(?=[A-Z])", "-", key).lower(): item for key, item in profile.items()}
    return {**properties, "autoScalerProfile": dashed}


def check(name: str, group: str, body: Properties, before: Properties) -> None:
    """What AKS refuses of a cluster whatever its pools are."""
    profiles = body.get("agentPoolProfiles") or []
    if not before and not any(str(pool.get("mode", "")).lower() == "system" for pool in profiles):
        raise invalid("agentPoolProfiles", "Must define at least one system pool.")
    names = [str(pool["name"]) for pool in profiles]
    if len(names) != len(set(names)):
        raise invalid("agentPoolProfiles.name", f"Agent pool names must be unique, not {', '.join(names)}.")
    if len(names) > MOST_POOLS:
        raise invalid("agentPoolProfiles", f"A managed cluster has at most {MOST_POOLS} agent pools.")
    if not before and not body.get("dnsPrefix") and not body.get("fqdnSubdomain"):
        raise ArmError(400, "InvalidParameter", "Required parameter dnsPrefix is missing (null).", "dnsPrefix")
    prefix = str(body.get("dnsPrefix") or "a")
    if len(prefix) > 54 or not prefix[0].isalnum() or not prefix[-1].isalnum() or not prefix.replace("-", "").isalnum():
        raise invalid(
            "dnsPrefix",
            f"DNSPrefix '{prefix}' is invalid. DNSPrefix must contain between 1 and 54 characters and "
            "can contain only letters, "
            "numbers, and hyphens. It must start with a letter or a number and must end with a letter or a number.",
        )
    if not before and not (body.get("identity") or body.get("servicePrincipalProfile")):
        raise ArmError(400, "BadRequest", "Managed cluster must have an identity or a service principal.", "identity")
    node_group = str(body.get("nodeResourceGroup") or "")
    if node_group and node_group.lower() == group.lower():
        raise invalid(
            "nodeResourceGroup", "The node resource group must not be the resource group of the managed cluster."
        )
    if len(node_group) > LONGEST_NODE_GROUP:
        raise invalid(
            "nodeResourceGroup", f"The name has {len(node_group)} characters; at most {LONGEST_NODE_GROUP} are allowed."
        )
    if body.get("disableLocalAccounts") and not (body.get("aadProfile") or {}).get("managed"):
        raise ArmError(
            400,
            "BadRequest",
            "Disabling local accounts requires Microsoft Entra ID integration (aadProfile.managed).",
            "disableLocalAccounts",
        )
    had, has = issuer_on(before), issuer_on(body)
    if had and (body.get("oidcIssuerProfile") or {}).get("enabled") is False:
        raise ArmError(
            400,
            "OIDCIssuerFeatureCannotBeDisabled",
            "OIDC issuer feature cannot be disabled.",
            "oidcIssuerProfile.enabled",
        )
    if workload_identity_on(body) and not (has or had):
        raise ArmError(
            400,
            "WorkloadIdentityNeedsOIDCIssuer",
            "Workload identity requires the OIDC issuer to be enabled.",
            "securityProfile",
        )
    check_network(body)
    check_move(before, body)


def issuer_on(properties: Properties) -> bool:
    return bool((properties.get("oidcIssuerProfile") or {}).get("enabled"))


def workload_identity_on(properties: Properties) -> bool:
    return bool(((properties.get("securityProfile") or {}).get("workloadIdentity") or {}).get("enabled"))


def check_network(body: Properties) -> None:
    network = body.get("networkProfile") or {}
    service = subnet(network.get("serviceCidr", "10.0.0.0/16"), "networkProfile.serviceCidr")
    pods = subnet(network["podCidr"], "networkProfile.podCidr") if network.get("podCidr") else None
    if pods is not None and pods.version == service.version and pods.overlaps(service):
        raise invalid("networkProfile.podCidr", f"podCidr {pods} overlaps with serviceCidr {service}.")
    dns = network.get("dnsServiceIP")
    if dns and ipaddress.ip_address(str(dns)) not in service:
        raise invalid("networkProfile.dnsServiceIP", f"dnsServiceIP {dns} is not in serviceCidr {service}.")
    cilium = str(network.get("networkDataplane", "")).lower() == "cilium"
    if cilium and str(network.get("networkPlugin", "")).lower() != "azure":
        raise invalid(
            "networkProfile.networkDataplane", "The network dataplane cilium requires the network plugin azure."
        )
    for address in (body.get("apiServerAccessProfile") or {}).get("authorizedIPRanges") or []:
        subnet(address, "apiServerAccessProfile.authorizedIPRanges")


def subnet(text: Any, path: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    try:
        return ipaddress.ip_network(str(text))
    except ValueError as error:
        raise invalid(path, f"'{text}' is not a valid CIDR: {error}.") from error


def check_move(before: Properties, body: Properties) -> None:
    """A control plane moves up, one minor at a time."""
    if not before or not body.get("kubernetesVersion"):
        return
    now, then = (
        str(before["currentKubernetesVersion"]),
        rules.resolve_version(str(body["kubernetesVersion"]), str(before["location"])),
    )
    if as_numbers(then) < as_numbers(now) and str(body["kubernetesVersion"]) != ".".join(now.split(".")[:2]):
        raise ArmError(
            400,
            "OperationNotAllowed",
            f"Downgrading the Kubernetes version from {now} to {then} is not allowed.",
            "kubernetesVersion",
        )
    if rules.minor(then) > rules.minor(now) + 1:
        raise ArmError(
            400,
            "OperationNotAllowed",
            f"Upgrading Kubernetes version {now} to {then} is not allowed: minor versions cannot be skipped.",
            "kubernetesVersion",
        )


def as_numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def complete(resource_id: str, body: Properties, before: Properties) -> Properties:
    """The answer: what was asked, and what the service adds."""
    given = {key: value for key, value in body.items() if value is not None and key != "agentPoolProfiles"}
    place = arm.location(str(body.get("location") or before.get("location")))
    name, group = arm.name_of(resource_id), arm.group_of(resource_id)
    version = str(given.get("kubernetesVersion") or before.get("kubernetesVersion") or facts.default_version())
    uid = arm.stable_uuid(resource_id, "uid")
    prefix = str(given.get("dnsPrefix") or given.get("fqdnSubdomain") or before.get("dnsPrefix"))
    host = f"{prefix}-{arm.stable_uuid(resource_id, 'host')[:8]}"
    node_group = str(given.get("nodeResourceGroup") or before.get("nodeResourceGroup") or f"MC_{group}_{name}_{place}")[
        :LONGEST_NODE_GROUP
    ]
    network = {
        "networkPlugin": "azure",
        "serviceCidr": "10.0.0.0/16",
        "dnsServiceIP": "10.0.0.10",
        "outboundType": "loadBalancer",
        "loadBalancerSku": "standard",
        "ipFamilies": ["IPv4"],
        **(before.get("networkProfile") or {}),
        **(given.get("networkProfile") or {}),
    }
    answer: Properties = {
        "sku": {"name": "Base", "tier": "Free"},
        "enableRBAC": True,
        "disableLocalAccounts": False,
        "supportPlan": "KubernetesOfficial",
        **given,
        "location": place,
        "dnsPrefix": prefix,
        "kubernetesVersion": version,
        "currentKubernetesVersion": rules.resolve_version(version, place),
        "nodeResourceGroup": node_group,
        "networkProfile": network,
        "maxAgentPools": MOST_POOLS,
        "powerState": {"code": "Running"},
        "resourceUID": uid.replace("-", ""),
        "fqdn": f"{host}.hcp.{place}.azmk8s.io",
        "azurePortalFQDN": f"{host}.portal.hcp.{place}.azmk8s.io",
        "identityProfile": given.get("identityProfile")
        or before.get("identityProfile")
        or {"kubeletidentity": identity.kubelet(resource_id, node_group)},
    }
    answer["identity"] = identity.complete(resource_id, given.get("identity") or before.get("identity"))
    if issuer_on(given) or issuer_on(before):
        answer["oidcIssuerProfile"] = {
            "enabled": True,
            "issuerURL": f"https://{place}.oic.prod-aks.azure.com/{arm.TENANT}/{uid}/",
        }
    return {key: value for key, value in answer.items() if value is not None}


def check_node_group(store: Store, resource_id: str, name: str) -> None:
    """The node resource group is the cluster's own; one that is there already belongs to somebody."""
    there = store.get(arm.group_id(name))
    if there is not None and str(there.properties.get("managedBy", "")).lower() != resource_id.lower():
        text = f"The node resource group '{name}' already exists."
        raise ArmError(409, "NodeResourceGroupAlreadyExists", text, "nodeResourceGroup")


def write_node_group(store: Store, resource_id: str, properties: Properties) -> None:
    name = str(properties["nodeResourceGroup"])
    held = {
        **common(TYPES[GROUP], name),
        "location": properties["location"],
        "managedBy": resource_id,
        "properties": {"provisioningState": "Succeeded"},
    }
    store.put(Record(arm.group_id(name), GROUP, held))


def answer(store: Store, record: Record) -> Properties:
    """A cluster as a GET gives it: its pools inline, those with resources of their own too."""
    return {
        **record.properties,
        "agentPoolProfiles": [pools.profile(pool) for pool in pools.pools_of(store, record.id)],
    }


def delete(store: Store, resource_id: str) -> None:
    record = store.get(resource_id)
    if record is None:
        return
    store.put(replace(record, properties={**record.properties, "provisioningState": "Deleting"}))
    for pool in pools.pools_of(store, resource_id):
        pools.remove(store, pool, record)
    for child in reversed(store.children(resource_id)):
        store.delete(child.id)  # maintenance windows, role assignments and associations end with their cluster
    servers.release(store, resource_id)
    store.delete(arm.group_id(str(record.properties["nodeResourceGroup"])))
    store.delete(resource_id)
