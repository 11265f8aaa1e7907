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

    from aks_dra.context.previous import Previous
    from aks_dra.findings.finding import Finding
    from aks_dra.model.plan import Plan

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


class NodeCount(StrEnum):
    first = "first"
    max = "max"


class FailOn(StrEnum):
    error = "error"
    warning = "warning"


Files = Annotated[list[Path], typer.Argument(help="stack files, e.g. stacks/Pulumi.dev.yaml")]
Today = Annotated[str, typer.Option(help="date (YYYY-MM-DD) that support ends are compared with")]
AzureSnapshot = Annotated[
    Path | None,
    typer.Option("--azure-snapshot", help="folder with skus.json, usage.json, versions.json of the Azure CLI"),
]
Against = Annotated[
    str,
    typer.Option(
        "--against",
        metavar="FILE|REVISION|STATE",
        help="what the stack was before: a stack file, a git revision, or the output of `pulumi stack export`",
    ),
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
    against: Against = "",
) -> None:
    """Print what is wrong in stack files, with the line and what to write instead."""
    from aks_dra.report.document import finding_document
    from aks_dra.report.findings import github_lines, print_findings, print_incomplete

    failed = False
    documents = []
    for file in files:
        planned, findings = read_plan(file, today, azure_snapshot, against)
        incomplete = planned.incomplete if planned else ()
        failed = failed or fails(findings, fail_on)
        if format is CheckFormat.json:
            found = [finding_document(finding) for finding in findings]
            documents.append({"file": str(file), "findings": found, "incomplete": list(incomplete)})
        elif format is CheckFormat.github:
            for line in github_lines(findings):
                typer.echo(line)
        else:
            console = make_console()
            console.print(f"[bold]{file}[/bold]")
            print_findings(console, findings)
            print_incomplete(console, incomplete)
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
    against: Against = "",
) -> None:
    """Show what a stack would create, what each pool publishes, and what its classes and claims match."""
    from aks_dra.report import as_document, as_markdown, print_findings, print_plan

    planned, findings = read_plan(file, today, azure_snapshot, against)
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
def simulate(
    stack: Annotated[Path, typer.Argument(help="a stack file, e.g. stacks/Pulumi.dev.yaml")],
    workloads: Annotated[list[Path], typer.Argument(help="Kubernetes manifests, YAML or JSON")],
    format: Annotated[FactsFormat, typer.Option(help="text or json")] = FactsFormat.text,
    kubeconfig: Annotated[Path | None, typer.Option(help="a cluster without nodes, to be used for the answer")] = None,
    no_cluster: Annotated[bool, typer.Option("--no-cluster", help="necessary conditions only")] = False,
    namespace: Annotated[str, typer.Option(help="for objects that name none")] = "default",
    nodes: Annotated[NodeCount, typer.Option(help="autoscaled pools: nodes at first, or at most")] = NodeCount.first,
    keep: Annotated[bool, typer.Option("--keep", help="leave everything in the cluster, to look at it")] = False,
    clean: Annotated[bool, typer.Option("--clean", help="first delete what a killed simulation left")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="read the files, and say what they come to")] = False,
) -> None:
    """Ask the real scheduler where workloads would run on a planned fleet, and say why not where they would not."""
    from aks_dra.simulate.entry import Options, simulate

    planned, findings = read_plan(stack, "")
    options = Options(
        stack, workloads, format.value, kubeconfig, no_cluster, namespace, nodes.value, keep, clean, dry_run
    )
    raise typer.Exit(simulate(options, make_console(), planned, findings))


