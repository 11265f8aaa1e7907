"""Three memories of one stack that must agree: the engine's state, the simulated Azure's records, the cluster's data.

Each lies in a folder of its own, and a user may have deleted one. What the others then say is about things that
are gone: the engine would find no change on an empty cluster, or fail on a name that is taken. Two of three cannot be
made to fit a third that is new, so all start over; ports, certificates and tokens stay where they are left.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from local.stack import engine_env
from local.stack.cluster import Cluster
from local.stack.engine import Engine, pending, resources


def identity_file(root: Path) -> Path:
    return engine_env.own(root) / "cluster"


def remember(root: Path, cluster: Cluster) -> None:
    """Notes which cluster the stack is made on; before the first object of it is."""
    file, now = identity_file(root), cluster.identity()
    if not file.exists() or file.read_text() != now:
        file.write_text(now)


def lost(engine: Engine, cluster: Cluster) -> str:
    """Which memory is not the one that the others belong to; "" when they agree."""
    root = engine.root
    records = any((root / "azure" / "records").rglob("*.json"))
    if not engine.exists():
        return "the engine's state of what the simulated Azure has" if records else ""
    state = engine.state()
    if not resources(state) and not pending(state):
        return ""
    file = identity_file(root)
    if file.exists() and file.read_text() != cluster.identity():
        return "the data of the cluster that the stack was made on"
    in_azure = any(str(entry.get("type", "")).startswith("azure-native:") for entry in resources(state))
    return "the simulated Azure's records of the stack" if in_azure and not records else ""


def forget(engine: Engine) -> None:
    """Drops all three. The control plane must not run: it holds its data open."""
    if engine.exists():
        engine.remove_stack("--force")
    for part in ("records", "servers"):
        shutil.rmtree(engine.root / "azure" / part, ignore_errors=True)
    shutil.rmtree(engine.root / "kubernetes" / "etcd", ignore_errors=True)
    identity_file(engine.root).unlink(missing_ok=True)
