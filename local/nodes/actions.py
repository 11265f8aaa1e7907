"""What a pass may ask for. All of them can be repeated without harm."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class PatchNode:
    """Labels and annotations of a node; None removes one."""

    target: str
    labels: Mapping[str, str | None]
    annotations: Mapping[str, str | None]


@dataclass(frozen=True)
class PatchCapacity:
    """Extended resources in a node's status, capacity and allocatable alike."""

    target: str
    resources: Mapping[str, str]


@dataclass(frozen=True)
class Apply:
    """Creates or updates an object (server-side apply)."""

    target: str
    manifest: Mapping[str, Any]


@dataclass(frozen=True)
class Delete:
    target: str


Action = PatchNode | PatchCapacity | Apply | Delete
