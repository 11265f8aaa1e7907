"""The value of a YAML document as Pulumi gives it to a program, each part with the line that set it.

The rules are those of Go's yaml.v3 followed by Pulumi's second reading of its own output (`yaml12`): a key that
appears twice is an error; a merge key fills in what a map lacks, the first of several winning; keys become text;
`{secure: text}` is a secret. Limits count what aliases expand to, so that ten lines cannot become a billion nodes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from aks_dra.stackfile import yaml12
from aks_dra.stackfile.entries import UNKNOWN, Entry, Path
from aks_dra.stackfile.source import Problems, Source, dotted
from aks_dra.stackfile.yamltree import MAX_DEPTH, Composer, Node, Stop

MAX_NODES = 100_000
"""Values and keys after aliases are expanded: 200 pools come to about 10,000."""

ALIAS_SHARE, ALIAS_FLOOR, ALIAS_MIN = 0.99, 1000, 100
"""Pulumi refuses a document when more than this share of its nodes, past these numbers, comes from aliases."""

ODD_KEYS = {yaml12.FLOAT, yaml12.NULL, yaml12.TIME}
"""Keys of these kinds reach a program as another text than was written: 1.40 as "1.4"."""


@dataclass
class Evaluator:
    """Walks nodes once; what is wrong is collected, and what cannot go on raises Stop."""

    source: Source
    problems: Problems
    total: int = 0
    from_aliases: int = 0
    alias_depth: int = 0
    active: set[int] = field(default_factory=set)

    def count(self, node: Node) -> None:
        self.total += 1
        self.from_aliases += 1 if self.alias_depth else 0
        too_many = self.total > MAX_NODES
        shared = self.from_aliases > ALIAS_MIN and self.total > ALIAS_FLOOR
        if too_many or (shared and self.from_aliases / self.total > ALIAS_SHARE):
            message = f"the file comes to more than {MAX_NODES:,} values and keys"
            if not too_many:
                message = "almost all of the file comes from aliases of aliases, which Pulumi refuses"
            raise self.stop("LOAD007", message, "use fewer aliases, or split the file", node)

    def shallow(self, node: Node, path: Path, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise self.stop("LOAD006", f"nesting is deeper than {MAX_DEPTH}", "write it flatter", node, path)

    def stop(self, code: str, message: str, remedy: str, node: Node, path: Path = (), value: object = "") -> Stop:
        self.problems.add(code, message, remedy, self.source.at(node.line), path=dotted(path), value=value)
        return Stop()

    def entry(self, node: Node, path: Path, line: int, depth: int) -> Entry:
        """The node's value; `line` is where it was set: its key's line for a map's value."""
        self.count(node)
        self.shallow(node, path, depth)
        if node.kind == "alias":
            return self.through_alias(node, path, line, depth)
        if node.kind == "scalar":
            return self.scalar(node, path, line)
        if node.kind == "list":
            self.active.add(id(node))
            items = [self.entry(item, (*path, i), item.line, depth + 1) for i, item in enumerate(node.items)]
            self.active.discard(id(node))
            return Entry(items, self.source.at(line))
        self.active.add(id(node))
        parts = self.pairs(node, path, depth)
        self.active.discard(id(node))
        if set(parts) == {"secure"} and isinstance(parts["secure"].value, str):
            return Entry(UNKNOWN, self.source.at(line))
        return Entry(parts, self.source.at(line))

    def through_alias(self, node: Node, path: Path, line: int, depth: int) -> Entry:
        target = self.target(node, path)
        self.alias_depth += 1
        found = self.entry(target, path, line, depth)
        self.alias_depth -= 1
        return found

    def target(self, node: Node, path: Path) -> Node:
        """What an alias stands for; a value inside itself has no end."""
        target = node.target
        if target is None or id(target) in self.active:
            message = f"the value of the anchor &{node.text} contains itself"
            raise self.stop("LOAD009", message, "write the inner value out", node, path, f"*{node.text}")
        return target

    def scalar(self, node: Node, path: Path, line: int) -> Entry:
        found = yaml12.resolve(node.tag, node.text, node.quoted)
        where = self.source.at(line)
        if found.problem or (isinstance(found.value, float) and not math.isfinite(found.value)):
            message = found.problem or "infinity and not-a-number cannot be written as JSON; Pulumi refuses the file"
            self.problems.add("LOAD011", message, "write another value", where, path=dotted(path), value=node.text)
            return Entry(None, where, node.text)
        if found.tag == yaml12.TIME:
            self.problems.add(
                "LOAD014",
                f"Pulumi turns this date into the text {found.value!r}",
                f'quote it: "{node.text}"',
                where,
                path=dotted(path),
                value=node.text,
            )
        octal = found.tag == yaml12.INT and node.text.lstrip("+-").startswith("0") and node.text.isascii()
        if octal and node.text.lstrip("+-").strip("0_").isdigit():
            self.problems.add(
                "LOAD015",
                f"a number with a leading 0 is octal: Pulumi reads {found.value}",
                f'write {found.value}, or quote it: "{node.text}"',
                where,
                path=dotted(path),
                value=node.text,
            )
        return Entry(yaml12.as_program_gets_it(found.value, nested=len(path) > 2), where, node.text)

    def key(self, node: Node, path: Path) -> str | None:
        """The text of a map's key; None, and a problem, when it is no plain value."""
        self.count(node)
        if node.kind == "alias":
            node = self.target(node, path)
        if node.kind != "scalar":
            message, where = "a map's key is a map or a list", self.source.at(node.line)
            self.problems.add("LOAD012", message, "use plain text", where, path=dotted(path))
            return None
        found = yaml12.resolve(node.tag, node.text, node.quoted)
        text = yaml12.key_text(found)
        where = self.source.at(node.line)
        if found.problem:
            self.problems.add("LOAD011", found.problem, "use plain text", where, path=dotted(path), value=node.text)
            return None
        if len(path) < 2 and found.tag != yaml12.STR:
            message = f"the key {node.text or 'that is empty'} is read as {found.tag[2:]}; Pulumi takes only text here"
            self.problems.add("LOAD012", message, "write it in quotes", where, path=dotted(path), value=node.text)
            return None
        if found.tag in ODD_KEYS:
            message = f"Pulumi reads this key as {found.tag[2:]} and turns it into {text!r}"
            self.problems.add("LOAD013", message, f'quote it: "{node.text}"', where, path=dotted(path), value=node.text)
        return text

    def pairs(self, node: Node, path: Path, depth: int) -> dict[str, Entry]:
        """A map's entries in the order written; merged ones come last."""
        self.shallow(node, path, depth)
        parts: dict[str, Entry] = {}
        seen: dict[str, int] = {}
        merged: Node | None = None
        for key_node, value_node in node.pairs:
            if is_merge(key_node):
                self.once(seen, "<<", key_node, path)
                merged = value_node
                continue
            key = self.key(key_node, path)
            if key is None or not self.once(seen, key, key_node, path):
                continue
            parts[key] = self.entry(value_node, (*path, key), key_node.line, depth + 1)
        if merged is not None:
            for source in self.merge_sources(merged, path):
                self.alias_depth += 1
                self.count(source)
                self.active.add(id(source))
                for key, entry in self.pairs(source, path, depth + 1).items():
                    parts.setdefault(key, entry)
                self.active.discard(id(source))
                self.alias_depth -= 1
        return parts

    def once(self, seen: dict[str, int], key: str, node: Node, path: Path) -> bool:
        if key not in seen:
            seen[key] = node.line
            return True
        self.problems.add(
            "LOAD008",
            f"the key {key!r} is already set at line {seen[key]}",
            "keep one of the two",
            self.source.at(node.line),
            path=dotted((*path, key)),
            value=key,
        )
        return False

    def merge_sources(self, node: Node, path: Path) -> list[Node]:
        """The maps behind a merge key, the one that wins first."""
        candidates = node.items if node.kind == "list" else [node]
        sources = []
        for candidate in candidates:
            source = self.target(candidate, path) if candidate.kind == "alias" else candidate
            if source.kind != "map":
                message = "a merge key takes a map or a list of maps"
                remedy = "write `<<: *anchor`, with the anchor on a map"
                raise self.stop("LOAD010", message, remedy, node, path, node.text)
            sources.append(source)
        return sources


def is_merge(node: Node) -> bool:
    """Whether a key merges. Pulumi writes a quoted one out without its quotes, and so merges it as well."""
    return node.kind == "scalar" and node.text == "<<"


def evaluate(source: Source, problems: Problems) -> Entry | None:
    """The file's value: None when it is empty, or when it cannot be read and the problems say why."""
    try:
        root = Composer(source, problems).document()
        if root is None:
            return None
        return Evaluator(source, problems).entry(root, (), root.line, 0)
    except Stop:
        return None
