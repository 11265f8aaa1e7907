"""The finding: one value, safe to print wherever a user may read it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning"]

LONGEST = {"path": 1000, "message": 3000, "value": 300, "remedy": 3000}
"""What a finding shows at most: the file has the rest."""


def printable(text: str) -> str:
    """The text with every character that cannot be printed written as an escape; line breaks stay."""
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() or letter == "\n" else repr(letter)[1:-1] for letter in text)


def shortened(text: str, most: int = 80) -> str:
    """The text on one line of a finding: what is longer ends in "..."."""
    return text if len(text) <= most else text[: most - 3] + "..."


@dataclass(frozen=True)
class Finding:
    """What is wrong, where, by which rule, and what to write instead.

    `path` is the path in the user's stack file (`aks-dra:pools.h100.vmSize`); file and line are filled in when
    the file is known. `source` names where the rule comes from.
    """

    code: str
    severity: Severity
    path: str
    message: str
    value: str
    remedy: str
    source: str
    file: str = ""
    line: int = 0
    acknowledged: str = ""  # the reason, when the stack file acknowledges it

    def __post_init__(self) -> None:
        # Texts of the user's file end up in terminals, logs and gRPC messages, which half a character would break.
        for name, longest in LONGEST.items():
            text = getattr(self, name)
            if len(text) > longest:
                text = text[: longest - 1] + "…"
            object.__setattr__(self, name, printable(text))
