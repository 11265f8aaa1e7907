"""The simulation's own reader of the facts tables (components/aks_dra/facts/*.toml).

It shares no code with the package, on purpose: what the simulation makes of the tables is a second opinion on what
the package planned from them.
"""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

VARIABLE = "AKS_DRA_LOCAL_FACTS"
CHECKOUT = Path(__file__).resolve().parent.parent
# Azure's own names: Standard_D4ds_v5 has 4 vCPUs; the general-purpose families have 4 GiB for each.
GENERAL_PURPOSE = re.compile(r"^standard_[a-z]+(?P<vcpus>\d+)(-\d+)?[a-z]*(_v\d+)?$", re.IGNORECASE)
# Where the table does not know a GPU size's memory (it says 0): what most of them have.
GPU_GIB_PER_VCPU = 7
GENERAL_GIB_PER_VCPU = {"b": 4, "d": 4, "e": 8, "f": 2}


class UnknownSize(Exception):
    """A VM size that is retired, or of which nothing is known."""


@dataclass(frozen=True)
class Size:
    """What the simulation needs of a VM size: what its Node has."""

    name: str
    vcpus: int
    memory_gib: int
    gpu: str = ""
    gpus: int = 0
    # AKS partitions it at boot when asked; a vGPU guest cannot be partitioned.
    mig: bool = False
    arch: str = "amd64"


def folder() -> Path:
    return Path(os.environ.get(VARIABLE) or CHECKOUT / "components" / "aks_dra" / "facts")


def table(name: str) -> dict[str, Any]:
    """One table as it is in its file."""
    return read(folder() / f"{name}.toml")


@cache
def read(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def size(name: str) -> Size:
    """A VM size by name, whatever its case; one outside the table by the rule of names, GPU families excepted."""
    rows = {key.lower(): (key, row) for key, row in table("vm_sizes").get("size", {}).items()}
    if name.lower() in rows:
        key, row = rows[name.lower()]
        if row.get("retired"):
            raise UnknownSize(name)
        return Size(
            name=key,
            vcpus=int(row["vcpus"]),
            memory_gib=int(row["memory_gib"]) or int(row["vcpus"]) * GPU_GIB_PER_VCPU,
            gpu=str(row.get("gpu", "")),
            gpus=int(row.get("gpus", 0)),
            mig=bool(row.get("gpu_instance_profile", row.get("mig", False))),
            arch=str(row.get("arch", "amd64")),
        )
    found = GENERAL_PURPOSE.match(name)
    family = name.lower().removeprefix("standard_")[:1]
    if found is None or family not in GENERAL_GIB_PER_VCPU:
        raise UnknownSize(name)
    vcpus = int(found["vcpus"])
    arm = re.search(r"\d+[a-z]*p[a-z]*(_v\d+)?$", name, re.IGNORECASE) is not None
    return Size(
        name=name, vcpus=vcpus, memory_gib=vcpus * GENERAL_GIB_PER_VCPU[family], arch="arm64" if arm else "amd64"
    )


def kubernetes_versions() -> dict[str, str]:
    """Each minor version in the table with its latest patch, .0 where the table does not know it."""
    rows = table("kubernetes").get("version", {})
    return {minor: str(row.get("latest_patch") or f"{minor}.0") for minor, row in rows.items()}


def default_version() -> str:
    return str(table("kubernetes")["default"])
