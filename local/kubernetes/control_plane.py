"""Starting, stopping and asking after the control plane.

`start` makes it so, whatever it finds: nothing, a running one, one of which some parts were killed, records
of programs that ended with the machine, programs without a record. Parts that run with the right command
line are left alone, so that a second start costs a few milliseconds.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import signal
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from local.kubernetes.keeping import PortTakenError, Secrets
from local.kubernetes.parts import PARTS, commands
from local.kubernetes.processes import Daemons, send, strays
from local.tools import build as tools

READY_SECONDS = 90
"""A start takes 4 s on two idle cores; a machine that builds something meanwhile takes far longer."""

STOP_SECONDS = {"etcd": 10.0}
"""etcd closes its files on SIGTERM. The others hold nothing: after 3 s they are ended."""


class ControlPlaneError(Exception):
    """The control plane cannot be had. The text says why and what to do."""


def daemons(root: Path) -> Daemons:
    return Daemons(root / "kubernetes" / "pids", root / "logs")


def start(root: Path, kubernetes_version: str = "1.36", durable: bool = True) -> Path:
    """Starts what does not run and waits until pods can be made. Gives the path of the kubeconfig.

    `durable=False` spares the disk (tests): a crash of the machine may then lose what was written.
    """
    program = tools.build(tools.TOOLS["kubernetes"])
    secrets = Secrets(root / "kubernetes")
    running = daemons(root)
    with locked(root):
        secrets.prepare()
        end_strays(running, secrets, program)
        try:
            port = secrets.port(running.pid("kube-apiserver") is not None)
        except PortTakenError as error:
            raise ControlPlaneError(str(error)) from None
        argv = commands(program, secrets, port, emulated(kubernetes_version), durable)
        ensure(running, "etcd", argv["etcd"], secrets.folder)
        ensure(running, "kube-apiserver", argv["kube-apiserver"], secrets.folder)
        until(secrets.certificate.exists, running, ("etcd", "kube-apiserver"), "the API server's certificate")
        secrets.write_kubeconfigs()
        until(lambda: answers(secrets, "/readyz"), running, ("etcd", "kube-apiserver"), "the API server")
        secrets.write_kubeconfigs()  # the certificate may have been half written when they were made
        for part in PARTS[2:]:
            ensure(running, part, argv[part], secrets.folder)
        account = "/api/v1/namespaces/default/serviceaccounts/default"
        until(lambda: answers(secrets, account), running, PARTS, "the default service account")
    return secrets.kubeconfig("admin")


def stop(root: Path) -> bool:
    """Ends every part. What etcd holds stays. True when something ran."""
    folder = root / "kubernetes"
    if not folder.is_dir():
        return False
    running = daemons(root)
    with locked(root):
        for part in ("kwok", "kube-controller-manager", "kube-scheduler"):
            running.terminate(part)
        stopped = [running.stop(part, STOP_SECONDS.get(part, 3.0)) for part in reversed(PARTS)]
        lost = end_strays(running, Secrets(folder), tools.built_path(tools.TOOLS["kubernetes"]))
    return any(stopped) or lost


def status(root: Path) -> dict[str, str]:
    """Part to `running` or `dead`."""
    running = daemons(root)
    return {part: "dead" if running.pid(part) is None else "running" for part in PARTS}


def emulated(version: str) -> str:
    """The minor version to emulate, "" when it is the program's own."""
    found = re.fullmatch(r"v?(\d+)\.(\d+)(\.\d+)?", version)
    own = re.match(r"v(\d+)\.(\d+)", tools.required_version(tools.TOOLS["kubernetes"].folder, "k8s.io/kubernetes"))
    assert own is not None
    newest = int(own[2])
    if found is None or found[1] != own[1] or not newest - 3 <= int(found[2]) <= newest:
        raise ControlPlaneError(
            f"Kubernetes {version!r} cannot be had locally; {own[1]}.{newest - 3} to {own[1]}.{newest} can"
        )
    return "" if int(found[2]) == newest else f"{own[1]}.{found[2]}"


def ensure(running: Daemons, part: str, argv: Sequence[str], folder: Path) -> None:
    if running.pid(part) is not None:
        if running.same_command(part, argv):
            return
        running.stop(part, STOP_SECONDS.get(part, 3.0))
    running.spawn(part, argv, folder)


def end_strays(running: Daemons, secrets: Secrets, program: Path) -> bool:
    """Ends parts of this very folder that have no record: they hold its port and its data."""
    recorded = {running.pid(part) for part in PARTS}
    marker = f"{secrets.folder}{os.sep}"
    lost = [pid for pid in strays(marker, program.name, PARTS) if pid not in recorded]
    for number, seconds in ((signal.SIGTERM, 5.0), (signal.SIGKILL, 2.0)):
        for pid in lost:
            send(pid, number)
        deadline = time.monotonic() + seconds
        while (alive := {*lost} & {*strays(marker, program.name, PARTS)}) and time.monotonic() < deadline:
            time.sleep(0.05)
        if not alive:
            break
    return bool(lost)


def until(done: Callable[[], bool], running: Daemons, parts: Sequence[str], what: str) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while not done():
        for part in parts:
            if running.pid(part) is None:
                raise ControlPlaneError(
                    f"{part} ended while {what} was awaited. The end of {running.log(part)}:\n{running.tail(part)}"
                )
        if time.monotonic() > deadline:
            raise ControlPlaneError(
                f"{what} was not there after {READY_SECONDS} s. The end of {running.log('kube-apiserver')}:\n"
                f"{running.tail('kube-apiserver')}\nStop it and try again; if that does not help, delete "
                f"{running.pids.parent}: the local cluster's objects are lost with it."
            )
        time.sleep(0.05)


def answers(secrets: Secrets, path: str) -> bool:
    """Whether the API server says 200, asked as the administrator."""
    admin = json.loads(secrets.kubeconfig("admin").read_text())
    request = urllib.request.Request(admin["clusters"][0]["cluster"]["server"] + path)
    request.add_header("Authorization", f"Bearer {admin['users'][0]['user']['token']}")
    direct = urllib.request.ProxyHandler({})  # a company's proxy must not be asked for 127.0.0.1
    try:
        # The API server writes its certificate itself: for a moment the file is there and empty, which is an SSLError.
        trust = urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=str(secrets.certificate)))
        with urllib.request.build_opener(direct, trust).open(request, timeout=5) as response:
            return bool(response.status == 200)
    except (urllib.error.URLError, OSError):
        return False


@contextmanager
def locked(root: Path) -> Iterator[None]:
    """One start or stop at a time; a second one waits."""
    folder = root / "kubernetes"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (folder / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
