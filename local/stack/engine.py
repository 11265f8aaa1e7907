"""The ordinary `pulumi` command on the local stack: what it is given, and what of its output is shown.

`pulumi stack init` and `up` write `encryptionsalt` into the stack file. The salt belongs to the passphrase of
one state folder and has no place in a committed file, so the stack is made from a folder of its own and the
engine reads a copy of the stack file, fresh at each run, with the salt appended (`--config-file`).
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from local.stack import engine_env
from local.stack.processes import MARK
from local.stack.stackfile import StackFile
from local.state import CHECKOUT

PROGRESS = re.compile(
    r"^\s*(?:\S+\s+)?(?P<type>[a-z][\w.-]*:\S+) (?P<name>\S+) (?P<done>created|updated|deleted|replaced|imported|"
    r"\*\*\w+ failed\*\*)(?: replacement| original)? (?:\((?P<time>[\d.]+)s\))?"
)
# "    + 5 created", "    +-2 replaced"; last the sum and the rest: "    7 changes. 41 unchanged".
COUNT = re.compile(r"^\s+(?:[^\w\s]+\s*|\d+ changes?\. )?(?P<count>\d+) (?P<what>[a-z ]+)$")
SUM = re.compile(r"changes?")
DEFAULT_CHARTS = ".local/charts"
NVIDIA_CHARTS = "AKS_DRA_NVIDIA_CHARTS"
QUIET = ("--non-interactive", "--color", "never")
UPDATE = ("--yes", "--skip-preview", "--suppress-outputs", "--suppress-permalink", "--suppress-progress")
# The engine's warning about plugins from PATH, which is the intent here, and its advertisement.
NOISE = re.compile(r"warning: using pulumi-\S+ from \$PATH|\[Pulumi Neo\]|^\s*\?explainFailure|pulumi neo ")


class EngineError(Exception):
    """A `pulumi` command failed; the text has its last words."""


@dataclass(frozen=True)
class Outcome:
    """What an update did: its exit code and its own counts of resources."""

    code: int
    counts: Mapping[str, int]
    seconds: float

    @property
    def changed(self) -> int:
        return sum(count for what, count in self.counts.items() if what != "unchanged")


class Output:
    """Turns the engine's lines into few: one per resource that is done, and the diagnostics in full."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.section = ""
        self.heading = ""  # whose diagnostics follow; shown with the first that is
        self.said: set[str] = set()

    def take(self, line: str) -> str | None:
        """The line to show for this one, if any."""
        text = line.rstrip()
        if re.match(r"^[A-Z][a-z]+( \(.*\))?:( .*)?$", text):
            self.section = text.split(" (")[0].split(":")[0]
            return None
        if self.section == "Resources":
            if (found := COUNT.match(text)) and not SUM.fullmatch(found["what"]):
                self.counts[found["what"]] = int(found["count"])
            return None
        if self.section == "Diagnostics":
            return self.diagnostic(text)
        if found := PROGRESS.match(text):
            if found["type"] == "pulumi:pulumi:Stack":
                return None
            took = f" {found['time']} s" if found["time"] else ""
            return self.once(f"  {found['done'].strip('*'):9} {found['type']} {found['name']}{took}")
        return self.once(f"  {text.strip()}") if text.startswith("error:") else None

    def diagnostic(self, text: str) -> str | None:
        if not text.strip() or NOISE.search(text):
            return None
        if re.match(r"^  \S.*:$", text):
            self.heading = f"  {text}\n"
            return None
        shown, self.heading = f"{self.heading}  {text}", ""
        return shown

    def once(self, text: str) -> str | None:
        if text in self.said:
            return None
        self.said.add(text)
        return text


