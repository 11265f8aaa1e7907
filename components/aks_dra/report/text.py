"""The plan in a terminal, within 100 columns."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from aks_dra.planning.model import Plan
from aks_dra.report.findings import print_findings
from aks_dra.report.tables import claim_rows, class_rows, created, pool_rows

WIDTH = 100


def print_plan(console: Console, plan: Plan) -> None:
    """What would be created, what each pool publishes, which classes and claims it serves, the findings."""
    cluster = plan.cluster
    console.print(
        f"[bold]{escape(cluster.name)}[/bold]: Kubernetes {cluster.kubernetes_version}, "
        f"{escape(cluster.location or 'no location')}, resource group {escape(cluster.resource_group)}"
        f"{', protected' if cluster.protect else ''}"
    )
    _table(
        console,
        "Pools, and what one node publishes",
        ("pool", "VM size", "nodes", "allocation", "sharing", "per node", "device classes"),
        pool_rows(plan),
    )
    _table(console, "Device classes", ("class", "made by", "pools (devices per node)"), class_rows(plan))
    _table(console, "Claims", ("claim", "kind", "asks for", "pools"), claim_rows(plan))
    console.print("[bold]Would be created[/bold] (on an empty subscription)")
    for line in created(plan):
        console.print(f"  [green]+[/green] {escape(line)}", soft_wrap=True)
    console.print()
    print_findings(console, plan.findings)


def _table(console: Console, title: str, columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    if not rows:
        return
    table = Table(
        title=title, title_justify="left", title_style="bold", width=min(WIDTH, console.width), pad_edge=False
    )
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(escape(cell) for cell in row))
    console.print(table)
