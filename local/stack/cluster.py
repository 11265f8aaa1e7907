"""Reading the local cluster: whole lists as plain dicts, by path, as the API server gives them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

Item = Mapping[str, Any]

NODES = "/api/v1/nodes"
PODS = "/api/v1/pods"
SLICES = "/apis/resource.k8s.io/v1/resourceslices"
CLASSES = "/apis/resource.k8s.io/v1/deviceclasses"
CLAIMS = "/apis/resource.k8s.io/v1/resourceclaims"
TEMPLATES = "/apis/resource.k8s.io/v1/resourceclaimtemplates"
DAEMONSETS = "/apis/apps/v1/daemonsets"


class ClusterError(Exception):
    """The API server does not answer, or refuses."""


class Cluster:
    def __init__(self, kubeconfig: Path) -> None:
        from kubernetes import client, config

        try:
            load: Any = config.new_client_from_config
            self.api: Any = load(config_file=str(kubeconfig), persist_config=False)
        except (OSError, config.ConfigException) as error:
            raise ClusterError(f"no usable kubeconfig at {kubeconfig}: {error}") from error
        self.api.configuration.retries = 0
        self.refused: Any = client.ApiException

    def request(self, method: str, path: str, **query: str) -> Any:
        """The answer's JSON; None when there is no such object."""
        from urllib3.exceptions import HTTPError

        try:
            answer = self.api.call_api(
                path,
                method,
                query_params=list(query.items()),
                header_params={"Accept": "application/json"},
                auth_settings=["BearerToken"],
                _preload_content=False,
                _request_timeout=10,
            )
        except self.refused as error:
            if error.status == 404:
                return None
            raise ClusterError(f"{method} {path}: {error.status} {error.reason}") from error
        except (HTTPError, OSError) as error:
            raise ClusterError(f"the API server does not answer: {error}") from error
        body = answer[0] if isinstance(answer, tuple) else answer
        return json.loads(body.data)

    def items(self, path: str, **query: str) -> list[Item]:
        return list((self.request("GET", path, **query) or {}).get("items") or [])

    def identity(self) -> str:
        """What tells this cluster from one made anew at the same address: the uid of kube-system."""
        found = self.request("GET", "/api/v1/namespaces/kube-system")
        return str(found["metadata"]["uid"]) if found else ""
