"""What one subscription offers in one region, as the Azure CLI printed it: better than any table.

A folder holds up to three files, each the unchanged JSON of one command (docs/azure-snapshot.md has the script):

- `skus.json`: `az vm list-skus --location REGION --resource-type virtualMachines`
- `usage.json`: `az vm list-usage --location REGION`
- `versions.json`: `az aks get-versions --location REGION`
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SPOT_QUOTA = "lowPriorityCores"
REGIONAL_QUOTA = "cores"


class SnapshotError(ValueError):
    """A file of the folder is not what the command prints. The text names the file and what is missing."""


@dataclass(frozen=True)
class Sku:
    """One VM size in the region, for this subscription."""

    name: str
    locations: frozenset[str]
    zones: frozenset[str]
    family: str
    vcpus: int
    spot: bool
    restricted: str  # why the subscription cannot have it at all, or ""
    restricted_zones: frozenset[str]


@dataclass(frozen=True)
class Usage:
    """vCPUs of one family (or of the region): in use, and how many may be."""

    name: str
    used: int
    limit: int

    @property
    def free(self) -> int:
        return self.limit - self.used


@dataclass(frozen=True)
class OfferedVersion:
    """One minor version in the region, with its patches and support plans."""

    minor: str
    patches: frozenset[str]
    preview: bool
    plans: frozenset[str]


@dataclass(frozen=True)
class Snapshot:
    """None where the folder has no such file: then nothing is checked against it."""

    skus: Mapping[str, Sku] | None = None
    usage: Mapping[str, Usage] | None = None
    versions: Mapping[str, OfferedVersion] | None = None
    files: tuple[str, ...] = field(default=())

    def sku(self, name: str) -> Sku | None:
        return (self.skus or {}).get(name.lower())


def read_snapshot(folder: Path) -> Snapshot:
    """Raises SnapshotError for a folder without any of the files, and for a file of another shape."""
    read = {name: folder / f"{name}.json" for name in ("skus", "usage", "versions")}
    present = {name: path for name, path in read.items() if path.is_file()}
    if not present:
        raise SnapshotError(f"{folder} has none of skus.json, usage.json and versions.json")
    values = {name: _json(path) for name, path in present.items()}
    parsers = {"skus": _skus, "usage": _usage, "versions": _versions}
    parsed: dict[str, Any] = {}
    for name, value in values.items():
        try:
            parsed[name] = parsers[name](value)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            raise SnapshotError(f"{present[name]} is not what the Azure CLI prints: {error!r}") from None
    return Snapshot(**parsed, files=tuple(str(path) for path in present.values()))


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise SnapshotError(f"{path} is not JSON: {error}") from None


def _skus(value: Any) -> dict[str, Sku]:
    found = {}
    for row in _list(value):
        if row["resourceType"] != "virtualMachines":
            continue
        capabilities = {entry["name"]: entry["value"] for entry in row.get("capabilities") or ()}
        restrictions = row.get("restrictions") or ()
        whole = [entry for entry in restrictions if entry["type"] == "Location"]
        zoned = [entry for entry in restrictions if entry["type"] == "Zone"]
        sku = Sku(
            name=row["name"],
            locations=frozenset(str(place).lower() for place in row["locations"]),
            zones=frozenset(zone for info in row.get("locationInfo") or () for zone in info.get("zones") or ()),
            family=row.get("family") or "",
            vcpus=int(capabilities.get("vCPUs", 0)),
            spot=capabilities.get("LowPriorityCapable") == "True",
            restricted=str(whole[0].get("reasonCode") or "restricted") if whole else "",
            restricted_zones=frozenset(
                zone for entry in zoned for zone in (entry.get("restrictionInfo") or {}).get("zones") or ()
            ),
        )
        found[sku.name.lower()] = sku
    return found


def _usage(value: Any) -> dict[str, Usage]:
    rows = [Usage(row["name"]["value"], int(row["currentValue"]), int(row["limit"])) for row in _list(value)]
    return {row.name.lower(): row for row in rows}


def _versions(value: Any) -> dict[str, OfferedVersion]:
    return {
        row["version"]: OfferedVersion(
            minor=row["version"],
            patches=frozenset(row.get("patchVersions") or {}),
            preview=bool(row.get("isPreview")),
            plans=frozenset((row.get("capabilities") or {}).get("supportPlan") or ()),
        )
        for row in _list(value["values"])
    }


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(f"a list is needed, not {type(value).__name__}")
    return value
