"""The plan in a terminal, within 100 columns."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from aks_dra.model.plan import Plan
from aks_dra.report.findings import print_findings
from aks_dra.report.tables import (
    CLAIM_COLUMNS,
    CLASS_COLUMNS,
    INCOMPLETE,
    POOL_COLUMNS,
    changed,
    claim_rows,
    class_rows,
    created,
    pool_rows,
)

WIDTH = 100
# Names that people copy: they stay in one piece.
WHOLE = {"pool", "VM size", "nodes", "class", "made by", "claim", "kind"}

# Longer ones are folded, or there would be no room for the columns after them.
MOST_WHOLE = 44


def print_plan(console: Console, plan: Plan) -> None:
    """What would be created, what each pool publishes, which classes and claims it serves, the findings."""
    cluster = plan.cluster
    place = escape(cluster.location or "no location")
    console.print(
        f"[bold]{escape(cluster.name)}[/bold]: Kubernetes {cluster.kubernetes_version}, {place}, "
        f"resource group {escape(cluster.resource_group)}{', protected' if cluster.protect else ''}\n"
    )
    if plan.incomplete:
        console.print(
            f"[bold yellow]{INCOMPLETE}[/bold yellow]: {escape(', '.join(plan.incomplete))}\n", soft_wrap=True
        )
    _table(console, "Pools", POOL_COLUMNS, pool_rows(plan))
    _table(console, "Device classes", CLASS_COLUMNS, class_rows(plan))
    _table(console, "Claims", CLAIM_COLUMNS, claim_rows(plan))
    console.print("[bold]Would be created[/bold] (on an empty subscription)")
    for line in created(plan):
        console.print(f"  [green]+[/green] {escape(line)}", soft_wrap=True)
    for line in changed(plan):
        console.print(f"  [yellow]~[/yellow] {escape(line)}", soft_wrap=True)
    console.print()
    print_findings(console, plan.findings)


def _table(console: Console, title: str, columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    if not rows:
        return
    console.print(f"[bold]{title}[/bold]")
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold cyan", show_edge=False)
    for column, cells in zip(columns, zip(*rows, strict=True), strict=True):
        whole = column in WHOLE and max(map(len, cells)) <= MOST_WHOLE
        table.add_column(column, no_wrap=whole, overflow="fold", max_width=MOST_WHOLE if column in WHOLE else None)
    for row in rows:
        table.add_row(*(escape(cell) for cell in row))
    console.print(table, width=min(WIDTH, console.width))
    console.print()
