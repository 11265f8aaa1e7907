"""Which processes belong to one state folder.

A killed `make up` leaves children behind: the engine, its language host, plugins in the middle of a create.
They cannot be found by name, since a user's own Pulumi has the same names. So everything that `make up`
starts for the engine carries a variable of its own with the state folder's path, and is found by it in
/proc. A shell in which a user evaluated `python -m local.up env` does not carry it, and is never touched.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

MARK = "AKS_DRA_LOCAL_RUN"
ENGINE_PROGRAMS = ("pulumi",)


@dataclass(frozen=True)
class Process:
    pid: int
    argv: tuple[str, ...]
    mark: str  # the state folder it was started for by `make up`, or ""
    pulumi_home: str
    state: str = ""  # the state folder it was told to use

    @property
    def name(self) -> str:
        """The program, or for an interpreter the module or script it runs."""
        parts = list(self.argv[1:]) if self.argv and "python" in Path(self.argv[0]).name else list(self.argv)
        if len(parts) > 1 and parts[0] == "-m":
            return parts[1]
        parts = [part for part in parts if not part.startswith("-")]
        return Path(parts[0]).name if parts else "?"

    def __str__(self) -> str:
        return f"{self.name} (pid {self.pid})"


def ancestors() -> set[int]:
    """This process and those that started it, up to the first."""
    found, pid = set(), os.getpid()
    while pid > 0 and pid not in found:
        found.add(pid)
        pid = parent(pid)
    return found


def stat_fields(pid: int) -> list[str]:
    """The fields of /proc/PID/stat after the program's name, which may hold blanks itself; [] when gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def parent(pid: int) -> int:
    fields = stat_fields(pid)
    return int(fields[1]) if len(fields) > 1 else 0


def alive(pid: int) -> bool:
    """Whether it runs: a zombie that nobody has waited for does not."""
    fields = stat_fields(pid)
    return bool(fields) and fields[0] not in {"Z", "X"}


def processor_ticks(pid: int) -> int:
    fields = stat_fields(pid)
    return int(fields[11]) + int(fields[12]) if len(fields) > 12 else 0


def read(pid: int) -> Process | None:
    """None when it has gone, is a zombie or belongs to somebody else."""
    try:
        argv = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return None
    values = dict(item.split(b"=", 1) for item in variables if b"=" in item)
    return Process(
        pid,
        tuple(os.fsdecode(part) for part in argv[:-1]),
        os.fsdecode(values.get(MARK.encode(), b"")),
        os.fsdecode(values.get(b"PULUMI_HOME", b"")),
        os.fsdecode(values.get(b"AKS_DRA_LOCAL_STATE", b"")),
    )


def others() -> list[Process]:
    """Every readable process but this one and its ancestors."""
    own = ancestors()
    pids = (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())
    found = (read(pid) for pid in pids if pid not in own)
    return [process for process in found if process is not None and alive(process.pid)]


def started_by_up(root: Path) -> list[Process]:
    """What `make up` left running for the engine of this state folder."""
    return [process for process in others() if process.mark == str(root)]


def engines_by_hand(root: Path, home: Path) -> list[Process]:
    """`pulumi` commands that a user runs against this state folder: never ended by us."""
    return [
        process
        for process in others()
        if process.mark != str(root) and process.pulumi_home == str(home) and process.name in ENGINE_PROGRAMS
    ]


def wait_for(condition: Callable[[], bool], seconds: float, pause: float = 0.2) -> bool:
    limit = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > limit:
            return False
        time.sleep(pause)
    return True


def wait_until_idle(pids: Iterable[int], seconds: float, quiet: float = 2.0) -> None:
    """Returns once all have ended, or none has used the processor for `quiet` seconds, or time is up."""
    watched = list(pids)
    limit, still_since = time.monotonic() + seconds, time.monotonic()
    before = {pid: processor_ticks(pid) for pid in watched}
    while time.monotonic() < limit:
        time.sleep(0.25)
        now = {pid: processor_ticks(pid) for pid in watched}
        if not any(alive(pid) for pid in watched):
            return
        # A tick is 10 ms; heartbeats of gRPC take less than one in a while.
        if sum(now.values()) - sum(before.values()) > 2:
            before, still_since = now, time.monotonic()
        elif time.monotonic() - still_since > quiet:
            return


def none_alive(pids: Iterable[int]) -> Callable[[], bool]:
    watched = tuple(pids)
    return lambda: not any(alive(pid) for pid in watched)


def end(pids: Iterable[int], patience: float = 5.0) -> list[int]:
    """SIGTERM, then SIGKILL for those still there. Returns what even that did not end."""
    remaining = [pid for pid in pids if alive(pid)]
    for number in (signal.SIGTERM, signal.SIGKILL):
        for pid in remaining:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)
        wait_for(none_alive(remaining), patience)
        remaining = [pid for pid in remaining if alive(pid)]
    return remaining
