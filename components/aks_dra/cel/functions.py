"""The functions that Kubernetes adds to CEL, declared once for the checker and once for evaluation.

The checker knows types (`quantity.compareTo(quantity)` and `semver.compareTo(semver)` are two overloads), as upstream.
The evaluator cannot tell two message types apart, so there each function takes any values and looks for itself; a
wrong pair is the same "no such overload" that upstream reports.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

from cel_expr_python import cel

from aks_dra.cel import values
from aks_dra.kube import quantity, semver

_T = cel.Type
QUANTITY, SEMVER = _T("kubernetes.Quantity"), _T("kubernetes.Semver")
# Kubernetes' type of an attribute; for the evaluator the one type that takes every value.
ANY = _T("google.protobuf.Any")

Row = tuple[str, bool, Any, tuple[Any, ...]]
"""Function, member?, result, parameters (the target first)."""

_ORDERED = (_T.INT, _T.UINT, _T.DOUBLE, _T.BOOL, _T.DURATION, _T.TIMESTAMP, _T.STRING, _T.BYTES)
_SUMMABLE = (_T.INT, _T.UINT, _T.DOUBLE, _T.DURATION)

SIGNATURES: tuple[Row, ...] = (
    ("quantity", False, QUANTITY, (_T.STRING,)),
    ("isQuantity", False, _T.BOOL, (_T.STRING,)),
    ("sign", False, _T.INT, (QUANTITY,)),
    ("asApproximateFloat", True, _T.DOUBLE, (QUANTITY,)),
    ("asInteger", True, _T.INT, (QUANTITY,)),
    ("isInteger", True, _T.BOOL, (QUANTITY,)),
    *((name, True, QUANTITY, (QUANTITY, other)) for name in ("add", "sub") for other in (QUANTITY, _T.INT)),
    ("semver", False, SEMVER, (_T.STRING,)),
    ("semver", False, SEMVER, (_T.STRING, _T.BOOL)),
    ("isSemver", False, _T.BOOL, (_T.STRING,)),
    ("isSemver", False, _T.BOOL, (_T.STRING, _T.BOOL)),
    *((name, True, _T.INT, (SEMVER,)) for name in ("major", "minor", "patch")),
    *((name, True, _T.BOOL, (kind, kind)) for name in ("isGreaterThan", "isLessThan") for kind in (QUANTITY, SEMVER)),
    *(("compareTo", True, _T.INT, (kind, kind)) for kind in (QUANTITY, SEMVER)),
    ("find", True, _T.STRING, (_T.STRING, _T.STRING)),
    ("findAll", True, _T.List(_T.STRING), (_T.STRING, _T.STRING)),
    ("findAll", True, _T.List(_T.STRING), (_T.STRING, _T.STRING, _T.INT)),
    *(("isSorted", True, _T.BOOL, (_T.List(kind),)) for kind in _ORDERED),
    *((name, True, kind, (_T.List(kind),)) for name in ("min", "max") for kind in _ORDERED),
    *(("sum", True, kind, (_T.List(kind),)) for kind in _SUMMABLE),
)

# Names that no selector can write.
READ, COMPARABLE, HASHABLE = "@read", "@comparable", "@hashable"


class NoSuchOverload(TypeError):
    """A function was called with values that it does not take."""

    def __init__(self) -> None:
        super().__init__("no such overload")


class UnreadValue(ValueError):
    """A value was read that only the node knows."""


class _Reads(threading.local):
    """What the running evaluation came upon: unread values, and the error that ends it."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.fatal = ""  # an error that upstream lets nothing absorb


READS = _Reads()


def _read(value: Any) -> Any:
    if values.is_unread(value):
        name = values.text_of(value)
        READS.names.append(name)
        raise UnreadValue(f"{name} is only known on the node")
    return value


def _comparable(value: Any, other: Any) -> Any:
    """Upstream, a version or quantity on the left of `==` raises when the right is neither its like nor null."""
    if other is not None and (values.is_semver(value) or values.is_quantity(value)) and type(value) is not type(other):
        raise NoSuchOverload
    return value


def _hashable(value: Any) -> Any:
    """Upstream, `in` a list of constants looks up a hash, which versions do not have: the evaluation panics."""
    if values.is_semver(value):
        READS.fatal = "hash of unhashable type"
        raise TypeError(READS.fatal)
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise NoSuchOverload
    return value


def _number(value: Any) -> Any:
    if not values.is_quantity(value):
        raise NoSuchOverload
    return values.number_of(value)


def _version(value: Any) -> semver.Semver:
    if not values.is_semver(value):
        raise NoSuchOverload
    return values.version_of(value)


