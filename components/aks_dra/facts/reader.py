"""Reads TOML tables into rows, and says which file and which key when it cannot.

Tables of several files become one: a row of a later file replaces the keys it has in an earlier one, a MIG
profile by its name. A later file must say its own source and verified for each row it touches, so that an
overruled figure never borrows the old source.
"""

from __future__ import annotations

import tomllib
import types
from collections.abc import Collection, Iterable, Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from aks_dra.facts.fact import TABLES, R

# The keys outside of tables: two Kubernetes versions and their source.
SCALARS: Mapping[str, type] = MappingProxyType({"floor": str, "default": str, "source": str, "verified": bool})


# What stands between a family and its profile, a chart and its version, in the path of a row inside a row.
PROFILE, VERSIONS = ".profile.", ".versions."


_HINTS: dict[type, Mapping[str, Any]] = {}


class FactsError(ValueError):
    """A table that cannot be read, or does not fit the others. Names the file and the key.

    Of a name that is no table's, `known` are those that are.
    """

    def __init__(self, file: str, key: str, message: str, known: Collection[str] = ()) -> None:
        super().__init__(f"{file}: {key}: {message}" if key else f"{file}: {message}")
        self.file = file
        self.key = key
        self.known = known


class Raw:
    """The merged tables before they are rows, with the file that touched each row last."""

    def __init__(self) -> None:
        self.tables: dict[str, dict[str, dict[str, Any]]] = {name: {} for name in TABLES}
        self.scalars: dict[str, Any] = {}
        self.files: dict[tuple[str, str], str] = {}

    def error(self, table: str, path: str, message: str) -> FactsError:
        """For a row, or something inside one: `path` begins with the row's key."""
        return FactsError(
            self.files.get((table, _key_of(self.tables[table], path)), "facts"), f"{table}.{path}", message
        )

    def rows(self, table: str, kind: type[R]) -> Mapping[str, R]:
        """All rows of a flat table."""
        return MappingProxyType({key: self.row(kind, table, key, data) for key, data in self.tables[table].items()})

    def row(self, kind: type[R], table: str, key: str, data: Mapping[str, Any]) -> R:
        """One row. `data` may already hold values that are no TOML (the rows inside a row)."""
        hints = _hints(kind)
        for name in data:
            if name not in hints or name == "key":
                known = ", ".join(hint for hint in hints if hint != "key")
                raise self.error(table, key, f"no such key: {name} (known: {known})")
        values: dict[str, Any] = {"key": key.rpartition(PROFILE)[2].rpartition(VERSIONS)[2]}
        for item in fields(kind):
            if item.name == "key":
                continue
            if item.name in data:
                values[item.name] = self._value(data[item.name], hints[item.name], table, f"{key}.{item.name}")
            elif item.default is MISSING and item.default_factory is MISSING:
                raise self.error(table, key, f"{item.name} is missing")
        return kind(**values)

    def _value(self, value: Any, hint: Any, table: str, path: str) -> Any:
        converted = _convert(value, hint)
        if converted is _WRONG:
            raise self.error(table, path, f"{value!r} is not {_say(hint)}")
        if path.endswith(".source") and not str(value).strip():
            raise self.error(table, path, "is empty")
        return converted


def read(files: Iterable[Path]) -> Raw:
    """Every file in turn, merged."""
    raw = Raw()
    for path in files:
        try:
            data = tomllib.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise FactsError(str(path), "", f"cannot be read: {error.strerror or error}") from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise FactsError(str(path), "", f"is not TOML: {error}") from error
        for name, content in data.items():
            _merge_table(raw, str(path), name, content)
    return raw


def table_of(name: str) -> str:
    """The printed table of a name that a facts file has at its top: keys outside of tables are in `kubernetes`."""
    return "kubernetes" if name in SCALARS else name


