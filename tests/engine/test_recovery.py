"""A `make up` that is killed anywhere, and the next one, which goes on from what was left.

The kill is SIGKILL to every process of the run at once, or only to the run and the engine, so that plugins live on and
finish what they were at. The moments are drawn from a fixed seed over the whole run, and two are aimed at the
worst ones: a release half installed, and a create that nobody recorded.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from local.stack import engine_env, parts, processes
from local.stack.cluster import Cluster

pytestmark = pytest.mark.cluster  # it starts a control plane

CHECKOUT = Path(__file__).resolve().parents[2]
SEED = 20_261_130
LIMIT = 420


@dataclass
class Local:
    """One state folder, and the command on it."""

    root: Path

    def environment(self) -> dict[str, str]:
        return {**os.environ, "AKS_DRA_LOCAL_STATE": str(self.root), "PYTHONUNBUFFERED": "1", "NO_COLOR": "1"}

    def start(self, verb: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "local.up", verb],
            cwd=CHECKOUT,
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, verb: str) -> str:
        process = self.start(verb)
        text, _ = process.communicate(timeout=LIMIT)
        assert process.returncode == 0, text
        return text

    def up_until(self, reached: Callable[[str], bool], delay: float = 0.0, whole_group: bool = True) -> list[str]:
        """Kills `up` `delay` seconds after the first line for which `reached` says so. Gives the lines seen."""
        process = self.start("up")
        assert process.stdout is not None
        lines: list[str] = []
        armed = False

        def kill() -> None:
            if whole_group:
                os.killpg(process.pid, signal.SIGKILL)
            else:
                engines = [p for p in processes.started_by_up(self.root) if p.name in processes.ENGINE_PROGRAMS]
                for pid in [process.pid, *(engine.pid for engine in engines)]:
                    os.kill(pid, signal.SIGKILL)

        for line in process.stdout:
            lines.append(line)
            if not armed and reached(line):
                armed = True
                threading.Timer(delay, kill).start()
        process.wait()
        assert armed, "".join(lines)
        assert process.returncode == -signal.SIGKILL, "".join(lines)
        return lines

    def state(self) -> dict[str, Any]:
        """The engine's record, read from its backend's file."""
        (file,) = engine_env.backend(self.root).glob(".pulumi/stacks/*/local.json")
        loaded: dict[str, Any] = json.loads(file.read_text())
        return loaded

    def pools(self) -> dict[str, int]:
        """Devices published, by node."""
        cluster = Cluster(self.root / "kubernetes" / "kubeconfig")
        found: dict[str, int] = {}
        for item in cluster.items("/apis/resource.k8s.io/v1/resourceslices"):
            node = item["spec"].get("nodeName", "")
            found[node] = found.get(node, 0) + len(item["spec"].get("devices") or [])
        return found


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Local]:
    made = Local(tmp_path / "state")
    yield made
    made.run("down")
    assert processes.started_by_up(made.root) == []


def converges(local: Local) -> str:
    """The next `up` ends well and leaves nothing pending; the one after it changes nothing."""
    first = local.run("up")
    checkpoint = local.state()["checkpoint"]["latest"]
    assert not checkpoint.get("pending_operations")
    assert not list(engine_env.backend(local.root).glob(".pulumi/locks/**/*.json"))
    second = local.run("up")
    assert "no change" in second, second
    assert "going on from what it left" not in second
    devices = local.pools()
    assert devices
    assert all(devices.values())
    return first


def test_six_seeded_kills_in_a_row_then_it_converges(local: Local) -> None:
    """Each run is killed further on than the last; one state folder takes all six."""
    draw = random.Random(SEED)
    moments: list[tuple[Callable[[str], bool], float, bool]] = [
        (starting("control plane"), draw.uniform(0.1, 2.5), True),
        (starting("state of the stack"), draw.uniform(0.0, 1.0), True),
        (starting("pulumi up"), draw.uniform(0.5, 2.0), True),
        (saying("ManagedCluster"), draw.uniform(0.0, 1.0), False),
        (saying("AgentPool"), draw.uniform(0.0, 2.0), True),
        (starting("pulumi up"), draw.uniform(2.0, 6.0), False),
    ]
    for number, (reached, delay, whole_group) in enumerate(moments):
        begun = time.monotonic()
        try:
            local.up_until(reached, delay, whole_group)
        except AssertionError:
            # A fast machine may be through before the moment comes: then there is nothing more to kill.
            assert number >= 4
        print(f"kill {number + 1} after {time.monotonic() - begun:.1f} s")
    converges(local)


def test_creates_that_nobody_recorded_are_taken_into_the_state(local: Local) -> None:
    """The engine dies while pools are made, the plugin finishes them: the provider would not create them again."""
    faults = local.root / "azure" / "faults.json"
    faults.parent.mkdir(parents=True)
    pool = "azure-native:containerservice:AgentPool"
    faults.write_text(json.dumps([{"type": pool, "operation": "create", "delay": 5}]))
    local.up_until(saying("ManagedCluster"), 2.0, whole_group=False)
    faults.unlink()
    text = converges(local)
    assert f"not finished when the engine was killed: creating {pool} aks-dra-pool-t4-agent-pool" in text
    assert "made after all, and now in the state: aks-dra-pool-t4-agent-pool" in text


@pytest.mark.parametrize("plugins_live", [False, True])
def test_a_release_that_is_half_installed_or_unrecorded(local: Local, plugins_live: bool) -> None:
    """Helm's record blocks the name, for ever: pending when the plugin dies too, deployed when it goes on."""
    process = local.start("up")
    log = local.root / "logs" / "pulumi.log"

    def begun() -> bool:
        return log.exists() and "gpu-operator-gpu-operator creating" in log.read_text()

    assert processes.wait_for(begun, LIMIT, 0.02)
    started = processes.started_by_up(local.root)
    assert processes.wait_for(lambda: bool(helm_records(local)), 30, 0.02)
    for pid in [process.pid, *(p.pid for p in started if not plugins_live or p.name in processes.ENGINE_PROGRAMS)]:
        os.kill(pid, signal.SIGKILL)
    process.wait()
    if not plugins_live:
        assert helm_records(local) == ["pending-install"]
    text = converges(local)
    assert "release gpu-operator/gpu-operator: freed its name" in text
    assert plugins_live or "revision 1 was pending-install" in text
    assert helm_records(local) == ["deployed"]


