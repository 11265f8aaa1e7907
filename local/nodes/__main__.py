"""`python -m local.nodes start|stop|status|run`. `run` is the daemon itself, in the foreground."""

from __future__ import annotations

import argparse
import sys

from local import state
from local.nodes.service import NodesError, run, start, status, stop


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m local.nodes", description=__doc__)
    parser.add_argument("command", choices=["start", "stop", "status", "run"])
    root = state.root()
    match parser.parse_args().command:
        case "run":
            run(root)
        case "start":
            try:
                start(root)
            except NodesError as error:
                print(error, file=sys.stderr)
                return 1
            print("simulated nodes: running (NVIDIA's programs are played from what is installed in the cluster)")
        case "stop":
            print("simulated nodes stopped" if stop(root) else "simulated nodes were not running")
        case "status":
            word = status(root)["nodes"]
            print(f"{'nodes':<24} {word}")
            return 0 if word == "running" else 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
