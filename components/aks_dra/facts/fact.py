"""What every row of every table has."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Fact:
    """What every row has. `key` is its name in its table."""

    key: str
    source: str
    verified: bool
