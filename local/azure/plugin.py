"""`pulumi-resource-azure-native` for the local stack: the engine's ResourceProvider protocol in front of the
simulated Azure.

It never talks to Azure and must not be mistaken for what does: it takes the subscription of zeros only, refuses to
start work in an environment that holds credentials for Azure, and says what it is when asked (`azure-
native:aksdra:whatAreYou`).
"""

from __future__ import annotations

import json
import os
import threading
import traceback
from collections.abc import Callable
from typing import Any, TypeVar

import grpc
from google.protobuf.any_pb2 import Any as Any_
from google.protobuf.empty_pb2 import Empty
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.struct_pb2 import Struct
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc
from pulumi.runtime.proto.status_pb2 import Status

from local import state
from local.azure import functions, provider, types
from local.azure.arm import SUBSCRIPTION, ArmError, Properties
from local.azure.service import AlreadyThere, Service
from local.azure.store import Incomplete, Store
from local.engine.serve import serve

Answer = TypeVar("Answer")
VERSION = "3.29.0"
# Configuration of the real provider that only makes sense where Azure is reached.
CREDENTIALS = (
    "clientId",
    "clientSecret",
    "clientCertificatePath",
    "clientCertificatePassword",
    "oidcToken",
    "oidcRequestToken",
    "useMsi",
    "useOidc",
)
KINDS = {
    ("add", False): provider_pb2.PropertyDiff.ADD,
    ("add", True): provider_pb2.PropertyDiff.ADD_REPLACE,
    ("delete", False): provider_pb2.PropertyDiff.DELETE,
    ("delete", True): provider_pb2.PropertyDiff.DELETE_REPLACE,
    ("update", False): provider_pb2.PropertyDiff.UPDATE,
    ("update", True): provider_pb2.PropertyDiff.UPDATE_REPLACE,
}


def plain(struct: Struct | None) -> Properties:
    """A property bag as plain values; JSON has one kind of number, ARM has two."""
    return {} if struct is None else whole(MessageToDict(struct))


def whole(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: whole(item) for key, item in value.items()}
    if isinstance(value, list):
        return [whole(item) for item in value]
    return value


def bag(properties: Properties) -> Struct:
    return ParseDict(properties, Struct())


def refusal(configured: Properties, environment: dict[str, str]) -> str:
    """Why this configuration must not be served; empty where it may."""
    found = sorted(name for name in environment if name.startswith(("ARM_", "AZURE_")))
    if found:
        return (
            f"The simulated Azure refuses to run where {', '.join(found)} is set: such variables are "
            "meant for the real Azure. "
            "Unset them for the local stack, or take this plugin off PATH for a real one."
        )
    secrets = [name for name in CREDENTIALS if configured.get(name) not in (None, "", "false", False)]
    if secrets:
        return f"The simulated Azure refuses credentials, and azure-native:{secrets[0]} is set. It has no use for them."
    given = configured.get("subscriptionId")
    if given == SUBSCRIPTION:
        return ""
    what = f"azure-native:subscriptionId is {given}" if given else "azure-native:subscriptionId is not set"
    return (
        f"This is the simulated Azure of the local stack, and {what}. It serves the subscription {SUBSCRIPTION} only. "
        "A real stack needs the real azure-native plugin: take the simulated one off PATH (or set "
        "PULUMI_IGNORE_AMBIENT_PLUGINS=true)."
    )


