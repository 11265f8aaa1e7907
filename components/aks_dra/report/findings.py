"""Findings as a compiler prints them, and as GitHub's annotations."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from aks_dra.findings.finding import Finding

STYLE = {"error": "bold red", "warning": "bold yellow"}


def summary(findings: Iterable[Finding]) -> str:
    found = list(findings)
    errors = sum(f.severity == "error" for f in found)
    acknowledged = sum(bool(f.acknowledged) for f in found)
    warnings = len(found) - errors - acknowledged
    text = f"{errors} error{'s' * (errors != 1)}, {warnings} warning{'s' * (warnings != 1)}"
    return text + (f", {acknowledged} acknowledged" if acknowledged else "")


def print_incomplete(console: Console, paths: Iterable[str]) -> None:
    """What was not checked, and with it what may still come to light."""
    if listed := ", ".join(paths):
        text = f"The check is incomplete: what rests on {listed} can be checked once it can be read."
        console.print(f"[bold yellow]{escape(text)}[/bold yellow]", soft_wrap=True)


def print_findings(console: Console, findings: Iterable[Finding]) -> None:
    """Each finding with the line that set the value, then how many there were."""
    found = list(findings)
    for finding in found:
        if finding.acknowledged:
            console.print(
                f"[dim]{finding.severity} {finding.code} acknowledged: {escape(finding.acknowledged)} "
                f"({escape(finding.path)})[/dim]",
                soft_wrap=True,
            )
            continue
        style = STYLE[finding.severity]
        console.print(
            f"[{style}]{finding.severity}\\[{finding.code}][/{style}]: {escape(finding.message)}", soft_wrap=True
        )
        where = f"{finding.file}:{finding.line}" if finding.line else finding.file or "settings"
        console.print(f"  [cyan]-->[/cyan] {escape(where)}  [bold]{escape(finding.path)}[/bold]", soft_wrap=True)
        if line := source_line(finding):
            console.print(f"[cyan]{finding.line:>5} |[/cyan] {escape(line)}", soft_wrap=True)
        elif finding.value:
            console.print(f"      [cyan]|[/cyan] {escape(finding.value)}", soft_wrap=True)
        console.print(f"  [green]fix:[/green] {escape(finding.remedy)}", soft_wrap=True)
        console.print(f"  [dim]rule: {escape(finding.source)}[/dim]\n", soft_wrap=True)
    console.print(summary(found) if found else "[green]no findings[/green]")


def source_line(finding: Finding) -> str:
    """The line of the user's file, or "" when it cannot be read."""
    if not finding.line:
        return ""
    try:
        lines = Path(finding.file).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return lines[finding.line - 1].rstrip() if finding.line <= len(lines) else ""


def github_lines(findings: Iterable[Finding]) -> list[str]:
    """Workflow commands that put each finding on its line of the pull request."""

    def data(text: str) -> str:
        return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")

    def attribute(text: str) -> str:
        return data(text).replace(":", "%3A").replace(",", "%2C")

    result = []
    for finding in findings:
        level = "notice" if finding.acknowledged else finding.severity
        place = f"file={attribute(finding.file)},line={finding.line}," if finding.line else ""
        text = f"{finding.path}: {finding.message} ({finding.value}). {finding.remedy}"
        result.append(f"::{level} {place}title={attribute(finding.code)}::{data(text)}")
    return result
