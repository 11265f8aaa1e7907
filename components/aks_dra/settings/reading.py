"""Settings of what can be read of some values: one key that cannot be read must not hide what is wrong elsewhere.

The smallest part that cannot be read is left out: an unknown key, a value of the wrong type. Where something must
stand (an item of a list, a required key) an ordinary value stands in for it, so that the paths of everything else stay
as they are. `Unread` says which parts these are; planning looks at what else might stand there (`planning.worlds`).
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError
from pydantic.alias_generators import to_snake

from aks_dra.findings.finding import Finding
from aks_dra.settings.mistakes import NAMESPACE, SOURCE, mistakes_of, shown_path
from aks_dra.settings.samples import UNSET, samples
from aks_dra.settings.shape import Path, annotation_at, required
from aks_dra.settings.stack import Settings
from aks_dra.stackfile.entries import Unknown
from aks_dra.stackfile.plain import MAX_PROBLEMS, Reader

MOST_ROUNDS = 60
# Message, value and remedy of a value that only Pulumi can open.
ENCRYPTED = (
    "this value is encrypted, and planning needs to read it",
    "secure: …",
    "write it in plain text; no setting of aks-dra is a secret",
)


@dataclass(frozen=True)
class Unread:
    """What could not be read. `values` has everything else, with stand-ins that keep the numbers of lists' items."""

    paths: tuple[Path, ...] = ()
    meant: tuple[Path, ...] = ()  # settings that an unknown key was probably meant for
    values: Mapping[str, Any] = field(default_factory=dict)
    whole_file: bool = False  # a base file could not be read: it may set anything

    @property
    def shown(self) -> tuple[str, ...]:
        whole = [("base",)] if self.whole_file else []
        return tuple(sorted({shown_path(path) for path in (*self.paths, *whole)}))


@dataclass(frozen=True)
class Reading:
    """Settings without what could not be read, None where nothing could; and all that is wrong with the values."""

    settings: Settings | None
    findings: tuple[Finding, ...]
    unread: Unread = Unread()

    @property
    def whole(self) -> Settings | None:
        """The settings where all of them could be read."""
        return None if self.unread.paths or self.unread.whole_file else self.settings


def read_settings(
    values: Mapping[Any, Any],
    texts: Mapping[str, str],
    unread: Iterable[Path] = (),
    found: Iterable[Finding] = (),
    whole_file: bool = False,
) -> Reading:
    """`unread` are paths that were found unreadable before, by `found`."""
    findings, paths, meant = list(found), list(unread), []
    reader = Reader()
    plain = reader.read(values)
    findings += [
        Finding("SET004", "error", shown_path(p.path) or NAMESPACE, p.message, p.value, p.remedy, SOURCE)
        for p in reader.problems
    ]
    if len(reader.problems) >= MAX_PROBLEMS or any(not problem.path for problem in reader.problems):
        return Reading(None, tuple(findings))
    paths += [problem.path for problem in reader.problems]
    encrypted = sorted(_encrypted(plain), key=str)
    findings += [Finding("SET003", "error", shown_path(path), *ENCRYPTED, SOURCE) for path in encrypted]
    paths += encrypted
    for path in paths:
        _leave_out(plain, path)
    left: set[Path] = set(paths)
    for number in range(MOST_ROUNDS):
        try:
            settings = Settings.model_validate(plain)
        except ValidationError as error:
            mistakes = mistakes_of(error, texts)
            # Of later rounds nothing is said: they are about what stands in for something.
            findings += [mistake.finding for mistake in mistakes if number == 0]
            for mistake in mistakes:
                path = mistake.path
                while path in left:
                    path = path[:-1]
                if not path:
                    return Reading(None, tuple(findings))
                left.add(path)
                if number == 0:
                    paths.append(path)
                    meant += [mistake.meant] if mistake.meant else []
                _leave_out(plain, path)
            continue
        unmet = tuple(path for path in meant if not _there(plain, path) and annotation_at(Settings, path) is not None)
        told = Unread(tuple(dict.fromkeys(paths)), unmet, plain, whole_file)
        return Reading(_without_items(plain, paths) or settings, tuple(findings), told)
    return Reading(None, tuple(findings))


def put(values: Any, path: Path, value: Any) -> None:
    """Sets what stands at a path, under the spelling that is there; UNSET takes the key away."""
    for part in path[:-1]:
        key = _key(values, part)
        if isinstance(values, dict):
            values = values.setdefault(key, {})
        elif _has(values, key):
            values = values[key]
        else:
            return
    last = _key(values, path[-1])
    if isinstance(values, list) and _has(values, last):
        values[last] = None if value is UNSET else value
    elif isinstance(values, dict) and value is UNSET:
        values.pop(last, None)
    elif isinstance(values, dict):
        values[last] = value


def _leave_out(values: Any, path: Path) -> None:
    stand_in = samples(annotation_at(Settings, path))[0] if required(Settings, path) else UNSET
    if stand_in is UNSET and not _there(values, path):
        return  # nothing to take away, and no parents to make
    put(values, path, stand_in)


def _there(values: Any, path: Path) -> bool:
    return not path or (_has(values, key := _key(values, path[0])) and _there(values[key], path[1:]))


def _has(values: Any, key: Any) -> bool:
    if isinstance(values, list):
        return isinstance(key, int) and key < len(values)
    return isinstance(values, dict) and key in values


def _key(values: Any, part: str | int) -> Any:
    """The spelling that a map has: settings are camelCase, and snake_case in programs."""
    if isinstance(values, dict) and isinstance(part, str) and part not in values and to_snake(part) in values:
        return to_snake(part)
    return part


def _without_items(values: Any, paths: Iterable[Path]) -> Settings | None:
    """The settings without the stand-ins for items of lists."""
    items = sorted((path for path in paths if isinstance(path[-1], int)), key=lambda path: (len(path), path[-1]))
    if not items:
        return None
    shorter = copy.deepcopy(values)
    for path in reversed(items):
        holder = shorter
        for part in path[:-1]:
            key = _key(holder, part)
            holder = holder[key] if _has(holder, key) else None
        last = path[-1]
        if isinstance(holder, list) and isinstance(last, int) and _has(holder, last):
            del holder[last]
    try:
        return Settings.model_validate(shorter)
    except ValidationError:
        return None


def _encrypted(value: Any, path: Path = ()) -> list[Path]:
    if isinstance(value, Unknown):
        return [path]
    if isinstance(value, Mapping):
        return [found for key, inner in value.items() for found in _encrypted(inner, (*path, key))]
    if isinstance(value, list | tuple):
        return [found for index, inner in enumerate(value) for found in _encrypted(inner, (*path, index))]
    return []
