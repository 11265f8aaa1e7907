"""How a rule makes a finding."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Sequence

from aks_dra.findings.finding import Finding, Severity


def finding(code: str, severity: Severity, path: str, value: object, message: str, remedy: str, source: str) -> Finding:
    return Finding(code, severity, path, message, "" if value is None else str(value), remedy, source)


def listed(words: Sequence[str], last: str) -> str:
    """ "A100, H100 or H200"."""
    return f" {last} ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def nearest(value: str, known: Iterable[str], alike: float = 0.6) -> str:
    """The known name that was most likely meant, whatever its case; "" when none is near."""
    lowered = {name.lower(): name for name in sorted(known)}
    close = difflib.get_close_matches(value.lower(), list(lowered), n=1, cutoff=alike)
    return lowered[close[0]] if close else ""


def no_such(what: str, name: str, known: Collection[str]) -> str:
    """ "no such table; did you mean gpu? (known: …)"."""
    close = nearest(name, known, alike=0.55)
    return f"no such {what}{f'; did you mean {close}?' if close else ''} (known: {', '.join(known)})"


def did_you_mean(value: str, known: Iterable[str], most: int = 8) -> str:
    """ "did you mean X?" when something is close, else the allowed values."""
    names = sorted(known)
    if close := nearest(value, names):
        return f"did you mean {close}?"
    return "write one of " + ", ".join(names[:most]) + (" …" if len(names) > most else "")
