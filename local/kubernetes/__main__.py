"""`python -m local.kubernetes start|stop|status`."""

from __future__ import annotations

import argparse
import sys
import time

from local import state
from local.kubernetes.control_plane import ControlPlaneError, start, status, stop
from local.tools.build import ToolError


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m local.kubernetes", description=__doc__)
    parser.add_argument("command", choices=["start", "stop", "status"])
    parser.add_argument("--kubernetes-version", default="1.36", help="minor version to emulate")
    parser.add_argument("--no-durable", action="store_true", help="do not wait for the disk (tests)")
    chosen = parser.parse_args()
    root = state.root()
    if chosen.command == "start":
        begun = time.monotonic()
        try:
            kubeconfig = start(root, chosen.kubernetes_version, durable=not chosen.no_durable)
        except (ControlPlaneError, ToolError) as error:
            print(error, file=sys.stderr)
            return 1
        print(f"control plane ready after {time.monotonic() - begun:.1f} s; export KUBECONFIG={kubeconfig}")
    elif chosen.command == "stop":
        print("control plane stopped" if stop(root) else "control plane was not running")
    parts = status(root)
    if chosen.command == "status":
        for part, word in parts.items():
            print(f"{part:<24} {word}")
        return 0 if set(parts.values()) == {"running"} else 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
