"""Pulumi.yaml: the project's name, where its stack files are, and what its `config:` gives to every stack.

Pulumi lays the project's config under the stack's: a key of the project's own namespace is a declaration
(`type`, `default`, `items`, `secret`), any other is a `value`; a plain value is short for one or the other. A key's
name is a path (`cluster.kubernetesVersion`). What is declared without a default must be set by the stack, and of the
declared type. A program then cannot tell the two apart, so neither does this package.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

from aks_dra.stackfile.configkeys import KEY_FORM, NAMESPACE, full_key
from aks_dra.stackfile.entries import Entry, Unknown, plain, scalar_text
from aks_dra.stackfile.source import Position, Problems, read
from aks_dra.stackfile.yamlvalue import evaluate

FILE_NAMES = ("Pulumi.json", "Pulumi.yaml", "Pulumi.yml")
"""In the order in which Pulumi looks for them."""

DECLARATION = ("type", "items", "description", "secret", "default", "value")
TYPES = ("string", "integer", "boolean", "array", "object")
_STEP = re.compile(r'\.?(?:([^.\[\]"]+)|\[(\d+)\]|\["((?:[^"\\]|\\.)*)"\])')


@dataclass(frozen=True)
class Declared:
    """One key of the project's config."""

    name: str
    path: tuple[str | int, ...]
    given: Entry | None
    type_name: str | None
    items: Entry | None
    secret: bool
    own: bool
    position: Position | None


@dataclass(frozen=True)
class Project:
    """What the loader needs of a project; without a Pulumi.yaml, the package's own name and no config."""

    name: str = NAMESPACE
    file: str = ""
    folder: Path | None = None
    stack_folder: Path | None = None
    declared: tuple[Declared, ...] = field(default=())


def find(start: Path) -> Path | None:
    """The nearest project file at or above a folder."""
    for folder in (start, *start.parents):
        for name in FILE_NAMES:
            if (folder / name).is_file():
                return folder / name
    return None


def load_project(path: Path, problems: Problems) -> Project:
    folder = path.parent
    source = read(path, problems)
    root = evaluate(source, problems) if source is not None else None
    if source is None or root is None or not isinstance(root.value, dict):
        if not problems.found:
            remedy = "write at least `name: aks-dra` and `runtime: python`"
            problems.add("LOAD030", "Pulumi.yaml is not a map", remedy, Position(str(path), 1))
        return Project(file=str(path), folder=folder)
    parts = root.value
    name = parts.get("name")
    if name is None or not isinstance(name.value, str) or not name.value:
        where = name.position if name is not None else Position(str(path), 1)
        problems.add("LOAD030", "Pulumi.yaml gives no `name`", "write `name: aks-dra`", where, path="name")
        name = Entry(NAMESPACE, where)
    config, stack_dir = parts.get("config"), parts.get("stackConfigDir")
    if config is not None and isinstance(config.value, str):  # the old spelling of stackConfigDir
        config, stack_dir = None, config
    stack_folder = folder
    if stack_dir is not None and isinstance(stack_dir.value, str) and stack_dir.value:
        stack_folder = folder / stack_dir.value
    project = str(name.value)
    declared: list[Declared] = []
    if config is not None and isinstance(config.value, dict):
        for key, entry in sorted(config.value.items()):
            found = declaration(key, entry, project, problems)
            if found is not None:
                declared.append(found)
    elif config is not None and config.value is not None:
        problems.add("LOAD031", "`config` in Pulumi.yaml is not a map", KEY_FORM, config.position, path="config")
    return Project(project, str(path), folder, stack_folder, tuple(declared))


def declaration(key: str, entry: Entry, project: str, problems: Problems) -> Declared | None:
    """One key of the project's config, or None with the reason among the problems."""

    def refuse(message: str, remedy: str) -> None:
        problems.add("LOAD031", message, remedy, entry.position, path=key, value=entry.text or "")

    name = full_key(key, project)
    path = key_path(name.partition(":")[2]) if name is not None else None
    if name is None or path is None:
        refuse(f"{key!r} is not a configuration key", KEY_FORM)
        return None
    own = ":" not in key or key.startswith(project + ":")
    full = name.partition(":")[0] + ":" + str(path[0])
    if not isinstance(entry.value, dict):
        if entry.value is None or isinstance(entry.value, float | Unknown):
            refuse(f"{key!r} is neither text, a whole number, true, false nor a list", "write `{value: ...}`")
            return None
        return Declared(full, path, entry, None, None, False, own, entry.position)
    parts = entry.value
    strange = [part for part in parts if part not in DECLARATION]
    kind = parts.get("type")
    given = [parts[part] for part in ("value", "default") if part in parts and parts[part].value is not None]
    if strange:
        refuse(f"{key!r} has {', '.join(map(repr, strange))}, which a project's config does not know",
               "put the map below `default:`" if own else "put the map below `value:`")  # fmt: skip
    elif kind is not None and kind.value not in TYPES:
        refuse(f"{key!r} has the type {kind.text!r}", f"write one of {', '.join(TYPES)}")
    elif len(given) > 1:
        refuse(f"{key!r} has both a default and a value", "keep one of the two")
    elif not own and (kind is not None or "default" in parts or not given):
        refuse(f"{key!r} is not of the project's namespace and needs `value` alone", "write `{value: ...}`")
    elif own and kind is not None and kind.value == "array" and "items" not in parts:
        refuse(f"{key!r} is an array without `items`", "write `items: {type: string}`, or what the items are")
    else:
        secret = "secret" in parts and parts["secret"].value is True
        type_name = str(kind.value) if kind is not None else None
        items, value = parts.get("items"), given[0] if given else None
        found = Declared(full, path, value, type_name, items, secret, own, entry.position)
        if type_name and given and not fits(plain(given[0]), type_name, found.items):
            refuse(f"the default of {key!r} is not of the type {type_name}", "change the default or the type")
        return found
    return None


