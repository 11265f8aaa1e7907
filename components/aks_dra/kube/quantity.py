"""Kubernetes quantities by their number: "20Gi", "81559Mi", "1500m", "1e3".

Two divergences from upstream: `asInteger` and `isInteger` go by the number alone, where upstream refuses numbers that
it happens to hold as a decimal fraction ("1000m", "1.5Gi"); and exponents beyond ten thousand are refused.
"""

from __future__ import annotations

import re
from fractions import Fraction
from math import ceil

_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
# Upstream takes digits with an optional point ("5.", ".5", and even "." and "Gi" for zero), then suffix or exponent.
_FORM = re.compile(r"([+-]?)(\d*)(?:\.(\d*))?(?:([eE])([+-]?\d+)|(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]|))", re.ASCII)
_NANO = 10**9
_INT64 = 2**63
LARGEST_EXPONENT = 10_000
FORMAT_ERROR = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"


class QuantityError(ValueError):
    """The text is not a quantity."""


def parse(text: str) -> Fraction:
    """The number that a quantity stands for, rounded away from zero to whole billionths as upstream does."""
    found = _FORM.fullmatch(text)
    if found is None or not text:
        raise QuantityError(FORMAT_ERROR)
    sign, whole, fraction, exponent_sign, exponent, suffix = found.groups()
    if not whole and not fraction and (suffix in ("Pi", "Ei") or (exponent_sign and int(exponent) < -9)):
        raise QuantityError("unable to parse numeric part of quantity")  # upstream's slower path wants a digit
    digits = Fraction(int((whole or "") + (fraction or "") or "0"), 10 ** len(fraction or ""))
    if exponent_sign:
        if abs(int(exponent)) > LARGEST_EXPONENT:
            raise QuantityError("unable to parse quantity's suffix")
        number = digits * Fraction(10) ** int(exponent)
    elif suffix in _BINARY:
        number = min(digits * 2 ** _BINARY[suffix], Fraction(_INT64 - 1))
    else:
        number = digits * Fraction(10) ** _DECIMAL[suffix]
    number = Fraction(ceil(number * _NANO), _NANO)
    return -number if sign == "-" else number


def is_quantity(text: str) -> bool:
    try:
        parse(text)
    except QuantityError:
        return False
    return True


def as_integer(number: Fraction) -> int:
    if not is_integer(number):
        raise QuantityError("cannot convert value to integer")
    return number.numerator


def is_integer(number: Fraction) -> bool:
    return number.denominator == 1 and -_INT64 <= number.numerator < _INT64


def compare(one: Fraction, other: Fraction) -> int:
    # Fractions compare in the same way, and four times as slowly.
    left, right = one.numerator * other.denominator, other.numerator * one.denominator
    return (left > right) - (left < right)


def sign(number: Fraction) -> int:
    return compare(number, Fraction(0))
