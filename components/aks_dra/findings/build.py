"""How a rule makes a finding."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from aks_dra.findings.finding import Finding, Severity


def finding(code: str, severity: Severity, path: str, value: object, message: str, remedy: str, source: str) -> Finding:
    return Finding(code, severity, path, message, "" if value is None else str(value), remedy, source)


def did_you_mean(value: str, known: Iterable[str], most: int = 8) -> str:
    """ "did you mean X?" when something is close, else the allowed values."""
    names = sorted(known)
    lowered = {name.lower(): name for name in names}
    close = difflib.get_close_matches(value.lower(), lowered, n=1, cutoff=0.6)
    if close:
        return f"did you mean {lowered[close[0]]}?"
    return "write one of " + ", ".join(names[:most]) + (" …" if len(names) > most else "")