def key_path(name: str) -> tuple[str | int, ...] | None:
    """A key's name as a path: `cluster.kubernetesVersion`, `list[0]`; None when it is none."""
    steps: list[str | int] = []
    at = 0
    while at < len(name):
        found = _STEP.match(name, at)
        if found is None:
            return None
        if found[2] is not None:
            steps.append(int(found[2][:9]))
        else:
            steps.append(found[1] if found[1] is not None else found[3].replace('\\"', '"'))
        at = found.end()
    return tuple(steps) if steps and isinstance(steps[0], str) else None


def fits(value: object, type_name: str, items: Entry | None) -> bool:
    """Whether Pulumi takes a value for the declared type; numbers and booleans may be text."""
    if type_name == "string":
        return isinstance(value, str)
    if type_name == "integer":
        if isinstance(value, str):
            return re.fullmatch(r"[-+]?[0-9]+", value) is not None
        return isinstance(value, int) and not isinstance(value, bool)
    if type_name == "boolean":
        return isinstance(value, bool) or value in ("true", "false")
    if type_name == "object":
        return isinstance(value, dict)
    if not isinstance(value, list) or items is None or not isinstance(items.value, dict):
        return False
    kind = items.value.get("type")
    inner = kind.value if kind is not None and isinstance(kind.value, str) else ""
    return all(fits(item, inner, items.value.get("items")) for item in value)


def apply(project: Project, stack: dict[str, Entry], stack_name: str, problems: Problems) -> dict[str, Entry]:
    """The stack's config with the project's under it, as Pulumi applies it; `stack` itself is not changed."""
    config = dict(stack)
    for key in project.declared:
        found = lookup(stack.get(key.name), key.path[1:])
        dot_path = key.name + "".join(f".{step}" for step in key.path[1:])
        if found is None:
            if key.given is not None:
                lay(config, key, key.given, problems)
            elif key.own:
                message = f"Pulumi.yaml declares {dot_path} without a default; the stack {stack_name} does not set it"
                problems.add("LOAD032", message, "set it in the stack file", key.position, path=dot_path)
            continue
        if key.type_name is None or isinstance(found.value, Unknown):
            continue
        given = plain(found)
        if not isinstance(found.value, dict | list):  # Pulumi compares the text, not the YAML value
            given = scalar_text(found.value)
        if not fits(given, key.type_name, key.items):
            message = f"{dot_path} must be of type {key.type_name}: Pulumi.yaml declares it so"
            remedy = "change the value, or the type in Pulumi.yaml"
            value = json.dumps(given, default=str)
            problems.add("LOAD032", message, remedy, found.position, path=dot_path, value=value)
        elif key.secret:
            message = f"Pulumi.yaml declares {dot_path} as a secret, and it stands in plain text"
            problems.add("LOAD032", message, f"pulumi config set --secret {dot_path}", found.position, path=dot_path)
    return config


def lookup(entry: Entry | None, path: tuple[str | int, ...]) -> Entry | None:
    for step in path:
        if entry is None:
            return None
        if isinstance(entry.value, dict) and isinstance(step, str):
            entry = entry.value.get(step)
        elif isinstance(entry.value, list) and isinstance(step, int) and step < len(entry.value):
            entry = entry.value[step]
        else:
            return None
    return entry


def lay(config: dict[str, Entry], key: Declared, given: Entry, problems: Problems) -> None:
    """Puts a project's value at its path, making the maps on the way."""
    if len(key.path) > 1 and isinstance(given.value, str):  # below the top Pulumi turns such text into a value
        given = Entry(coerced(given.value), given.position, given.text)

    def placed(entry: Entry | None, path: tuple[str | int, ...]) -> Entry | None:
        if not path:
            return given
        step, value = path[0], entry.value if entry is not None else None
        if isinstance(step, str) and (value is None or isinstance(value, dict)):
            child = placed((value or {}).get(step), path[1:])
            return None if child is None else Entry({**(value or {}), step: child}, key.position)
        if isinstance(step, int) and (value is None or isinstance(value, list)):
            items = list(value or [])
            if step <= len(items):
                child = placed(items[step] if step < len(items) else None, path[1:])
                return None if child is None else Entry([*items[:step], child, *items[step + 1 :]], key.position)
        return None

    result = placed(config.get(key.name), key.path[1:])
    if result is None:
        message = f"the project's value for {key.name} does not fit into what the stack sets there"
        problems.add("LOAD031", message, "remove one of the two", key.position, path=key.name)
    else:
        config[key.name] = result


def coerced(text: str) -> str | int | bool:
    if text in ("true", "false"):
        return text == "true"
    if re.fullmatch(r"0|[-+]?[1-9][0-9]{0,18}", text) and -(2**63) <= int(text) < 2**64:
        return int(text)
    return text
