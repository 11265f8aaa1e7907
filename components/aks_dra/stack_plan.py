"""A stack file to its Plan: what the command and the deployment both do, so that they find the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from aks_dra.context.previous import Previous
from aks_dra.context.snapshot import Snapshot
from aks_dra.facts import Facts, FactsError, load_facts
from aks_dra.findings.build import no_such
from aks_dra.findings.finding import Finding
from aks_dra.model.plan import Plan
from aks_dra.plan import plan
from aks_dra.settings import Settings
from aks_dra.settings.parse import locate, location_of, read_loaded
from aks_dra.stackfile.loader import Loaded, load_stack_file


def plan_file(
    file: Path, today: str = "", snapshot: Snapshot | None = None, previous: Previous | None = None
) -> tuple[Plan | None, tuple[Finding, ...]]:
    """The plan and every finding, with file and line."""
    return plan_loaded(load_stack_file(file), file.parent, today, snapshot, previous)


def plan_loaded(
    loaded: Loaded,
    folder: Path,
    today: str = "",
    snapshot: Snapshot | None = None,
    previous: Previous | None = None,
) -> tuple[Plan | None, tuple[Finding, ...]]:
    reading = read_loaded(loaded)
    settings, found = reading.settings, reading.findings
    if settings is None:  # of a file that could not be read, rules on settings would only say nonsense
        return None, tuple(sorted(found, key=lambda f: (f.severity != "error", f.file, f.line, f.path, f.message)))
    facts, problems = own_facts(settings, folder)
    planned = plan(
        settings,
        project=loaded.project,
        stack=loaded.stack,
        location=location_of(loaded),
        facts=facts,
        config_findings=(*found, *problems),
        today=today,
        snapshot=snapshot,
        previous=previous,
        unread=reading.unread,
    )
    findings = tuple(locate(planned.findings, loaded))
    return replace(planned, findings=findings), findings


def facts_problem(error: FactsError) -> str:
    """What is wrong with a facts file, with the table that was probably meant."""
    return f"{error.file}: {error.key}: {no_such('table', error.key, error.known)}" if error.known else str(error)


def own_facts(settings: Settings, folder: Path) -> tuple[Facts, tuple[Finding, ...]]:
    """The tables with the stack's own rows on top; a bad file is a finding and leaves the tables as they are."""
    files = (settings.facts,) if isinstance(settings.facts, str) else settings.facts
    try:
        return load_facts(*(folder / file for file in files)), ()
    except FactsError as error:
        finding = Finding(
            "FAC001",
            "error",
            "aks-dra:facts",
            facts_problem(error),
            ", ".join(files),
            "correct the file; `aks-dra facts` shows the shape of the tables",
            "aks-dra: facts",
        )
        return load_facts(), (finding,)
