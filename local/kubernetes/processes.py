"""Background programs that outlive the command that started them, and that are never mistaken for another.

A pid alone is reused by the system. So each program is recorded with its pid, the moment the kernel says it
started, and a digest of its command line: a record whose moment differs is a dead program, and one whose
digest differs is a program to be started anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

LOG_LIMIT = 8 * 1024 * 1024
"""A log that is longer at a start moves to `.old`: a control plane that runs for weeks must not fill the disk."""

_CHILDREN: list[subprocess.Popen[bytes]] = []  # kept so that a dead child of ours is reaped, not a zombie


@dataclass(frozen=True)
class Daemons:
    """The background programs of one state folder."""

    pids: Path
    logs: Path

    def log(self, name: str) -> Path:
        return self.logs / f"{name}.log"

    def spawn(self, name: str, argv: Sequence[str], cwd: Path, env: Mapping[str, str] | None = None) -> int:
        """Starts the program in a session of its own, so that Ctrl-C in the terminal does not reach it."""
        self.pids.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.logs.mkdir(parents=True, exist_ok=True, mode=0o700)
        log = self.log(name)
        if log.exists() and log.stat().st_size > LOG_LIMIT:
            log.replace(log.with_suffix(".old"))
        with log.open("ab") as output:
            child = subprocess.Popen(
                list(argv),
                cwd=cwd,
                env=None if env is None else {**os.environ, **env},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        _CHILDREN.append(child)
        record = {"pid": child.pid, "moment": moment(child.pid), "digest": digest(argv), "program": list(argv)[:2]}
        write_private(self.pids / f"{name}.json", json.dumps(record))
        return child.pid

    def pid(self, name: str) -> int | None:
        """The pid when the recorded program itself still runs, else None."""
        record = self.record(name)
        if record is None:
            return None
        found = int(record["pid"])  # type: ignore[call-overload]
        return found if record["moment"] and moment(found) == record["moment"] else None

    def same_command(self, name: str, argv: Sequence[str]) -> bool:
        record = self.record(name)
        return record is not None and record["digest"] == digest(argv)

    def record(self, name: str) -> dict[str, object] | None:
        try:
            record = json.loads((self.pids / f"{name}.json").read_text())
        except (OSError, ValueError):
            return None  # never started, or a record cut short by a full disk: the program is not ours to end
        return record if isinstance(record, dict) and {"pid", "moment", "digest"} <= record.keys() else None

    def stop(self, name: str, grace: float) -> bool:
        """SIGTERM, then SIGKILL after `grace` seconds. True when there was something to stop."""
        pid = self.pid(name)
        if pid is not None:
            send(pid, signal.SIGTERM)
            if not self.wait_gone(name, grace):
                send(pid, signal.SIGKILL)
                self.wait_gone(name, 5)
        (self.pids / f"{name}.json").unlink(missing_ok=True)
        return pid is not None

    def terminate(self, name: str) -> None:
        """Asks the program to end, without waiting."""
        pid = self.pid(name)
        if pid is not None:
            send(pid, signal.SIGTERM)

    def wait_gone(self, name: str, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while self.pid(name) is not None:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        return True

    def tail(self, name: str, lines: int = 12) -> str:
        try:
            with self.log(name).open("rb") as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - 16384))
                text = file.read().decode(errors="replace")
        except OSError:
            return "(no log)"
        return "\n".join(line[:400] for line in text.splitlines()[-lines:])


def digest(argv: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(argv).encode()).hexdigest()[:16]


def send(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def moment(pid: int) -> str:
    """When the kernel started this process, unique across reboots; "" when it does not run."""
    for child in _CHILDREN:
        if child.pid == pid and child.poll() is not None:
            return ""
    stat = Path(f"/proc/{pid}/stat")
    if Path("/proc/self/stat").exists():
        try:
            fields = stat.read_text().rpartition(")")[2].split()
            boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        except OSError:
            return ""
        return "" if fields[0] in "ZX" else f"{boot}/{fields[19]}"
    found = subprocess.run(["ps", "-o", "stat=,lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    state, _, started = found.stdout.strip().partition(" ")
    return "" if not state or state.startswith("Z") else started.strip()


def strays(marker: str, program: str, parts: Sequence[str]) -> list[int]:
    """Parts of the control plane whose arguments hold `marker`, a path of this folder; a person's kubectl is none.

    They are without a record when a start was killed between the fork and the record.
    """
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            argv = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if Path(argv[0]).name != program or argv[1] not in parts:
            continue
        if any(marker in argument for argument in argv[2:]):
            found.append(int(folder.name))
    return sorted(found)


def holder(port: int) -> str:
    """Which program listens on a TCP port of this machine, for a message to a person."""
    inodes = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            rows = [line.split() for line in Path(table).read_text().splitlines()[1:]]
        except OSError:
            continue
        inodes |= {row[9] for row in rows if row[3] == "0A" and int(row[1].rpartition(":")[2], 16) == port}
    links = {f"socket:[{inode}]" for inode in inodes}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if any(os.readlink(link) in links for link in (folder / "fd").iterdir()):
                argv = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
                return f"`{argv[:120]}` (pid {folder.name})"
        except OSError:
            continue
    if shutil.which("lsof"):
        found = subprocess.run(
            ["lsof", "-nP", f"-iTCP:{port}", "-sTCP:LISTEN", "-Fpc"], capture_output=True, text=True, check=False
        )
        facts = {line[0]: line[1:] for line in found.stdout.splitlines() if line}
        if "p" in facts:
            return f"`{facts.get('c', '?')}` (pid {facts['p']})"
    return "another program (which one, this user may not see)"


def write_private(path: Path, text: str) -> None:
    """Writes at once and readable by this user alone: a half-written record or token never has the final name."""
    partial = path.with_name(f"{path.name}.{os.getpid()}")
    with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)
    partial.replace(path)
