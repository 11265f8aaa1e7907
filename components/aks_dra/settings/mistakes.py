"""What pydantic found wrong with settings, in this package's words: where, what, and what to write instead.

Of a value that may have several shapes pydantic reports every shape that it is not. Only the shape that was meant is
worth a finding: the one whose inside was looked at, or else all of them in one sentence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from aks_dra.findings.build import nearest
from aks_dra.findings.finding import Finding, shortened
from aks_dra.settings.elsewhere import written_here
from aks_dra.settings.shape import model_at, models_of, named_member, several, step
from aks_dra.settings.stack import Settings
from aks_dra.stackfile.jsontext import looks_like_object

NAMESPACE = "aks-dra"
SOURCE = "aks-dra: settings (docs/settings.md)"
SHAPE = "see docs/settings.md for the shape"

# pydantic's error types that deserve our own words.
NEEDED = {
    "string_type": "text",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "model_type": "a map of settings",
    "dict_type": "a map",
    "tuple_type": "a list",
}
TEXTS = {
    **{kind: f"{needed} is needed" for kind, needed in NEEDED.items()},
    "bool_type": "true or false is needed, without quotes",
    "missing": "this setting is required",
}
SKIPPED = ("function-", "is-instance", "tuple[", "constrained-", "nullable")


@dataclass(frozen=True)
class Mistake:
    """A finding with the path of what cannot be read, and of the setting that was probably meant, if another one."""

    finding: Finding
    path: tuple[str | int, ...]
    meant: tuple[str | int, ...] = ()


def mistakes_of(error: ValidationError, texts: Mapping[str, str]) -> list[Mistake]:
    """Every mistake once. `texts` are the numbers of the file as they were written, by path."""
    details = [(shown_path(_path(detail)), detail) for detail in error.errors(include_url=False)]
    inside = {path.rpartition(".")[0] for path, _ in details}
    deeper = {".".join(path.split(".")[:n]) for path in inside for n in range(1, path.count(".") + 2)}
    found: dict[tuple[str, str], Mistake] = {}
    for path in dict.fromkeys(path for path, _ in details):
        here = [detail for where, detail in details if where == path]
        shapes = [detail for detail in here if detail["type"] in NEEDED or detail["type"] == "literal_error"]
        others = [detail for detail in here if detail not in shapes]
        if path not in deeper and shapes and (len(shapes) == 1 or not others):
            others.append(_of_shapes(shapes))
        for detail in others:
            mistake = _mistake(detail, texts)
            found.setdefault((mistake.finding.path, mistake.finding.message), mistake)
    return list(found.values())


def _of_shapes(shapes: list[ErrorDetails]) -> ErrorDetails:
    """One error for a value that is none of the shapes it may have."""
    given = shapes[0]["input"]
    for detail in shapes:
        if detail["type"] == "literal_error" and (isinstance(given, str) or len(shapes) == 1):
            return detail
        if detail["type"] == "bool_type" and _truth(given):
            return detail
    if len(shapes) == 1:
        return shapes[0]
    words = [NEEDED.get(detail["type"]) or str(detail.get("ctx", {}).get("expected")) for detail in shapes]
    merged = dict.fromkeys(words)
    return {**shapes[0], "type": "shapes", "msg": f"{' or '.join(merged)} is needed"}


def _mistake(detail: ErrorDetails, texts: Mapping[str, str]) -> Mistake:
    path, model = _walk(detail["loc"], detail["type"] == "extra_forbidden")
    target = model_at(Settings, path)
    # Of a key that is no text at all pydantic gives no path.
    shown = shown_path(tuple(path)) if path else f"{NAMESPACE}:{detail['input']}"
    kind = detail["type"]
    given = detail["input"]
    if kind == "extra_forbidden":
        name = str(path[-1])
        known = [field.alias or key for key, field in model.model_fields.items()] if model else []
        close = nearest(name, known, alike=0.55)
        remedy = f"did you mean {close}?" if close else "known keys: " + ", ".join(sorted(known))
        meant = (*path[:-1], close) if close else ()
        if model and (here := written_here(model.__name__, name)):
            remedy = f"did you mean {here}?" if re.fullmatch(r"[\w.]+", here) else f"write {here}"
            meant = (*path[:-1], *re.match(r"[\w.]*", here)[0].rstrip(".").split("."))  # type: ignore[index]
        finding = Finding("SET001", "error", shown, "there is no such setting", shortened(str(given)), remedy, SOURCE)
        return Mistake(finding, tuple(path), meant)
    message = TEXTS.get(kind, detail["msg"].removeprefix("Value error, "))
    remedy = _in_shape(kind, given, target) or SHAPE
    if kind == "literal_error":
        allowed = str(detail.get("ctx", {}).get("expected", ""))
        message, remedy = "this value is not among the allowed ones", f"write {allowed}"
        names = [word.strip("' ") for word in allowed.replace(" or ", ",").split(",")]
        if isinstance(given, str) and (close := nearest(given, names)):
            remedy = f"did you mean {close}? (allowed: {allowed})"
    elif kind in ("version_number", "label_value"):
        # The file's own text: the number 1.4 may have been written 1.40.
        text = texts.get(shown) or (str(given).lower() if isinstance(given, bool) else str(given))
        remedy = f'write "{text}"'
        if kind == "version_number":
            read = f"becomes the number {given}" if str(given) != text else "is a number"
            message = f"a version is text: unquoted, {text} {read}"
    elif kind == "bool_type" and (truth := _truth(given)):
        remedy = f"write {truth}"
    elif kind == "int_type" and isinstance(given, str) and given.isdigit():
        remedy = f"write {given} without quotes"
    elif kind == "string_too_short":
        message = f"a text of at least {detail.get('ctx', {}).get('min_length')} characters is needed"
        remedy = "say more"
    elif kind == "missing":
        given, remedy = "", f"add {path[-1]}"
    return Mistake(Finding("SET002", "error", shown, message, shortened(str(given)), remedy, SOURCE), tuple(path))


def _truth(given: Any) -> str:
    """true or false where the text says one of them, else ""."""
    text = given.lower() if isinstance(given, str) else ""
    return "true" if text in ("true", "yes", "on") else "false" if text in ("false", "no", "off") else ""


def _in_shape(kind: str, given: Any, model: type[BaseModel] | None) -> str:
    """The value as it was probably meant, where another shape says the same."""
    name = model.__name__ if model else ""
    if kind in NEEDED and isinstance(given, str) and looks_like_object(given):
        return "write it as YAML, without the quotes around it"
    if kind == "tuple_type" and isinstance(given, str):
        return f'write ["{given}"]'
    if name == "Nodes" and isinstance(given, int) and not isinstance(given, bool):
        return f"write {{count: {given}}}"
    if name == "Sharing" and (given is None or given in ("none", "off", False)):
        return "write {mode: exclusive}, or remove it"
    if name == "Sharing" and isinstance(given, str):
        return f"write {{mode: {given}}}"
    if kind == "string_type" and isinstance(given, Mapping) and {"key", "effect"} <= set(given):
        value = f"={given['value']}" if given.get("value") else ""
        return f'write "{given["key"]}{value}:{given["effect"]}"'
    return ""


def _path(detail: ErrorDetails) -> tuple[str | int, ...]:
    return tuple(_walk(detail["loc"], detail["type"] == "extra_forbidden")[0])


def _walk(location: tuple[int | str, ...], unknown_key: bool) -> tuple[list[str | int], type[BaseModel] | None]:
    """The path as the user wrote it, without pydantic's names of union members, and the innermost model.

    Of a key that no model has the last part is the key, even when it reads like the name of a type.
    """
    path: list[str | int] = []
    annotation: Any = Settings
    model: type[BaseModel] | None = Settings
    for index, part in enumerate(location):
        key_itself = unknown_key and index == len(location) - 1
        if several(annotation) and isinstance(part, str):
            annotation = named_member(annotation, part)  # of a union pydantic names the member first
            models = models_of(annotation)
            model = models[0] if models else model
            continue
        found = None if key_itself else step(annotation, part)
        if found is None:
            if isinstance(part, str) and part.startswith(SKIPPED) and not key_itself:
                continue
            path.append(part)
            continue
        key, annotation = found
        path.append(key)
        models = models_of(annotation)
        model = models[0] if models and not several(annotation) else model
    if path and len(path) > 1 and not unknown_key:
        model = model_at(Settings, path[:-1]) or model
    elif len(path) == 1:
        model = Settings
    return path, model


def shown_path(path: tuple[str | int, ...]) -> str:
    """aks-dra:pools.h100.vmSize, with list indices as numbers."""
    parts = [str(part) for part in path]
    if parts and ":" not in parts[0]:
        parts[0] = f"{NAMESPACE}:{parts[0]}"
    return ".".join(parts)
