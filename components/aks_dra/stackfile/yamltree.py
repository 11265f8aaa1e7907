"""A YAML text as nodes, scanned as Pulumi scans it.

Pulumi's reader is a translation of libyaml, so the characters are scanned by libyaml itself (through PyYAML):
tabs, flow maps and block scalars agree to the letter, and a file of 1 MiB takes a fraction of a second. What
libyaml does not decide (the meaning of scalars, duplicate and merge keys) is in `yamlvalue`. The limit on depth
holds while events stream by, so that no input can build more than it may.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import yaml
from yaml import events

from aks_dra.stackfile.source import Problems, Source, shown

try:
    from yaml import CSafeLoader as Scanner
except ImportError:  # a PyYAML without libyaml scans by nearly the same rules, more slowly
    from yaml import SafeLoader as Scanner  # type: ignore[assignment]

MAX_DEPTH = 50
"""Maps and lists inside each other, aliases followed. The deepest setting is below 10."""


class Stop(Exception):
    """The rest of this file cannot be read; the reason is among the problems."""


@dataclass(eq=False)
class Node:
    """What the events say: a scalar's text, a list's items, a map's pairs, or an alias."""

    line: int
    kind: str  # scalar | list | map | alias
    tag: str | None = None
    text: str = ""
    quoted: bool = False
    items: list[Node] = field(default_factory=list)
    pairs: list[tuple[Node, Node]] = field(default_factory=list)
    target: Node | None = None


def line_of(event: events.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark is not None else 1


class Composer:
    """Turns the events of the first document into nodes; recursion is bounded by MAX_DEPTH."""

    def __init__(self, source: Source, problems: Problems) -> None:
        self.source, self.problems = source, problems
        self.anchors: dict[str, Node] = {}
        self.events: Iterator[events.Event] = iter(())
        self.flow = 0

    def stop(self, code: str, message: str, remedy: str, line: int, value: object = "") -> Stop:
        self.problems.add(code, message, remedy, self.source.at(line), value=value)
        return Stop()

    def document(self) -> Node | None:
        """The first document, or None when the file holds nothing."""
        self.events = yaml.parse(self.source.text, Loader=Scanner)
        try:
            next(self.events)  # the stream's start
            start = next(self.events)
            if not isinstance(start, events.DocumentStartEvent):
                return None
            if start.version not in (None, (1, 1)):
                message, remedy = "Pulumi reads no YAML version but 1.1", "remove the %YAML line"
                raise self.stop("LOAD005", message, remedy, line_of(start), start.version)
            root = self.node(next(self.events), 0)
            next(self.events)  # the document's end
        except yaml.MarkedYAMLError as reason:
            mark = reason.problem_mark or reason.context_mark
            line = mark.line + 1 if mark else 1
            what = ", ".join(part for part in (reason.context, reason.problem) if part)
            raise self.stop("LOAD005", f"this is not YAML: {what}", *self.advice(line)) from None
        except (yaml.YAMLError, ValueError, StopIteration) as reason:
            raise self.stop("LOAD005", f"this is not YAML: {shown(str(reason))}", *self.advice(1)) from None
        self.refuse_more(root)
        return root

    def refuse_more(self, root: Node) -> None:
        """Says so when the file goes on after its first document, which is all that Pulumi reads."""
        line = root.line
        try:
            following = next(self.events)
            if isinstance(following, events.StreamEndEvent):
                return
            line = line_of(following)
        except (yaml.YAMLError, ValueError, StopIteration):
            pass
        self.problems.add(
            "LOAD016",
            "the file goes on after its first document; Pulumi reads only the first",
            "remove what follows `---` or `...`",
            self.source.at(line),
        )

    def advice(self, line: int) -> tuple[str, int, str]:
        """The remedy for a line that cannot be read, the line's number, and its text."""
        lines = self.source.text.split("\n")
        text = lines[line - 1] if line <= len(lines) else ""
        indent = text[: len(text) - len(text.lstrip())]
        if "\t" in indent:
            return "indent with spaces; YAML allows no tab there", line, text
        if text.lstrip().startswith(("@", "`", "%")):
            return "put the value in quotes", line, text
        return "look at this line and the one above: indentation, quotes, brackets and colons", line, text

    def node(self, event: events.Event, depth: int) -> Node:
        line = line_of(event)
        if depth > MAX_DEPTH:
            raise self.stop("LOAD006", f"nesting is deeper than {MAX_DEPTH}", "write it flatter", line)
        if isinstance(event, events.AliasEvent):
            target = self.anchors.get(event.anchor or "")
            if target is None:
                raise self.stop(
                    "LOAD009",
                    f"the alias *{event.anchor} has no anchor above it",
                    f"write &{event.anchor} at the value that it stands for, above this line",
                    line,
                    f"*{event.anchor}",
                )
            return Node(line, "alias", text=event.anchor or "", target=target)
        if isinstance(event, events.ScalarEvent):
            node = Node(line, "scalar", event.tag, event.value, event.style in ("'", '"', "|", ">"))
            if self.flow and not node.quoted and "?" in node.text:
                message = "inside brackets and braces, Pulumi takes a ? for the mark of a key"
                raise self.stop("LOAD005", message, "put the text in quotes", line, node.text)
            self.anchor(event.anchor, node)
            return node
        if isinstance(event, events.SequenceStartEvent):
            node = Node(line, "list", event.tag)
            self.anchor(event.anchor, node)
            self.flow += bool(event.flow_style)
            while not isinstance(item := next(self.events), events.SequenceEndEvent):
                node.items.append(self.node(item, depth + 1))
            self.flow -= bool(event.flow_style)
            return node
        if isinstance(event, events.MappingStartEvent):
            node = Node(line, "map", event.tag)
            self.anchor(event.anchor, node)
            self.flow += bool(event.flow_style)
            while not isinstance(key := next(self.events), events.MappingEndEvent):
                first = self.node(key, depth + 1)
                node.pairs.append((first, self.node(next(self.events), depth + 1)))
            self.flow -= bool(event.flow_style)
            return node
        raise self.stop("LOAD005", f"this is not YAML: unexpected {type(event).__name__}", *self.advice(line))

    def anchor(self, name: str | None, node: Node) -> None:
        if name:
            self.anchors[name] = node
