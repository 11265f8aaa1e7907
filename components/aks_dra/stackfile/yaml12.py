"""What a YAML scalar means to Pulumi, as one explicit table.

Pulumi reads a stack file with Go's yaml.v3, whose rules are neither YAML 1.1 nor 1.2: `on`, `yes` and `no` are
strings, `017` and `0o17` are both fifteen, `1_000` is a number, `2024-01-01` is a time. It then writes the whole
file out again and reads it a second time, and a program gets every object as JSON text. Three things follow for
numbers: a float without a fraction reaches the program as an integer (`2.0` is 2), an integer beyond 64 bits loses
digits, and `.inf` or `.nan` cannot be had at all. This module gives the value that the program gets in the end.
"""

from __future__ import annotations

import base64
import binascii
import datetime
import math
import re
from dataclasses import dataclass
from decimal import Decimal

Scalar = str | int | float | bool | None

_PREFIX = "tag:yaml.org,2002:"
NULL, BOOL, STR, INT, FLOAT, TIME, BINARY, MERGE = (
    "!!null",
    "!!bool",
    "!!str",
    "!!int",
    "!!float",
    "!!timestamp",
    "!!binary",
    "!!merge",
)

_WORDS: dict[str, tuple[str, Scalar]] = {
    **dict.fromkeys(("true", "True", "TRUE"), (BOOL, True)),
    **dict.fromkeys(("false", "False", "FALSE"), (BOOL, False)),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), (NULL, None)),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), (FLOAT, math.nan)),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), (FLOAT, math.inf)),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), (FLOAT, -math.inf)),
}

# Integers as Go's strconv reads them with base 0: the prefix is of any case, a lone leading 0 means octal.
_INTEGERS: tuple[tuple[re.Pattern[str], int], ...] = (
    (re.compile(r"[-+]?0[xX]([0-9a-fA-F]+)"), 16),
    (re.compile(r"[-+]?0[bB]([01]+)"), 2),
    (re.compile(r"[-+]?0[oO]?([0-7]+)"), 8),
    (re.compile(r"[-+]?(0|[1-9][0-9]*)"), 10),
)
_INNER_SIGN = re.compile(r"0([bo])([-+](?:(?<=b.)[01]+|(?<=o.)[0-7]+))")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_POINT_FLOAT = re.compile(r"\.[0-9]+(_[0-9]+)*([eE][-+]?[0-9]+(_[0-9]+)*)?")
_TIME = re.compile(
    r"(\d{4})-(\d{1,2})-(\d{1,2})"
    r"(?:(?:(?P<mark>[Tt])| )(\d{1,2}):(\d{1,2}):(\d{1,2})(?:[.,](\d+))?(?P<zone>Z|[-+]\d\d:\d\d)?)?",
    re.ASCII,
)
_BIGGEST_TEXT = 400
"""No number of more characters fits 64 bits or a float: such text is a string, without trying."""


@dataclass(frozen=True)
class Resolved:
    """A scalar's tag and value; `problem` says why it has none."""

    tag: str
    value: Scalar
    problem: str = ""


def short_tag(tag: str | None) -> str:
    if not tag or tag == "!":
        return ""
    return "!!" + tag.removeprefix(_PREFIX) if tag.startswith(_PREFIX) else tag


def _integer(plain: str) -> int | None:
    """The integer, if it fits what Go has: -2^63 to 2^64-1; a sign excludes the upper half."""
    for pattern, base in _INTEGERS:
        found = pattern.fullmatch(plain)
        if found is None:
            continue
        value = int(found[1], base)
        if plain[0] in "+-":
            value = -value if plain[0] == "-" else value
            return value if -(2**63) <= value < 2**63 else None
        return value if value < 2**64 else None
    signed = _INNER_SIGN.fullmatch(plain)
    return int(signed[2], 2 if signed[1] == "b" else 8) if signed and len(plain) < 22 else None


def _float(plain: str) -> float | None:
    value = float(plain)
    return value if math.isfinite(value) else None


def _time(text: str) -> str | None:
    """The text that a time becomes on its way through Pulumi, or None when it is no time."""
    found = _TIME.fullmatch(text)
    if found is None:
        return None
    zone = found["zone"]
    if found[5] is not None and (found["mark"] is None) == (zone is not None):
        return None  # with a T the zone is a must, with a space it is refused
    try:
        day = datetime.datetime(int(found[1]) or 1, int(found[2]), int(found[3]))
        clock = datetime.time(int(found[5] or 0), int(found[6] or 0), int(found[7] or 0))
    except ValueError:
        return None
    if int(found[1]) == 0:
        return None  # Go takes the year 0; nobody else does
    offset = "+0000 UTC"
    if zone and zone != "Z":
        if int(zone[1:3]) > 24 or int(zone[4:6]) > 59:
            return None
        plain_zone = zone.replace(":", "")
        offset = offset if plain_zone[1:] == "0000" else f"{plain_zone} {plain_zone}"
    fraction = (found[8] or "")[:9].rstrip("0")
    return f"{day:%Y-%m-%d} {clock:%H:%M:%S}{'.' + fraction if fraction else ''} {offset}".replace(
        f"{day:%Y}-", f"{int(found[1]):04}-", 1
    )


