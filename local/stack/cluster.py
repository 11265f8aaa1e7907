"""Reading the local cluster: whole lists as plain dicts, by path, as the API server gives them.

Plain HTTP with what the kubeconfig of the local control plane holds (one server, one authority, one token): loading
Kubernetes' own client costs a second, and `make status` needs a handful of lists.
"""

from __future__ import annotations

import base64
import json
import ssl
import urllib.error
import urllib.parse
import urllib.request
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
PATIENCE_SECONDS = 15


class ClusterError(Exception):
    """The API server does not answer, or refuses."""


class Cluster:
    def __init__(self, kubeconfig: Path) -> None:
        try:
            content = json.loads(kubeconfig.read_text())
            where = content["clusters"][0]["cluster"]
            authority = base64.b64decode(where["certificate-authority-data"]).decode()
            self.server, self.token = where["server"], content["users"][0]["user"]["token"]
        except (OSError, ValueError, KeyError, IndexError) as error:
            raise ClusterError(f"there is no kubeconfig of a local control plane at {kubeconfig}") from error
        # A company's proxy must not be asked for 127.0.0.1.
        self.opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}),
            urllib.request.HTTPSHandler(context=ssl.create_default_context(cadata=authority)),
        )

    def request(self, method: str, path: str, body: Any = None, **query: str) -> Any:
        """The answer's JSON; None when there is no such object."""
        address = f"{self.server}{path}?{urllib.parse.urlencode(query)}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(address, data, method=method)
        request.add_header("Authorization", f"Bearer {self.token}")
        request.add_header("Content-Type", "application/merge-patch+json" if method == "PATCH" else "application/json")
        try:
            with self.opener.open(request, timeout=PATIENCE_SECONDS) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return None
            raise ClusterError(
                f"{method} {path}: {error.code} {error.read().decode(errors='replace')[:300]}"
            ) from error
        except OSError as error:
            raise ClusterError(f"the API server at {self.server} does not answer: {error}") from error

    def items(self, path: str, **query: str) -> list[Item]:
        return list((self.request("GET", path, **query) or {}).get("items") or [])

    def identity(self) -> str:
        """What tells this cluster from one made anew at the same address: the uid of kube-system."""
        found = self.request("GET", "/api/v1/namespaces/kube-system")
        return str(found["metadata"]["uid"]) if found else ""
