"""The daemon's side of the API server: one snapshot in, actions out."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kubernetes.client.api_client import ApiClient
from kubernetes.client.configuration import Configuration
from kubernetes.client.exceptions import ApiException
from kubernetes.config.kube_config import load_kube_config

from local.nodes.actions import Action, Apply, Delete, PatchCapacity, PatchNode
from local.nodes.device_plugin import is_plugin
from local.nodes.dra_driver import DRIVER, SLICES
from local.nodes.hardware import tables
from local.nodes.operator import namespace
from local.nodes.snapshot import OPERAND, Object, Snapshot, configmap_volume, labels_of

log = logging.getLogger("nodes")

MANAGER = "fieldManager=aks-dra-local-nodes"
MERGE = "application/merge-patch+json"
APPLY = "application/apply-patch+yaml"
POLICIES = "/apis/nvidia.com/v1/clusterpolicies"
TIMEOUT = 10.0


class Cluster:
    """A connection by the daemon's own kubeconfig."""

    def __init__(self, kubeconfig: Path) -> None:
        configuration = Configuration()
        load_kube_config(config_file=str(kubeconfig), client_configuration=configuration)  # type: ignore[no-untyped-call]
        configuration.proxy = None  # a company's proxy must not be asked for 127.0.0.1
        self.client = ApiClient(configuration)
        self.server = str(configuration.host)
        self.token = str(configuration.auth_settings()["BearerToken"]["value"])

    def call(self, method: str, path: str, body: Any = None, content: str = "application/json") -> Any:
        headers = {"Authorization": self.token, "Accept": "application/json", "Content-Type": content}
        # the client writes the body itself, also for the YAML type: JSON is YAML
        answer = self.client.call_api(method, self.server + path, headers, body, _request_timeout=TIMEOUT)
        content_bytes: bytes = answer.read()  # type: ignore[no-untyped-call]
        if not 200 <= answer.status < 300:
            raise ApiException(status=answer.status, reason=content_bytes[:300].decode(errors="replace"))
        return json.loads(content_bytes)

    def items(self, path: str, **query: str) -> list[dict[str, Any]]:
        # resourceVersion=0: from the API server's memory, which is enough for a simulation and spares etcd
        parts = "&".join(["resourceVersion=0", *(f"{key}={value}" for key, value in query.items())])
        found = self.call("GET", f"{path}?{parts}")
        return list(found["items"])

    def snapshot(self) -> Snapshot:
        pods = self.items("/api/v1/pods")
        policy = self.policy()
        classes = self.items("/apis/node.k8s.io/v1/runtimeclasses", labelSelector=OPERAND)
        operands = self.items("/apis/apps/v1/daemonsets", labelSelector=OPERAND)
        return Snapshot(
            tables=tables(),
            now=time.monotonic(),
            nodes=self.items("/api/v1/nodes"),
            pods=pods,
            slices=self.items(SLICES, fieldSelector=f"spec.driver={DRIVER}"),
            policy=policy,
            operands=[{**item, "kind": "RuntimeClass"} for item in classes] + operands,
            configmaps=self.configmaps(pods, policy),
        )

    def policy(self) -> Object | None:
        """The ClusterPolicy; None without one, and without the operator's CRD. The oldest counts, as in life."""
        try:
            found = self.items(POLICIES)
        except ApiException as error:
            if error.status == 404:
                return None
            raise
        living = [item for item in found if not item["metadata"].get("deletionTimestamp")]
        return min(living, key=lambda item: str(item["metadata"]["creationTimestamp"]), default=None)

    def configmaps(self, pods: list[dict[str, Any]], policy: Object | None) -> dict[tuple[str, str], Mapping[str, str]]:
        """Those that a plugin or the MIG manager mounts, and the one that GFD reads."""
        wanted = {
            (str(pod["metadata"]["namespace"]), name)
            for pod in pods
            if (is_plugin(pod) or labels_of(pod).get("app") == "nvidia-mig-manager") and (name := configmap_volume(pod))
        }
        if policy is not None:
            named = ((policy["spec"].get("devicePlugin") or {}).get("config") or {}).get("name")
            if named:
                wanted.add((namespace(policy), str(named)))
        found: dict[tuple[str, str], Mapping[str, str]] = {}
        for space, name in sorted(wanted):
            try:
                content = self.call("GET", f"/api/v1/namespaces/{space}/configmaps/{name}")
            except ApiException as error:
                if error.status != 404:
                    raise
                continue
            found[(space, name)] = content.get("data") or {}
        return found

    def perform(self, action: Action) -> None:
        match action:
            case PatchNode(name, labels, annotations):
                self.call(
                    "PATCH",
                    f"/api/v1/nodes/{name}?{MANAGER}",
                    {"metadata": {"labels": dict(labels), "annotations": dict(annotations)}},
                    MERGE,
                )
            case PatchCapacity(name, resources):
                status = {"capacity": dict(resources), "allocatable": dict(resources)}
                self.call("PATCH", f"/api/v1/nodes/{name}/status?{MANAGER}", {"status": status}, MERGE)
            case Apply(path, manifest):
                self.call("PATCH", f"{path}?{MANAGER}&force=true", manifest, APPLY)
            case Delete(path):
                self.call("DELETE", path)
        log.info("%s", describe(action))


def describe(action: Action) -> str:
    match action:
        case PatchNode(name, labels, annotations):
            changes = [f"{key}={'(removed)' if value is None else value}" for key, value in labels.items()]
            return f"node {name}: {' '.join(changes) or ' '.join(annotations)}"
        case PatchCapacity(name, resources):
            return f"node {name}: capacity {' '.join(f'{key}={value}' for key, value in resources.items())}"
        case Apply(path, _):
            return f"applied {path}"
        case Delete(path):
            return f"deleted {path}"
