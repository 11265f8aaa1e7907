"""Runs one Pulumi program: connects the SDK to the engine, then runs the program's `__main__.py` inside a stack.

Run by file name with the program's own interpreter, which may be one that knows nothing of this project: so this file
imports only the standard library and pulumi. What to run comes as JSON on stdin (configuration can hold secrets, and
an environment is easy to read and small).

Exit code 32 tells the host that the reason has been shown already.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import runpy
import sys
import traceback
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
from pulumi import log
from pulumi.errors import InputPropertiesError, InputPropertyError, RunError
from pulumi.runtime import Settings, configure, run_in_stack, set_all_config

SHOWN = 32
# The engine's "unlimited" is the largest int32; each registration waits in a thread of its own.
MOST_THREADS = 256


def main() -> int:
    order = json.load(sys.stdin)
    configure(
        Settings(
            monitor=order["monitor"],
            engine=order["engine"],
            project=order["project"],
            stack=order["stack"],
            parallel=order["parallel"],
            dry_run=order["dry_run"],
            organization=order["organization"],
            root_directory=order["root_directory"],
        )
    )
    set_all_config(order["config"], order["secret_keys"])
    program = program_file(order["program"])
    sys.argv = [program, *order["args"]]
    # Tasks that failed are reported by the SDK itself; asyncio would report them a second time.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    return run(program, order["parallel"])


def program_file(program: str) -> str:
    return os.path.join(program, "__main__.py") if os.path.isdir(program) else program


def run(program: str, parallel: int) -> int:
    # Before everything else, and for good: a program may import its neighbours late, inside an `apply`.
    sys.path.insert(0, os.path.dirname(os.path.abspath(program)))
    loop = asyncio.new_event_loop()
    loop.set_default_executor(ThreadPoolExecutor(max_workers=min(max(parallel, 1) * 4, MOST_THREADS)))
    loop.set_exception_handler(stop_on_rpc_error)

    def body() -> None:
        runpy.run_path(program, run_name="__main__")

    try:
        loop.run_until_complete(run_in_stack(body))
        return 0
    except RunError as error:
        log.error(str(error))
        return SHOWN
    except grpc.RpcError as error:
        return rpc_failed(error)
    except (InputPropertyError, InputPropertiesError) as error:
        log.error(str(error) or f"{getattr(error, 'property_path', '')}: {getattr(error, 'reason', '')}")
        return SHOWN
    except SystemExit as error:
        if isinstance(error.code, str):
            log.error(error.code)
            return SHOWN
        return error.code or 0
    except KeyboardInterrupt:
        return SHOWN
    except BaseException as error:
        log.error("Program failed with an unhandled exception:\n" + from_program(error, program))
        return SHOWN
    finally:
        end(loop)


def stop_on_rpc_error(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """The engine went away in the middle: nothing that still waits for it will come to an end."""
    if isinstance(context.get("exception"), grpc.RpcError):
        loop.stop()
    else:
        loop.default_exception_handler(context)


def rpc_failed(error: grpc.RpcError) -> int:
    # An engine that shuts down has said why; "unavailable" adds nothing.
    if error.code() == grpc.StatusCode.UNAVAILABLE:
        return SHOWN
    log.error(f"RPC error: {error.details()}")
    return SHOWN


def from_program(error: BaseException, program: str) -> str:
    """The traceback from the program's own first line on: what is above is this file, runpy and the SDK."""
    if (
        isinstance(error, SyntaxError)
        and error.filename
        and os.path.abspath(error.filename) == os.path.abspath(program)
    ):
        return "".join(traceback.format_exception_only(error))
    trace = error.__traceback__
    while trace is not None and os.path.abspath(trace.tb_frame.f_code.co_filename) != os.path.abspath(program):
        trace = trace.tb_next
    return "".join(traceback.format_exception(type(error), error, trace or error.__traceback__))


def end(loop: asyncio.AbstractEventLoop) -> None:
    """Cancels what is left, or asyncio would complain on stderr about tasks destroyed while pending."""
    pending = asyncio.all_tasks(loop)
    for task in pending:
        task.cancel()
    if pending:
        with contextlib.suppress(RuntimeError, asyncio.CancelledError):
            loop.run_until_complete(asyncio.gather(*pending, return_exceptions=True))
    loop.close()
    sys.stdout.flush()
    sys.stderr.flush()


if __name__ == "__main__":
    code = main()
    # A non-daemon thread of the program must not keep the engine waiting.
    os._exit(code)
