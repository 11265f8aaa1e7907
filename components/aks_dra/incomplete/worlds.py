"""Which findings are certain although something of the settings could not be read.

What could not be read is left out, and left out it can look like another mistake: a pool without its VM size serves no
class, so every claim of that class would seem to ask for nothing. No rule says which others it rests on. So the stack
is planned again with several values for what could not be read, and a finding is certain that is there with each of
them. A world is the stack with one such set of values.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from aks_dra.cel import CompileError, compile_expression
from aks_dra.context.previous import Previous
from aks_dra.facts import Facts, load_facts
from aks_dra.findings.finding import Finding
from aks_dra.incomplete.guesses import ANY_DEVICE, Guesses, more_pools
from aks_dra.kube.versions import minor
from aks_dra.model.plan import Plan
from aks_dra.settings import Settings
from aks_dra.settings.mistakes import NAMESPACE, shown_path
from aks_dra.settings.reading import Unread, put
from aks_dra.settings.shape import Path, annotation_at, models_of
from aks_dra.topics.classes.intents import problems

MOST = 6
"""Worlds that one plan is made for: each costs as much as the plan itself."""

Key = tuple[str, str]


def whole_unread(settings: Settings, unread: Unread | None) -> Unread | None:
    """What was not read, and conditions that are read and say nothing; None when there is neither."""
    found = tuple(_conditions(settings))
    unread = unread or Unread()
    if not (found or unread.paths or unread.whole_file):
        return None
    values = unread.values or settings.model_dump(exclude_unset=True, by_alias=True)
    return replace(unread, paths=tuple(dict.fromkeys((*unread.paths, *found))), values=values)


def _conditions(settings: Settings) -> Iterator[Path]:
    """Paths of what classes and claims require that is no condition: it may mean any device, or none."""
    for name, entry in settings.device_classes.items():
        path: Path = ("deviceClasses", name)
        yield from ((*path, "require", problem.key) for problem in problems(entry.require))
        yield from _no_cel((*path, "cel"), entry.cel)
    for namespace, claims in settings.claims.items():
        for name, claim in claims.items():
            path = ("claims", namespace, name)
            holders = [(path, claim)]
            holders += [((*path, "requests", key), request) for key, request in claim.requests.items()]  # type: ignore[misc]
            for where, holder in holders:
                yield from _no_cel((*where, "cel"), holder.cel)
                for index, ask in enumerate(holder.first_available):
                    yield from _no_cel((*where, "firstAvailable", index, "cel"), ask.cel)


def _no_cel(path: Path, texts: tuple[str, ...]) -> Iterator[Path]:
    version = minor(load_facts().kubernetes.default)
    for index, text in enumerate(texts):
        if isinstance(compile_expression(text, version), CompileError):
            yield (*path, index)


def certain(
    shown: Plan,
    settings: Settings,
    unread: Unread,
    plan_of: Callable[[Settings], Plan],
    facts: Facts,
    previous: Previous | None,
) -> tuple[Finding, ...]:
    """The findings of the plan that are there whatever stands where something could not be read."""
    about = _About(unread)
    own = tuple(f for f in shown.findings if about(f) and f.code in OF_CONDITIONS)
    items = any(isinstance(path[-1], int) for path in unread.paths)  # which moves those after them
    if not items and all(about(finding) for finding in shown.findings):
        return own
    kept: dict[Key, frozenset[Finding]] | None = None
    first: dict[Key, list[Finding]] = {}
    for world in _worlds(settings, unread, facts, shown, previous):
        found: dict[Key, list[Finding]] = {}
        for finding in plan_of(world).findings:
            if not about(finding):
                found.setdefault((finding.code, finding.path), []).append(finding)
        if kept is None:
            first = found
            kept = {key: frozenset(listed) for key, listed in found.items()}
        else:
            kept = {key: listed & frozenset(found[key]) for key, listed in kept.items() if key in found}
        if not kept:
            break
    kept = kept or {}
    of_shown: dict[Key, list[Finding]] = {}
    for finding in shown.findings:
        of_shown.setdefault((finding.code, finding.path), []).append(finding)
    # Worded alike in every world, or else as of what could be read.
    result = [f for key, alike in kept.items() for f in (alike or of_shown.get(key) or first[key])]
    if unread.whole_file:  # a path that no file sets may be set in the one that could not be read
        result = [finding for finding in result if _written(finding.path, unread.values)]
    return (*own, *result)


OF_CONDITIONS = ("CLS001", "CLS004", "CLM017")
"""What is said of conditions that say nothing: of these alone more than "cannot be read" is said."""


class _About:
    """Whether a finding is at something that could not be read, or below it."""

    def __init__(self, unread: Unread) -> None:
        self.paths = {shown_path(path) for path in (*unread.paths, *unread.meant)}
        self.below = tuple(f"{path}." for path in self.paths)
        self.settings = [shown_path(path) for path in (*unread.paths, *unread.meant) if _is_setting(path)]

    def __call__(self, finding: Finding) -> bool:
        if finding.path in self.paths or finding.path.startswith(self.below):
            return True
        # Whether something changed cannot be said of a part of it.
        holder = f"{finding.path}."
        return finding.code.startswith("CHG") and any(path.startswith(holder) for path in self.settings)


def _is_setting(path: Path) -> bool:
    """Whether it may have a value at all: an unknown key has none."""
    return annotation_at(Settings, path) is not None or not models_of(annotation_at(Settings, path[:-1]))


def _written(path: str, values: Any) -> bool:
    rest = path.removeprefix(f"{NAMESPACE}:")
    while rest:
        if isinstance(values, list | tuple):
            values = {str(index): value for index, value in enumerate(values)}
        keys = values if isinstance(values, Mapping) else ()
        key = next((key for key in keys if rest == key or rest.startswith(f"{key}.")), None)
        if key is None:
            return False
        values, rest = values[key], rest[len(key) + 1 :]
    return True


def _worlds(
    settings: Settings, unread: Unread, facts: Facts, shown: Plan, previous: Previous | None
) -> Iterator[Settings]:
    """The stack with the first value for everything that was not read, with the second, and so on."""
    guesses = Guesses(settings, unread.values, facts, shown, previous)
    paths = [path for path in (*unread.paths, *unread.meant) if _is_setting(path)]
    if unread.whole_file:
        keys = [field.alias or name for name, field in Settings.model_fields.items()]
        paths += [(key,) for key in keys if key not in unread.values]
    values = {path: guesses.of(path) for path in paths}
    number = min(max((len(found) for found in values.values()), default=1), MOST)
    for index in range(number):
        world = copy.deepcopy(dict(unread.values))
        for path, found in values.items():
            if found:
                put(world, path, copy.deepcopy(found[index % len(found)]))
        if (read := _settings(world)) is not None:
            yield read
    if unread.whole_file or any(path[0] in ("pools", "testPool") for path in paths):
        world = copy.deepcopy(dict(unread.values))
        for path, found in values.items():
            if found:
                put(world, path, copy.deepcopy(found[0]))
        more = [*paths, ("pools",)] if unread.whole_file else paths
        world["pools"] = {**world.get("pools", {}), **more_pools(facts, world, more, guesses.wanted)}
        if unread.whole_file:
            classes = dict.fromkeys(guesses.wanted, ANY_DEVICE)
            world["deviceClasses"] = {**classes, **world.get("deviceClasses", world.get("device_classes", {}))}
        if (read := _settings(world)) is not None:
            yield read


def _settings(values: Mapping[str, Any]) -> Settings | None:
    try:
        return Settings.model_validate(values)
    except ValidationError:
        return None
