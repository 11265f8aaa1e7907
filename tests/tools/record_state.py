"""Records states for the replay tests: what this release of the package leaves behind.

    python -m tests.tools.record_state 0.2.0

Each stack file is brought up by the command that users type, in a checkout and a state folder of its own, and taken
down again. Dev and prod are turned into local stacks first: the simulated Azure, local accounts, the stand-in charts.
Secrets and the places of this machine are taken out of the state; the stack file as it was goes in.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "tests" / "data" / "states"
STACKS = ("local", "dev", "prod")
# How the engine marks a special value in a state, and a secret among them.
SIGNATURE, SECRET = "4dabf18193072939515e22adb298388d", "1b47061264138c4ac30d75fd1eb44270"
KUBECONFIG = "certificate-authority-data"
CHARTS = "@CHARTS@"
LOCAL = {
    "azure-native:subscriptionId": "00000000-0000-0000-0000-000000000000",
    "aks-dra:cluster": {"protect": False, "access": {"localAccounts": True, "azureRbac": False}},
    "aks-dra:gpu": {"charts": {"source": ".local/charts"}},
}


def as_local(stack: str) -> str:
    """The stack file of a local stack with the pools, classes and claims of this one."""
    file = ROOT / "stacks" / f"Pulumi.{stack}.yaml"
    if stack == "local":
        return file.read_text()
    config = yaml.safe_load(file.read_text())["config"]
    for base in config.pop("aks-dra:base"):
        config = over(yaml.safe_load((file.parent / base).read_text())["config"], config)
    return yaml.safe_dump({"config": over(config, LOCAL)}, sort_keys=False)


def over(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """Both, key by key; where both have a value, the one above."""
    result = dict(below)
    for key, value in above.items():
        held = result.get(key)
        result[key] = over(held, value) if isinstance(held, dict) and isinstance(value, dict) else value
    return result


def scrubbed(value: Any, charts: str) -> Any:
    if isinstance(value, dict):
        if value.get(SIGNATURE) == SECRET:
            # A whole map can be secret; the provider relies on its shape.
            hidden = json.loads(value["plaintext"])
            shown = "scrubbed" if isinstance(hidden, str) else scrubbed(hidden, charts)
            return {SIGNATURE: SECRET, "plaintext": json.dumps(shown)}
        return {key: scrubbed(inner, charts) for key, inner in value.items() if key != "sourcePosition"}
    if isinstance(value, list):
        return [scrubbed(inner, charts) for inner in value]
    if isinstance(value, str):
        return "scrubbed" if KUBECONFIG in value else value.replace(charts, CHARTS)
    return value


def recording(stack_file: str, exported: dict[str, Any]) -> dict[str, Any]:
    resources = exported["deployment"]["resources"]
    chart = next(str(r["inputs"]["chart"]) for r in resources if r["type"].endswith(":Release"))
    state = scrubbed(exported, str(Path(chart).parent))
    state["deployment"].pop("secrets_providers", None)
    return {"stackFile": stack_file, "state": state}


def brought_up(stack_file: str, folder: Path) -> dict[str, Any]:
    """The exported state of a stack that was brought up and is gone again."""
    checkout = folder / "checkout"
    (checkout / "stacks").mkdir(parents=True)
    for name in ("components", "local"):
        shutil.copytree(ROOT / name, checkout / name)
    for name in ("Pulumi.yaml", "__main__.py"):
        shutil.copy(ROOT / name, checkout / name)
    (checkout / ".venv").symlink_to(ROOT / ".venv")
    (checkout / "stacks" / "Pulumi.local.yaml").write_text(stack_file)
    paths = f"{checkout}:{checkout / 'components'}"
    environment = {**os.environ, "AKS_DRA_LOCAL_STATE": str(folder / "state"), "PYTHONPATH": paths}

    def local(verb: str) -> str:
        command = [sys.executable, "-m", "local.up", verb]
        done = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{verb}: {done.stdout[-3000:]}{done.stderr[-3000:]}")
        return done.stdout

    try:
        local("up")
        export = f"{local('env')}\npulumi stack export -s local --show-secrets"
        done = subprocess.run(["bash", "-c", export], cwd=checkout, env=environment, capture_output=True, check=True)
        exported: dict[str, Any] = json.loads(done.stdout)
    finally:
        local("down")
    return exported


def main() -> None:
    for stack in STACKS:
        text = as_local(stack)
        with tempfile.TemporaryDirectory() as folder:
            recorded = recording(text, brought_up(text, Path(folder)))
        path = FOLDER / f"{sys.argv[1]}-{stack}.json.gz"
        content = json.dumps(recorded, sort_keys=True, separators=(",", ":")).encode()
        path.write_bytes(gzip.compress(content, 9, mtime=0))
        print(f"{path}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