class Provider(provider_pb2_grpc.ResourceProviderServicer):
    def __init__(self, store: Store) -> None:
        self.service = Service(store)
        self.configured: Properties = {}
        self.ready = threading.Event()

    def Handshake(self, request: Any, context: grpc.ServicerContext) -> Any:
        return provider_pb2.ProviderHandshakeResponse()

    def GetPluginInfo(self, request: Any, context: grpc.ServicerContext) -> plugin_pb2.PluginInfo:
        return plugin_pb2.PluginInfo(version=VERSION)

    def GetSchema(self, request: Any, context: grpc.ServicerContext) -> Any:
        about = {"name": "azure-native", "version": VERSION, "description": "The simulated Azure of the local stack."}
        resources: Properties = {token: {"inputProperties": {}, "properties": {}} for token in types.TYPES}
        names: Properties = {token: {} for token in (*functions.FUNCTIONS, *functions.GETTERS)}
        return provider_pb2.GetSchemaResponse(schema=json.dumps({**about, "resources": resources, "functions": names}))

    def Attach(self, request: Any, context: grpc.ServicerContext) -> Empty:
        return Empty()

    def Cancel(self, request: Any, context: grpc.ServicerContext) -> Empty:
        # What is running comes to its end and is recorded: a cluster half made would have to be found again.
        return Empty()

    def CheckConfig(self, request: Any, context: grpc.ServicerContext) -> Any:
        return provider_pb2.CheckResponse(inputs=request.news)

    def DiffConfig(self, request: Any, context: grpc.ServicerContext) -> Any:
        same = plain(request.old_inputs) == plain(request.news)
        none, some = provider_pb2.DiffResponse.DIFF_NONE, provider_pb2.DiffResponse.DIFF_SOME
        return provider_pb2.DiffResponse(changes=none if same else some)

    def Configure(self, request: Any, context: grpc.ServicerContext) -> Any:
        configured = plain(request.args) if request.HasField("args") else {}
        for key, value in request.variables.items():
            configured.setdefault(key.rsplit(":", 1)[-1], value)
        reason = refusal(configured, dict(os.environ))
        if reason:
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, reason)
        self.configured = configured
        self.ready.set()
        return provider_pb2.ConfigureResponse(
            acceptSecrets=False, supportsPreview=True, acceptResources=False, acceptOutputs=False
        )

    def guarded(
        self, context: grpc.ServicerContext, what: str, work: Callable[[], Answer], inputs: Properties | None = None
    ) -> Answer:
        """Runs one request; a refusal of the simulated Azure becomes the error that the engine shows."""
        if not self.ready.is_set():
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, "The simulated Azure has not been configured.")
        try:
            return work()
        except Incomplete as error:
            half_made(context, error.record.id, self.service.answer(error.record), inputs or {}, f"{what}: {error}")
            raise
        except ArmError as error:
            own_words = not what or isinstance(error, AlreadyThere)
            context.abort(grpc.StatusCode.UNKNOWN, str(error) if own_words else f"{what}: {error}")
            raise
        except Exception as error:
            context.abort(
                grpc.StatusCode.INTERNAL, f"{what}: the simulated Azure failed: {error}\n{traceback.format_exc()}"
            )
            raise

    def Check(self, request: Any, context: grpc.ServicerContext) -> Any:
        def work() -> Any:
            kind = types.of(token(request))
            inputs, failures = provider.check(
                kind,
                name(request),
                request.urn,
                request.randomSeed,
                plain(request.news),
                plain(request.olds),
                self.service.default_location(plain(request.news), self.configured.get("location", "")),
            )
            reasons = [
                provider_pb2.CheckFailure(property=failure.property, reason=failure.reason) for failure in failures
            ]
            return provider_pb2.CheckResponse(inputs=bag(inputs), failures=reasons)

        return self.guarded(context, "", work)

    def Diff(self, request: Any, context: grpc.ServicerContext) -> Any:
        def work() -> Any:
            kind = types.of(token(request))
            found = provider.differences(kind, plain(request.old_inputs), plain(request.news))
            names = {change.path: change for change in found}
            replaces = [change.path for change in found if change.replaces]
            return provider_pb2.DiffResponse(
                changes=provider_pb2.DiffResponse.DIFF_SOME if found else provider_pb2.DiffResponse.DIFF_NONE,
                replaces=replaces,
                # As the provider has it. It knows nothing of `replaceOnChanges`: that is the engine's.
                deleteBeforeReplace=bool(replaces),
                diffs=sorted({change.path.split(".")[0].split("[")[0] for change in found}),
                detailedDiff={
                    path: provider_pb2.PropertyDiff(kind=KINDS[(change.kind, change.replaces)], inputDiff=True)
                    for path, change in names.items()
                },
                hasDetailedDiff=True,
            )

        return self.guarded(context, "", work)

    def Create(self, request: Any, context: grpc.ServicerContext) -> Any:
        def work() -> Any:
            kind, inputs = types.of(token(request)), plain(request.properties)
            if request.preview:
                return provider_pb2.CreateResponse(properties=bag(provider.preview(kind, inputs, {})))
            resource_id, outputs = self.service.create(kind, inputs)
            return provider_pb2.CreateResponse(id=resource_id, properties=bag(outputs))

        return self.guarded(context, "creating", work, plain(request.properties))

    def Update(self, request: Any, context: grpc.ServicerContext) -> Any:
        def work() -> Any:
            kind, inputs = types.of(token(request)), plain(request.news)
            if request.preview:
                return provider_pb2.UpdateResponse(properties=bag(provider.preview(kind, inputs, plain(request.olds))))
            return provider_pb2.UpdateResponse(properties=bag(self.service.update(kind, request.id, inputs)))

        return self.guarded(context, "updating", work, plain(request.news))

    def Read(self, request: Any, context: grpc.ServicerContext) -> Any:
        def work() -> Any:
            kind = types.of(token(request))
            record = self.service.read(request.id)
            if record is None or record.token != kind.token:
                return provider_pb2.ReadResponse()
            outputs = self.service.answer(record)
            given = plain(request.inputs)
            inputs = (
                provider.refreshed(given, plain(request.properties), outputs)
                if given
                else imported(kind, record.id, outputs)
            )
            return provider_pb2.ReadResponse(id=record.id, properties=bag(outputs), inputs=bag(inputs))

        return self.guarded(context, "reading", work)

    def Delete(self, request: Any, context: grpc.ServicerContext) -> Empty:
        def work() -> Empty:
            self.service.delete(types.of(token(request)), request.id)
            return Empty()

        return self.guarded(context, "deleting", work)

    def Invoke(self, request: Any, context: grpc.ServicerContext) -> Any:
        def work() -> Any:
            return provider_pb2.InvokeResponse(
                **{"return": bag(functions.invoke(self.service, request.tok, plain(request.args)))}
            )

        return self.guarded(context, request.tok, work)


