"""Records the plans of all stacks and of all examples of findings, so that code can be moved and nothing else changes.

    python -m tests.tools.record_plans             writes the recording; prints what differs from the last one
    python -m tests.tools.record_plans --compare   only prints it

A plan is recorded as its JSON document with every finding whole. A change that is meant is recorded with the commit
that brings it.
"""

from __future__ import annotations

import gzip
import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from aks_dra.context.snapshot import read_snapshot
from aks_dra.findings.finding import Finding
from aks_dra.model.plan import Plan
from aks_dra.reference.findings_doc import Example, examples
from aks_dra.report.document import as_document
from aks_dra.stack_plan import plan_file

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "tests" / "data" / "plans.json.gz"


def recording() -> dict[str, Any]:
    """Name of a stack or an example to its plan and findings."""
    found = {}
    for file in sorted((ROOT / "stacks").glob("Pulumi.*.yaml")):
        found[f"stacks/{file.name}"] = _document(*plan_file(file), ROOT)
    for code, example in examples().items():
        with tempfile.TemporaryDirectory() as folder:
            found[f"examples/{code}"] = _document(*_planned(example, Path(folder)), Path(folder))
    return found


def _planned(example: Example, folder: Path) -> tuple[Plan | None, tuple[Finding, ...]]:
    file = example.write(folder)
    for name, text in example.snapshot.items():
        (folder / name).write_text(text, encoding="utf-8")
    snapshot = read_snapshot(folder) if example.snapshot else None
    return plan_file(file, example.today, snapshot, example.previous(file) if example.before else None)


def _document(plan: Plan | None, findings: tuple[Finding, ...], folder: Path) -> Any:
    whole = {"plan": as_document(plan) if plan else None, "findings": [asdict(finding) for finding in findings]}
    text = json.dumps(whole, sort_keys=True, default=str)
    return json.loads(text.replace(f"{folder}/", "").replace(str(folder), "gpus"))


def recorded() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(gzip.decompress(FILE.read_bytes()))
    return found


def differences(before: Any, after: Any, path: str = "") -> Iterator[str]:
    """A line for each place where two recordings differ."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted({*before, *after}):
            yield from differences(before.get(key), after.get(key), f"{path}.{key}" if path else key)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from differences(old, new, f"{path}.{index}")
    elif before != after:
        yield f"{path}: {json.dumps(before)[:2000]} -> {json.dumps(after)[:2000]}"


def main() -> None:
    now = recording()
    for line in differences(recorded() if FILE.exists() else {}, now):
        print(line)
    if "--compare" not in sys.argv:
        FILE.write_bytes(gzip.compress(json.dumps(now, sort_keys=True, separators=(",", ":")).encode(), 9, mtime=0))
        print(f"{FILE}: {FILE.stat().st_size} bytes")


if __name__ == "__main__":
    main()