def helm_records(local: Local) -> list[str]:
    """The statuses of the operator's revisions."""
    cluster = Cluster(local.root / "kubernetes" / "kubeconfig")
    found = cluster.items("/api/v1/namespaces/gpu-operator/secrets", labelSelector="owner=helm,name=gpu-operator")
    return [item["metadata"]["labels"]["status"] for item in found]


def starting(step: str) -> Callable[[str], bool]:
    return lambda line: line.startswith("[") and f"] {step}" in line


def saying(text: str) -> Callable[[str], bool]:
    return lambda line: "created" in line and text in line


def test_stopped_killed_and_lost_parts_come_back(local: Local) -> None:
    """Ports, certificates and tokens outlive all of it, so that a restart plans no change."""
    local.run("up")
    before = local.pools()
    address = (local.root / "kubernetes" / "kubeconfig").read_text()
    for process in control_plane(local):
        os.kill(process.pid, signal.SIGKILL)
    assert not_running(local) > 0
    second = local.run("up")
    assert "no change" in second, second
    assert (local.root / "kubernetes" / "kubeconfig").read_text() == address
    assert local.pools() == before
    assert not_running(local) == 0


def control_plane(local: Local) -> list[processes.Process]:
    return [process for process in parts.left_running(local.root) if not process.mark]


def not_running(local: Local) -> int:
    """How many parts `status` says do not run; its exit code says the same."""
    process = local.start("status")
    text, _ = process.communicate(timeout=LIMIT)
    count = text.count("not running")
    assert (process.returncode == 0) is (count == 0), text
    return count


@pytest.mark.parametrize(
    "folder",
    [
        "kubernetes",
        pytest.param("azure", marks=pytest.mark.nightly),
        pytest.param("backend", marks=pytest.mark.nightly),
    ],
)
def test_a_part_of_the_state_folder_that_was_deleted_is_made_anew(local: Local, folder: str) -> None:
    """What is left tells of things that are gone: all three memories start over, and the cluster is filled again."""
    local.run("up")
    before = local.pools()
    stop = [sys.executable, "-m", "local.kubernetes", "stop"]
    subprocess.run(stop, cwd=CHECKOUT, env=local.environment(), check=True)
    shutil.rmtree(local.root / folder)
    text = local.run("up")
    assert "gone; the stack, the simulated Azure and the cluster start over" in text
    assert sorted(local.pools().values()) == sorted(before.values())
    assert "no change" in local.run("up")


def test_down_works_on_what_is_dead_half_made_or_not_there(local: Local) -> None:
    local.run("down")
    local.up_until(saying("AgentPool"), 0.5)
    for process in control_plane(local):
        os.kill(process.pid, signal.SIGKILL)
    local.run("down")
    assert parts.left_running(local.root) == []
    assert not list(engine_env.backend(local.root).glob(".pulumi/stacks/*/local.json"))
    assert (local.root / "kubernetes").is_dir()
    converges(local)


def test_interrupt_is_recorded_and_nothing_needs_recovery(local: Local) -> None:
    process = local.start("up")
    assert process.stdout is not None
    lines, interrupted = list[str](), False
    for line in process.stdout:
        lines.append(line)
        if saying("AgentPool")(line) and not interrupted:
            interrupted = True
            os.killpg(process.pid, signal.SIGINT)
    assert process.wait() == 130, "".join(lines)
    checkpoint = local.state()["checkpoint"]["latest"]
    assert not checkpoint.get("pending_operations"), "".join(lines)
    text = converges(local)
    assert "going on from what it left" not in text
    assert "not finished when the engine was killed" not in text
