"""A stand-in for the engine that keeps every registration whole, for tests of the components."""

from __future__ import annotations

import asyncio
import base64
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import grpc
import pulumi
import pytest
from google.protobuf import json_format
from pulumi.runtime import mocks as pulumi_mocks
from pulumi.runtime.settings import SETTINGS
from pulumi.runtime.stack import run_pulumi_func, wait_for_rpcs

from aks_dra.resources import guard

SUBSCRIPTION = "11111111-2222-3333-4444-555555555555"
CLUSTER_ID = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/rg-t/providers/Microsoft.ContainerService/managedClusters/t"
KUBECONFIG = """\
apiVersion: v1
kind: Config
clusters: [{name: t, cluster: {server: "https://t.example", certificate-authority-data: QUJD}}]
contexts: [{name: t, context: {cluster: t, user: u}}]
current-context: t
users:
- name: u
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1beta1
      command: kubelogin
      args: [get-token, --environment, AzurePublicCloud, --server-id, S, --client-id, C, --tenant-id, T, --login, code]
      provideClusterInfo: false
"""


@dataclasses.dataclass
class Request:
    """One registration as the engine gets it."""

    type: str
    name: str
    inputs: dict[str, Any]
    raw: Any

    @property
    def urn(self) -> str:
        return f"{self.type}/{self.name}"


class Refused(grpc.RpcError):  # type: ignore[misc]
    """A plugin's answer to a function that it does not have."""

    def code(self) -> grpc.StatusCode:
        return grpc.StatusCode.NOT_FOUND

    def details(self) -> str:
        return "Invoke 'azure-native:aksdra:whatAreYou' not found"


class Azure(pulumi.runtime.Mocks):
    """Answers like Azure and Kubernetes; `calls` holds every function call."""

    def __init__(self, simulated: bool = True) -> None:
        self.calls: list[pulumi.runtime.MockCallArgs] = []
        self.simulated = simulated

    def new_resource(self, args: pulumi.runtime.MockResourceArgs) -> tuple[str | None, dict[Any, Any]]:
        outputs = dict(args.inputs)
        if args.typ.endswith(":ManagedCluster"):
            # Azure answers with a map where azure-native takes a list.
            outputs["identity"] = {"type": "UserAssigned", "userAssignedIdentities": {"/id/a": {}}}
            outputs |= {"name": "t", "oidcIssuerProfile": {"enabled": True, "issuerURL": "https://oidc"}}
            return CLUSTER_ID, outputs | {"nodeResourceGroup": "MC_rg-t_t"}
        if args.typ.endswith(":ResourceGroup"):
            outputs["name"] = args.inputs["resourceGroupName"]
        return (f"{args.name}-id" if args.custom else None), outputs

    def call(self, args: pulumi.runtime.MockCallArgs) -> Any:
        self.calls.append(args)
        if args.token == guard.QUESTION:
            if not self.simulated:
                raise Refused
            return {"simulated": True}
        if args.token.endswith("getManagedCluster"):
            return {
                "oidcIssuerProfile": {"enabled": True, "issuerURL": "https://found"},
                "nodeResourceGroup": "MC_found",
            }
        return {"kubeconfigs": [{"name": "u", "value": base64.b64encode(KUBECONFIG.encode()).decode()}]}


class Engine(pulumi_mocks.MockMonitor):
    """Keeps every registration; a preview's new resources have no id, as in the real engine."""

    def __init__(self, mocks: Azure) -> None:
        super().__init__(mocks)
        self.azure = mocks
        self.requests: list[Request] = []
        self.preview = False

    def RegisterResource(self, request: Any) -> Any:
        response: Any = super().RegisterResource(request)  # type: ignore[no-untyped-call]
        inputs = json_format.MessageToDict(request.object)
        self.requests.append(Request(request.type, request.name, inputs, request))
        if self.preview and request.custom:
            response.id = ""
            for computed in ("oidcIssuerProfile", "nodeResourceGroup"):
                response.object.fields.pop(computed, None)
        return response

    def of(self, type_end: str) -> list[Request]:
        return [request for request in self.requests if request.type.endswith(type_end)]

    def one(self, type_end: str) -> Request:
        (found,) = self.of(type_end)
        return found

    def named(self, name: str) -> Request:
        (found,) = [request for request in self.requests if request.name == name]
        return found

    def names(self) -> list[str]:
        return [f"{r.type} {r.name}" for r in self.requests if r.type != "pulumi:pulumi:Stack"]

    def behind(self, request: Request) -> set[str]:
        """Names of everything that comes before this one, directly or not."""
        by_urn = {urn: r for r in self.requests for urn in [self._urn(r)]}
        seen: set[str] = set()
        waiting = list(request.raw.dependencies)
        while waiting:
            urn = waiting.pop()
            if urn in by_urn and by_urn[urn].name not in seen:
                seen.add(by_urn[urn].name)
                waiting += by_urn[urn].raw.dependencies
        return seen

    def _urn(self, request: Request) -> str:
        return self.make_urn(request.raw.parent, request.type, request.name)


@pytest.fixture(autouse=True)
def kubelogin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every program is installed; configuration does not outlive a test."""
    monkeypatch.setattr("shutil.which", lambda program: f"/bin/{program}")
    yield
    pulumi.runtime.set_all_config({})


def run(
    program: Callable[[], Any],
    *,
    preview: bool = False,
    simulated: bool = True,
    config: dict[str, str] | None = None,
    engine: Engine | None = None,
) -> tuple[Engine, Any]:
    """Runs a program against the stand-in; returns what was registered and what the program returned."""
    engine = engine or Engine(Azure(simulated))
    engine.preview = preview
    asyncio.set_event_loop(asyncio.new_event_loop())
    SETTINGS.rpc_manager.clear()
    SETTINGS.outputs.clear()
    pulumi.runtime.set_mocks(engine.azure, project="aks-dra", stack="t", preview=preview, monitor=engine)
    pulumi.runtime.set_all_config(config or {})
    result: list[Any] = []

    async def whole() -> None:
        await run_pulumi_func(lambda: result.append(program()))
        await wait_for_rpcs()

    asyncio.get_event_loop().run_until_complete(whole())
    return engine, result[0]


def resolved(output: pulumi.Output[Any]) -> tuple[Any, bool, bool]:
    """(value, known, secret) of an output."""

    async def all_three() -> tuple[Any, bool, bool]:
        return await output.future(), await output.is_known(), await output.is_secret()

    return asyncio.get_event_loop().run_until_complete(all_three())


def failing(program: Callable[[], Any], *, simulated: bool = True, config: dict[str, str] | None = None) -> str:
    """The text of the error that ends the program; nothing may have been registered."""
    engine = Engine(Azure(simulated))
    with pytest.raises(pulumi.RunError) as error:
        run(program, config=config, engine=engine)
    assert engine.names() == []
    return str(error.value)
