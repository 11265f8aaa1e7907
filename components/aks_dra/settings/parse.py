"""From what the loader read to `Settings`: every mistake of shape or type becomes a finding, all at once.

The keys of a stack file are `aks-dra:<key>`; a value may be the object itself or, as `pulumi config set` writes
it, JSON text. Values that only Pulumi can open (`secure:`) are unknown and named.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from aks_dra.planning.model import Finding, printable
from aks_dra.settings.jsontext import NotJson, loads, looks_like_object
from aks_dra.settings.loader import UNKNOWN, Loaded
from aks_dra.settings.mistakes import NAMESPACE, SOURCE, findings_of, shown_path
from aks_dra.settings.plain import Reader
from aks_dra.settings.stack import Settings


def settings_from_loaded(loaded: Loaded) -> tuple[Settings | None, tuple[Finding, ...]]:
    """Settings, or None when they cannot be built, and what the loader and the models found wrong."""
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
    encrypted = [shown_path(path) for path in sorted(_unknown_paths(values), key=str)]
    for path in encrypted:
        findings.append(
            Finding(
                "SET003",
                "error",
                path,
                "this value is encrypted, and planning needs to read it",
                "secure: …",
                "write it in plain text; no setting of aks-dra is a secret",
                SOURCE,
            )
        )
    settings: Settings | None = None
    reader = Reader()
    reader.read(values)
    if reader.problems:
        return None, tuple(locate([*findings, *_not_plain(reader)], loaded))
    try:
        settings = Settings.model_validate(values)
    except ValidationError as error:
        texts = {shown_path(path): text for path, text in loaded.texts.items()}
        findings += [f for f in findings_of(error, texts) if not f.path.startswith(tuple(encrypted))]
    return settings, tuple(locate(findings, loaded))


def settings_from_values(values: Mapping[str, Any]) -> tuple[Settings | None, tuple[Finding, ...]]:
    """The same from plain values (camelCase or snake_case keys, no `aks-dra:` prefix).

    A whole setting may be JSON text, as it is in a stack file: `pulumi.Config().require("pools")` gives it so.
    """
    findings: list[Finding] = []
    given: dict[Any, Any] = {}
    for key, value in values.items():
        try:
            given[key] = loads(value) if isinstance(value, str) and looks_like_object(value) else value
        except NotJson as reason:
            message, remedy = f"this text is not JSON: {reason}", "hand over the value itself"
            shown = printable(value if len(value) <= 80 else value[:77] + "...")
            findings.append(Finding("LOAD021", "error", shown_path((str(key),)), message, shown, remedy, SOURCE))
    if findings:
        return None, tuple(findings)
    reader = Reader()
    plain = reader.read(given)
    if reader.problems:
        return None, tuple(_not_plain(reader))
    try:
        return Settings.model_validate(plain), ()
    except ValidationError as error:
        return None, tuple(findings_of(error, {}))


def _not_plain(reader: Reader) -> list[Finding]:
    return [
        Finding("SET004", "error", shown_path(p.path) if p.path else NAMESPACE, p.message, p.value, p.remedy, SOURCE)
        for p in reader.problems
    ]


def location_of(loaded: Loaded) -> str:
    """What `azure-native:location` says, or ""."""
    value = loaded.config.get("azure-native:location", "")
    return value if isinstance(value, str) else ""


def subscription_of(loaded: Loaded) -> str:
    value = loaded.config.get("azure-native:subscriptionId", "")
    return value if isinstance(value, str) else ""


def locate(findings: list[Finding] | tuple[Finding, ...], loaded: Loaded) -> list[Finding]:
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


def _unknown_paths(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    if value is UNKNOWN:
        return [path]
    if isinstance(value, Mapping):
        return [found for key, entry in value.items() for found in _unknown_paths(entry, (*path, key))]
    if isinstance(value, list | tuple):
        return [found for index, entry in enumerate(value) for found in _unknown_paths(entry, (*path, index))]
    return []
