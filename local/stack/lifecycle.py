"""The three verbs as lists of steps."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from local.stack import engine_env, parts, processes, recovery, remains, summary, workloads
from local.stack.cluster import Cluster, ClusterError
from local.stack.engine import Engine, EngineError, Outcome, resources
from local.stack.engine_env import programs
from local.stack.published import PoolReport
from local.stack.stackfile import StackFile
from local.stack.steps import Steps
from local.state import CHECKOUT

# Simulated nodes publish within a second or two of their plugin's pod; a machine that builds is slower.
PUBLISHING_SECONDS = 45.0


def up(root: Path, file: StackFile, steps: Steps) -> int:
    with steps.step("tools"):
        engine = Engine(root, CHECKOUT, file, programs(root))
    with steps.step("what an earlier run left"):
        recovery.settle_orphans(root, steps.say)
        recovery.release_engine_lock(engine, steps.say)
    with steps.step(f"control plane, Kubernetes {file.kubernetes_version}"):
        parts.start_control_plane(root, file.kubernetes_version)
    with steps.step("simulated nodes"):
        parts.start_nodes(root)
    with steps.step("charts"):
        parts.pack_charts(root)
    with steps.step("state of the stack"):
        cluster = agreed(engine, steps)
        engine.ensure_stack()
        recovery.finish_interrupted(engine, cluster, steps.say)
    with steps.step(f"pulumi up -s {file.stack}"):
        outcome = engine.update("up")
    if outcome.code:
        print(f"error: `pulumi up` ended with exit code {outcome.code}; all it said: {engine.log}", flush=True)
        return outcome.code
    steps.say(spell(outcome))
    exports = engine.outputs()
    with steps.step("devices"):
        reports = wait_for_devices(cluster, exports)
    console = summary.make_console()
    console.print()
    summary.print_pools(console, reports)
    console.print()
    summary.print_classes_and_claims(console, cluster, reports)
    console.print()
    summary.print_farewell(console, parts.kubeconfig(root), parts.kubectl(root))
    console.print(f"up after {steps.seconds:.0f} s", highlight=False)
    return 1 if summary.print_gaps(console, reports) else 0


def agreed(engine: Engine, steps: Steps) -> Cluster:
    """The running cluster, once the engine's state, the simulated Azure and it tell of the same things."""
    cluster = Cluster(parts.kubeconfig(engine.root))
    if gone := remains.lost(engine, cluster):
        steps.say(f"{gone}: gone; the stack, the simulated Azure and the cluster start over")
        parts.stop(engine.root)
        remains.forget(engine)
        parts.start_control_plane(engine.root, engine.file.kubernetes_version)
        parts.start_nodes(engine.root)
        cluster = Cluster(parts.kubeconfig(engine.root))
    remains.remember(engine.root, cluster)
    return cluster


def spell(outcome: Outcome) -> str:
    counts = ", ".join(f"{count} {what}" for what, count in outcome.counts.items())
    return f"{'no change' if not outcome.changed else 'done'}: {counts or 'nothing'}"


def wait_for_devices(cluster: Cluster, exports: Mapping[str, Any]) -> list[PoolReport]:
    """The pools' reports, as soon as nothing is missing any more or the time is up."""
    limit = time.monotonic() + PUBLISHING_SECONDS
    while True:
        reports = summary.pool_reports(cluster, exports)
        if not any(pool.gaps for pool in reports) or time.monotonic() > limit:
            return reports
        time.sleep(0.5)


def status(root: Path, file: StackFile) -> int:
    """What runs and what the pools publish. 0 only when nothing is missing."""
    console = summary.make_console()
    running = parts.running(root)
    for part, alive in running.items():
        console.print(f"{part:<28} {'running' if alive else '[red]not running[/red]'}", highlight=False)
    if not any(running.values()):
        console.print(f"nothing runs; `make up STACK={file.stack}` starts it", markup=False, highlight=False)
        return 1
    missing = [part for part, alive in running.items() if not alive]
    try:
        cluster = Cluster(parts.kubeconfig(root))
        engine = Engine(root, CHECKOUT, file, programs(root))
        exports = engine.outputs() if engine.exists() else {}
        reports = summary.pool_reports(cluster, exports)
        console.print()
        summary.print_pools(console, reports)
        gaps = summary.print_gaps(console, reports)
    except (ClusterError, EngineError) as error:
        console.print(str(error), style="red", markup=False, highlight=False)
        return 1
    if not exports.get("pools"):
        console.print(f"the stack is not up; `make up STACK={file.stack}` goes on", markup=False, highlight=False)
        return 1
    if missing:
        console.print(f"`make up STACK={file.stack}` starts what does not run", markup=False, highlight=False)
    return 1 if gaps or missing else 0


def down(root: Path, file: StackFile, steps: Steps) -> int:
    """Destroys the stack, stops everything, and makes sure of both. Ports, certificates and tokens stay."""
    with steps.step("what an earlier run left"):
        recovery.settle_orphans(root, steps.say)
    code = destroy(root, file, steps) if parts.has_stack(root, file) else 0
    with steps.step("stopping"):
        for part in parts.stop(root):
            steps.say(f"stopped {part}")
        processes.end(process.pid for process in parts.left_running(root))
        left = parts.left_running(root)
        shutil.rmtree(engine_env.scratch(root), ignore_errors=True)
    for process in left:
        print(f"error: {process} is still running", flush=True)
    return code or (1 if left else 0)


def destroy(root: Path, file: StackFile, steps: Steps) -> int:
    """0 once the stack is gone. What is to be destroyed has to be there: so the control plane is started first."""
    engine = Engine(root, CHECKOUT, file, programs(root))
    recovery.release_engine_lock(engine, steps.say)
    if resources(engine.state()):
        with steps.step("control plane and nodes, for what is to be destroyed"):
            parts.start_control_plane(root, file.kubernetes_version)
            parts.start_nodes(root)
            cluster = agreed(engine, steps)
            recovery.finish_interrupted(engine, cluster, steps.say)
            if ended := workloads.end(cluster):
                steps.say(f"deleted what holds claims: {', '.join(ended)}")
    else:
        recovery.finish_interrupted(engine, None, steps.say)
    if not engine.exists():
        return 0
    with steps.step(f"pulumi destroy -s {file.stack}"):
        outcome = engine.update("destroy")
    if outcome.code:
        print(f"error: `pulumi destroy` ended with exit code {outcome.code}; all it said: {engine.log}", flush=True)
        return outcome.code
    engine.remove_stack()
    steps.say(f"the stack {file.stack} is gone")
    return 0
