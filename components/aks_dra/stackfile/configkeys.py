"""The `config:` part of a file: which key is meant, and which keys a file may have.

Pulumi puts the project's name before a key that has no namespace, and accepts the old `<namespace>:config:<name>`.
Two spellings of one key in a file make Pulumi choose at random, so that is refused here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from aks_dra.findings.build import nearest
from aks_dra.stackfile.entries import Entry
from aks_dra.stackfile.source import Problems

NAMESPACE = "aks-dra"
"""The namespace that this package reads."""

STACK_KEYS = ("config", "encryptedkey", "encryptionsalt", "environment", "secretsprovider")
"""The top-level keys of a stack file; the ones about encryption mean nothing here."""

KEY_FORM = "write `<namespace>:<name>`, or `<name>` for the project's own"
_OLD_NAME = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)


def closest(word: str, known: Iterable[str]) -> str:
    """The words of a did-you-mean, or none."""
    found = nearest(word, known)
    return f"did you mean {found!r}? " if found else ""


def full_key(key: str, project: str) -> str | None:
    """`<namespace>:<name>` for a key as written; None when it is no configuration key."""
    parts = key.split(":")
    if len(parts) == 1:
        return f"{project}:{key}"
    if len(parts) == 2:
        return key
    if len(parts) == 3 and parts[1] == "config" and parts[0] and _OLD_NAME.fullmatch(parts[2]):
        return f"{parts[0]}:{parts[2]}"
    return None


def known_top(parts: dict[str, Entry], known: Iterable[str], what: str, problems: Problems) -> None:
    """Refuses top-level keys that Pulumi would pass over in silence."""
    allowed = tuple(known)
    for key, entry in parts.items():
        if key not in allowed:
            remedy = f"{closest(key, allowed)}allowed are {', '.join(allowed)}"
            if ":" in key and full_key(key, NAMESPACE) is not None:
                remedy = f"put it under config:, indented: `config:`, and below it `  {key}: …`"
            problems.add(
                "LOAD017",
                f"{what} has no top-level key {key!r}; Pulumi would ignore it",
                remedy,
                entry.position,
                path=key,
                value=key,
            )


def config_of(parts: dict[str, Entry], project: str, problems: Problems) -> dict[str, Entry]:
    """The entries under `config:` by their full key."""
    config = parts.get("config")
    if config is None or config.value is None:
        return {}
    if not isinstance(config.value, dict):
        message, remedy, given = "`config` is not a map", "indent the settings below `config:`", config.text or ""
        problems.add("LOAD018", message, remedy, config.position, path="config", value=given)
        return {}
    found: dict[str, Entry] = {}
    for key, entry in config.value.items():
        name = full_key(key, project)
        if name is None:
            message = f"{key!r} is not a configuration key"
            problems.add("LOAD019", message, KEY_FORM, entry.position, path=key, value=key)
        elif name in found:
            problems.add(
                "LOAD020",
                f"{key!r} sets {name}, which is set already at {found[name].position}; Pulumi takes either",
                "keep one of the two",
                entry.position,
                path=name,
                value=key,
            )
        else:
            found[name] = entry
    return found
