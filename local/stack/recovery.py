"""What a killed run leaves, and how the next one goes on from it.

SIGKILL in the middle of an update leaves, in this order of danger: plugins that go on creating; the engine's
lock on the stack; entries in the state for creates whose end nobody recorded; a Helm release that is in the
cluster and not in the state, or half installed, and blocks its own name for ever. Each is looked for at each
start, and what was done about it is said. Nothing here is needed after Ctrl-C: the engine records all.

A pending create of something that came to be in the simulated Azure is written into the state: the provider refuses to
create what exists. All others are dropped: a create that broke off goes on when it is asked for again, and server-side
apply adopts what exists. (What to do when a whole part of the state folder is gone is another matter:
`local.stack.remains`.)
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from local.stack import created_meanwhile, engine_env, processes
from local.stack.cluster import Cluster
from local.stack.engine import Engine, pending, resources

Say = Callable[[str], None]

ENGINE_PATIENCE = 120.0
PLUGIN_PATIENCE = 60.0
RELEASE = "kubernetes:helm.sh/v3:Release"
HALF_DONE = {"pending-install", "pending-upgrade", "pending-rollback", "uninstalling"}


class Busy(Exception):
    """Another run has the state folder. The text says which."""


@contextmanager
def only_one(root: Path, verb: str, say: Say) -> Iterator[None]:
    """Holds the state folder's lock. The kernel lets go of it when the holder dies, however it dies."""
    file = engine_env.own(root) / "up.lock"
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a+") as stream:
        stream.seek(0)
        before = stream.read().strip()
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise Busy(f"`make {before or 'up'} is at work on {root}; wait for it or stop it") from error
        if before:
            say(f"an earlier `make {before} ended without tidying up; going on from what it left")
        stream.truncate(0)
        stream.write(f"{verb}` (pid {os.getpid()})")
        stream.flush()
        try:
            yield
        finally:
            stream.truncate(0)


def settle_orphans(root: Path, say: Say) -> None:
    """Waits for what an earlier run left running, then ends it. Raises Busy for a `pulumi` run by hand."""
    by_hand = processes.engines_by_hand(root, engine_env.home(root))
    if by_hand:
        raise Busy(f"{by_hand[0]} works on this stack; wait for it or stop it")
    left = processes.started_by_up(root)
    engines = [process for process in left if process.name in processes.ENGINE_PROGRAMS]
    if engines:
        say(f"waiting for {engines[0]} of an earlier run to finish")
        processes.wait_for(processes.none_alive(process.pid for process in engines), ENGINE_PATIENCE)
    left = processes.started_by_up(root)
    if left:
        say(f"waiting for what an earlier run left: {', '.join(map(str, left))}")
        pids = [process.pid for process in left]
        processes.wait_until_idle(pids, PLUGIN_PATIENCE)
        # A plugin of ours that is told to go finishes the calls that are running, however long they wait.
        ours = any(process.name.startswith("local.") for process in left)
        stubborn = processes.end(pids, PLUGIN_PATIENCE if ours else 10.0)
        if stubborn:
            raise Busy(f"processes {stubborn} of an earlier run cannot be ended; end them and try again")
        say("ended them")


def release_engine_lock(engine: Engine, say: Say) -> None:
    """Clears the engine's lock. Call it once nothing of an earlier run is alive."""
    locks = engine_env.backend(engine.root) / ".pulumi" / "locks"
    if engine.exists() and any(locks.rglob(f"{engine.file.project}/{engine.file.stack}/*.json")):
        engine.run("cancel", "--yes", engine.file.stack)
        say("cleared the engine's lock of an earlier run")


def finish_interrupted(engine: Engine, cluster: Cluster | None, say: Say) -> None:
    """Frees the names of half-made releases, then takes the pending operations out of the state.

    In this order: a kill in between leaves the pending entries, and with them the names of the releases.
    """
    if not engine.exists():
        return
    state = engine.state()
    operations = pending(state)
    if cluster is not None:
        for namespace, name, recorded in releases(state):
            free_release(cluster, namespace, name, recorded, say)
    if operations:
        for operation in operations:
            say(f"not finished when the engine was killed: {describe(operation)}")
        state["deployment"]["pending_operations"] = []
        for urn in created_meanwhile.write(state, operations, engine.root / "azure"):
            say(f"made after all, and now in the state: {name_in(urn)}")
        engine.put_state(state)
        say(f"dropped {len(operations)} pending operation(s) from the state; what exists is taken over")


def describe(operation: Mapping[str, Any]) -> str:
    resource = operation.get("resource") or {}
    return f"{operation.get('type', '?')} {resource.get('type', '?')} {name_in(str(resource.get('urn', '?')))}"


def name_in(urn: str) -> str:
    return urn.split("::")[-1]


def releases(state: Mapping[str, Any]) -> list[tuple[str, str, bool]]:
    """Namespace, name and whether its create was recorded, of each Helm release that the state knows."""
    found: dict[tuple[str, str], bool] = {}
    unfinished = (operation.get("resource") or {} for operation in pending(state))
    for recorded, entries in ((False, unfinished), (True, resources(state))):
        for entry in entries:
            inputs = entry.get("inputs") or {}
            if entry.get("type") == RELEASE and inputs.get("name"):
                # An update in flight has an entry in both lists: the recorded one counts.
                found[str(inputs.get("namespace") or "default"), str(inputs["name"])] = recorded
    return [(namespace, name, recorded) for (namespace, name), recorded in found.items()]


def free_release(cluster: Cluster, namespace: str, name: str, recorded: bool, say: Say) -> None:
    """Deletes Helm's records of half-done revisions; of a release that the state lacks, all of them.

    The chart's objects stay, with Helm's own marks on them, and the next install takes them over.
    """
    path = f"/api/v1/namespaces/{namespace}/secrets"
    for record in cluster.items(path, labelSelector=f"owner=helm,name={name}"):
        labels = record["metadata"].get("labels") or {}
        status, revision = labels.get("status", "?"), labels.get("version", "?")
        if recorded and status not in HALF_DONE:
            continue
        cluster.request("DELETE", f"{path}/{record['metadata']['name']}")
        say(f"release {namespace}/{name}: freed its name (revision {revision} was {status})")
