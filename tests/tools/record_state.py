"""Records the state of the local stack for the replay tests: what a release of this package left behind.

    python -m tests.tools.record_state 0.1.0 < exported.json

`exported.json` is what `pulumi stack export -s local --show-secrets` prints after `make up` (`python -m local.up env`
prints the variables that `pulumi` needs). Secrets and the places of this machine are taken out; the stack file as it
was goes in.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "tests" / "data" / "states"
STACK_FILE = ROOT / "stacks" / "Pulumi.local.yaml"
# How the engine marks a special value in a state, and a secret among them.
SIGNATURE, SECRET = "4dabf18193072939515e22adb298388d", "1b47061264138c4ac30d75fd1eb44270"
KUBECONFIG = "certificate-authority-data"
CHARTS = "@CHARTS@"


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


def recording(exported: dict[str, Any]) -> dict[str, Any]:
    resources = exported["deployment"]["resources"]
    chart = next(str(r["inputs"]["chart"]) for r in resources if r["type"].endswith(":Release"))
    state = scrubbed(exported, str(Path(chart).parent))
    state["deployment"].pop("secrets_providers", None)
    return {"stackFile": STACK_FILE.read_text(), "state": state}


def main() -> None:
    text = json.dumps(recording(json.load(sys.stdin)), sort_keys=True, separators=(",", ":"))
    path = FOLDER / f"{sys.argv[1]}.json.gz"
    path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    print(f"{path}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
