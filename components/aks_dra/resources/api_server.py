"""Plain requests to the cluster's API server, by the kubeconfig that the stack has of it.

Plain requests rather than the client's typed models: those drop fields that they do not know.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import yaml

PAGE = 500
SECONDS = 10.0

Call = Callable[[str, str, Any], tuple[int, Any]]
"""Method, path and body to status and document."""


class NoAnswerError(Exception):
    """The API server did not answer, or would not."""


def items(call: Call, path: str) -> Iterator[dict[str, Any]]:
    """Every object of a list, page by page."""
    rest = ""
    while True:
        status, document = call("GET", f"{path}{'&' if '?' in path else '?'}limit={PAGE}{rest}", None)
        if status >= 300:
            raise NoAnswerError(str(document.get("message") or f"{status} for {path}"))
        yield from document.get("items") or ()
        following = (document.get("metadata") or {}).get("continue")
        if not following:
            return
        rest = f"&continue={following}"


def caller(kubeconfig: str) -> Call:
    """Asks the cluster of a kubeconfig. What is no answer at all raises, in the client's words or ours."""
    from kubernetes.client.api_client import ApiClient  # here: most runs make no class
    from kubernetes.client.configuration import Configuration
    from kubernetes.client.exceptions import ApiException
    from kubernetes.config.kube_config import load_kube_config_from_dict

    configuration = Configuration()
    load_kube_config_from_dict(yaml.safe_load(kubeconfig), client_configuration=configuration)  # type: ignore[no-untyped-call]
    configuration.retries = 0  # a preview must not wait long for a cluster that it does not need
    client: Any = ApiClient(configuration)
    bearer = configuration.auth_settings().get("BearerToken")
    headers = {"Accept": "application/json", "Content-Type": "application/json"}
    headers |= {"Authorization": str(bearer["value"])} if bearer else {}

    def call(method: str, path: str, body: Any) -> tuple[int, Any]:
        url = str(configuration.host).rstrip("/") + path
        try:
            answer = client.call_api(method, url, headers, body, _request_timeout=SECONDS)
            status, raw = int(answer.status), answer.read()
        except ApiException as error:
            status, raw = int(error.status or 0), error.body or b"{}"
        if not status or status == 401:
            raise NoAnswerError("the API server refuses the login")
        document = json.loads(raw)
        return status, document if isinstance(document, dict) else {}

    return call