@app.command()
def migrate(
    stack: Annotated[str, typer.Argument(help="a stack, or its file, e.g. dev or stacks/Pulumi.dev.yaml")],
    pool: Annotated[str, typer.Option(help="the device-plugin pool that is to become a DRA pool")],
    to: Annotated[str, typer.Option(help="name of the new pool; default: one like the old one's")] = "",
    out: Annotated[Path | None, typer.Option(help="folder to write to; default: migrate-STACK-POOL")] = None,
    workloads: Annotated[
        list[Path] | None, typer.Option("--workloads", help="Kubernetes manifests of what runs on the pool; repeatable")
    ] = None,
    claims: Annotated[
        bool, typer.Option("--claims", help="a claim for every workload, also where nvidia.com/gpu would be carried")
    ] = False,
    today: Today = "",
) -> None:
    """Write the stack files that move a pool from the device plugin to DRA, and what to run between them."""
    from aks_dra.migrate.command import migrate as write
    from aks_dra.migrate.steps import MigrateError

    try:
        road, folder, written = write(stack, pool, to, out, workloads, claims, day(today))
    except MigrateError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(1) from None
    for entry in road.advice:
        typer.echo(f"{entry.title}: {entry.text}")
    for note in (*road.notes, *(f"{step.name}: {note}" for step in road.steps for note in step.notes)):
        typer.echo(f"note: {note}")
    typer.echo(f"{len(written)} files in {folder}; begin with {folder / 'README.md'}")


@app.command()
def facts(
    table: Annotated[str, typer.Argument(help="one table, e.g. gpu or size; all when left out")] = "",
    format: Annotated[FactsFormat, typer.Option(help="text or json")] = FactsFormat.text,
    file: Annotated[list[Path] | None, typer.Option("--file", help="TOML files with rows of your own")] = None,
) -> None:
    """Print the tables that plans and checks rest on, each row with its source."""
    from aks_dra.facts import FactsError, load_facts
    from aks_dra.facts.reader import table_of
    from aks_dra.findings.build import no_such
    from aks_dra.report.facts import facts_document, print_facts

    try:
        rows = load_facts(*(file or ())).rows()
    except FactsError as error:
        from aks_dra.stack_plan import facts_problem

        raise typer.BadParameter(facts_problem(error), param_hint="--file") from None
    known = sorted({row.table for row in rows})
    table = table_of(table)
    if table and table not in known:
        raise typer.BadParameter(no_such("table", table, known), param_hint="table")
    chosen = [row for row in rows if not table or row.table == table]
    if format is FactsFormat.json:
        typer.echo(json.dumps(facts_document(chosen), indent=2))
    else:
        print_facts(make_console(), chosen)


def read_plan(
    file: Path, today: str, azure_snapshot: Path | None = None, against: str = ""
) -> tuple[Plan | None, tuple[Finding, ...]]:
    """The plan of a stack file and all findings; no plan when the file cannot be read as settings."""
    from aks_dra.context.snapshot import SnapshotError, read_snapshot
    from aks_dra.stack_plan import plan_file

    today = day(today)
    try:
        snapshot = read_snapshot(azure_snapshot) if azure_snapshot else None
    except SnapshotError as error:
        raise typer.BadParameter(str(error), param_hint="--azure-snapshot") from None
    return plan_file(file, today, snapshot, read_previous(against, file, today) if against else None)


def day(today: str) -> str:
    """The day given, or this one."""
    try:
        return date.fromisoformat(today).isoformat() if today else date.today().isoformat()
    except ValueError:
        raise typer.BadParameter("write a date as YYYY-MM-DD", param_hint="--today") from None


def read_previous(against: str, file: Path, today: str) -> Previous | None:
    from aks_dra.migrate.against import AgainstError, read_against

    try:
        return read_against(against, file, today)
    except AgainstError as error:
        raise typer.BadParameter(str(error), param_hint="--against") from None


def fails(findings: tuple[Finding, ...], fail_on: FailOn) -> bool:
    severities = {"error"} if fail_on is FailOn.error else {"error", "warning"}
    return any(finding.severity in severities and not finding.acknowledged for finding in findings)


def make_console() -> Console:
    from rich.console import Console

    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=100)


if __name__ == "__main__":
    app()
