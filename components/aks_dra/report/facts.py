"""The facts tables for people: what the checks know, where it comes from, and what is not verified."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rich.console import Console
from rich.markup import escape

from aks_dra.facts import Row


def facts_document(rows: Iterable[Row]) -> list[dict[str, Any]]:
    return [
        {
            "table": row.table,
            "key": row.key,
            "values": _plain(row.values),
            "source": row.source,
            "verified": row.verified,
        }
        for row in rows
    ]


def print_facts(console: Console, rows: Iterable[Row]) -> None:
    """One block for each table; a row is its key, its values, and its source below."""
    table = ""
    for row in rows:
        if row.table != table:
            table = row.table
            console.print(f"\n[bold cyan]{escape(table)}[/bold cyan]")
        mark = "" if row.verified else " [yellow](unverified)[/yellow]"
        values = ", ".join(f"{name} {_text(value)}" for name, value in row.values.items() if value not in ("", (), {}))
        console.print(f"  [bold]{escape(row.key)}[/bold]{mark}: {escape(values)}", soft_wrap=True)
        console.print(f"    [dim]{escape(row.source)}[/dim]", soft_wrap=True)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(entry) for entry in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_text(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, tuple | list):
        return ", ".join(_text(entry) for entry in value)
    return str(value).lower() if isinstance(value, bool) else str(value)
