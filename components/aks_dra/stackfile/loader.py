"""Reads a stack file into exactly what a program gets from `pulumi.Config`, keeping the line of each value.

Plans, checks and the program itself must agree on what a stack says, with Pulumi and without it. So one loader
serves both: from the file alone (`load_stack_file`), and from what Pulumi hands to a running program
(`load_config_values`), where the file still gives the lines and says which parts are secret. Base files are merged
the same way in both. Whatever is in a file, the answer is a `Loaded` with its problems, never an exception.

Differences from Pulumi, all on the strict side: what it would drop without a word (unknown top-level keys), choose
at random (two spellings of a key) or alter (dates, a key 1.40) is a problem; a key of this package that is null or
empty text counts as not set. Limits: 1 MiB a file, 50 levels, 100,000 values and keys after aliases, 200 pools.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from aks_dra.stackfile import entries
from aks_dra.stackfile.basefiles import BASE, Bases, parsed, stacks_on
from aks_dra.stackfile.configkeys import NAMESPACE, STACK_KEYS, config_of, full_key, known_top
from aks_dra.stackfile.entries import UNKNOWN, Entry, Tables, Unknown, plain
from aks_dra.stackfile.jsontext import NotJson, loads
from aks_dra.stackfile.projectfile import Project, apply, find, load_project
from aks_dra.stackfile.source import LoadProblem, Position, Problems, file_lines, read
from aks_dra.stackfile.yamlvalue import evaluate

__all__ = [
    "UNKNOWN", "LoadProblem", "Loaded", "Position", "Unknown", "file_lines", "load_config_values", "load_stack_file",
]  # fmt: skip

MAX_POOLS = 200
POOLS = f"{NAMESPACE}:pools"


@dataclass(frozen=True)
class Loaded:
    """One stack's config. `positions`, `texts` and `unknown` are keyed by path: ("aks-dra:pools", "h100", "vmSize")."""

    config: Mapping[str, Any]
    positions: Mapping[tuple[str | int, ...], Position]
    unknown: frozenset[tuple[str | int, ...]]
    problems: tuple[LoadProblem, ...]
    project: str
    stack: str
    files: tuple[str, ...]
    texts: Mapping[tuple[str | int, ...], str]


@dataclass
class StackFile:
    """A stack file's own config, its environment, and whether it was there to read."""

    path: Path
    config: dict[str, Entry]
    environment: dict[str, Entry]


def load_stack_file(path: Path, project_file: Path | None = None) -> Loaded:
    """The stack of this file, with the project's config and the base files that it names."""
    path = Path(path)
    problems = Problems()
    project = project_of(path, project_file, problems)
    stack = stack_name(path, project, problems)
    own = read_stack(path, project.name, problems)
    if own is None:
        return result({}, problems, project, stack, [str(path)])
    config = laid_config(own.config, own.environment)
    return finish(apply(project, config, stack, problems), path, project, stack, problems)


def load_config_values(
    config: Mapping[str, str], secret_keys: Collection[str], project: str, stack: str, project_dir: Path
) -> Loaded:
    """The same from what Pulumi gives a running program: texts by key, and the keys that hold a secret."""
    problems = Problems()
    project_file = find(Path(project_dir))
    about = Project(project, folder=Path(project_dir))
    if project_file is not None:
        about = load_project(project_file, problems)
    suffix = project_file.suffix if project_file is not None else ".yaml"
    path = (about.stack_folder or Path(project_dir)) / f"Pulumi.{stack}{suffix}"
    known: dict[str, Entry] = {}
    if path.is_file():
        own = read_stack(path, project, problems)
        known = {} if own is None else laid_config(own.config, own.environment)
    known = apply(about, known, stack, Problems())  # Pulumi has refused what it does not like
    values = {}
    for key, text in sorted(config.items()):
        name = full_key(key, project) or key
        values[name] = at_run_time(known.get(name), name, text, key in secret_keys)
    return finish(values, path, about, stack, problems)


