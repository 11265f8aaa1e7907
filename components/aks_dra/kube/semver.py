"""Semantic versions as Kubernetes' CEL library compares them.

`semver(text)` is strict: three numbers without leading zeros. `semver(text, true)` first strips a "v", drops
leading zeros and fills up "7.5" to "7.5.0". Build metadata is kept apart and never compared.
No divergence from upstream is known.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_UINT64 = 2**64
_PART = re.compile(r"[0-9A-Za-z-]+", re.ASCII)
_NUMBER = re.compile(r"0|[1-9][0-9]*", re.ASCII)


class SemverError(ValueError):
    """The text is not a semantic version."""


@dataclass(frozen=True)
class Semver:
    major: int
    minor: int
    patch: int
    prerelease: tuple[str, ...] = ()

    def text(self) -> str:
        """Canonical and without build metadata: equal versions have equal texts."""
        release = f"{self.major}.{self.minor}.{self.patch}"
        return release + ("-" + ".".join(self.prerelease) if self.prerelease else "")


def _number(text: str, what: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise SemverError(f'invalid character(s) found in {what} number "{text}"')
    if not _NUMBER.fullmatch(text):
        raise SemverError(f'{what} number must not contain leading zeroes "{text}"')
    if int(text) >= _UINT64:
        raise SemverError(f'{what} number "{text}" is out of range')
    return int(text)


def parse(text: str, normalize: bool = False) -> Semver:
    if normalize:
        text = _normalize(text)
    if not text:
        raise SemverError("version string empty")
    parts = text.split(".", 2)
    if len(parts) != 3:
        raise SemverError("no Major.Minor.Patch elements found")
    major, minor = _number(parts[0], "major"), _number(parts[1], "minor")
    rest, plus, build = parts[2].partition("+")
    patch, dash, prerelease = rest.partition("-")
    identifiers = tuple(prerelease.split(".")) if dash else ()
    number = _number(patch, "patch")
    for part in (*identifiers, *(build.split(".") if plus else ())):
        if not _PART.fullmatch(part):
            raise SemverError(f'invalid character(s) or empty part in "{part}"')
    for part in identifiers:
        if part.isdigit():
            _number(part, "prerelease")
    return Semver(major, minor, number, identifiers)


def _normalize(text: str) -> str:
    parts = [_without_leading_zeros(part) for part in text.removeprefix("v").split(".", 2)]
    if len(parts) < 3:
        if "+" in parts[-1] or "-" in parts[-1]:
            raise SemverError("short version cannot contain PreRelease/Build meta data")
        parts += ["0"] * (3 - len(parts))
    return ".".join(parts)


def _without_leading_zeros(part: str) -> str:
    if len(part) <= 1:
        return part
    stripped = part.lstrip("0")
    return stripped if stripped[:1].isdigit() else "0" + stripped


def is_semver(text: str, normalize: bool = False) -> bool:
    try:
        parse(text, normalize)
    except SemverError:
        return False
    return True


def compare(one: Semver, other: Semver) -> int:
    release = (one.major, one.minor, one.patch), (other.major, other.minor, other.patch)
    if release[0] != release[1]:
        return 1 if release[0] > release[1] else -1
    if not one.prerelease or not other.prerelease:
        return bool(other.prerelease) - bool(one.prerelease)
    keys = _order(one.prerelease), _order(other.prerelease)
    return (keys[0] > keys[1]) - (keys[0] < keys[1])


def _order(prerelease: tuple[str, ...]) -> list[tuple[int, int, str]]:
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in prerelease]
