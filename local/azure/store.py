"""The records of the simulated Azure: one JSON file per ARM id, below one folder.

Several plugin processes live at once (the engine starts one per provider, and a killed engine leaves some behind), so
a file is replaced in one step, and whatever reads and then writes holds a file lock that ends with its process.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from local.azure import arm


@dataclass(frozen=True)
class Record:
    """A resource that exists: its id as it was first written, its Pulumi type, its properties as ARM would answer.

    `born` says that a create once came to its end: before that, nothing of it counts as fixed.
    """

    id: str
    token: str
    properties: dict[str, Any]
    born: bool = True
    revision: int = 1

    @property
    def state(self) -> str:
        return str(self.properties.get("provisioningState", "Succeeded"))


class Incomplete(arm.ArmError):
    """A refusal in the middle: the resource exists, as Failed, and the same request again may complete it."""

    def __init__(self, cause: arm.ArmError, record: Record) -> None:
        super().__init__(cause.status, cause.code, cause.message, cause.target)
        self.record = record


class Store:
    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, resource_id: str) -> Path:
        # Ids are equal whatever their case; quoting keeps a name from being a path.
        parts = [quote(part.lower(), safe=" ").replace("..", "%2E%2E") for part in arm.segments(resource_id)]
        return self.root.joinpath("records", *parts[:-1], f"{parts[-1]}.json")

    def get(self, resource_id: str) -> Record | None:
        return self.read(self.path(resource_id))

    def need(self, resource_id: str) -> Record:
        record = self.get(resource_id)
        if record is None:
            raise arm.resource_not_found(resource_id)
        return record

    def put(self, record: Record) -> Record:
        path = self.path(record.id)
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(asdict(record), indent=1, sort_keys=True)
        temporary = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
        # No fsync: what has to be outlived is a killed process, not a machine without power.
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
        return record

    def delete(self, resource_id: str) -> None:
        self.path(resource_id).unlink(missing_ok=True)

    def children(self, resource_id: str) -> list[Record]:
        """Everything below an id, nearest first, in an order that does not change."""
        folder = self.path(resource_id).with_suffix("")
        found = sorted(folder.rglob("*.json"), key=lambda path: (len(path.parts), str(path))) if folder.is_dir() else []
        records = (self.read(path) for path in found if not path.name.startswith("."))
        return [record for record in records if record is not None]

    def all(self, token: str) -> list[Record]:
        return [record for record in self.children(f"/subscriptions/{arm.SUBSCRIPTION}") if record.token == token]

    def read(self, path: Path) -> Record | None:
        try:
            text = path.read_text(encoding="utf-8")
        except (FileNotFoundError, NotADirectoryError):
            return None
        try:
            held = json.loads(text)
            return Record(**held)
        except (ValueError, TypeError) as error:
            raise arm.ArmError(
                500,
                "LocalStateUnreadable",
                f"The simulated Azure cannot read its record {path}: {error}. Delete that file, or "
                f"the whole folder {self.root}, "
                "and run `make up` again.",
            ) from error

    @contextmanager
    def lock(self, name: str) -> Iterator[None]:
        """One holder at a time, over all threads and processes. A process that dies lets go."""
        folder = self.root / "locks"
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / hashlib.sha256(name.lower().encode()).hexdigest()[:32]).open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield
