"""From what the loader read to `Settings`: every mistake of shape or type becomes a finding, all at once.

The keys of a stack file are `aks-dra:<key>`; a value may be the object itself or, as `pulumi config set` writes
it, JSON text. Values that only Pulumi can open (`secure:`) are unknown and named.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from pydantic.alias_generators import to_camel

from aks_dra.findings.finding import Finding, printable, shortened
from aks_dra.settings.mistakes import NAMESPACE, SOURCE, shown_path
from aks_dra.settings.reading import ENCRYPTED, Reading, read_settings
from aks_dra.settings.shape import Path
from aks_dra.settings.stack import Settings
from aks_dra.stackfile.jsontext import NotJson, loads, looks_like_object
from aks_dra.stackfile.loader import Loaded
from aks_dra.stackfile.source import LoadProblem, dotted

UNREADABLE = ("LOAD011", "LOAD021", "LOAD022", "LOAD044")
"""Problems of one key that leave its value out."""
BASES = ("LOAD040", "LOAD041", "LOAD042", "LOAD043")
"""Problems of naming a base file, which then is not read."""


LOCATION = "azure-native:location"


def read_loaded(loaded: Loaded) -> Reading:
    """What the loaded files say, as far as it can be read, and what the loader and the models found wrong."""
    findings = [
        Finding(
            p.code,
            "error" if p.severity == "error" else "warning",
            p.path,
            p.message,
            p.value,
            p.remedy,
            "aks-dra: stack files",
            p.position.file if p.position else "",
            p.position.line if p.position else 0,
        )
        for p in loaded.problems
    ]
    values: dict[str, Any] = {}
    for key, value in loaded.config.items():
        namespace, _, name = key.partition(":")
        if namespace == NAMESPACE:
            values[name] = value
    by_text = {dotted(path): path for path in _paths(values)}
    unread: list[Path] = []
    lost = any(problem.code in BASES or _of_a_whole_base(problem, loaded) for problem in loaded.problems)
    for problem in loaded.problems:
        namespace, _, rest = problem.path.partition(":")
        if problem.code not in UNREADABLE or namespace != NAMESPACE:
            continue
        path = by_text.get(rest, (rest,))
        beside = _in_base(problem, loaded) and isinstance(values.get(str(path[0])), Mapping)
        lost = lost or beside or path == ("base",)
        if not beside:  # else what the stack file itself says of it can be read
            unread.append(path)
    if not isinstance(loaded.config.get(LOCATION, ""), str):
        findings.append(Finding("SET003", "error", LOCATION, *ENCRYPTED, SOURCE))
        unread.append(("cluster", "location"))
    texts = {shown_path(path): text for path, text in loaded.texts.items()}
    reading = read_settings(values, texts, unread, findings, lost)
    if not loaded.config and any(finding.severity == "error" for finding in reading.findings):
        reading = replace(reading, settings=None)  # of a file that could not be read nothing is known
    return replace(reading, findings=tuple(locate(reading.findings, loaded)))


def _in_base(problem: LoadProblem, loaded: Loaded) -> bool:
    return problem.position is not None and problem.position.file != loaded.files[0]


def _of_a_whole_base(problem: LoadProblem, loaded: Loaded) -> bool:
    """Whether it leaves out a base file or a part of one that could be any setting."""
    return _in_base(problem, loaded) and problem.severity == "error" and problem.code < "LOAD019"


def settings_from_loaded(loaded: Loaded) -> tuple[Settings | None, tuple[Finding, ...]]:
    """Settings, or None when some of them cannot be read, and what the loader and the models found wrong."""
    reading = read_loaded(loaded)
    return reading.whole, reading.findings


def read_values(values: Mapping[str, Any]) -> Reading:
    """The same from plain values (camelCase or snake_case keys, no `aks-dra:` prefix).

    A whole setting may be JSON text, as it is in a stack file: `pulumi.Config().require("pools")` gives it so.
    """
    findings: list[Finding] = []
    given: dict[Any, Any] = {}
    unread: list[Path] = []
    for key, value in values.items():
        try:
            given[key] = loads(value) if isinstance(value, str) and looks_like_object(value) else value
        except NotJson as reason:
            message, remedy = f"this text is not JSON: {reason}", "hand over the value itself"
            shown = printable(shortened(value))
            findings.append(Finding("LOAD021", "error", shown_path((str(key),)), message, shown, remedy, SOURCE))
            unread.append((to_camel(str(key)),))
    return read_settings(given, {}, unread, findings)


def settings_from_values(values: Mapping[str, Any]) -> tuple[Settings | None, tuple[Finding, ...]]:
    """Settings, or None when some of them cannot be read, and what is wrong with the values."""
    reading = read_values(values)
    return reading.whole, reading.findings


def location_of(loaded: Loaded) -> str:
    """What `azure-native:location` says, or ""."""
    value = loaded.config.get(LOCATION, "")
    return value if isinstance(value, str) else ""


def subscription_of(loaded: Loaded) -> str:
    value = loaded.config.get("azure-native:subscriptionId", "")
    return value if isinstance(value, str) else ""


def locate(findings: Iterable[Finding], loaded: Loaded) -> list[Finding]:
    """Findings with the file and line that set the value, or the nearest key above it, or else the file's first."""
    located = []
    by_text = {printable(shown_path(path)): position for path, position in loaded.positions.items()}
    for finding in findings:
        path = finding.path
        while not finding.line and path:
            if position := by_text.get(path):
                finding = replace(finding, file=position.file, line=position.line)
            path = path.rpartition(".")[0]
        if not finding.line and loaded.files:  # about something that is written nowhere
            finding = replace(finding, file=loaded.files[0], line=1)
        located.append(finding)
    return located


def _paths(value: Any, path: Path = ()) -> Iterator[Path]:
    if path:
        yield path
    inner = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in inner:
        yield from _paths(entry, (*path, key))
