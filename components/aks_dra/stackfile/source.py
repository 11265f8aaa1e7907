"""Where a value was set, and what can be wrong with the file that sets it.

Every finding has to name a file and a line, so both outlive the parsed text: a `Position` is two plain values
that can be printed, compared and kept in a plan. What is wrong with a file is a `LoadProblem`, never an
exception: a stack file may hold any bytes at all, and the user wants all problems of all files at once. Each
rule has one stable code, listed in `RULES`; its severity follows from what Pulumi itself would do.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, field
from pathlib import Path

MAX_BYTES = 1024 * 1024
"""The largest file that is read at all, checked before parsing. A stack file of 200 pools is below 100 KiB."""

MAX_SHOWN = 80
"""What a problem shows of a value before it is cut: more is noise in a terminal."""

ERROR, WARNING = "error", "warning"


@dataclass(frozen=True, order=True)
class Position:
    """A line of a file, counted from 1. `file` is the path as it was opened."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True)
class LoadProblem:
    """One thing that is wrong with a stack file, one of its bases, or Pulumi.yaml."""

    code: str
    path: str
    message: str
    value: str
    remedy: str
    position: Position | None
    severity: str = ERROR


RULES: dict[str, tuple[str, str]] = {
    "LOAD001": (ERROR, "the file can be read"),
    "LOAD002": (ERROR, "a file is at most 1 MiB"),
    "LOAD003": (ERROR, "the text is UTF-8, or UTF-16 with a byte order mark"),
    "LOAD004": (ERROR, "the text has no control characters"),
    "LOAD005": (ERROR, "the text is YAML that Pulumi can read"),
    "LOAD006": (ERROR, "nesting is at most 50 deep"),
    "LOAD007": (ERROR, "aliases expand to at most 100,000 nodes, and to no more than Pulumi allows"),
    "LOAD008": (ERROR, "a key appears once in a map"),
    "LOAD009": (ERROR, "an alias names an anchor above it, and no value contains itself"),
    "LOAD010": (ERROR, "a merge key `<<` takes a map or a list of maps"),
    "LOAD011": (ERROR, "a value fits its tag and can be written as JSON"),
    "LOAD012": (ERROR, "a map's keys are plain values"),
    "LOAD013": (WARNING, "a key is written as text when YAML would read it as something else"),
    "LOAD014": (WARNING, "a date is written as text"),
    "LOAD015": (WARNING, "a number does not start with 0"),
    "LOAD016": (WARNING, "a file holds one document"),
    "LOAD017": (ERROR, "the file is a map with known keys"),
    "LOAD018": (ERROR, "`config` is a map"),
    "LOAD019": (ERROR, "a configuration key is `<namespace>:<name>` or `<name>`"),
    "LOAD020": (ERROR, "a configuration key is set once, whatever its spelling"),
    "LOAD021": (ERROR, "JSON text is JSON"),
    "LOAD022": (ERROR, "a stack has at most 200 pools"),
    "LOAD023": (WARNING, "what an environment sets is known only when Pulumi runs"),
    "LOAD024": (WARNING, "a stack file is named and placed where Pulumi looks for it"),
    "LOAD030": (ERROR, "there is a Pulumi.yaml above the stack file, and it names the project"),
    "LOAD031": (ERROR, "the project's config has the form that Pulumi accepts"),
    "LOAD032": (ERROR, "what the project's config requires is set, and is of the declared type"),
    "LOAD040": (ERROR, "`aks-dra:base` is a list of paths"),
    "LOAD041": (ERROR, "a base file exists"),
    "LOAD042": (ERROR, "a base file is inside the project's folder"),
    "LOAD043": (ERROR, "base files do not name each other in a circle, and are at most 20 deep"),
    "LOAD044": (ERROR, "a base file sets only what this package reads, in plain text"),
    "LOAD045": (WARNING, "a base file does not set what Pulumi.yaml sets for every stack"),
}
"""Each code with its severity and the rule that was broken."""


def shown(value: object) -> str:
    """A value as a problem shows it: one line, printable, cut at MAX_SHOWN."""
    text = value if isinstance(value, str) else repr(value)
    text = "".join(char if char.isprintable() else repr(char)[1:-1] for char in text[: MAX_SHOWN + 1])
    return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 1] + "…"