def _merge_table(raw: Raw, file: str, name: str, content: Any) -> None:
    if name in SCALARS:
        if not isinstance(content, SCALARS[name]):
            raise FactsError(file, name, f"{content!r} is not {_say(SCALARS[name])}")
        raw.scalars[name] = content
        return
    if name not in TABLES:
        raise FactsError(file, name, f"no such table (known: {', '.join(TABLES)})", TABLES)
    if not isinstance(content, dict):
        raise FactsError(file, name, "is not a table")
    for key, row in content.items():
        if not isinstance(row, dict):
            raise FactsError(file, f"{name}.{key}", "is not a table")
        _require_source(file, name, key, row)
        raw.files[name, key] = file
        raw.tables[name][key] = _merged(raw.tables[name].get(key, {}), row)


def _require_source(file: str, table: str, key: str, row: Mapping[str, Any]) -> None:
    """Each row, and each row inside it, says where it comes from, in every file that touches it."""
    inner: list[tuple[str, Any]] = [(f"{key}", row)]
    profiles, versions = row.get("profile", []), row.get("versions", {})
    if table == "family":
        if not isinstance(profiles, list) or not all(isinstance(profile, dict) for profile in profiles) \
                or not all(isinstance(profile.get("name"), str) for profile in profiles):  # fmt: skip
            raise FactsError(file, f"{table}.{key}.profile", "is not a list of tables with a name")
        inner += [(f"{key}{PROFILE}{profile['name']}", profile) for profile in profiles]
    if table == "chart":
        if not isinstance(versions, dict) or not all(isinstance(v, dict) for v in versions.values()):
            raise FactsError(file, f"{table}.{key}.versions", "is not a table of tables")
        inner += [(f"{key}{VERSIONS}{version}", data) for version, data in versions.items()]
    for path, data in inner:
        for name in ("source", "verified"):
            if name not in data:
                raise FactsError(file, f"{table}.{path}", f"{name} is missing")


def _merged(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(old)
    for key, value in new.items():
        before = result.get(key)
        if key == "profile" and isinstance(value, list):
            by_name = {profile["name"]: profile for profile in before or []}
            for profile in value:
                by_name[profile["name"]] = _merged(by_name.get(profile["name"], {}), profile)
            result[key] = list(by_name.values())
        elif key == "versions" and isinstance(before, dict) and isinstance(value, dict):
            result[key] = {**before, **{name: _merged(before.get(name, {}), row) for name, row in value.items()}}
        elif key == "layouts" and isinstance(before, dict) and isinstance(value, dict):
            result[key] = {**before, **value}
        else:
            result[key] = value
    return result


def _key_of(table: Mapping[str, Any], path: str) -> str:
    """The row that a path is in: the longest key that it begins with, since keys hold dots too."""
    return max((key for key in table if path == key or path.startswith(key + ".")), key=len, default=path)


def _hints(kind: type) -> Mapping[str, Any]:
    if kind not in _HINTS:
        _HINTS[kind] = get_type_hints(kind)
    return _HINTS[kind]


_WRONG: Any = object()


def _convert(value: Any, hint: Any) -> Any:
    """The value as the hint has it, or _WRONG. Nothing is guessed: true is no number, 1 is no text."""
    origin, args = get_origin(hint), get_args(hint)
    if origin is Literal:
        return value if value in args else _WRONG
    if origin in (Union, types.UnionType):
        options = [converted for arm in args if (converted := _convert(value, arm)) is not _WRONG]
        return options[0] if options else _WRONG
    if origin is tuple:
        if not isinstance(value, list | tuple):
            return _WRONG
        items = [_convert(item, args[0]) for item in value]
        return _WRONG if any(item is _WRONG for item in items) else tuple(items)
    if origin is not None and issubclass(origin, Mapping):
        if not isinstance(value, Mapping):
            return _WRONG
        entries = {key: _convert(item, args[1]) for key, item in value.items()}
        return _WRONG if any(item is _WRONG for item in entries.values()) else MappingProxyType(entries)
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if isinstance(hint, type) and isinstance(value, hint) and (hint is bool or not isinstance(value, bool)):
        return value
    return _WRONG


def _say(hint: Any) -> str:
    if get_origin(hint) is Literal:
        return "one of " + ", ".join(str(arg) for arg in get_args(hint))
    names = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}
    if hint in names:
        return names[hint]
    return str(hint).replace("collections.abc.", "")
