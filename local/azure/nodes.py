"""The Nodes of a pool in the local API server: as many as the pool has, with what AKS and the pool put on them.

Everything is brought to the wanted state from whatever is there, since a run may have been killed anywhere. Labels
and taints of others (NVIDIA's programs, Kubernetes' own conditions) are never touched: each Node carries an
annotation with the keys that came from here. Capacity is set once, at birth; what becomes of it later is for the
device plugins that are simulated.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from local import facts
from local.azure import arm, kube
from local.azure.arm import Properties
from local.azure.rules import is_spot, split_taint

OURS = "local.aks-dra.dev/set-by-azure"
VM_SIZE = "local.aks-dra.dev/vm-size"
GPU_DRIVER = "local.aks-dra.dev/gpu-driver"
GPU_INSTANCE_PROFILE = "local.aks-dra.dev/gpu-instance-profile"
POOL_LABEL = "kubernetes.azure.com/agentpool"
CLUSTER_LABEL = "kubernetes.azure.com/cluster"
GIB = 1024**3
MIB = 1024**2
# Millicores that AKS reserves, by cores: 100 for two, and so on; what is between takes the next lower row.
RESERVED_CPU = ((64, 740), (32, 420), (16, 260), (8, 180), (4, 140), (2, 100), (1, 60))


@dataclass(frozen=True)
class Wanted:
    """What a pool's Nodes are to be."""

    pool: str
    cluster: str
    names: tuple[str, ...]
    labels: tuple[dict[str, str], ...]
    taints: tuple[tuple[str, str, str], ...]
    annotations: dict[str, str]
    capacity: dict[str, str]
    allocatable: dict[str, str]
    version: str
    arch: str


def wanted(cluster_id: str, cluster: Properties, name: str, pool: Properties) -> Wanted:
    """Pure: a pool's properties in, its Nodes out."""
    size = facts.size(str(pool["vmSize"]))
    stem = f"aks-{name}-{arm.digits(cluster_id, 8)}-vmss"
    names = tuple(f"{stem}{base36(index)}" for index in range(int(pool.get("count", 1))))
    capacity, allocatable = resources(size, pool)
    annotations = {VM_SIZE: size.name}
    if size.gpus:
        annotations[GPU_DRIVER] = str((pool.get("gpuProfile") or {}).get("driver") or "Install")
        if pool.get("gpuInstanceProfile"):
            annotations[GPU_INSTANCE_PROFILE] = str(pool["gpuInstanceProfile"])
    return Wanted(
        pool=name,
        cluster=cluster_label(str(cluster["nodeResourceGroup"])),
        names=names,
        labels=tuple(labels(cluster, name, pool, size, host, index) for index, host in enumerate(names)),
        taints=tuple(split_taint(text, "nodeTaints") for text in pool.get("nodeTaints") or []),
        annotations=annotations,
        capacity=capacity,
        allocatable=allocatable,
        version=str(pool.get("currentOrchestratorVersion") or pool.get("orchestratorVersion") or ""),
        arch=size.arch,
    )


def cluster_label(group: str) -> str:
    """A node resource group's name as a label's value: 63 characters at most, and no brackets."""
    return re.sub(r"[^-A-Za-z0-9_.]", "_", group)[:63].strip("-_.")


def base36(number: int) -> str:
    """Scale sets count their instances so: six characters, 0 to 9 and then a to z."""
    text = ""
    for _ in range(6):
        number, digit = divmod(number, 36)
        text = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + text
    return text


