"""A project of a few lines, run by the real CLI: own folder, own home, own backend, our launchers first on PATH."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from local.engine.launchers import write_launchers
from local.tools.build import TOOLS, build

ZERO = "00000000-0000-0000-0000-000000000000"
LIMIT_SECONDS = 120
DROPPED = ("ARM_", "AZURE_", "PULUMI_", "AKS_DRA_")


@dataclass
class Tiny:
    """One project with the stack `dev`."""

    root: Path
    added: dict[str, str] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        return self.root / "project"

    @property
    def environment(self) -> dict[str, str]:
        kept = {key: value for key, value in os.environ.items() if not key.startswith(DROPPED)}
        path = [str(self.root / "bin"), str(build(TOOLS["pulumi"]).parent), kept.get("PATH", os.defpath)]
        return {
            **kept,
            "PATH": os.pathsep.join(path),
            "PULUMI_HOME": str(self.root / "home"),
            "PULUMI_BACKEND_URL": f"file://{self.root / 'backend'}",
            "PULUMI_CONFIG_PASSPHRASE": "test",
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            "AKS_DRA_LOCAL_STATE": str(self.root / "state"),
            "NO_PROXY": "127.0.0.1,localhost",
            **self.added,
        }

    def program(self, text: str) -> None:
        (self.folder / "__main__.py").write_text(text)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            ["pulumi", *arguments, "--non-interactive", "--color=never"],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, *arguments: str, code: int = 0) -> str:
        started = self.start(*arguments)
        text, _ = started.communicate(timeout=LIMIT_SECONDS)
        assert (started.returncode == 0) == (code == 0), text
        return text

    def outputs(self) -> dict[str, Any]:
        text = self.run("stack", "output", "--json", "--stack", "dev")
        found: dict[str, Any] = json.loads(text[text.index("{") :])
        return found


def make(root: Path, **config: str) -> Tiny:
    made = Tiny(root)
    for name in ("project", "home", "backend"):
        (root / name).mkdir()
    write_launchers(root / "bin")
    (made.folder / "Pulumi.yaml").write_text("name: tiny\nruntime: python\n")
    made.program("")
    made.run("stack", "init", "dev")
    for key, value in config.items():
        made.run("config", "set", key.replace("__", ":"), value, "--stack", "dev")
    return made
