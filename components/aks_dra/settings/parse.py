"""From what the loader read to `Settings`: every mistake of shape or type becomes a finding, all at once.

The keys of a stack file are `aks-dra:<key>`; a value may be the object itself or, as `pulumi config set` writes
it, JSON text. Values that only Pulumi can open (`secure:`) are unknown and named.
"""

from __future__ import annotations

import difflib
import typing
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails

from aks_dra.planning.model import Finding, printable
from aks_dra.settings.loader import UNKNOWN, Loaded
from aks_dra.settings.plain import Reader
from aks_dra.settings.stack import Settings

NAMESPACE = "aks-dra"
SOURCE = "aks-dra: settings (docs/settings.md)"

# pydantic's error types that deserve our own words.
TEXTS = {
    "string_type": "text is needed",
    "int_type": "a whole number is needed",
    "bool_type": "true or false is needed, without quotes",
    "model_type": "a map of settings is needed",
    "dict_type": "a map is needed",
    "tuple_type": "a list is needed",
    "missing": "this setting is required",
}
SKIPPED = ("function-", "is-instance", "tuple[", "constrained-", "nullable")


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
    encrypted = [_shown(path) for path in sorted(_unknown_paths(values), key=str)]
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
        texts = {_shown(path): text for path, text in loaded.texts.items()}
        findings += [f for f in _findings(error, texts) if not f.path.startswith(tuple(encrypted))]
    return settings, tuple(locate(findings, loaded))


def settings_from_values(values: Mapping[str, Any]) -> tuple[Settings | None, tuple[Finding, ...]]:
    """The same from plain values (camelCase or snake_case keys, no `aks-dra:` prefix)."""
    reader = Reader()
    plain = reader.read(values)
    if reader.problems:
        return None, tuple(_not_plain(reader))
    try:
        return Settings.model_validate(plain), ()
    except ValidationError as error:
        return None, tuple(_findings(error, {}))


def _not_plain(reader: Reader) -> list[Finding]:
    return [
        Finding("SET004", "error", _shown(p.path) if p.path else NAMESPACE, p.message, p.value, p.remedy, SOURCE)
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
    by_text = {printable(_shown(path)): position for path, position in loaded.positions.items()}
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


def _findings(error: ValidationError, texts: Mapping[str, str]) -> list[Finding]:
    found: dict[tuple[str, str], Finding] = {}
    for detail in error.errors(include_url=False):
        finding = _finding(detail, texts)
        found.setdefault((finding.path, finding.message), finding)
    # Of a value that may have several shapes pydantic reports each shape; the deepest path says most.
    return list(found.values())


def _finding(detail: ErrorDetails, texts: Mapping[str, str]) -> Finding:
    path, model = _walk(detail["loc"], detail["type"] == "extra_forbidden")
    # Of a key that is no text at all pydantic gives no path.
    shown = _shown(tuple(path)) if path else f"{NAMESPACE}:{detail['input']}"
    kind = detail["type"]
    given = detail["input"]
    if kind == "extra_forbidden":
        name = str(path[-1])
        known = [field.alias or key for key, field in model.model_fields.items()] if model else []
        close = difflib.get_close_matches(name, known, n=1, cutoff=0.55)
        remedy = f"did you mean {close[0]}?" if close else "known keys: " + ", ".join(sorted(known))
        return Finding("SET001", "error", shown, "there is no such setting", _short(given), remedy, SOURCE)
    message = TEXTS.get(kind, detail["msg"].removeprefix("Value error, "))
    remedy = "see docs/settings.md for the shape"
    if kind == "literal_error":
        allowed = str(detail.get("ctx", {}).get("expected", ""))
        message, remedy = "this value is not among the allowed ones", f"write {allowed}"
        names = [word.strip("' ") for word in allowed.replace(" or ", ",").split(",")]
        if isinstance(given, str) and (
            close := difflib.get_close_matches(given.lower(), [n.lower() for n in names], 1)
        ):
            right = next(name for name in names if name.lower() == close[0])
            remedy = f"did you mean {right}? (allowed: {allowed})"
    elif kind in ("version_number", "label_value"):
        # The file's own text: the number 1.4 may have been written 1.40.
        text = texts.get(shown) or (str(given).lower() if isinstance(given, bool) else str(given))
        remedy = f'write "{text}"'
    elif (
        kind == "bool_type" and isinstance(given, str) and given.lower() in ("true", "false", "yes", "no", "on", "off")
    ):
        remedy = f"write {'true' if given.lower() in ('true', 'yes', 'on') else 'false'}"
    elif kind == "int_type" and isinstance(given, str) and given.isdigit():
        remedy = f"write {given} without quotes"
    elif kind == "missing":
        given, remedy = "", f"add {path[-1]}"
    return Finding("SET002", "error", shown, message, _short(given), remedy, SOURCE)


def _walk(location: tuple[int | str, ...], unknown_key: bool) -> tuple[list[str | int], type[BaseModel] | None]:
    """The path as the user wrote it, without pydantic's names of union members, and the innermost model.

    Of a key that no model has the last part is the key, even when it reads like the name of a type.
    """
    path: list[str | int] = []
    annotation: Any = Settings
    model: type[BaseModel] | None = Settings
    for index, part in enumerate(location):
        key_itself = unknown_key and index == len(location) - 1
        found = None if key_itself else _step(annotation, part)
        if found is None:
            of_union = isinstance(part, str) and (part in _member_names(annotation) or part.startswith(SKIPPED))
            if isinstance(part, str) and of_union and not key_itself:
                annotation = _member(annotation, part)
                continue
            path.append(part)
            models = _models(annotation)
            model = models[0] if models else model
            continue
        key, annotation = found
        models = _models(annotation)
        path.append(key)
        model = models[0] if models else model
    if path and isinstance(path[-1], str) and len(path) > 1:
        parent = _at(Settings, path[:-1])
        model = parent or model
    elif len(path) == 1:
        model = Settings
    return path, model


def _at(start: type[BaseModel], path: list[str | int]) -> type[BaseModel] | None:
    annotation: Any = start
    for part in path:
        found = _step(annotation, part)
        if found is None:
            return None
        annotation = found[1]
    models = _models(annotation)
    return models[0] if models else None


def _arguments(annotation: Any) -> tuple[Any, ...]:
    """The members of a union, or the annotation alone; Annotated is looked through."""
    if typing.get_origin(annotation) is typing.Annotated:
        return _arguments(typing.get_args(annotation)[0])
    if typing.get_origin(annotation) in (typing.Union, __import__("types").UnionType):
        return tuple(member for argument in typing.get_args(annotation) for member in _arguments(argument))
    return (annotation,)


def _models(annotation: Any) -> list[type[BaseModel]]:
    return [member for member in _arguments(annotation) if isinstance(member, type) and issubclass(member, BaseModel)]


def _step(annotation: Any, part: int | str) -> tuple[str | int, Any] | None:
    for member in _arguments(annotation):
        if isinstance(member, type) and issubclass(member, BaseModel):
            for name, field in member.model_fields.items():
                if part in (name, field.alias):
                    return field.alias or to_camel(name), field.annotation
        origin, arguments = typing.get_origin(member), typing.get_args(member)
        if origin is dict and isinstance(part, str):
            return part, arguments[1]
        if origin is tuple and isinstance(part, int):
            return part, arguments[0]
    return None


def _member_names(annotation: Any) -> set[str]:
    names = {"str", "int", "bool", "float", "dict", "tuple"}
    return names | {model.__name__ for model in _models(annotation)}


def _member(annotation: Any, name: str) -> Any:
    for member in _arguments(annotation):
        if getattr(member, "__name__", "") == name:
            return member
    return annotation


def _shown(path: tuple[str | int, ...]) -> str:
    """aks-dra:pools.h100.vmSize, with list indices as numbers."""
    parts = [str(part) for part in path]
    if parts and ":" not in parts[0]:
        parts[0] = f"{NAMESPACE}:{parts[0]}"
    return ".".join(parts)


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _unknown_paths(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    if value is UNKNOWN:
        return [path]
    if isinstance(value, Mapping):
        return [found for key, entry in value.items() for found in _unknown_paths(entry, (*path, key))]
    if isinstance(value, list | tuple):
        return [found for index, entry in enumerate(value) for found in _unknown_paths(entry, (*path, index))]
    return []