def _plain(text: str, times: bool) -> Resolved:
    """The value of a scalar without quotes, chosen by its first character."""
    if text in _WORDS:
        return Resolved(*_WORDS[text])
    if len(text) <= _BIGGEST_TEXT:
        if text[:1] == ".":
            number = _float(text) if _POINT_FLOAT.fullmatch(text) else None
            return Resolved(FLOAT, number) if number is not None else Resolved(STR, text)
        if text[:1] in set("+-0123456789"):
            moment = _time(text) if times else None
            if moment is not None:
                return Resolved(TIME, moment)
            plain = text.replace("_", "")
            whole = _integer(plain)
            if whole is not None:
                return Resolved(INT, whole)
            number = _float(plain) if _FLOAT.fullmatch(plain) else None
            if number is not None:
                return Resolved(FLOAT, number)
    return Resolved(STR, text)


def resolve(tag: str | None, text: str, quoted: bool) -> Resolved:
    """The meaning of a scalar with this tag (as written, None without one), text and quoting."""
    wanted = short_tag(tag)
    if wanted == STR or (quoted and not wanted):
        return Resolved(STR, text)
    if wanted == BINARY:
        try:
            data = base64.b64decode("".join(text.split("\n")), validate=True)
        except (binascii.Error, ValueError):
            return Resolved(BINARY, None, "!!binary holds no base64 text")
        return Resolved(STR, data.decode("utf-8", "replace"))
    if wanted not in ("", BOOL, INT, FLOAT, NULL, TIME):
        return Resolved(wanted, text)
    found = _plain(text, times=wanted in ("", TIME))
    if wanted in ("", found.tag):
        return found
    if wanted == FLOAT and found.tag == INT and isinstance(found.value, int) and found.value < 2**63:
        return Resolved(FLOAT, float(found.value))
    return Resolved(wanted, None, f"{found.tag} `{text[:40]}` cannot be read as {wanted}")


def _digits(value: float) -> tuple[str, str, int]:
    """Sign, shortest digits, and the place of the point after the first digit."""
    sign, digits, exponent = Decimal(repr(value)).as_tuple()
    text = "".join(map(str, digits)).rstrip("0") or "0"
    place = int(exponent) + len(digits) - 1 if value else 0
    return "-" if sign else "", text, place


def float_text(value: float) -> str:
    """A float as Pulumi writes it back to YAML (Go's shortest %g): 1e+06, 0.5, 2."""
    sign, digits, place = _digits(value)
    if place < -4 or place >= 6:
        mantissa = digits[0] + ("." + digits[1:] if digits[1:] else "")
        return f"{sign}{mantissa}e{'-' if place < 0 else '+'}{abs(place):02}"
    if place < 0:
        return f"{sign}0.{'0' * (-place - 1)}{digits}"
    whole, fraction = digits[: place + 1].ljust(place + 1, "0"), digits[place + 1 :]
    return sign + whole + ("." + fraction if fraction else "")


# What makes Pulumi write a text in double quotes, which keeps every character, and not as a block.
_QUOTED_WHEN_WRITTEN = re.compile("[^\t\n\x20-\x7e\xa0-\ufefe\uff00-\ufffd]| \n| $")


def as_program_gets_it(value: Scalar, nested: bool) -> Scalar:
    """A value as json.loads gives it from the text that Pulumi hands to a program.

    A text that begins with an empty line loses it: Pulumi writes it as a block whose first line it then swallows.
    """
    if isinstance(value, str) and value.startswith("\n") and not _QUOTED_WHEN_WRITTEN.search(value):
        return value[1:]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    if isinstance(value, int):
        if not nested or -(2**63) <= value < 2**63:
            return value
        value = float(value)
    if value == 0:
        return 0
    if abs(value) < 1e21 and value == int(value):
        return int(Decimal(repr(value)))
    return value


def key_text(resolved: Resolved) -> str:
    """A map key as Pulumi turns it into text: 0x10 is "16", true is "true", nothing is "<nil>"."""
    value = resolved.value
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if not math.isfinite(value):
            return {math.inf: "+Inf", -math.inf: "-Inf"}.get(value, "NaN")
        return "0" if value == 0 else float_text(value)
    return str(value)