def at_run_time(known: Entry | None, key: str, text: str, secret: bool) -> Entry:
    """One value of the run: the file's when it says the same, else the text's own meaning."""
    if known is not None and isinstance(known.value, Unknown):
        return known
    scalar = known is not None and not isinstance(known.value, dict | list)
    if known is not None and scalar and entries.scalar_text(known.value) == text:
        return known
    position = known.position if known is not None else None
    try:
        value: Any = loads(text)
    except NotJson:
        value = text
    if not key.startswith(f"{NAMESPACE}:") and not isinstance(value, dict | list):
        value = text  # what is not ours stays as its provider gets it
    found = entries.overlay(known, value, secret, position)
    return found if isinstance(found.value, dict | list | Unknown) else Entry(found.value, found.position, text)


def project_of(path: Path, project_file: Path | None, problems: Problems) -> Project:
    found = project_file if project_file is not None else find(path.absolute().parent)
    if found is not None:
        return load_project(found, problems)
    problems.add(
        "LOAD030",
        "there is no Pulumi.yaml in the stack file's folder or above it",
        f"write one (`name: {NAMESPACE}`, `runtime: python`), or name it",
        Position(str(path), 1),
    )
    return Project(folder=path.absolute().parent, stack_folder=path.absolute().parent)


def stack_name(path: Path, project: Project, problems: Problems) -> str:
    """`dev` for Pulumi.dev.yaml; a warning where Pulumi would not find the file under that name."""
    name, where = path.stem, Position(str(path), 1)
    if name.startswith("Pulumi.") and len(name) > len("Pulumi.") and path.suffix in (".yaml", ".yml", ".json"):
        name = name.removeprefix("Pulumi.")
    else:
        message = f"{path.name} is not named as Pulumi names the file of a stack"
        remedy = "name it Pulumi.<stack>.yaml"
        if users := stacks_on(path, project.stack_folder or path.parent, project.name):
            build = "builds" if len(users) == 1 else "build"
            remedy = f"check {' or '.join(users)} instead, which {build} on it: it is a base file"
        problems.add("LOAD024", message, remedy, where, value=path.name)
        return name
    folder = project.stack_folder
    if folder is not None and project.file and path.is_file() and folder.resolve() != path.absolute().parent.resolve():
        message = f"Pulumi looks for stack files in {folder}"
        problems.add("LOAD024", message, "move the file there, or set stackConfigDir", where, value=str(path.parent))
    elif project.file and Path(project.file).suffix != path.suffix:
        suffix = Path(project.file).suffix
        message = f"beside {Path(project.file).name} Pulumi looks for Pulumi.{name}{suffix}"
        problems.add("LOAD024", message, f"rename it to Pulumi.{name}{suffix}", where, value=path.name)
    return name


def read_stack(path: Path, project: str, problems: Problems) -> StackFile | None:
    """The stack file's own content; None when there is nothing to go on with."""
    source = read(path, problems)
    if source is None:
        return None
    root = evaluate(source, problems)
    if root is None or root.value is None:
        return StackFile(path, {}, {}) if not problems.found else None
    if not isinstance(root.value, dict):
        message, remedy = "a stack file is a map", "write the settings below `config:`"
        problems.add("LOAD017", message, remedy, source.at(1), value=root.text or "")
        return None
    parts = root.value
    known_top(parts, STACK_KEYS, "a stack file", problems)
    for key in ("secretsprovider", "encryptedkey", "encryptionsalt"):
        if key in parts and isinstance(parts[key].value, dict | list | Unknown):
            problems.add("LOAD017", f"{key} is not text", "write what Pulumi wrote", parts[key].position, path=key)
    config = config_of(parts, project, problems)
    for key, entry in config.items():
        if key.startswith(f"{NAMESPACE}:"):
            config[key] = parsed(key, entry, problems)
        elif entry.value is None:
            config[key] = Entry("", entry.position, "")  # as Pulumi does
    environment = environment_of(parts["environment"], project, problems) if "environment" in parts else {}
    return StackFile(path, config, environment)


