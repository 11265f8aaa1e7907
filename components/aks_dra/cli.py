"""The aks-dra command: check and plan stack files without Azure, a cluster, the Pulumi CLI or a log-in.

Exit codes: 0 nothing to object to, 1 errors (or warnings with --fail-on warning), 2 wrong use of the command.
"""

from __future__ import annotations

import json
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from aks_dra.planning import Finding, Plan

app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False, help=__doc__)


class CheckFormat(StrEnum):
    text = "text"
    json = "json"
    github = "github"


class PlanFormat(StrEnum):
    text = "text"
    markdown = "markdown"
    json = "json"


class FactsFormat(StrEnum):
    text = "text"
    json = "json"


class FailOn(StrEnum):
    error = "error"
    warning = "warning"


Files = Annotated[list[Path], typer.Argument(help="stack files, e.g. stacks/Pulumi.dev.yaml")]
Today = Annotated[str, typer.Option(help="date (YYYY-MM-DD) that support ends are compared with")]
AzureSnapshot = Annotated[
    Path | None,
    typer.Option("--azure-snapshot", help="folder with skus.json, usage.json, versions.json of the Azure CLI"),
]
Fail = Annotated[FailOn, typer.Option("--fail-on", help="what makes the exit code 1")]


@app.command()
def check(
    files: Files,
    format: Annotated[
        CheckFormat, typer.Option(help="text for people, json or github for machines")
    ] = CheckFormat.text,
    fail_on: Fail = FailOn.error,
    today: Today = "",
    azure_snapshot: AzureSnapshot = None,
) -> None:
    """Print what is wrong in stack files, with the line and what to write instead."""
    from aks_dra.report.document import finding_document
    from aks_dra.report.findings import github_lines, print_findings

    failed = False
    documents = []
    for file in files:
        _, findings = read_plan(file, today, azure_snapshot)
        failed = failed or fails(findings, fail_on)
        if format is CheckFormat.json:
            documents.append({"file": str(file), "findings": [finding_document(finding) for finding in findings]})
        elif format is CheckFormat.github:
            for line in github_lines(findings):
                typer.echo(line)
        else:
            console = make_console()
            console.print(f"[bold]{file}[/bold]")
            print_findings(console, findings)
    if format is CheckFormat.json:
        typer.echo(json.dumps(documents, indent=2))
    raise typer.Exit(1 if failed else 0)


@app.command()
def plan(
    file: Annotated[Path, typer.Argument(help="a stack file, e.g. stacks/Pulumi.dev.yaml")],
    format: Annotated[PlanFormat, typer.Option(help="text, markdown (for a pull request) or json")] = PlanFormat.text,
    fail_on: Fail = FailOn.error,
    today: Today = "",
    azure_snapshot: AzureSnapshot = None,
) -> None:
    """Show what a stack would create, what each pool publishes, and what its classes and claims match."""
    from aks_dra.report import as_document, as_markdown, print_findings, print_plan

    planned, findings = read_plan(file, today, azure_snapshot)
    if planned is None:
        if format is PlanFormat.json:
            from aks_dra.report.document import finding_document

            typer.echo(json.dumps({"findings": [finding_document(finding) for finding in findings]}, indent=2))
        else:
            print_findings(make_console(), findings)
        raise typer.Exit(1)
    if format is PlanFormat.json:
        typer.echo(json.dumps(as_document(planned), indent=2))
    elif format is PlanFormat.markdown:
        typer.echo(as_markdown(planned))
    else:
        print_plan(make_console(), planned)
    raise typer.Exit(1 if fails(findings, fail_on) else 0)


@app.command()
def facts(
    table: Annotated[str, typer.Argument(help="one table, e.g. gpu or vm_size; all when left out")] = "",
    format: Annotated[FactsFormat, typer.Option(help="text or json")] = FactsFormat.text,
    file: Annotated[list[Path] | None, typer.Option("--file", help="TOML files with rows of your own")] = None,
) -> None:
    """Print the tables that plans and checks rest on, each row with its source."""
    from aks_dra.facts import FactsError, load_facts
    from aks_dra.report.facts import facts_document, print_facts

    try:
        rows = load_facts(*(file or ())).rows()
    except FactsError as error:
        raise typer.BadParameter(str(error), param_hint="--file") from None
    known = sorted({row.table for row in rows})
    if table and table not in known:
        raise typer.BadParameter(f"no such table; there are {', '.join(known)}", param_hint="table")
    chosen = [row for row in rows if not table or row.table == table]
    if format is FactsFormat.json:
        typer.echo(json.dumps(facts_document(chosen), indent=2))
    else:
        print_facts(make_console(), chosen)


def read_plan(file: Path, today: str, azure_snapshot: Path | None) -> tuple[Plan | None, tuple[Finding, ...]]:
    """The plan of a stack file and all findings; no plan when the file cannot be read as settings."""
    from aks_dra.planning.from_file import plan_file
    from aks_dra.planning.snapshot import SnapshotError, read_snapshot

    if today:
        try:
            date.fromisoformat(today)
        except ValueError:
            raise typer.BadParameter("write a date as YYYY-MM-DD", param_hint="--today") from None
    try:
        snapshot = read_snapshot(azure_snapshot) if azure_snapshot else None
    except SnapshotError as error:
        raise typer.BadParameter(str(error), param_hint="--azure-snapshot") from None
    return plan_file(file, today or date.today().isoformat(), snapshot)


def fails(findings: tuple[Finding, ...], fail_on: FailOn) -> bool:
    severities = {"error"} if fail_on is FailOn.error else {"error", "warning"}
    return any(finding.severity in severities and not finding.acknowledged for finding in findings)


def make_console() -> Console:
    from rich.console import Console

    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=100)


if __name__ == "__main__":
    app()
