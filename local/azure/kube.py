"""The door to the local API server: its kubeconfig, a client, and one clear text when it cannot be reached.

Only an address of this machine is accepted: whatever a kubeconfig file came to hold, the simulation never touches another
cluster.
"""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from local import state
from local.azure.arm import ArmError

START = "Start it with `make up`."
CALL_SECONDS = 30


def present() -> bool:
    return state.kubeconfig().exists()


def kubeconfig() -> str:
    """The local cluster's kubeconfig as it lies on disk."""
    try:
        return state.kubeconfig().read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ArmError(
            503,
            "LocalControlPlaneMissing",
            f"The local Kubernetes control plane has not been started: there is no {state.kubeconfig()}. {START}",
        ) from None


@contextmanager
def client() -> Iterator[Any]:
    """An API client of the official package; what it raises for a server that is not there becomes our own text."""
    import urllib3
    from kubernetes import config
    from kubernetes.client import ApiException

    kubeconfig()
    try:
        api = config.new_client_from_config(config_file=str(state.kubeconfig()))  # type: ignore[no-untyped-call]
    except Exception as error:
        raise ArmError(
            503, "LocalControlPlaneMissing", f"The kubeconfig {state.kubeconfig()} cannot be used: {error}. {START}"
        ) from error
    server = str(api.configuration.host)
    if not loopback(server):
        raise ArmError(
            403, "NotLocal", f"The kubeconfig {state.kubeconfig()} points at {server}, which is not this machine."
        )
    # A server that is down is said at once instead of being tried again.
    api.rest_client.pool_manager.connection_pool_kw["retries"] = urllib3.Retry(connect=1, read=0, backoff_factor=0.2)
    try:
        yield api
    except (urllib3.exceptions.HTTPError, ConnectionError) as error:
        raise ArmError(
            503,
            "LocalControlPlaneUnreachable",
            f"The local Kubernetes API server at {server} does not answer: {reason(error)}. {START}",
        ) from error
    except ApiException as error:
        if error.status in (401, 403):
            text = f"The local Kubernetes API server at {server} refuses the kubeconfig {state.kubeconfig()}: {error.reason}. {START}"
            raise ArmError(503, "LocalControlPlaneUnreachable", text) from error
        raise ArmError(
            500, "LocalControlPlaneError", f"The local Kubernetes API server answered {error.status}: {error.body}"
        ) from error
    finally:
        api.close()


def loopback(server: str) -> bool:
    host = urlsplit(server).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def reason(error: BaseException) -> str:
    inner = getattr(error, "reason", None) or error
    return str(inner).split(": ", 1)[-1]


def call(api: Any, method: str, path: str, body: Any = None, query: list[tuple[str, str]] | None = None) -> Any:
    """One request, plain JSON both ways: the package's models would drop fields that they do not know."""
    kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
    headers = {"Accept": "application/json", "Content-Type": kind}
    answer = api.rest_client.request(
        method,
        api.configuration.host + path,
        query_params=query or [],
        headers={**headers, **authorization(api)},
        body=body,
        _request_timeout=CALL_SECONDS,
    )
    return json.loads(answer.data or b"{}")


def authorization(api: Any) -> dict[str, str]:
    headers: dict[str, str] = {}
    api.update_params_for_auth(headers, [], ["BearerToken"])
    return headers
