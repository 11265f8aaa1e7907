"""`aks-dra:base`: what several environments share, in files that a stack names.

A base file has the shape of a stack file. Later files win over earlier ones, the stack over all; maps are merged
key by key, lists replace, null removes. Pulumi knows nothing of bases: it can neither decrypt a secret in one nor
hand a provider its settings from one, so both are refused here instead of being lost without a word.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from aks_dra.stackfile.configkeys import NAMESPACE, config_of, known_top
from aks_dra.stackfile.entries import Entry, Unknown, from_plain, merge, without_nulls
from aks_dra.stackfile.jsontext import NotJson, loads, looks_like_object
from aks_dra.stackfile.source import Position, Problems, read
from aks_dra.stackfile.yamlvalue import evaluate

BASE = f"{NAMESPACE}:base"
MAX_CHAIN = 20
"""Bases of bases. Two levels (a company's, a region's) are the most that anybody can follow."""
MOST_STACKS = 50
"""How many stack files are asked whether they name a base."""


@dataclass
class Bases:
    """Reads base files, each one once."""

    folder: Path
    project: str
    problems: Problems
    files: list[str] = field(default_factory=list)
    done: dict[Path, dict[str, Entry]] = field(default_factory=dict)
    lowest: dict[str, Entry] = field(default_factory=dict)

    def under(self, config: dict[str, Entry], beside: Path, chain: tuple[Path, ...] = ()) -> dict[str, Entry]:
        """`config` laid on the bases that it names; `beside` is the folder of the file that names them."""
        named = config.get(BASE)
        if named is None or named.value is None:
            return config
        below: dict[str, Entry] = {}
        for name, position in self.names(named):
            found = self.load(name, position, beside, chain)
            below = laid(found, below)
        below.pop(BASE, None)
        merged = laid(config, below)
        if chain:
            return merged
        self.lowest = below
        return {key: without_nulls(entry) for key, entry in merged.items()}

    def names(self, entry: Entry) -> list[tuple[str, Position | None]]:
        items = entry.value if isinstance(entry.value, list) else [entry]
        found: list[tuple[str, Position | None]] = []
        for item in items:
            if isinstance(item.value, str) and item.value.strip() and "\0" not in item.value:
                found.append((item.value, item.position or entry.position))
            else:
                self.refuse("LOAD040", "a base is the path of a file", "write `[common.yaml]`", item, item.text or "")
        return found

    def refuse(self, code: str, message: str, remedy: str, entry: Entry, value: str, path: str = BASE) -> None:
        self.problems.add(code, message, remedy, entry.position, path=path, value=value)

    def load(self, name: str, position: Position | None, beside: Path, chain: tuple[Path, ...]) -> dict[str, Entry]:
        """One base file with its own bases under it; empty when it cannot be used."""
        here = Entry(name, position)
        relative = "paths are relative to the file that names them"
        try:
            path = (beside / name).resolve()
            inside = path.is_relative_to(self.folder.resolve())
            exists = path.is_file()
        except (OSError, ValueError, RuntimeError) as reason:
            self.refuse("LOAD041", f"the base file {name!r} cannot be read: {reason}", relative, here, name)
            return {}
        if not inside:
            message = f"the base file {name!r} is outside of the project's folder {self.folder}"
            self.refuse("LOAD042", message, "move it into the folder of Pulumi.yaml", here, name)
            return {}
        if path in chain or len(chain) >= MAX_CHAIN:
            names = " → ".join(file.name for file in (*chain, path))
            self.refuse("LOAD043", f"base files name each other in a circle: {names}", "break the circle", here, name)
            return {}
        if not exists:
            self.refuse("LOAD041", f"the base file {path} does not exist", relative, here, name)
            return {}
        if path not in self.done:
            self.files.append(str(path))
            self.done[path] = self.under(self.content(path), path.parent, (*chain, path))
        return self.done[path]

    def content(self, path: Path) -> dict[str, Entry]:
        source = read(path, self.problems)
        root = evaluate(source, self.problems) if source is not None else None
        if source is None or root is None or root.value is None:
            return {}
        if not isinstance(root.value, dict):
            message, remedy = "a base file is a map with `config:`", "write it as a stack file"
            self.problems.add("LOAD017", message, remedy, source.at(1), value=root.text or "")
            return {}
        known_top(root.value, ("config",), "a base file", self.problems)
        kept: dict[str, Entry] = {}
        for key, entry in config_of(root.value, self.project, self.problems).items():
            if not key.startswith(f"{NAMESPACE}:"):
                message = f"Pulumi hands {key} to its provider from the stack file alone; a base cannot set it"
                self.refuse("LOAD044", message, f"move {key} to the stack file", entry, entry.text or "", key)
                continue
            entry = parsed(key, entry, self.problems)
            secret = first_unknown(entry)
            if secret is not None:
                message = "Pulumi decrypts only what is in the stack file; a secret in a base stays encrypted"
                self.refuse("LOAD044", message, "move the secret to the stack files", secret, "", key)
                continue
            kept[key] = entry
        return kept


def stacks_on(path: Path, folder: Path, project: str) -> list[str]:
    """The stack files beside a file, or in the project's folder for them, that name it as a base."""
    places = {path.parent.absolute(), folder.absolute()}
    files = sorted(file for place in places for file in place.glob("Pulumi.*.yaml"))
    return [file.name for file in files[:MOST_STACKS] if _builds_on(file, path, project)]


def _builds_on(file: Path, path: Path, project: str) -> bool:
    unheard = Problems()
    source = read(file, unheard)
    root = evaluate(source, unheard) if source is not None else None
    if root is None or not isinstance(root.value, dict):
        return False
    named = config_of(root.value, project, unheard).get(BASE)
    entries = [] if named is None else named.value if isinstance(named.value, list) else [named]
    try:
        return any(
            isinstance(entry.value, str) and (file.parent / entry.value).resolve() == path.resolve()
            for entry in entries
        )
    except (OSError, ValueError, RuntimeError):
        return False  # a name that is no path has a finding where that file is checked


def laid(over: dict[str, Entry], under: dict[str, Entry]) -> dict[str, Entry]:
    """Configs merged key by key. Empty text at the top removes, as null does: Pulumi makes the one of the other."""
    emptied = {key: Entry(None, entry.position) if entry.value == "" else entry for key, entry in over.items()}
    merged = merge(Entry(emptied, None), Entry(under, None)).value
    return merged if isinstance(merged, dict) else {}


def parsed(key: str, entry: Entry, problems: Problems) -> Entry:
    """A value of this package that was written as JSON text, read."""
    if not isinstance(entry.value, str) or not looks_like_object(entry.value):
        return entry
    try:
        return from_plain(loads(entry.value), entry.position)
    except NotJson as reason:
        remedy = "write it as YAML, without the quotes around it"
        problems.add("LOAD021", f"this text is not JSON: {reason}", remedy, entry.position, path=key, value=entry.value)
        return Entry(None, entry.position, entry.text)


def first_unknown(entry: Entry) -> Entry | None:
    children: list[Entry] = []
    if isinstance(entry.value, Unknown):
        return entry
    if isinstance(entry.value, dict):
        children = list(entry.value.values())
    elif isinstance(entry.value, list):
        children = entry.value
    for child in children:
        found = first_unknown(child)
        if found is not None:
            return found
    return None