def labels(cluster: Properties, name: str, pool: Properties, size: facts.Size, host: str, index: int) -> dict[str, str]:
    place = str(cluster["location"])
    zones = [str(zone) for zone in pool.get("availabilityZones") or []]
    # Outside zones AKS writes the fault domain there, a bare number.
    zone = f"{place}-{zones[index % len(zones)]}" if zones else "0"
    given = {
        "agentpool": name,
        POOL_LABEL: name,
        CLUSTER_LABEL: cluster_label(str(cluster["nodeResourceGroup"])),
        "kubernetes.azure.com/mode": str(pool.get("mode", "User")).lower(),
        "kubernetes.azure.com/role": "agent",
        "kubernetes.azure.com/os-sku": str(pool.get("osSKU", "Ubuntu")),
        "kubernetes.azure.com/node-image-version": str(pool.get("nodeImageVersion", "")),
        "kubernetes.io/hostname": host,
        "kubernetes.io/os": str(pool.get("osType", "Linux")).lower(),
        "kubernetes.io/arch": size.arch,
        "node.kubernetes.io/instance-type": size.name,
        "topology.kubernetes.io/region": place,
        "topology.kubernetes.io/zone": zone,
    }
    if size.gpus:
        given |= {"kubernetes.azure.com/accelerator": "nvidia", "accelerator": "nvidia"}
    if is_spot(pool):
        given["kubernetes.azure.com/priority"] = "spot"
    return given | {key: str(value) for key, value in (pool.get("nodeLabels") or {}).items()}


def resources(size: facts.Size, pool: Properties) -> tuple[dict[str, str], dict[str, str]]:
    """Capacity of the machine, and what AKS leaves of it: CPU by its table, memory by its formula since 1.29."""
    pods = int(pool.get("maxPods", 110))
    memory, disk = size.memory_gib * GIB, int(pool.get("osDiskSizeGB") or 128)
    reserved_cpu = next(millis for cores, millis in RESERVED_CPU if size.vcpus >= cores)
    reserved_memory = min((20 * pods + 50) * MIB, memory // 4) + 100 * MIB
    capacity = {
        "cpu": str(size.vcpus),
        "memory": f"{memory // 1024}Ki",
        "pods": str(pods),
        "ephemeral-storage": f"{disk}Gi",
    }
    left = {
        "cpu": f"{size.vcpus * 1000 - reserved_cpu}m",
        "memory": f"{(memory - reserved_memory) // 1024}Ki",
        "pods": str(pods),
        "ephemeral-storage": f"{disk * 9 // 10}Gi",
    }
    return capacity, left


def manifest(want: Wanted, index: int) -> dict[str, Any]:
    own = want.labels[index]
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": want.names[index],
            "labels": dict(own),
            "annotations": {**want.annotations, OURS: ours(own, want.taints)},
        },
        "spec": {
            "taints": [taint(*parts) for parts in want.taints],
            "providerID": f"azure:///local/{want.cluster}/{want.names[index]}",
        },
        "status": {
            "capacity": want.capacity,
            "allocatable": want.allocatable,
            "nodeInfo": {
                "kubeletVersion": f"v{want.version}",
                "kubeProxyVersion": "",
                "architecture": want.arch,
                "operatingSystem": own["kubernetes.io/os"],
                "containerRuntimeVersion": "containerd://2.3.2",
                "osImage": "simulated",
                "kernelVersion": "",
                "machineID": "",
                "systemUUID": "",
                "bootID": "",
            },
        },
    }


def taint(key: str, value: str, effect: str) -> dict[str, str]:
    return {"key": key, "effect": effect, **({"value": value} if value else {})}


def ours(own: dict[str, str], taints: tuple[tuple[str, str, str], ...]) -> str:
    return json.dumps(
        {"labels": sorted(own), "taints": sorted([key, effect] for key, _, effect in taints)}, sort_keys=True
    )