def dotted(path: tuple[str | int, ...]) -> str:
    """A path as findings print it: `aks-dra:pools.h100.taints[0]`; a name with other characters is quoted."""
    text = ""
    for step in path[1:] if path[:1] == ("config",) and len(path) > 1 else path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif not text:
            text = shown(step)
        elif re.fullmatch(r"[\w-]+", step):
            text += f".{step}"
        else:
            text += '["' + shown(step).replace('"', '\\"') + '"]'
    return text


@dataclass
class Problems:
    """Collects problems; what an alias repeats is one problem, at the first path that leads to it."""

    found: dict[tuple[str, Position | None, str], LoadProblem] = field(default_factory=dict)

    def add(
        self, code: str, message: str, remedy: str, position: Position | None, *, path: str = "", value: object = ""
    ) -> None:
        problem = LoadProblem(code, path, message, shown(value), remedy, position, RULES[code][0])
        self.found.setdefault((code, position, problem.value), problem)

    def sorted(self) -> tuple[LoadProblem, ...]:
        """Errors first, then by place: the same files give the same list."""

        def place(problem: LoadProblem) -> tuple[bool, str, int, str, str, str]:
            where = problem.position or Position("", 0)
            return (problem.severity != ERROR, where.file, where.line, problem.code, problem.path, problem.message)

        return tuple(sorted(self.found.values(), key=place))


@dataclass(frozen=True)
class Source:
    """The text of one file, decoded and free of characters that YAML forbids."""

    file: str
    text: str

    def at(self, line: int) -> Position:
        return Position(self.file, line)


# What YAML calls printable; everything else is refused by Pulumi's reader, or counts as a line break there.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")


def read(path: Path, problems: Problems) -> Source | None:
    """The file's text, or None with the reason among the problems."""
    name = str(path)
    try:
        if not path.is_file():
            why = "is a folder" if path.is_dir() else "does not exist or is no ordinary file"
            problems.add("LOAD001", f"{shown(name)} {why}", "give the path of a stack file", Position(name, 1))
            return None
        size = path.stat().st_size
        with path.open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
    except (OSError, ValueError) as reason:
        remedy = "give the path of a stack file that this user may read"
        problems.add("LOAD001", f"{shown(name)} cannot be read: {reason}", remedy, Position(name, 1))
        return None
    if len(raw) > MAX_BYTES:
        problems.add(
            "LOAD002",
            f"the file has {max(size, len(raw)):,} bytes; the limit is {MAX_BYTES:,}",
            "split it: what several stacks share can move to a base file (aks-dra:base)",
            Position(name, 1),
            value=max(size, len(raw)),
        )
        return None
    return decode(name, raw, problems)


def decode(name: str, raw: bytes, problems: Problems) -> Source | None:
    """Bytes to text by the byte order mark, as Pulumi's reader does it; the mark itself is dropped."""
    encoding = "utf-8"
    if raw.startswith(codecs.BOM_UTF8):
        raw = raw[3:]
    elif raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as reason:
        line = raw[: reason.start].count(b"\n") + 1
        bad = raw[reason.start : reason.start + 4]
        message, remedy = f"the text is not {encoding}", "save the file as UTF-8"
        problems.add("LOAD003", message, remedy, Position(name, line), value=bad)
        return None
    forbidden = _FORBIDDEN.search(text)
    if forbidden is not None:
        line = text.count("\n", 0, forbidden.start()) + 1
        problems.add(
            "LOAD004",
            f"the character U+{ord(forbidden.group()):04X} is not allowed in a stack file",
            'remove it, or write it as an escape inside double quotes ("\\u0000")',
            Position(name, line),
            value=forbidden.group(),
        )
        return None
    return Source(name, text)


def file_lines(position: Position | None, before: int = 1, after: int = 1) -> list[str]:
    """The lines around a position, numbered, the one meant marked with `>`; empty when the file is gone."""
    if position is None:
        return []
    source = read(Path(position.file), Problems())
    if source is None:
        return []
    lines = re.split("\r\n|\r|\n", source.text)
    first, last = max(position.line - before, 1), min(position.line + after, len(lines))
    width = len(str(last))
    return [
        f"{'>' if number == position.line else ' '} {number:>{width}} | {shown(lines[number - 1].rstrip())}"
        for number in range(first, last + 1)
    ]
