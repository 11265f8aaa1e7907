"""Workload files to manifests: YAML with several documents, JSON, and the List kind.

Scalars mean what they mean to kubectl, whose reader is YAML 1.1 without times and numbers of base 60: dates and
`12:30` stay texts, `yes` and `on` are booleans.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

MAX_BYTES = 4 * 1024 * 1024
MAX_DEPTH = 60
MAX_VALUES = 200_000


class WorkloadError(Exception):
    """A workload file cannot be used. The text says which, where and why."""


@dataclass(frozen=True)
class Manifest:
    """One object of a file, as it was written. `where` is for people: file, and document when it has several."""

    where: str
    content: dict[str, Any]

    @property
    def kind(self) -> str:
        return str(self.content.get("kind") or "")

    @property
    def api_version(self) -> str:
        return str(self.content.get("apiVersion") or "")

    @property
    def metadata(self) -> dict[str, Any]:
        found = self.content.get("metadata")
        return found if isinstance(found, dict) else {}

    @property
    def name(self) -> str:
        return str(self.metadata.get("name") or "")

    @property
    def namespace(self) -> str:
        return str(self.metadata.get("namespace") or "")

    @property
    def spec(self) -> dict[str, Any]:
        found = self.content.get("spec")
        return found if isinstance(found, dict) else {}


class _Loader(yaml.SafeLoader):
    """Safe, and without what YAML 1.1 makes of dates and times."""


_Loader.yaml_implicit_resolvers = {
    letter: [
        (tag, pattern)
        for tag, pattern in entries
        if tag not in ("tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:int")
    ]
    for letter, entries in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:int",
    re.compile(r"^[-+]?(0b[01_]+|0[0-7_]+|0x[0-9a-fA-F_]+|0|[1-9][0-9_]*)$"),
    list("-+0123456789"),
)


def read_files(files: list[Path]) -> list[Manifest]:
    """Every object of every file, in order."""
    return [manifest for file in files for manifest in read_file(file)]


def read_file(file: Path) -> list[Manifest]:
    try:
        if file.stat().st_size > MAX_BYTES:
            raise WorkloadError(f"{file}: larger than {MAX_BYTES} bytes")
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise WorkloadError(f"{file}: {getattr(error, 'strerror', None) or 'not UTF-8 text'}") from None
    return read_text(text, str(file))


def read_text(text: str, name: str) -> list[Manifest]:
    try:
        documents = list(yaml.load_all(text, Loader=_Loader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f":{mark.line + 1}" if mark else ""
        raise WorkloadError(f"{name}{place}: no YAML: {error.problem or error}") from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        reason = "nested too deep" if isinstance(error, RecursionError) else str(error).splitlines()[0]
        raise WorkloadError(f"{name}: no YAML: {reason}") from None
    found: list[Manifest] = []
    several = sum(document is not None for document in documents) > 1
    for number, document in enumerate(documents, 1):
        if document is not None:
            found += _objects(document, f"{name}, document {number}" if several else name)
    return found


def _objects(document: Any, where: str) -> Iterator[Manifest]:
    if not isinstance(document, dict):
        raise WorkloadError(f"{where}: a Kubernetes object is a map, this is {_what(document)}")
    if problem := _problem(document):
        raise WorkloadError(f"{where}: {problem}")
    if document.get("kind") == "List" or (str(document.get("kind", "")).endswith("List") and "items" in document):
        items = document.get("items") or []
        if not isinstance(items, list):
            raise WorkloadError(f"{where}: items of a List are a list, this is {_what(items)}")
        for number, item in enumerate(items):
            yield from _objects(item, f"{where}, items[{number}]")
        return
    manifest = Manifest(where, document)
    if not manifest.kind or not manifest.api_version:
        raise WorkloadError(f"{where}: no Kubernetes object: apiVersion and kind are missing")
    yield manifest


def _problem(value: Any) -> str:
    """Whether a document is too much: nested too deep (or within itself), or too large once aliases are written out."""
    count, level = 0, [value]
    for _ in range(MAX_DEPTH):
        inner: list[Any] = []
        for item in level:
            inner += item.values() if isinstance(item, dict) else item if isinstance(item, list) else ()
            if count + len(inner) > MAX_VALUES:
                return f"more than {MAX_VALUES} values, aliases written out"
        count, level = count + len(inner), inner
        if not level:
            return ""
    return f"nested deeper than {MAX_DEPTH} levels, or within itself"


def _what(value: Any) -> str:
    return {list: "a list", str: "a text", bool: "a boolean", int: "a number", float: "a number"}.get(
        type(value), type(value).__name__
    )
