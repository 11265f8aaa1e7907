"""`make up`, `make status`, `make down`: a stack from its file to a cluster that hands out GPUs, on this machine.

    python -m local.up up | status | down | env [--stack local]

Each step may find what an earlier run left, whole or in pieces, and goes on from there: so one command starts,
restarts and repairs. What runs is asked of the processes themselves, never of what was written about them.
`env` prints what a shell needs to run `pulumi` itself against the local stack.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from local import state
from local.stack import parts, recovery, stackfile
from local.stack.cluster import ClusterError
from local.stack.engine import EngineError
from local.stack.engine_env import added_variables, dropped_variables, own
from local.stack.lifecycle import down, status, up
from local.stack.steps import Steps
from local.tools.build import ToolError

INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m local.up", description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("verb", choices=["up", "status", "down", "env"])
    parser.add_argument("--stack", default="local")
    chosen = parser.parse_args(arguments)
    root, steps = state.root(), Steps()
    try:
        file = stackfile.read(state.CHECKOUT, chosen.stack)
        stackfile.refuse_unless_local(file)
        if chosen.verb == "env":
            print_environment(root)
            return 0
        if chosen.verb == "status":
            return status(root, file)
        parts.refuse_second(root, file, chosen.verb)
        say_what_is_dropped(steps)
        with recovery.only_one(root, chosen.verb, steps.say):
            return up(root, file, steps) if chosen.verb == "up" else down(root, file, steps)
    except KeyboardInterrupt:
        print(f"\nstopped; `make {chosen.verb}` goes on from here", file=sys.stderr)
        return INTERRUPTED
    except (stackfile.StackError, recovery.Busy, ToolError, EngineError, ClusterError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def say_what_is_dropped(steps: Steps) -> None:
    dropped = dropped_variables(os.environ)
    if dropped:
        steps.say(f"{', '.join(dropped)}: not handed on, a local stack never reaches Azure")


def print_environment(root: Path) -> None:
    for name, value in added_variables(root).items():
        print(f"export {name}={shlex.quote(value)}")
    print(f'export PATH={shlex.quote(str(own(root) / "bin"))}:"$PATH"')


if __name__ == "__main__":
    raise SystemExit(main())