def _compare(one: Any, other: Any) -> int:
    if values.is_quantity(one):
        return quantity.compare(values.number_of(one), _number(other))
    return semver.compare(_version(one), _version(other))


def _shifted(sign: int) -> Callable[[Any, Any], Any]:
    def shift(one: Any, other: Any) -> Any:
        is_count = isinstance(other, int) and not isinstance(other, bool)
        return values.from_number(_number(one) + sign * (other if is_count else _number(other)))

    return shift


def _pattern(text: Any) -> re.Pattern[str]:
    try:
        return re.compile(_text(text))
    except re.error as error:
        raise ValueError(f"Illegal regex: {error}") from error


def _find(text: Any, pattern: Any) -> str:
    found = _pattern(pattern).search(_text(text))
    return found[0] if found else ""


def _find_all(text: Any, pattern: Any, limit: Any = -1) -> list[str]:
    found = [match[0] for match in _pattern(pattern).finditer(_text(text))]
    return found if limit < 0 else found[:limit]


def _items(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise NoSuchOverload
    return [item.plain_value() if isinstance(item, cel.Value) else item for item in value]


def _extreme(choose: Callable[[Iterable[Any]], Any], name: str) -> Callable[[Any], Any]:
    def extreme(value: Any) -> Any:
        items = _items(value)
        if not items:
            raise ValueError(f"{name} called on empty list")
        return choose(items)

    return extreme


def _sum(value: Any) -> Any:
    items = _items(value)
    return sum(items[1:], start=items[0]) if items else 0


IMPLEMENTATIONS: dict[tuple[str, bool, int], Callable[..., Any]] = {
    (READ, False, 1): _read,
    (COMPARABLE, False, 2): _comparable,
    (HASHABLE, False, 1): _hashable,
    ("quantity", False, 1): lambda text: values.quantity_value(_text(text)),
    ("isQuantity", False, 1): lambda text: quantity.is_quantity(_text(text)),
    ("sign", False, 1): lambda one: quantity.sign(_number(one)),
    ("asApproximateFloat", True, 1): lambda one: float(_number(one)),
    ("asInteger", True, 1): lambda one: quantity.as_integer(_number(one)),
    ("isInteger", True, 1): lambda one: quantity.is_integer(_number(one)),
    ("add", True, 2): _shifted(+1),
    ("sub", True, 2): _shifted(-1),
    ("semver", False, 1): lambda text: values.semver_value(_text(text)),
    ("semver", False, 2): lambda text, normalize: values.semver_value(_text(text), normalize),
    ("isSemver", False, 1): lambda text: semver.is_semver(_text(text)),
    ("isSemver", False, 2): lambda text, normalize: semver.is_semver(_text(text), normalize),
    ("major", True, 1): lambda one: _version(one).major,
    ("minor", True, 1): lambda one: _version(one).minor,
    ("patch", True, 1): lambda one: _version(one).patch,
    ("compareTo", True, 2): _compare,
    ("isGreaterThan", True, 2): lambda one, other: _compare(one, other) > 0,
    ("isLessThan", True, 2): lambda one, other: _compare(one, other) < 0,
    ("find", True, 2): _find,
    ("findAll", True, 2): _find_all,
    ("findAll", True, 3): _find_all,
    ("isSorted", True, 1): lambda value: all(one <= other for one, other in pairwise(_items(value))),
    ("min", True, 1): _extreme(min, "min"),
    ("max", True, 1): _extreme(max, "max"),
    ("sum", True, 1): _sum,
}


def declarations(loose: bool) -> list[Any]:
    """For the checker. `loose` leaves numeric results open, for comparisons across numeric types."""
    overloads: dict[str, list[Any]] = {}
    for name, member, result, parameters in SIGNATURES:
        known = overloads.setdefault(name, [])
        open_result = loose and result in (_T.INT, _T.DOUBLE)
        known.append(
            cel.Overload(f"{name}_{len(known)}", _T.DYN if open_result else result, list(parameters), is_member=member)
        )
    return [cel.FunctionDecl(name, known) for name, known in overloads.items()]


def implementations() -> list[Any]:
    """For the evaluator: each function takes any values."""
    overloads: dict[str, list[Any]] = {}
    for (name, member, count), function in IMPLEMENTATIONS.items():
        overloads.setdefault(name, []).append(
            cel.Overload(f"{name}_{count}", _T.DYN, [ANY] * count, is_member=member, impl=function)
        )
    return [cel.FunctionDecl(name, known) for name, known in overloads.items()]
