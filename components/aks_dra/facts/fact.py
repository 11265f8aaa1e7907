"""What every row of every table has, and which class of rows each table of the files has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar


@dataclass(frozen=True, kw_only=True)
class Fact:
    """What every row has. `key` is its name in its table."""

    key: str
    source: str
    verified: bool


R = TypeVar("R", bound=Fact)

TABLES: dict[str, type[Fact]] = {}
"""Table name in the files to the class of its rows: every class that says `@table(name)`."""


def table(name: str) -> Callable[[type[R]], type[R]]:
    """Makes a class that of the rows of a table: reading, `facts.table(Class)` and `aks-dra facts` follow from it."""

    def add(kind: type[R]) -> type[R]:
        TABLES[name] = kind
        return kind

    return add
