"""Creates that the engine began, the simulated Azure finished, and nobody recorded: they become entries of the state.

The id follows from the inputs that the pending operation holds, and the answer of a GET is what the engine would have
recorded. (`pulumi refresh --import-pending-creates URN ID` is meant for it; with Pulumi 3.274 it ended well, and yet
the next `up` created again.)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from local.azure import types
from local.azure.arm import ArmError
from local.azure.service import Service
from local.azure.store import Store

CREATING = "creating"


def write(state: Mapping[str, Any], operations: Iterable[Mapping[str, Any]], azure: Path) -> list[str]:
    """Adds an entry to the state for every such create; gives their URNs."""
    service, written = Service(Store(azure)), list[str]()
    entries: list[dict[str, Any]] = state["deployment"].setdefault("resources", [])
    for operation in operations:
        resource = operation.get("resource") or {}
        found = made(service, resource) if operation.get("type") == CREATING else None
        if found is None:
            continue
        resource_id, outputs = found
        put(entries, {**resource, "id": resource_id, "outputs": outputs})
        written.append(str(resource["urn"]))
    return written


def made(service: Service, resource: Mapping[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """Id and properties of what this create has made, if it is all there."""
    try:
        resource_id = types.of(str(resource.get("type"))).id(resource.get("inputs") or {})
    except (ArmError, KeyError):
        return None  # not Azure's, or without a name
    record = service.read(resource_id)
    return (record.id, service.answer(record)) if record is not None and record.born else None


def put(entries: list[dict[str, Any]], entry: dict[str, Any]) -> None:
    """Puts the entry after all that it needs; one that waits for its replacement makes room for it."""
    replaced = [e for e in entries if e["urn"] == entry["urn"] and not e.get("delete")]
    at = min((entries.index(e) for e in replaced), default=len(entries))
    for old in replaced:
        entries.remove(old)
    needed = {entry.get("parent"), *(entry.get("dependencies") or ())}
    after = [index + 1 for index, e in enumerate(entries) if e["urn"] in needed]
    entries.insert(max([at, *after]), entry)
