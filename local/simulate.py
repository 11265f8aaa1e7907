"""`make simulate`: a control plane for the time of one `aks-dra simulate`, in a folder of its own.

    python -m local.simulate STACK WORKLOAD.yaml… [options of aks-dra simulate]

It shares nothing with the stack of `make up`: other folder, other port, other keys. It is ended and deleted when the
command is done, however that ends; what a killed run left is ended by the next one. The command itself is started as a
program, since nothing here imports the package.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType

from local import kubernetes, state
from local.tools.build import TOOLS, ToolError, built_path

INTERRUPTED = 130
FAILED = 2
NOT_BUILT = 69
IF_BUILT = "--if-built"
INNER = "AKS_DRA_SIMULATE_INNER"


def folder() -> Path:
    """Where the control planes of simulations live, one folder for each run, named by its process."""
    return state.root() / "simulate"


def main(arguments: Sequence[str] | None = None) -> int:
    given = list(sys.argv[1:] if arguments is None else arguments)
    only_if_built = IF_BUILT in given
    given = [argument for argument in given if argument != IF_BUILT]
    if only_if_built and not built_path(TOOLS["kubernetes"]).exists():
        return NOT_BUILT
    signal.signal(signal.SIGTERM, interrupted)
    base = folder()
    base.mkdir(parents=True, exist_ok=True, mode=0o700)
    end_left(base)
    root = base / str(os.getpid())
    try:
        version = asked_version(given)
        if isinstance(version, int):
            return version
        kubeconfig = kubernetes.start(root, version, durable=False)
        return run([*given, "--kubeconfig", str(kubeconfig), "--keep"])
    except (kubernetes.ControlPlaneError, ToolError) as error:
        print(f"error: {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        end(root)


def interrupted(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def command(arguments: Sequence[str]) -> list[str]:
    return [sys.executable, "-m", "aks_dra.cli", "simulate", *arguments]


def environment() -> dict[str, str]:
    places = [str(state.CHECKOUT), str(state.CHECKOUT / "components"), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(places), INNER: "1"}


def asked_version(arguments: Sequence[str]) -> str | int:
    """The plan's Kubernetes version, asked of the command; its exit code where it objects, once it has said why."""
    asked = subprocess.run(
        command([*arguments, "--dry-run"]), env=environment(), stdout=subprocess.PIPE, text=True, check=False
    )
    if asked.returncode:
        print(asked.stdout, end="")
        return asked.returncode
    return str(json.loads(asked.stdout)["kubernetesVersion"])


def run(arguments: Sequence[str]) -> int:
    process = subprocess.Popen(command(arguments), env=environment())
    try:
        return process.wait()
    except KeyboardInterrupt:
        process.send_signal(signal.SIGINT)
        with suppress(KeyboardInterrupt, subprocess.TimeoutExpired):
            process.wait(10)
        process.kill()
        raise


def end_left(base: Path) -> None:
    """Control planes of runs that were killed."""
    for left in base.iterdir():
        if left.name.isdigit() and not lives(int(left.name)):
            end(left)


def lives(pid: int) -> bool:
    """Whether the process is one of ours: a number may have gone to another program since."""
    try:
        return "local.simulate" in Path(f"/proc/{pid}/cmdline").read_text() or not Path("/proc/self").exists()
    except OSError:
        with suppress(OSError):
            os.kill(pid, 0)
            return not Path("/proc/self").exists()
        return False


def end(root: Path) -> None:
    kubernetes.stop(root)
    shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    raise SystemExit(main())
