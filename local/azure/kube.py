"""The door to the local API server: its kubeconfig, requests, and one clear text when it cannot be reached.

Only an address of this machine is accepted: whatever a kubeconfig file came to hold, the simulation never touches
another cluster. Plain requests rather than the official client's models: those drop fields that they do not know, and
take two seconds to import in each plugin process.
"""

from __future__ import annotations

import base64
import ipaddress
import json
import ssl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import urllib3

from local.azure.arm import ArmError

START = "Start it with `make up`."
CALL_SECONDS = 30.0


class Refused(Exception):
    """An answer of the API server that is not a success."""

    def __init__(self, status: int, body: str) -> None:
        self.status, self.body = status, body
        super().__init__(f"{status}: {body}")


class Api:
    """One server, one user."""

    def __init__(self, server: str, context: ssl.SSLContext, token: str) -> None:
        self.server = server
        self.headers = {"Accept": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
        # A server that is down is said at once instead of being tried again for long.
        self.pool = urllib3.PoolManager(
            ssl_context=context,
            # One that asks for patience (429, while a definition goes) gets it: Retry-After needs a total.
            retries=urllib3.Retry(total=20, connect=1, read=0, redirect=0, backoff_factor=0.2, allowed_methods=None),
            timeout=CALL_SECONDS,
        )

    def __call__(
        self, method: str, path: str, body: Any = None, query: list[tuple[str, str]] | None = None
    ) -> dict[str, Any]:
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        answer = self.pool.request(
            method,
            self.server + path + ("?" + urlencode(query) if query else ""),
            headers={**self.headers, **({"Content-Type": kind} if body is not None else {})},
            body=None if body is None else json.dumps(body).encode(),
        )
        if answer.status >= 300:
            raise Refused(answer.status, answer.data.decode(errors="replace"))
        found: dict[str, Any] = json.loads(answer.data or b"{}")
        return found


def present(folder: Path) -> bool:
    return (folder / "kubeconfig").exists()


def kubeconfig(folder: Path) -> str:
    """The administrator's kubeconfig of a local control plane, as it lies on disk."""
    path = folder / "kubeconfig"
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ArmError(
            503,
            "LocalControlPlaneMissing",
            f"The local Kubernetes control plane has not been started: there is no {path}. {START}",
        ) from None


@contextmanager
def client(folder: Path) -> Iterator[Api]:
    """Requests to a local API server; one that is not there, or does not know us, becomes our own text."""
    path = folder / "kubeconfig"
    api = connect(kubeconfig(folder), path)
    try:
        yield api
    except (urllib3.exceptions.HTTPError, OSError) as error:
        text = f"The local Kubernetes API server at {api.server} does not answer: {reason(error)}. {START}"
        raise ArmError(503, "LocalControlPlaneUnreachable", text) from error
    except Refused as error:
        if error.status in (401, 403):
            where = f"The local Kubernetes API server at {api.server} refuses the kubeconfig {path}"
            text = f"{where}: {error}. {START}"
            raise ArmError(503, "LocalControlPlaneUnreachable", text) from error
        raise ArmError(500, "LocalControlPlaneError", f"The local Kubernetes API server answered {error}") from error
    finally:
        api.pool.clear()


def connect(text: str, path: Path) -> Api:
    import yaml

    try:
        held = yaml.safe_load(text)
        chosen = named(held["contexts"], held["current-context"])["context"]
        cluster = named(held["clusters"], chosen["cluster"])["cluster"]
        user = named(held["users"], chosen["user"])["user"]
        server = str(cluster["server"])
    except (yaml.YAMLError, KeyError, TypeError, StopIteration) as error:
        raise ArmError(
            503, "LocalControlPlaneMissing", f"The kubeconfig {path} cannot be used: {error!r}. {START}"
        ) from error
    if not loopback(server):
        raise ArmError(403, "NotLocal", f"The kubeconfig {path} points at {server}, which is not this machine.")
    return Api(server, trust(cluster, user), str(user.get("token", "")))


def named(items: list[dict[str, Any]], name: str) -> dict[str, Any]:
    return next(item for item in items if item["name"] == name)


def trust(cluster: dict[str, Any], user: dict[str, Any]) -> ssl.SSLContext:
    """The server's own certificate authority and, where the kubeconfig has one, the client's certificate."""
    authority = pem(cluster, "certificate-authority")
    context = ssl.create_default_context(cadata=authority or None)
    certificate, key = pem(user, "client-certificate"), pem(user, "client-key")
    if certificate and key:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "certificate").write_text(certificate)
            (Path(folder) / "key").write_text(key)
            context.load_cert_chain(Path(folder) / "certificate", Path(folder) / "key")
    return context


def pem(holder: dict[str, Any], name: str) -> str:
    if holder.get(f"{name}-data"):
        return base64.b64decode(holder[f"{name}-data"]).decode()
    return Path(holder[name]).read_text() if holder.get(name) else ""


def loopback(server: str) -> bool:
    host = urlsplit(server).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def reason(error: BaseException) -> str:
    inner = getattr(error, "reason", None) or error
    return str(inner).split(": ", 1)[-1]
