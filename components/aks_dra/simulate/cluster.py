"""The door to a control plane: plain requests by a kubeconfig, and the refusal of clusters with real nodes.

Plain requests rather than the client's typed models: those drop fields that they do not know, as claims have.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from kubernetes.client.api_client import ApiClient
from kubernetes.client.configuration import Configuration
from kubernetes.client.exceptions import ApiException
from kubernetes.config.config_exception import ConfigException
from kubernetes.config.kube_config import load_kube_config

from aks_dra.simulate.model import SimulationError

RUN_LABEL = "simulated.aks-dra.dev/run"
TIMEOUT = 30.0

CORE, DRA = "/api/v1", "/apis/resource.k8s.io/v1"
KINDS = {
    "Namespace": (CORE, "namespaces", False),
    "Node": (CORE, "nodes", False),
    "Pod": (CORE, "pods", True),
    "ServiceAccount": (CORE, "serviceaccounts", True),
    "ResourceQuota": (CORE, "resourcequotas", True),
    "LimitRange": (CORE, "limitranges", True),
    "DeviceClass": (DRA, "deviceclasses", False),
    "ResourceClaim": (DRA, "resourceclaims", True),
    "ResourceClaimTemplate": (DRA, "resourceclaimtemplates", True),
    "ResourceSlice": (DRA, "resourceslices", False),
    "PriorityClass": ("/apis/scheduling.k8s.io/v1", "priorityclasses", False),
    "ValidatingAdmissionPolicy": ("/apis/admissionregistration.k8s.io/v1", "validatingadmissionpolicies", False),
    "ValidatingAdmissionPolicyBinding": (
        "/apis/admissionregistration.k8s.io/v1",
        "validatingadmissionpolicybindings",
        False,
    ),
}
"""Every kind that a simulation makes, with where it lives and whether in a namespace."""


class Refused(Exception):
    """An answer of the API server that is not a success; `text` is its own message."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(f"{status}: {text}")
        self.status, self.text = status, text


class Cluster:
    """One API server, by the current context of a kubeconfig."""

    def __init__(self, kubeconfig: Path) -> None:
        if not kubeconfig.is_file():
            raise SimulationError(f"{kubeconfig}: no such kubeconfig")
        configuration = Configuration()
        try:
            load_kube_config(config_file=str(kubeconfig), client_configuration=configuration)  # type: ignore[no-untyped-call]
        except (ConfigException, OSError, ValueError, TypeError, AttributeError, KeyError) as error:
            raise SimulationError(f"{kubeconfig}: not a usable kubeconfig: {error}") from None
        configuration.retries = 2
        if "//127.0.0.1" in str(configuration.host) or "//localhost" in str(configuration.host):
            configuration.proxy = None  # a company's proxy must not be asked for this machine
        self.client = ApiClient(configuration)
        self.server = str(configuration.host).rstrip("/")
        bearer = configuration.auth_settings().get("BearerToken")
        self.headers = {"Authorization": str(bearer["value"])} if bearer else {}

    def call(self, method: str, path: str, body: Any = None, content: str = "application/json") -> Any:
        headers = {**self.headers, "Accept": "application/json", "Content-Type": content}
        try:
            answer = self.client.call_api(method, self.server + path, headers, body, _request_timeout=TIMEOUT)
            raw: bytes = answer.read()  # type: ignore[no-untyped-call]
            status = int(answer.status)
        except ApiException as error:
            status, raw = int(error.status or 0), str(error.body or error.reason).encode()
        except Exception as error:  # the client's connection errors have no common base
            reason = getattr(error, "reason", None) or error
            raise SimulationError(f"the API server {self.server} does not answer: {reason}") from None
        try:
            document = json.loads(raw)
        except ValueError:
            document = {"message": raw[:300].decode(errors="replace")}
        if status in (401,):
            raise SimulationError(f"the API server {self.server} refuses the kubeconfig: {document.get('message')}")
        if not 200 <= status < 300:
            raise Refused(status, str(document.get("message") or document))
        return document

    def version(self) -> tuple[int, int]:
        """The minor version whose rules it follows: the emulated one where it emulates."""
        found = self.call("GET", "/version")
        minor = str(found.get("emulationMinor") or found["minor"]).rstrip("+")
        return int(found.get("emulationMajor") or found["major"]), int(minor)

    def create(self, manifest: dict[str, Any]) -> dict[str, Any]:
        created: dict[str, Any] = self.call("POST", collection(manifest), manifest)
        return created

    def items(self, kind: str, namespace: str = "", **query: str) -> list[dict[str, Any]]:
        group, plural, _ = KINDS[kind]
        where = f"/namespaces/{namespace}" if namespace else ""
        found = self.call("GET", f"{group}{where}/{plural}" + (f"?{urlencode(query)}" if query else ""))
        return list(found.get("items") or ())

    def ours(self, kind: str, run: str) -> list[dict[str, Any]]:
        return self.items(kind, labelSelector=f"{RUN_LABEL}={run}")

    def delete_ours(self, kind: str, run: str) -> int:
        """Deletes all of a kind with the run's mark, and says how many there were."""
        found = self.ours(kind, run)
        group, plural, namespaced = KINDS[kind]
        options = {"gracePeriodSeconds": 0, "propagationPolicy": "Background"}
        mark = urlencode({"labelSelector": f"{RUN_LABEL}={run}"})
        living = [item["metadata"] for item in found if not item["metadata"].get("deletionTimestamp")]
        if kind == "Namespace":  # the one kind that has no deletion of many
            paths = [f"{group}/{plural}/{metadata['name']}" for metadata in living]
        elif namespaced:
            spaces = sorted({metadata["namespace"] for metadata in living})
            paths = [f"{group}/namespaces/{space}/{plural}?{mark}" for space in spaces]
        else:
            paths = [f"{group}/{plural}?{mark}"] if living else []
        for path in paths:
            try:
                self.call("DELETE", path, options)
            except Refused as error:
                if error.status not in (404, 409):  # gone already; on its way
                    raise
        return len(found)

    def events(self, namespace: str) -> list[dict[str, Any]]:
        return list(self.call("GET", f"{CORE}/namespaces/{namespace}/events").get("items") or ())


def collection(manifest: dict[str, Any]) -> str:
    group, plural, namespaced = KINDS[manifest["kind"]]
    return f"{group}/namespaces/{manifest['metadata']['namespace']}/{plural}" if namespaced else f"{group}/{plural}"


def refuse_real_nodes(cluster: Cluster) -> None:
    """A cluster that has a node without our mark is somebody's: nothing is published there."""
    for node in cluster.items("Node"):
        if RUN_LABEL not in (node["metadata"].get("labels") or {}):
            raise SimulationError(
                f"the cluster {cluster.server} has nodes that no simulation made (first: {node['metadata']['name']}); "
                "a simulation takes only a cluster without nodes: leave out --kubeconfig, or give that of an empty one"
            )


def earlier_runs(cluster: Cluster) -> Iterator[str]:
    """The marks of simulations that are in the cluster: they run now, or were killed."""
    found = {
        str(item["metadata"]["labels"][RUN_LABEL])
        for kind in ("Node", "ResourceSlice", "DeviceClass", "Namespace")
        for item in cluster.items(kind, labelSelector=RUN_LABEL)
    }
    yield from sorted(found)
