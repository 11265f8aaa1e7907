"""Edits to a stack file's text that leave every other character where it is: comments, quotes, order, blank lines.

The places come from YAML's own marks. Only plain maps are edited, block or flow; where a file says it in another way
(an alias, a merge key, JSON in a text) the edit is refused, and the caller says what to write out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import yaml

PLAIN = re.compile(r"[A-Za-z_][\w./-]*|/[\w./-]*")
BLOCK_KEY = re.compile(r"[A-Za-z][\w./:-]*\w")  # a colon inside is no end of a key
# What some reader of YAML takes for something else than text.
WORDS = {"true", "false", "yes", "no", "on", "off", "y", "n", "null", "none", "nan", "inf"}


class EditError(Exception):
    """The text cannot be edited in place. The text says where and why."""


@dataclass(frozen=True)
class Put:
    """Sets the value at a path, made or replaced."""

    path: tuple[str, ...]
    value: Any


@dataclass(frozen=True)
class Drop:
    """Takes the entry at a path away; nothing happens where there is none."""

    path: tuple[str, ...]


Edit = Put | Drop


def edited(text: str, edits: Sequence[Edit]) -> str:
    """The text after the edits, one after the other."""
    for edit in edits:
        text = _put(text, edit.path, edit.value) if isinstance(edit, Put) else _drop(text, edit.path)
    return text


def flow(value: Any) -> str:
    """A value on one line, in words that every YAML reader takes the same way."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{flow(str(key))}: {flow(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(flow(inner) for inner in value) + "]"
    if isinstance(value, str):
        plain = PLAIN.fullmatch(value) and value.lower() not in WORDS
        return value if plain else json.dumps(value, ensure_ascii=False)
    return json.dumps(value)


def _root(text: str) -> yaml.MappingNode:
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        raise EditError(f"it is no YAML that can be edited: {str(error).splitlines()[0]}") from None
    if not isinstance(root, yaml.MappingNode):
        raise EditError("it is not a map")
    return root


def _entry(node: yaml.MappingNode, key: str) -> tuple[yaml.Node, yaml.Node] | None:
    return next(((k, v) for k, v in node.value if isinstance(k, yaml.ScalarNode) and k.value == key), None)


def _put(text: str, path: tuple[str, ...], value: Any) -> str:
    node: yaml.Node = _root(text)
    for depth, key in enumerate(path):
        rest = path[depth + 1 :]
        if not isinstance(node, yaml.MappingNode):
            return _fill(text, node, path[:depth], {key: _nested(rest, value)})
        found = _entry(node, key)
        if found is None:
            return _insert(text, node, key, _nested(rest, value))
        node = found[1]
        _refuse_elsewhere(text, found, path[: depth + 1])
    return _replace(text, node, flow(value))


def _nested(path: tuple[str, ...], value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value


def _fill(text: str, node: yaml.Node, path: tuple[str, ...], value: Any) -> str:
    """Gives a key that has no value yet one."""
    if not isinstance(node, yaml.ScalarNode) or node.tag != "tag:yaml.org,2002:null":
        line = node.start_mark.line + 1
        raise EditError(f"line {line}: {path[-1] if path else 'the file'} is not written as a map")
    return _replace(text, node, flow(value))


def _replace(text: str, node: yaml.Node, new: str) -> str:
    start, end = node.start_mark.index, _end(node)
    if start == end:  # nothing stands there
        return text[:start].rstrip(" ") + " " + new + text[end:]
    block = isinstance(node, yaml.CollectionNode) and not node.flow_style
    if block:  # a block begins on a line of its own; its key keeps its line
        head = text[:start].rstrip()
        return head + " " + new + text[end:]
    return text[:start] + new + text[end:]


def _end(node: yaml.Node) -> int:
    """Where the node's own text ends. A block's mark is at the next token, behind comments that are not its own."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end(last[1] if isinstance(last, tuple) else last)
    index: int = node.end_mark.index
    return index


def _insert(text: str, node: yaml.MappingNode, key: str, value: Any) -> str:
    plain = not node.flow_style and BLOCK_KEY.fullmatch(key) and key.lower() not in WORDS
    line = f"{key if plain else flow(key)}: {flow(value)}"
    if node.flow_style:
        if not node.value:
            return text[: node.start_mark.index] + "{" + line + "}" + text[node.end_mark.index :]
        end = _end(node.value[-1][1]) or node.value[-1][0].end_mark.index
        return text[:end] + ", " + line + text[end:]
    indent = node.value[0][0].start_mark.column
    end = text.find("\n", _end(node.value[-1][1]))
    if isinstance(node.value[-1][1], yaml.ScalarNode) and node.value[-1][1].style in ("|", ">"):
        end = node.value[-1][1].end_mark.index - 1  # a block scalar ends where the next line begins
    end = len(text) if end < 0 else end
    head = text[:end] if text[:end].endswith("\n") or end < len(text) else text[:end].rstrip("\n")
    return f"{head}\n{' ' * indent}{line}{text[end:] or chr(10)}"


def _drop(text: str, path: tuple[str, ...]) -> str:
    node: yaml.Node = _root(text)
    for depth, key in enumerate(path):
        found = _entry(node, key) if isinstance(node, yaml.MappingNode) else None
        if found is None or not isinstance(node, yaml.MappingNode):
            return text
        _refuse_elsewhere(text, found, path[: depth + 1])
        if depth == len(path) - 1:
            return _drop_entry(text, node, found)
        node = found[1]
    return text


def _drop_entry(text: str, node: yaml.MappingNode, entry: tuple[yaml.Node, yaml.Node]) -> str:
    number = next(i for i, pair in enumerate(node.value) if pair[0] is entry[0])
    if len(node.value) == 1:
        return _replace(text, node, "{}")
    if node.flow_style:
        if number:
            before = node.value[number - 1]
            return text[: _end(before[1]) or before[0].end_mark.index] + text[_end(entry[1]) :]
        return text[: entry[0].start_mark.index] + text[node.value[1][0].start_mark.index :]
    start = text.rfind("\n", 0, entry[0].start_mark.index) + 1
    end = text.find("\n", _end(entry[1]))
    return text[:start] + ("" if end < 0 else text[end + 1 :])


def _refuse_elsewhere(text: str, entry: tuple[yaml.Node, yaml.Node], path: tuple[str, ...]) -> None:
    """An alias' node stands at its anchor: editing it there would change other things too."""
    key, value = entry
    alias = value.start_mark.index < key.end_mark.index or re.match(r"\s*:\s*\*", text[key.end_mark.index :])
    if alias or text[value.start_mark.index : value.start_mark.index + 1] == "&":
        raise EditError(f"line {key.start_mark.line + 1}: {path[-1]} is shared by an anchor; write it out")