def environment_of(entry: Entry, project: str, problems: Problems) -> dict[str, Entry]:
    """Warns of what environments may set, and gives what the file's own definition surely sets, unknown."""
    value = entry.value
    if value is None:
        return {}
    parts = value if isinstance(value, dict) else {}
    imports = parts.get("imports", Entry(None, None)).value if isinstance(value, dict) else value
    names = []
    for item in imports if isinstance(imports, list) else []:
        names.append(next(iter(item.value)) if isinstance(item.value, dict) and item.value else str(item.text or ""))
    values = parts.get("values", Entry(None, None)).value
    own = values.get("pulumiConfig", Entry(None, None)) if isinstance(values, dict) else Entry(None, None)
    found: dict[str, Entry] = {}
    for key, child in (own.value if isinstance(own.value, dict) else {}).items():
        name = full_key(key, project)
        if name is not None:
            found[name] = unknown_leaves(child)
    what = f"the environment{'s' if len(names) > 1 else ''} {', '.join(names)}" if names else "the stack's environment"
    problems.add(
        "LOAD023",
        f"{what} may set more; those values are known only when Pulumi runs",
        "nothing, if that is meant; what a check needs to see must be in the stack file",
        entry.position,
        path="environment",
        value=", ".join(names),
    )
    return found


def unknown_leaves(entry: Entry) -> Entry:
    """An environment's value: its maps are as written, unless a function makes them; all else is unknown."""
    if isinstance(entry.value, dict) and not any(key.startswith("fn::") for key in entry.value):
        return Entry({key: unknown_leaves(child) for key, child in entry.value.items()}, entry.position)
    return Entry(UNKNOWN, entry.position)


def laid_config(config: dict[str, Entry], environment: dict[str, Entry]) -> dict[str, Entry]:
    """The stack's config on its environment's. Here null does not remove: Pulumi keeps it."""

    merged = entries.merge(Entry(config, None), Entry(environment, None)).value
    return merged if isinstance(merged, dict) else {}


def finish(config: dict[str, Entry], path: Path, project: Project, stack: str, problems: Problems) -> Loaded:
    """Bases under the config, limits over it, tables out of it."""
    named = config.get(BASE)
    for key, entry in config.items():
        if key.startswith(f"{NAMESPACE}:"):
            config[key] = parsed(key, entry, problems)
    bases = Bases(project.folder or path.parent, project.name, problems)
    beside = path.parent
    if named is not None and named.position is not None:
        beside = Path(named.position.file).parent
    merged = bases.under(config, beside)
    if merged is not config:
        from_project = {key.name: key for key in project.declared if key.given is not None}
        for key, entry in config.items():
            declared = from_project.get(key)
            below = bases.lowest.get(key)
            if declared is not None and below is not None and entry.position == declared.position:
                message = f"Pulumi.yaml sets {key} for every stack, and so wins over the base file"
                problems.add("LOAD045", message, "set it in one of the two", below.position, path=key)
    pools = merged.get(POOLS)
    if pools is not None and isinstance(pools.value, dict) and len(pools.value) > MAX_POOLS:
        message = f"the stack has {len(pools.value)} pools; the limit is {MAX_POOLS}"
        problems.add("LOAD022", message, "spread them over several clusters", pools.position, path=POOLS)
        merged = {key: entry for key, entry in merged.items() if key != POOLS}
    files = [str(path), *([project.file] if project.file else []), *bases.files]
    return result(merged, problems, project, stack, files)


def result(config: dict[str, Entry], problems: Problems, project: Project, stack: str, files: list[str]) -> Loaded:
    tables = Tables({}, {}, set())
    values = {}
    for key, entry in config.items():
        if key.startswith(f"{NAMESPACE}:") and (entry.value is None or entry.value == ""):
            continue
        values[key] = plain(entry)
        entries.flatten(entry, (key,), tables)
    return Loaded(
        MappingProxyType(values),
        MappingProxyType(tables.positions),
        frozenset(tables.unknown),
        problems.sorted(),
        project.name,
        stack,
        tuple(files),
        MappingProxyType(tables.texts),
    )
