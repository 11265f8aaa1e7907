"""JSON text in place of a map or list: `aks-dra:pools: '{"a100": {...}}'`.

Automation and `pulumi config set` without --path write objects so, and at run time every object arrives so. The
text is read as json.loads reads it for `pulumi.Config.require_object`; what that would let pass in silence (a key
twice, NaN) or end with a traceback (depth, huge integers) is a problem here.
"""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from aks_dra.stackfile.yamltree import MAX_DEPTH


class NotJson(ValueError):
    """The text is no JSON; the message says why."""


def looks_like_object(text: str) -> bool:
    return text.lstrip()[:1] in ("{", "[")


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise NotJson(f"the key {key!r} appears twice")
        found[key] = value
    return found


def _constant(text: str) -> NoReturn:
    raise NotJson(f"{text} is not a number")


def _depth(text: str) -> int:
    """The deepest nesting, found without recursion; brackets inside strings do not count."""
    deepest = depth = 0
    for token in re.finditer(r'"(?:[^"\\]|\\.)*"?|[\[{]|[\]}]', text, re.DOTALL):
        if token[0] in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif token[0] in "]}":
            depth -= 1
    return deepest


def loads(text: str) -> Any:
    """The value of a JSON text, or NotJson."""
    if _depth(text) > MAX_DEPTH:
        raise NotJson(f"nesting is deeper than {MAX_DEPTH}")
    try:
        return json.loads(text, object_pairs_hook=_pairs, parse_constant=_constant)
    except json.JSONDecodeError as reason:
        raise NotJson(f"{reason.msg} at line {reason.lineno}, column {reason.colno}") from None
    except (ValueError, RecursionError) as reason:
        raise NotJson(str(reason)) from None