class Engine:
    def __init__(self, root: Path, checkout: Path, file: StackFile, programs: engine_env.EnginePrograms) -> None:
        self.root, self.checkout, self.file, self.cli = root, checkout, file, programs.cli
        self.environment = {**engine_env.engine_env(root), MARK: str(root)}
        self.folder = engine_env.own(root) / "stack"

    @property
    def log(self) -> Path:
        return self.root / "logs" / "pulumi.log"

    def run(self, *arguments: str, cwd: Path | None = None) -> str:
        """The command's output. Raises EngineError with its last words."""
        run = subprocess.run(
            [self.cli, *arguments, *QUIET],
            cwd=cwd or self.checkout,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if run.returncode:
            words = "\n".join((run.stderr or run.stdout).strip().splitlines()[-10:])
            raise EngineError(f"pulumi {' '.join(arguments)}: {words}")
        return run.stdout

    def exists(self) -> bool:
        folder = engine_env.backend(self.root) / ".pulumi" / "stacks" / self.file.project
        return any((folder / f"{self.file.stack}.json{suffix}").exists() for suffix in ("", ".gz"))

    def ensure_stack(self) -> None:
        if self.exists():
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "Pulumi.yaml").write_text(f"name: {self.file.project}\nruntime: python\n")
        self.own_stack_file.unlink(missing_ok=True)
        self.run("stack", "init", self.file.stack, "--secrets-provider", "passphrase", cwd=self.folder)

    @property
    def own_stack_file(self) -> Path:
        return self.folder / f"Pulumi.{self.file.stack}.yaml"

    def config_file(self) -> Path:
        """A fresh copy of the stack file, with this state folder's salt at its end."""
        salt = ""
        if self.own_stack_file.exists():
            found = re.search(r"^encryptionsalt: \S+$", self.own_stack_file.read_text(), re.MULTILINE)
            salt = f"{found.group()}\n" if found else ""
        # The stack file names the packed charts where they are by default.
        lines = self.file.path.read_text().replace(DEFAULT_CHARTS, str(charts(self.root))).splitlines()
        kept = [line for line in lines if not line.startswith("encryptionsalt:")]
        self.folder.mkdir(parents=True, exist_ok=True)
        self.own_stack_file.write_text("\n".join(kept) + "\n" + salt)
        return self.own_stack_file

    def update(self, verb: str, *extra: str) -> Outcome:
        """`pulumi up | destroy | refresh`, shown compactly; the whole output goes to the log.

        On Ctrl-C the engine finishes and records what it is creating; this waits for it.
        """
        arguments = [verb, "-s", self.file.stack, "--config-file", str(self.config_file()), *UPDATE, *extra, *QUIET]
        self.log.parent.mkdir(parents=True, exist_ok=True)
        started, output = time.monotonic(), Output()
        with self.log.open("w", buffering=1) as log:
            process = subprocess.Popen(
                [self.cli, *arguments],
                cwd=self.checkout,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
            )
            assert process.stdout is not None
            with patient(process):
                for line in process.stdout:
                    log.write(line)
                    if (shown := output.take(line)) is not None:
                        print(shown, flush=True)
                code = process.wait()
        return Outcome(code, output.counts, time.monotonic() - started)

    def state(self) -> dict[str, Any]:
        """The stack's deployment as the engine keeps it, secrets still encrypted."""
        loaded: dict[str, Any] = json.loads(self.run("stack", "export", "-s", self.file.stack))
        return loaded

    def put_state(self, state: Mapping[str, Any]) -> None:
        file = self.folder / "state.json"
        file.write_text(json.dumps(state))
        self.run("stack", "import", "-s", self.file.stack, "--file", str(file))
        file.unlink()

    def outputs(self) -> dict[str, Any]:
        """The stack's exports; secrets are masked."""
        loaded: dict[str, Any] = json.loads(self.run("stack", "output", "--json", "-s", self.file.stack))
        return loaded

    def remove_stack(self, *extra: str) -> None:
        self.run("stack", "rm", self.file.stack, "--yes", "--preserve-config", *extra)
        self.own_stack_file.unlink(missing_ok=True)


def charts(root: Path) -> str:
    """The folder of the charts: NVIDIA's own where the user names one, the default as it stands in the stack file."""
    if given := os.environ.get(NVIDIA_CHARTS):
        return str(Path(given).absolute())
    return DEFAULT_CHARTS if root == CHECKOUT / ".local" else str(root / "charts")


def resources(state: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """What the stack holds, without the stack's own entry and the providers."""
    entries = (state.get("deployment") or {}).get("resources") or []
    return [entry for entry in entries if not str(entry.get("type", "")).startswith("pulumi:")]


def pending(state: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return list((state.get("deployment") or {}).get("pending_operations") or [])


@contextmanager
def patient(process: subprocess.Popen[str]) -> Iterator[None]:
    """Ctrl-C reaches the engine by itself, being of the same process group; SIGTERM is passed on as one."""
    told = False

    def on_signal(number: int, frame: FrameType | None) -> None:
        nonlocal told
        if not told:
            print("\n  stopping: what is being created is finished and recorded first …", flush=True)
            told = True
        if number == signal.SIGTERM:
            process.send_signal(signal.SIGINT)

    before = {number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if told:
        raise KeyboardInterrupt
