"""What a run says: one line per step with the time it took, and indented lines of what was found on the way."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Steps:
    def __init__(self) -> None:
        self.started = time.monotonic()

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Says the step's name when it begins, its time when it ends; a failing step says no time."""
        begun = time.monotonic()
        print(f"[{begun - self.started:5.1f} s] {name} …", flush=True)
        yield
        seconds = time.monotonic() - begun
        if seconds >= 0.5:
            print(f"           {name}: {seconds:.1f} s", flush=True)

    def say(self, text: str) -> None:
        print(f"           {text}", flush=True)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started