def change(node: dict[str, Any], want: Wanted, index: int) -> dict[str, Any] | None:
    """The merge patch that brings a Node that exists to what is wanted; None where it is so already."""
    meta, spec = node["metadata"], node.get("spec") or {}
    had_labels, had_annotations = meta.get("labels") or {}, meta.get("annotations") or {}
    before = json.loads(had_annotations.get(OURS) or '{"labels": [], "taints": []}')
    own = want.labels[index]
    set_labels: dict[str, str | None] = {key: value for key, value in own.items() if had_labels.get(key) != value}
    set_labels |= {key: None for key in before["labels"] if key not in own and key in had_labels}
    annotations: dict[str, str | None] = {**want.annotations, OURS: ours(own, want.taints)}
    annotations |= {
        key: None for key in (GPU_DRIVER, GPU_INSTANCE_PROFILE) if key in had_annotations and key not in annotations
    }
    set_annotations = {key: value for key, value in annotations.items() if had_annotations.get(key) != value}
    mine = {(key, effect) for key, effect in before["taints"]} | {(key, effect) for key, _, effect in want.taints}
    had_taints = spec.get("taints") or []
    foreign = [item for item in had_taints if (item["key"], item["effect"]) not in mine]
    taints = foreign + [taint(*parts) for parts in want.taints]
    patch: dict[str, Any] = {}
    if set_labels or set_annotations:
        patch["metadata"] = {
            "labels": set_labels,
            "annotations": set_annotations,
            "resourceVersion": meta["resourceVersion"],
        }
    if sorted(map(comparable, taints)) != sorted(map(comparable, had_taints)):
        # The version keeps a taint that somebody adds in this moment from being lost.
        patch.setdefault("metadata", {})["resourceVersion"] = meta["resourceVersion"]
        patch["spec"] = {"taints": taints}
    return patch or None


def comparable(item: dict[str, Any]) -> tuple[str, str, str]:
    return str(item["key"]), str(item["effect"]), str(item.get("value") or "")


def apply(want: Wanted, server: Path) -> None:
    """Creates, changes and deletes Nodes until the pool is as wanted. `server`: the control plane's folder."""
    with kube.client(server) as api:
        there = {node["metadata"]["name"]: node for node in listed(api, want.cluster, want.pool)}
        for name in sorted(set(there) - set(want.names)):
            remove(api, name)
        for index, name in enumerate(want.names):
            bring(api, want, index, there.get(name))


def bring(api: kube.Api, want: Wanted, index: int, node: dict[str, Any] | None) -> None:
    path = f"/api/v1/nodes/{want.names[index]}"
    for _ in range(10):
        try:
            if (
                node is not None
                and (node["metadata"].get("annotations") or {}).get(VM_SIZE) != want.annotations[VM_SIZE]
            ):
                # Left by a create that never came to its end: a machine does not change its size.
                remove(api, want.names[index])
                node = None
            if node is None:
                api("POST", "/api/v1/nodes", manifest(want, index))
                return
            patch = change(node, want, index)
            if patch is not None:
                api("PATCH", path, patch)
            return
        except kube.Refused as error:
            # Made by another, or changed in between: look again.
            if error.status != 409:
                raise
            node = api("GET", path)
    raise arm.ArmError(409, "Conflict", f"Node {want.names[index]} is changed by somebody else all the time.")


def delete(server: Path, group: str, pool: str | None = None) -> None:
    """Takes away a pool's Nodes, or a cluster's. Where no control plane was ever started there are none."""
    if not kube.present(server):
        return
    with kube.client(server) as api:
        for node in listed(api, cluster_label(group), pool):
            remove(api, node["metadata"]["name"])


def listed(api: kube.Api, cluster: str, pool: str | None) -> list[dict[str, Any]]:
    selector = f"{CLUSTER_LABEL}={cluster}" + (f",{POOL_LABEL}={pool}" if pool else "")
    found: list[dict[str, Any]] = api("GET", "/api/v1/nodes", query=[("labelSelector", selector)])["items"]
    return found


def remove(api: kube.Api, name: str) -> None:
    """A Node goes, and its pods with it at once: AKS drains, and nothing here would end them otherwise."""
    try:
        api("DELETE", f"/api/v1/nodes/{name}")
    except kube.Refused as error:
        if error.status != 404:
            raise
    for pod in api("GET", "/api/v1/pods", query=[("fieldSelector", f"spec.nodeName={name}")])["items"]:
        path = f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"
        try:
            api("DELETE", path, query=[("gracePeriodSeconds", "0")])
        except kube.Refused as error:
            if error.status != 404:
                raise
