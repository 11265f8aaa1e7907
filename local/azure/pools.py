"""Agent pools: a PUT checks, records, brings the Nodes, and records success, in that order.

So a run that is killed leaves at worst a record that says Creating or Updating, and the same PUT again converges. A
pool whose Nodes could not be made stays, as Failed, as Azure's do.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from local import facts
from local.azure import arm, models, nodes, rules, servers
from local.azure.arm import ArmError, Properties
from local.azure.store import Incomplete, Record, Store
from local.azure.types import POOL, TYPES, common

IMAGE_RELEASE = "202611.10.0"
IMAGES = {
    "ubuntu": "AKSUbuntu-2404gen2containerd",
    "ubuntu2204": "AKSUbuntu-2204gen2containerd",
    "ubuntu2404": "AKSUbuntu-2404gen2containerd",
    "azurelinux": "AKSAzureLinux-V3gen2",
    "azurelinux3": "AKSAzureLinux-V3gen2",
}
# Where the pool does not say: the CNI overlay's and the others' own figure.
MAX_PODS_OVERLAY, MAX_PODS_AZURE, MAX_PODS_OTHER = 250, 30, 110


def pools_of(store: Store, cluster_id: str) -> list[Record]:
    return [record for record in store.children(cluster_id) if record.token == POOL]


def pool_id(cluster_id: str, name: str) -> str:
    return f"{cluster_id}/agentPools/{name}"


def put(store: Store, resource_id: str, body: Properties) -> Record:
    """An AgentPool of its own."""
    cluster = store.need(arm.parent_of(resource_id))
    name = arm.name_of(resource_id)
    models.check("ManagedClusterAgentPoolProfileProperties", body, "properties")
    with store.lock(cluster.id):
        old = store.get(resource_id)
        pool = complete(store, cluster, name, body, old, "agentPool")
    return write(store, cluster, resource_id, pool, old)


def complete(store: Store, cluster: Record, name: str, body: Properties, old: Record | None, path: str) -> Properties:
    """The body with everything that the service fills in; refuses what the service refuses."""
    given = {key: value for key, value in body.items() if value is not None}
    before = old.properties if old is not None and old.born else {}
    pool = defaults(cluster.properties, given, before)
    rules.check_pool(name, pool, path)
    if before:
        rules.check_change(given, before)
    version = str(given.get("orchestratorVersion") or before.get("currentOrchestratorVersion") or current(cluster))
    full = rules.resolve_version(version, str(cluster.properties["location"]))
    rules.check_version(full, current(cluster))
    if before and pool["mode"] != "System" and before.get("mode") == "System":
        check_not_last_system(store, cluster.id, name)
    pool |= {"currentOrchestratorVersion": full, "orchestratorVersion": given.get("orchestratorVersion") or full}
    pool["nodeImageVersion"] = f"{IMAGES.get(str(pool['osSKU']).lower(), str(pool['osSKU']))}-{IMAGE_RELEASE}"
    return pool


def current(cluster: Record) -> str:
    return str(cluster.properties["currentKubernetesVersion"])


def defaults(cluster: Properties, given: Properties, before: Properties) -> Properties:
    """What the service assumes; fields that cannot change keep what they have where a PUT leaves them out."""
    kept = {key.split(".")[0]: before[key.split(".")[0]] for key in rules.IMMUTABLE if key.split(".")[0] in before}
    network = cluster.get("networkProfile") or {}
    pods = MAX_PODS_OTHER
    if str(network.get("networkPlugin", "")).lower() == "azure":
        pods = MAX_PODS_OVERLAY if str(network.get("networkPluginMode", "")).lower() == "overlay" else MAX_PODS_AZURE
    pool: Properties = {
        "count": before.get("count", given.get("minCount", 1)) if given.get("enableAutoScaling") else 1,
        "mode": "User",
        "osType": "Linux",
        "osSKU": "Ubuntu",
        "osDiskSizeGB": 128,
        "osDiskType": "Managed",
        "kubeletDiskType": "OS",
        "maxPods": pods,
        "type": "VirtualMachineScaleSets",
        "scaleDownMode": "Delete",
        "enableAutoScaling": False,
        "enableFIPS": False,
        "enableNodePublicIP": False,
        "upgradeSettings": {"maxSurge": "10%"},
        **kept,
        **given,
        "powerState": {"code": "Running"},
    }
    pool["mode"] = str(pool["mode"]).capitalize()
    if has_gpu(pool):
        # AKS installs its driver unless told not to.
        pool["gpuProfile"] = {"driver": "Install", **(kept.get("gpuProfile") or {}), **(given.get("gpuProfile") or {})}
    if rules.is_spot(pool):
        pool.setdefault("scaleSetEvictionPolicy", "Delete")
        pool.setdefault("spotMaxPrice", -1)
        # The service's own, on every spot pool.
        pool["nodeLabels"] = {**(pool.get("nodeLabels") or {}), rules.SPOT_LABEL: "spot"}
        taints = list(pool.get("nodeTaints") or [])
        pool["nodeTaints"] = taints if rules.SPOT_TAINT in taints else [*taints, rules.SPOT_TAINT]
    else:
        pool["scaleSetPriority"] = "Regular"
    return pool


def has_gpu(pool: Properties) -> bool:
    try:
        return facts.size(str(pool.get("vmSize", ""))).gpus > 0
    except facts.UnknownSize:
        return False


def write(store: Store, cluster: Record, resource_id: str, pool: Properties, old: Record | None) -> Record:
    name = arm.name_of(resource_id)
    revision = old.revision + 1 if old is not None else 1
    born = old is not None and old.born
    # The pool's own `type` (a scale set) stands over the resource's.
    answer = {**common(TYPES[POOL], name), **pool, "eTag": arm.stable_uuid(resource_id, str(revision))}

    def record(state: str, now_born: bool) -> Record:
        return store.put(Record(resource_id, POOL, {**answer, "provisioningState": state}, now_born, revision))

    record("Updating" if born else "Creating", born)
    try:
        nodes.apply(nodes.wanted(cluster.id, cluster.properties, name, pool), servers.folder(store, cluster.id))
    except ArmError as error:
        raise Incomplete(error, record("Failed", born)) from error
    return record("Succeeded", True)


def check_not_last_system(store: Store, cluster_id: str, name: str) -> None:
    others = [
        record
        for record in pools_of(store, cluster_id)
        if arm.name_of(record.id).lower() != name.lower() and record.properties.get("mode") == "System"
    ]
    if not others:
        raise ArmError(
            400,
            "OperationNotAllowed",
            f"Agent pool '{name}' cannot be deleted or become a user pool: there must be at least one "
            "system agent pool in the cluster.",
        )


def delete(store: Store, resource_id: str) -> None:
    record = store.get(resource_id)
    if record is None:
        return
    cluster = store.get(arm.parent_of(resource_id))
    if cluster is not None and record.properties.get("mode") == "System":
        check_not_last_system(store, cluster.id, arm.name_of(resource_id))
    remove(store, record, cluster)


def remove(store: Store, record: Record, cluster: Record | None) -> None:
    store.put(replace(record, properties={**record.properties, "provisioningState": "Deleting"}))
    if cluster is not None:
        group = str(cluster.properties["nodeResourceGroup"])
        nodes.delete(servers.folder(store, cluster.id), group, arm.name_of(record.id))
    store.delete(record.id)


def profile(record: Record) -> dict[str, Any]:
    """A pool as it stands in its cluster's answer."""
    return {key: value for key, value in record.properties.items() if key != "azureApiVersion"}