def half_made(
    context: grpc.ServicerContext, resource_id: str, outputs: Properties, inputs: Properties, reason: str
) -> None:
    """Tells the engine that a resource exists but is not complete: it is recorded, and the next run updates it."""
    detail = Any_()
    detail.Pack(
        provider_pb2.ErrorResourceInitFailed(
            id=resource_id, properties=bag(outputs), inputs=bag(inputs), reasons=[reason]
        )
    )
    status = Status(code=grpc.StatusCode.UNKNOWN.value[0], message=reason, details=[detail])
    context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
    context.abort(grpc.StatusCode.UNKNOWN, reason)


def token(request: Any) -> str:
    """A request's resource type: the last part of the type chain in its URN where an older engine does not send it."""
    return str(request.type or request.urn.split("::")[-2].split("$")[-1])


def name(request: Any) -> str:
    return str(request.name or request.urn.split("::")[-1])


def imported(kind: types.ArmType, resource_id: str, outputs: Properties) -> Properties:
    """Inputs of a resource that is imported: all that could have been given, and the names in its id."""
    hidden = ("name", "azureApiVersion", *kind.computed, *(() if kind.token == types.POOL else ("type",)))
    parts = [part for part in resource_id.split("/") if part]
    inputs = {key: value for key, value in outputs.items() if key not in hidden}
    if kind.token == types.ROLE_ASSIGNMENT:
        return inputs | {"roleAssignmentName": parts[-1]}
    pattern = [part for part in kind.path.split("/") if part]
    return inputs | {
        slot.strip("{}"): parts[index] for index, slot in enumerate(pattern) if slot.strip("{}") in kind.parameters
    }


def main() -> None:
    served = Provider(Store(state.azure()))
    serve(lambda server: provider_pb2_grpc.add_ResourceProviderServicer_to_server(served, server))


if __name__ == "__main__":
    main()
