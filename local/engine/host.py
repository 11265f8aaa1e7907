"""A small Python language host, `pulumi-language-python`, for machines where the ordinary one is missing.

The ordinary host comes with Pulumi's own installation; an engine built from its Go modules has none. It serves what
`pulumi preview`, `up`, `destroy`, `refresh` and `install` ask of a language and nothing else: no program or SDK
generation. The program is a process of its own, so that a crash of it is an answer and not the end of the host.
"""

from __future__ import annotations

import contextlib
import json
import platform
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
from google.protobuf.empty_pb2 import Empty
from google.protobuf.json_format import MessageToDict
from pulumi.runtime.proto import language_pb2, language_pb2_grpc, plugin_pb2

from local.engine import programs
from local.engine.serve import serve

VERSION = "0.1.0"
EXECUTOR = Path(__file__).with_name("executor.py")
SHOWN = 32


def options(info: language_pb2.ProgramInfo) -> dict[str, Any]:
    return MessageToDict(info.options) if info.HasField("options") else {}


class Host(language_pb2_grpc.LanguageRuntimeServicer):
    """One engine's host; several programs may run in it, one after the other or at once."""

    def __init__(self, engine: str) -> None:
        self.engine = engine
        self.running: set[subprocess.Popen[bytes]] = set()
        self.lock = threading.Lock()

    def Handshake(self, request: Any, context: grpc.ServicerContext) -> Any:
        self.engine = request.engine_address or self.engine
        return language_pb2.LanguageHandshakeResponse()

    def GetPluginInfo(self, request: Any, context: grpc.ServicerContext) -> plugin_pb2.PluginInfo:
        return plugin_pb2.PluginInfo(version=VERSION)

    # Both lists stay empty: the engine then gets a plugin when the first resource asks for it, as it would anyway, and
    # does not look on the network for the plugins of packages that are installed and not used.
    def GetRequiredPackages(self, request: Any, context: grpc.ServicerContext) -> Any:
        return language_pb2.GetRequiredPackagesResponse()

    def GetRequiredPlugins(self, request: Any, context: grpc.ServicerContext) -> Any:
        return language_pb2.GetRequiredPluginsResponse()

    def python(self, info: language_pb2.ProgramInfo, context: grpc.ServicerContext) -> str:
        try:
            return programs.interpreter(info.root_directory, options(info))
        except programs.NoInterpreter as error:
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, str(error))
            raise

    def Run(self, request: Any, context: grpc.ServicerContext) -> language_pb2.RunResponse:
        info = request.info
        try:
            python = programs.interpreter(info.root_directory, options(info))
        except programs.NoInterpreter as error:
            return language_pb2.RunResponse(error=str(error))
        order = {
            "monitor": request.monitor_address,
            "engine": self.engine,
            "project": request.project,
            "stack": request.stack,
            "parallel": request.parallel,
            "dry_run": request.dryRun,
            "organization": request.organization or "organization",
            "root_directory": info.root_directory,
            "config": dict(request.config),
            "secret_keys": list(request.configSecretKeys),
            "program": str(Path(info.program_directory) / (info.entry_point or ".")),
            "args": list(request.args),
        }
        code = self.execute(
            [python, "-u", str(EXECUTOR)], request.pwd or info.program_directory, json.dumps(order).encode()
        )
        if code == 0:
            return language_pb2.RunResponse()
        if code == SHOWN:
            return language_pb2.RunResponse(bail=True)
        return language_pb2.RunResponse(error=ended(code))

    def execute(self, command: list[str], directory: str, order: bytes) -> int:
        """Runs a program to its end; its output goes where ours goes, which the engine shows."""
        child = subprocess.Popen(command, cwd=directory, stdin=subprocess.PIPE)
        with self.lock:
            self.running.add(child)
        try:
            with contextlib.suppress(BrokenPipeError):
                child.communicate(order)
            return child.wait()
        finally:
            with self.lock:
                self.running.discard(child)

    def stop(self) -> None:
        with self.lock:
            for child in self.running:
                child.terminate()

    def RunPlugin(self, request: Any, context: grpc.ServicerContext) -> Iterator[Any]:
        """A plugin written in Python (components for other languages): its output is passed on as it comes."""
        info = request.info
        command = [
            self.python(info, context),
            "-u",
            str(Path(info.program_directory) / (info.entry_point or ".")),
            *request.args,
        ]
        environment = dict(entry.split("=", 1) for entry in request.env if "=" in entry)
        child = subprocess.Popen(
            command,
            cwd=request.pwd or None,
            env=environment or None,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=None,
        )
        with self.lock:
            self.running.add(child)
        context.add_callback(child.terminate)
        assert child.stdout is not None
        for line in child.stdout:
            yield language_pb2.RunPluginResponse(stdout=line)
        code = child.wait()
        with self.lock:
            self.running.discard(child)
        yield language_pb2.RunPluginResponse(exitcode=code)

    def InstallDependencies(self, request: Any, context: grpc.ServicerContext) -> Iterator[Any]:
        info = request.info
        directory = request.directory or info.program_directory
        try:
            for line in programs.install(directory, info.root_directory or directory, options(info)):
                yield language_pb2.InstallDependenciesResponse(stdout=line)
        except (RuntimeError, OSError, programs.NoInterpreter) as error:
            context.abort(grpc.StatusCode.INTERNAL, f"installing the program's requirements: {error}")

    def About(self, request: Any, context: grpc.ServicerContext) -> Any:
        return language_pb2.AboutResponse(executable=sys.executable, version=platform.python_version())

    def GetProgramDependencies(self, request: Any, context: grpc.ServicerContext) -> Any:
        found = programs.distributions(self.python(request.info, context))
        return language_pb2.GetProgramDependenciesResponse(
            dependencies=[language_pb2.DependencyInfo(name=name, version=version) for name, version in found]
        )

    def RuntimeOptionsPrompts(self, request: Any, context: grpc.ServicerContext) -> Any:
        return language_pb2.RuntimeOptionsResponse()

    def Cancel(self, request: Any, context: grpc.ServicerContext) -> Empty:
        self.stop()
        return Empty()


def ended(code: int) -> str:
    if code < 0:
        return f"Program was ended by signal {-code}"
    return f"Program exited with non-zero exit code: {code}"


def main() -> None:
    # The engine passes its address as the only argument that is not a flag.
    host = Host(next((argument for argument in sys.argv[1:] if not argument.startswith("-")), ""))
    serve(lambda server: language_pb2_grpc.add_LanguageRuntimeServicer_to_server(host, server), on_stop=host.stop)


if __name__ == "__main__":
    main()
