"""How a plugin lives: it prints its port, serves, and ends when told to or when the engine is gone.

Facts that shape it: the engine reads the port as the first line of stdout; it ends plugins with SIGINT or SIGTERM and
takes noise for a failure; an engine that is killed leaves its plugins behind, which must finish the calls that are
running (the resource is then there at the next run) and go.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import FrameType

import grpc

# Property bags of big programs pass gRPC's default of 4 MiB; the engine itself allows 400.
MESSAGE_LIMIT = 400 * 1024 * 1024
OPTIONS = [("grpc.max_receive_message_length", MESSAGE_LIMIT), ("grpc.max_send_message_length", MESSAGE_LIMIT)]
# How long calls that are running may take to end after the engine said stop, or vanished.
GRACE_SECONDS = 60.0
ORPHAN_CHECK_SECONDS = 1.0


def serve(
    register: Callable[[grpc.Server], None], threads: int = 32, on_stop: Callable[[], None] | None = None
) -> None:
    """Serves until a signal arrives or the parent process is gone; returns when the running calls have ended."""
    stop = threading.Event()

    def ask_to_stop(_signal: int, _frame: FrameType | None) -> None:
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, ask_to_stop)
    parent = os.getppid()
    workers = ThreadPoolExecutor(max_workers=threads)
    server = grpc.server(workers, options=OPTIONS)
    register(server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(port, flush=True)
    while not stop.wait(ORPHAN_CHECK_SECONDS):
        if os.getppid() != parent:
            break
    if on_stop is not None:
        on_stop()
    limit = threading.Timer(GRACE_SECONDS, leave, (1,))
    limit.daemon = True
    limit.start()
    server.stop(GRACE_SECONDS).wait()
    # For gRPC a call ends with its caller. What it began goes on in its thread, and is waited for.
    workers.shutdown(wait=True, cancel_futures=True)
    leave(0)


def leave(code: int) -> None:
    """Ends at once: gRPC's threads can hold up an ordinary exit, and whoever read our pipes may be gone already."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            stream.flush()
    os._exit(code)
