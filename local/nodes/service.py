"""The daemon's life: the loop itself, and starting, stopping and asking after it."""

from __future__ import annotations

import logging
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from local import state
from local.kubernetes.processes import Daemons

NAME = "nodes"
PERIOD = 0.3
"""Seconds between two passes. A pass on a small cluster takes some 30 ms."""

START_SECONDS = 60


class NodesError(Exception):
    """The daemon cannot be had. The text says why."""


def daemons(root: Path) -> Daemons:
    return Daemons(root / "kubernetes" / "pids", root / "logs")


def start(root: Path) -> None:
    """Starts the daemon if it does not run, and waits for its first pass."""
    running = daemons(root)
    argv = [sys.executable, "-m", "local.nodes", "run"]
    if running.pid(NAME) is not None and running.same_command(NAME, argv):
        return
    running.stop(NAME, 3)
    heartbeat(root).unlink(missing_ok=True)
    places = [str(state.CHECKOUT), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {state.VARIABLE: str(root), "PYTHONPATH": os.pathsep.join(places)}
    running.spawn(NAME, argv, state.CHECKOUT, environment)
    deadline = time.monotonic() + START_SECONDS
    while not heartbeat(root).exists():
        if running.pid(NAME) is None:
            raise NodesError(
                f"the simulated nodes ended at once. The end of {running.log(NAME)}:\n{running.tail(NAME)}"
            )
        if time.monotonic() > deadline:
            raise NodesError(
                f"the simulated nodes made no pass in {START_SECONDS} s; does the control plane run "
                f"(python -m local.kubernetes status)? The end of {running.log(NAME)}:\n{running.tail(NAME)}"
            )
        time.sleep(0.05)


def stop(root: Path) -> bool:
    """Ends the daemon. What it published stays, as it would on real nodes. True when it ran."""
    return daemons(root).stop(NAME, 3)


def status(root: Path) -> dict[str, str]:
    return {NAME: "dead" if daemons(root).pid(NAME) is None else "running"}


def heartbeat(root: Path) -> Path:
    return root / "kubernetes" / "nodes.heartbeat"


def run(root: Path) -> None:
    """The loop, until SIGTERM or SIGINT. An API server that is away is waited for."""
    # imported here: the client takes a second to load, and `status` must not wait for it
    from local.nodes.cluster import Cluster
    from local.nodes.reconcile import reconcile
    from local.nodes.snapshot import Memory

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    logging.getLogger("urllib3").setLevel(logging.ERROR)
    log = logging.getLogger("nodes")
    asked: list[int] = []

    def end(number: int, frame: FrameType | None) -> None:
        asked.append(number)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    cluster: Cluster | None = None
    memory, complaints = Memory(), Complaints(log.warning)
    while not asked:
        begun = time.monotonic()
        try:
            cluster = cluster or Cluster(root / "kubernetes" / f"{NAME}.kubeconfig")
            actions = reconcile(cluster.snapshot(), memory)
        except Exception as error:
            complaints.say(f"no snapshot: {error}")
            cluster = None  # the port or the certificate may have changed: read the kubeconfig again
            time.sleep(PERIOD)
            continue
        for action in actions:
            if asked:
                break
            try:
                cluster.perform(action)
            except Exception as error:
                # a namespace on its way out, a node that is gone, a conflict: the next pass sees anew
                complaints.say(f"{type(action).__name__} {action.target}: {error}")
        heartbeat(root).touch()
        time.sleep(max(0.05, PERIOD - (time.monotonic() - begun)))
    log.info("ended by signal %s", asked[0])


class Complaints:
    """Says the same thing at most every ten seconds: a cluster that is down would fill the log."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self.write = write
        self.said: dict[str, float] = {}

    def say(self, text: str) -> None:
        now = time.monotonic()
        self.said = {key: when for key, when in self.said.items() if now - when < 10}
        if text[:80] not in self.said:
            self.said[text[:80]] = now
            self.write(text[:600])
