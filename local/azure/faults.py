"""Faults on demand, so that recovery can be tested: delays, and refusals that happen a given number of times.

They come from `faults.json` in the simulated Azure's folder and from the variable AKS_DRA_LOCAL_AZURE_FAULTS (the same
JSON, or the path of such a file), a list of
    {"type": "azure-native:containerservice:AgentPool", "operation": "create", "name": "h100",
     "delay": 2.5, "code": "AllocationFailed", "status": 409, "message": "...", "times": 1, "when": "before"}
Every key but `delay` or `code` may be left out. `when: after` does the work and then fails: what a lost answer looks
like. How often each has struck is kept on disk, since the next run is another process.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from pathlib import Path
from typing import Any

from local.azure.arm import ArmError
from local.azure.store import Store

VARIABLE = "AKS_DRA_LOCAL_AZURE_FAULTS"


def listed(store: Store) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    file = store.root / "faults.json"
    if file.exists():
        found += json.loads(file.read_text(encoding="utf-8"))
    given = os.environ.get(VARIABLE, "").strip()
    if given:
        found += json.loads(given if given.startswith("[") else Path(given).read_text(encoding="utf-8"))
    return found


def strike(store: Store, token: str, operation: str, name: str, when: str) -> None:
    """Waits and fails as asked for this operation, at this side of it."""
    for fault in listed(store):
        if fault.get("when", "before") != when or not matches(fault, token, operation, name):
            continue
        if not due(store, fault):
            continue
        time.sleep(float(fault.get("delay", 0)))
        if "code" in fault:
            message = fault.get("message", f"A fault was asked for: {operation} of {name}.")
            raise ArmError(int(fault.get("status", 500)), str(fault["code"]), str(message))


def matches(fault: dict[str, Any], token: str, operation: str, name: str) -> bool:
    wanted = {"type": token, "operation": operation, "name": name}
    return all(fault.get(key, value) == value for key, value in wanted.items())


def due(store: Store, fault: dict[str, Any]) -> bool:
    """A refusal strikes once unless told otherwise; a delay always."""
    times = fault.get("times", 1 if "code" in fault else None)
    if times is None:
        return True
    key = hashlib.sha256(json.dumps(fault, sort_keys=True).encode()).hexdigest()[:16]
    with store.lock("faults"):
        file = store.root / "faults-struck.json"
        struck: dict[str, int] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        if struck.get(key, 0) >= int(times):
            return False
        struck[key] = struck.get(key, 0) + 1
        file.parent.mkdir(parents=True, exist_ok=True)
        temporary = file.with_suffix(".new")
        temporary.write_text(json.dumps(struck), encoding="utf-8")
        temporary.replace(file)
    return True
