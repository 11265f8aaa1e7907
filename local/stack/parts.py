"""The programs around the engine: control plane, simulated nodes, packed charts; started, asked after, stopped.

They are imported where they are used: `status` and the refusals must not pay for all of them.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import shlex
from collections.abc import Callable
from pathlib import Path

from local.stack import engine_env, processes
from local.stack.stackfile import StackError, StackFile
from local.state import CHECKOUT


def kubeconfig(root: Path) -> Path:
    return root / "kubernetes" / "kubeconfig"


def start_control_plane(root: Path, version: str) -> None:
    from local import kubernetes

    try:
        kubernetes.start(root, version)
    except kubernetes.ControlPlaneError as error:
        raise StackError(str(error)) from error


def kubectl(root: Path) -> Path:
    """A kubectl of the control plane's own version, with its kubeconfig, for those who have none."""
    from local.tools.build import TOOLS, built_path

    path = root / "bin" / "kubectl"
    path.parent.mkdir(parents=True, exist_ok=True)
    program = shlex.quote(str(built_path(TOOLS["kubernetes"])))
    config = shlex.quote(str(kubeconfig(root)))
    path.write_text(f'#!/bin/sh\nKUBECONFIG="${{KUBECONFIG:-{config}}}" exec {program} kubectl "$@"\n')
    path.chmod(0o755)
    return path


def start_nodes(root: Path) -> None:
    from local import nodes
    from local.nodes.service import NodesError, daemons

    # A start that was killed before it wrote its record: two daemons would undo each other's work.
    known = daemons(root).pid("nodes")
    processes.end(process.pid for process in simulators(root) if process.pid != known)
    # A daemon goes on with the code and the tables that it was started with.
    file, now = engine_env.own(root) / "simulation", simulation()
    if known is not None and not (file.exists() and file.read_text() == now):
        nodes.stop(root)
    try:
        nodes.start(root)
    except NodesError as error:
        raise StackError(str(error)) from error
    file.write_text(now)


def simulation() -> str:
    """A digest of what the simulated nodes are made of."""
    digest = hashlib.sha256()
    folders = (CHECKOUT / "local", CHECKOUT / "local" / "nodes", CHECKOUT / "components" / "aks_dra" / "facts")
    for file in sorted(file for folder in folders for file in folder.iterdir() if file.suffix in {".py", ".toml"}):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def pack_charts(root: Path) -> None:
    from local.charts.pack import pack

    pack(root / "charts")


def running(root: Path) -> dict[str, bool]:
    from local import kubernetes, nodes

    found = {part: word == "running" for part, word in kubernetes.status(root).items()}
    return {**found, **{part: word == "running" for part, word in nodes.status(root).items()}}


def stop(root: Path) -> list[str]:
    """Stops what runs, the nodes first: they would complain about the API server. Returns what ran."""
    from local import kubernetes, nodes

    stoppers: dict[str, Callable[[Path], object]] = {
        "the simulated nodes": nodes.stop,
        "the control plane": kubernetes.stop,
    }
    return [name for name, stopper in stoppers.items() if stopper(root)]


def has_stack(root: Path, file: StackFile) -> bool:
    folder = engine_env.backend(root) / ".pulumi" / "stacks" / file.project
    return any((folder / f"{file.stack}.json{suffix}").exists() for suffix in ("", ".gz"))


def refuse_second(root: Path, file: StackFile, verb: str) -> None:
    """One state folder has one cluster, and it belongs to one stack. Raises StackError where that is another one."""
    others = [name for name in stacks(root, file.project) if name != file.stack]
    if others and not (verb == "down" and has_stack(root, file)):
        first = others[0]
        told = f"{file.stack} is not up here, {first} is" if verb == "down" else f"the stack {first} is up here"
        raise StackError(
            f"{told}, and a state folder has one cluster for one stack: `make down STACK={first}` ends that one; for "
            "two at a time set AKS_DRA_LOCAL_STATE to a folder of its own"
        )


def stacks(root: Path, project: str) -> list[str]:
    """The stacks of the backend that hold resources, by name."""
    found = []
    for path in sorted((engine_env.backend(root) / ".pulumi" / "stacks" / project).glob("*.json*")):
        if path.suffix in (".json", ".gz"):
            data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
            latest = (json.loads(data).get("checkpoint") or {}).get("latest") or {}
            if latest.get("resources"):
                found.append(path.name.partition(".json")[0])
    return found


def simulators(root: Path) -> list[processes.Process]:
    return [process for process in processes.others() if process.name == "local.nodes" and process.state == str(root)]


def left_running(root: Path) -> list[processes.Process]:
    """Programs of ours that still use this state folder: parts of the control plane, simulators, engines, plugins."""
    inside = f"{root}{os.sep}"
    control_plane = [
        process
        for process in processes.others()
        if process.name == "aks-dra-kubernetes" and any(inside in argument for argument in process.argv)
    ]
    return [*control_plane, *simulators(root), *processes.started_by_up(root)]
