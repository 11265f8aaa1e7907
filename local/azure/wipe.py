"""Empties an API server when its cluster is deleted.

On Azure everything in a cluster goes with it, and the engine counts on that: it does not delete what is marked as
deleted with the cluster. What Kubernetes and its controllers put there themselves stays, and what carries the label
that says keep.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from local.azure import kube
from local.azure.arm import ArmError

KEEP_LABEL = "local.aks-dra.dev/keep"
KEEP_NAMESPACES = ("default", "kube-system", "kube-public", "kube-node-lease")
# Those that can refuse or hold up deletions go first, then what makes pods anew, then the pods.
FIRST = (
    "validatingwebhookconfigurations",
    "mutatingwebhookconfigurations",
    "validatingadmissionpolicybindings",
    "validatingadmissionpolicies",
)
SKIP = (
    "nodes",
    "namespaces",
    "componentstatuses",
    "flowschemas",
    "prioritylevelconfigurations",
    "certificatesigningrequests",
    "volumeattachments",
    "servicecidrs",
    "ipaddresses",
    "storageversions",
    "clustertrustbundles",
    "events",
)
IN_DEFAULT = (
    "deployments",
    "daemonsets",
    "statefulsets",
    "jobs",
    "cronjobs",
    "replicasets",
    "pods",
    "resourceclaims",
    "resourceclaimtemplates",
)
LONGEST_WAIT = 60.0


def everything(api: kube.Api) -> None:
    kinds = list(discover(api))
    for wanted in FIRST:
        for path, resource in kinds:
            if resource["name"] == wanted:
                clear(api, f"{path}/{wanted}")
    mine = [name for name in names(api, "/api/v1/namespaces") if name not in KEEP_NAMESPACES]
    for name in mine:
        attempt(api, f"/api/v1/namespaces/{name}")
    for path, resource in kinds:
        if resource["namespaced"] and resource["name"] in IN_DEFAULT and "deletecollection" in resource["verbs"]:
            clear(api, f"{path}/namespaces/default/{resource['name']}")
        if resource["namespaced"] and "list" in resource["verbs"] and resource["name"] not in SKIP:
            clear(api, f"{path}/namespaces/kube-system/{resource['name']}", "app.kubernetes.io/managed-by=Helm")
            clear(api, f"{path}/namespaces/default/{resource['name']}", "app.kubernetes.io/managed-by=Helm")
            clear(api, f"{path}/namespaces/default/{resource['name']}", "owner=helm")
    clear(api, "/api/v1/nodes")
    # Nothing ends a pod whose Node is gone.
    for pod in items(api, "/api/v1/pods"):
        attempt(api, f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}", grace="0")
    for path, resource in kinds:
        if (
            not resource["namespaced"]
            and resource["name"] not in (*SKIP, *FIRST)
            and {"list", "delete"} <= set(resource["verbs"])
        ):
            clear(api, f"{path}/{resource['name']}")
    wait(api, mine)


def discover(api: kube.Api) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every kind of object that the server has, in its preferred version."""
    paths = ["/api/v1"]
    paths += [f"/apis/{group['preferredVersion']['groupVersion']}" for group in api("GET", "/apis")["groups"]]
    for path in paths:
        for resource in get(api, path).get("resources", []):
            if "/" not in resource["name"] and "delete" in resource["verbs"]:
                yield path, resource


def items(api: kube.Api, path: str, selector: str = "") -> list[dict[str, Any]]:
    query = [("labelSelector", selector)] if selector else None
    found: list[dict[str, Any]] = get(api, path, query).get("items") or []
    return found


def get(api: kube.Api, path: str, query: list[tuple[str, str]] | None = None) -> dict[str, Any]:
    """What is there; nothing, when its kind has gone with its definition in the meantime."""
    try:
        return api("GET", path, query=query)
    except kube.Refused as error:
        if error.status == 404:
            return {}
        raise


def names(api: kube.Api, path: str) -> list[str]:
    return [item["metadata"]["name"] for item in items(api, path) if not kept(item)]


def kept(item: dict[str, Any]) -> bool:
    meta = item["metadata"]
    labels, name = meta.get("labels") or {}, meta["name"]
    return (
        KEEP_LABEL in labels
        or "kubernetes.io/bootstrapping" in labels
        or "kube-aggregator.kubernetes.io/automanaged" in labels
        or name.startswith(("system:", "system-"))
    )


def clear(api: kube.Api, path: str, selector: str = "") -> None:
    for item in items(api, path, selector):
        if not kept(item):
            attempt(api, f"{path}/{item['metadata']['name']}")


def attempt(api: kube.Api, path: str, grace: str = "") -> None:
    try:
        api("DELETE", path, query=[("gracePeriodSeconds", grace)] if grace else None)
    except kube.Refused as error:
        # Gone already, or being finished by its own controller.
        if error.status not in (404, 409):
            raise


def wait(api: kube.Api, namespaces: list[str]) -> None:
    """A namespace that is still going would refuse what the next cluster puts there."""
    deadline = time.monotonic() + LONGEST_WAIT
    while left := sorted(set(namespaces) & set(names(api, "/api/v1/namespaces"))):
        if time.monotonic() > deadline:
            raise ArmError(
                500,
                "LocalControlPlaneError",
                f"The namespaces {', '.join(left)} of the deleted cluster are not gone after {LONGEST_WAIT:.0f} s.",
            )
        for pod in items(api, "/api/v1/pods"):
            if pod["metadata"]["namespace"] in left:
                attempt(
                    api, f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}", grace="0"
                )
        time.sleep(0.3)
