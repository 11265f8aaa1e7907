"""Workloads of users that hold claims on the local cluster: they end before the stack does.

Kubernetes keeps a claim for as long as a pod uses it, and the engine would wait ten minutes for a claim to go.
"""

from __future__ import annotations

import time

from local.stack.cluster import PODS, Cluster, Item

# What makes pods goes first, or it would make them again.
KINDS = (
    "/apis/batch/v1/cronjobs", "/apis/batch/v1/jobs", "/apis/apps/v1/deployments", "/apis/apps/v1/statefulsets",
    "/apis/apps/v1/daemonsets", "/apis/apps/v1/replicasets", "/api/v1/replicationcontrollers", PODS,
)  # fmt: skip
STACK = "pulumi-kubernetes"
"""How the name of the field manager begins that the stack's own objects have."""
FINISHED = ("Succeeded", "Failed")
LEAVING_SECONDS = 30.0


def end(cluster: Cluster) -> list[str]:
    """Deletes them and waits until no pod holds a claim. Returns what was deleted, as `deployments ml/notebooks`."""
    ended = []
    for path in KINDS:
        group, _, plural = path.rpartition("/")
        for item in filter(_holds_claims, cluster.items(path)):
            meta = item["metadata"]
            if meta.get("ownerReferences") or _of_the_stack(item):
                continue  # goes with its owner, or with the stack
            where = f"{group}/namespaces/{meta['namespace']}/{plural}/{meta['name']}"
            at_once = {"gracePeriodSeconds": "0"} if path == PODS else {}
            cluster.request("DELETE", where, propagationPolicy="Background", **at_once)
            ended.append(f"{plural} {meta['namespace']}/{meta['name']}")
    limit = time.monotonic() + LEAVING_SECONDS
    while ended and any(map(_running, cluster.items(PODS))) and time.monotonic() < limit:
        time.sleep(0.25)
    return ended


def _holds_claims(item: Item) -> bool:
    spec = item.get("spec") or {}
    job = (spec.get("jobTemplate") or {}).get("spec") or spec
    pod = (job.get("template") or {}).get("spec") or job
    return bool(pod.get("resourceClaims"))


def _running(pod: Item) -> bool:
    return _holds_claims(pod) and (pod.get("status") or {}).get("phase") not in FINISHED


def _of_the_stack(item: Item) -> bool:
    managers = (str(entry.get("manager", "")) for entry in item["metadata"].get("managedFields") or ())
    return any(name.startswith(STACK) for name in managers)
