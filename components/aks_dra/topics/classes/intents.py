"""Intents: what a device must be, in the words of a stack file, and the selectors that say so to Kubernetes.

    require: {memory: ">=20Gi", computeCapability: ">=8.0", product: "A100*", type: gpu}

Each key becomes one selector that asks first whether the device is NVIDIA's and has the value at all. Without that
guard one free device that lacks it aborts the scheduling of the pod on every node. Versions are compared as semver,
since the driver normalises them (580.159.04 is published as 580.159.4, 7.5 as 7.5.0) and a comparison with a string
never holds; memory is a capacity and compared as a quantity.

Nominal memory is a trap: an H100 80GB publishes 81559Mi, which is 79.6Gi, so `>=80Gi` passes it by. See `near_miss`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from aks_dra.cel import engine
from aks_dra.cel.guards import ATTRIBUTES, CAPACITY, any_of, guarded, has_attribute, has_capacity
from aks_dra.cel.kinds import kind_selector
from aks_dra.findings.build import nearest
from aks_dra.kube import quantity, semver
from aks_dra.kube.devices import GPU_DRIVER, Device, distinct

__all__ = [
    "KEYS", "IntentProblem", "NearMiss", "comparisons", "kind_selector", "near_miss", "problems",
    "product_pattern", "selectors",
]  # fmt: skip

# How far below the asked memory a device is still named: nominal sizes differ from reported ones by at most this.
NEAR = Fraction(5, 100)
TYPES = ("gpu", "mig")

_COMPARISON = re.compile(r"\s*(>=|<=|==|=|>|<)\s*([^\s<>=,]+)\s*,?", re.ASCII)
_BARE = re.compile(r"[0-9][0-9A-Za-z.]*", re.ASCII)
_SIZE = re.compile(r"([0-9.]+)([KMGTPkmgtp])(?:[iI]?[bB]|[iI])", re.ASCII)
_PROFILE = re.compile(r"([1-9]c\.)?[1-9][0-9]?g\.[1-9][0-9]*gb([+-][a-z]+(\.[a-z]+)*)*", re.ASCII)
_WORDS = re.compile(r"[A-Za-z0-9 ._+*?()/-]+", re.ASCII)


@dataclass(frozen=True)
class IntentProblem:
    """An intent that says nothing that Kubernetes could be asked."""

    key: str
    value: str
    rule: str
    remedy: str


@dataclass(frozen=True)
class NearMiss:
    """A device that only its reported memory keeps out, by a few percent."""

    device: Device
    asked: str
    reported: str


@dataclass(frozen=True)
class _Bad(Exception):
    rule: str
    remedy: str


def comparisons(text: object, example: str, unit: str = "") -> list[tuple[str, str]]:
    """ ">=20Gi <40Gi" → [(">=", "20Gi"), ("<", "40Gi")]. `unit` is what a bare number most likely means."""
    rule = "a comparison: >=, >, <=, < or = and a value; two of them make a range"
    if _BARE.fullmatch(bare := str(text).strip()):
        raise _Bad(rule, f'write ">={bare}{unit}"' if bare.isdecimal() else f'write ">={_as_quantity(bare)}"')
    if not isinstance(text, str):
        raise _Bad(rule, f'write it as text, e.g. "{example}"')
    found, position = [], 0
    while position < len(text.rstrip()):
        match = _COMPARISON.match(text, position)
        if match is None:
            raise _Bad(rule, f'write e.g. "{example}"')
        found.append(("==" if match[1] == "=" else match[1], match[2]))
        position = match.end()
    if not found:
        raise _Bad(rule, f'write e.g. "{example}"')
    return found


def _as_quantity(amount: str) -> str:
    """20GB, 20gi and 20gib are 20Gi; everything else stays."""
    found = _SIZE.fullmatch(amount)
    return f"{found[1]}{found[2].upper()}i" if found and not quantity.is_quantity(amount) else amount


def _memory(text: object) -> str:
    tests = []
    for operator, amount in comparisons(text, ">=20Gi", "Gi"):
        if not quantity.is_quantity(amount):
            hint = _as_quantity(amount)
            better = hint if quantity.is_quantity(hint) else "20Gi"
            raise _Bad("memory is a Kubernetes quantity", f'write e.g. "{operator}{better}"')
        tests.append(f"{CAPACITY}.memory.compareTo(quantity('{amount}')) {operator} 0")
    return guarded(has_capacity("memory"), *tests)


def _version(attribute: str, example: str) -> Callable[[object], str]:
    def selector(text: object) -> str:
        tests = []
        for operator, version in comparisons(text, example):
            if not semver.is_semver(version, normalize=True):
                raise _Bad("a version: up to three numbers with points between", f'write e.g. "{example}"')
            exact = semver.parse(version, normalize=True).text()
            tests.append(f"{ATTRIBUTES}.{attribute}.compareTo(semver('{exact}')) {operator} 0")
        return guarded(has_attribute(attribute), *tests)

    return selector


def _alternatives(value: object, example: str) -> list[str]:
    items = list(value) if isinstance(value, list | tuple) else [value]
    if not items or not all(isinstance(item, str) and _WORDS.fullmatch(item.strip()) for item in items):
        rule = "text, or a list of texts: letters, digits, blanks and ._+()/-, with * and ? for what may be anything"
        raise _Bad(rule, f'write e.g. "{example}"')
    return [str(item).strip() for item in items]


def product_pattern(glob: str) -> str:
    """A regular expression on the lower-case product name: the words of the glob, anywhere, and whole ones.

    "A10" is not the A100; "A10*" is both.
    """
    body = glob.strip("*")
    wild = {"*": ".*", "?": ".", " ": " ", "-": "-"}
    pattern = "".join(wild.get(letter) or re.escape(letter) for letter in body.lower())
    starts = r"\b" if body[:1].isalnum() and not glob.startswith("*") else ""
    ends = r"\b" if body[-1:].isalnum() and not glob.endswith("*") else ""
    return starts + pattern + ends


def _product(value: object) -> str:
    globs = _alternatives(value, "A100*")
    if any(not glob.strip("*") for glob in globs):
        raise _Bad("a product name with * and ?", "leave the key out to accept every product")
    tests = [f"{ATTRIBUTES}.productName.lowerAscii().matches(r'{product_pattern(glob)}')" for glob in globs]
    return guarded(has_attribute("productName"), any_of(tests))


def _architecture(value: object) -> str:
    names = _alternatives(value, "Ampere")
    if any(not name.replace(" ", "").isalnum() for name in names):
        plain = re.sub("[^A-Za-z0-9 ]", "", names[0]).strip()
        plain = plain if len(plain) > 4 else "Ampere"
        raise _Bad("the name of an architecture, as NVIDIA's driver publishes it", f'write e.g. "{plain}"')
    tests = [f"{ATTRIBUTES}.architecture.lowerAscii() == '{name.lower()}'" for name in names]
    return guarded(has_attribute("architecture"), any_of(tests))


def _profile(value: object) -> str:
    names = _alternatives(value, "1g.10gb")
    wrong = [name for name in names if not _PROFILE.fullmatch(name)]
    if wrong:
        raise _Bad("a MIG profile, as nvidia-smi names it", 'write e.g. "1g.10gb", "1g.10gb+me" or a list of them')
    listed = ", ".join(f"'{name}'" for name in names)
    test = f"{ATTRIBUTES}.profile in [{listed}]" if len(names) > 1 else f"{ATTRIBUTES}.profile == {listed}"
    return guarded(has_attribute("profile"), test)


def _type(value: object) -> str:
    if value not in TYPES:
        raise _Bad(f"one of {', '.join(TYPES)}", "write gpu for whole GPUs, mig for MIG devices")
    return guarded(has_attribute("type"), f"{ATTRIBUTES}.type == '{value}'")


_KEYS: dict[str, Callable[[object], str]] = {
    "type": _type,
    "memory": _memory,
    "computeCapability": _version("cudaComputeCapability", ">=8.0"),
    "driverVersion": _version("driverVersion", ">=570"),
    "product": _product,
    "architecture": _architecture,
    "profile": _profile,
}
KEYS = tuple(_KEYS)


def problems(require: Mapping[str, Any]) -> tuple[IntentProblem, ...]:
    """What is wrong with the intents, key by key."""
    return _translate(require)[1]


def selectors(require: Mapping[str, Any]) -> tuple[str, ...]:
    """One guarded selector per intent, in a fixed order. None of them raises on any device of any driver.

    What cannot be written is left out; `problems` says why, and that is an error of the plan.
    """
    return _translate(require)[0]


def _translate(require: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[IntentProblem, ...]]:
    written: dict[str, str] = {}
    found: list[IntentProblem] = []
    for key, value in require.items():
        if key not in _KEYS:
            found.append(IntentProblem(key, str(value), f"known keys: {', '.join(KEYS)}", _did_you_mean(key)))
            continue
        try:
            written[key] = _KEYS[key](value)
        except _Bad as bad:
            found.append(IntentProblem(key, str(value), bad.rule, bad.remedy))
    if require.get("type") == "gpu" and "profile" in require:
        rule = "only MIG devices have a profile"
        found.append(IntentProblem("profile", str(require["profile"]), rule, "write type: mig, or no type"))
    return tuple(written[key] for key in KEYS if key in written), tuple(found)


def _did_you_mean(key: str) -> str:
    synonyms = {"cudaComputeCapability": "computeCapability", "productName": "product", "migProfile": "profile"}
    better = synonyms.get(key) or nearest(key, KEYS)
    return f"did you mean {better}?" if better else "leave it out, or say it in CEL under `cel`"


def near_miss(require: Mapping[str, Any], devices: Iterable[Device]) -> tuple[NearMiss, ...]:
    """Devices that satisfy everything but a lower bound on memory, and that by at most 5 %."""
    if "memory" not in require or problems(require):
        return ()
    bounds = [amount for operator, amount in comparisons(require["memory"], "") if operator in {">=", ">", "=="}]
    others = [
        engine.compile_expression(text) for text in selectors({k: v for k, v in require.items() if k != "memory"})
    ]
    found = []
    for device in distinct(devices):
        reported = device.qualified_capacity().get(GPU_DRIVER, {}).get("memory")
        if not isinstance(reported, str) or any(
            not isinstance(p, engine.Program) or p.evaluate(device) is False for p in others
        ):
            continue
        for amount in bounds:
            asked, has = quantity.parse(amount), quantity.parse(reported)
            if asked * (1 - NEAR) <= has < asked:
                found.append(NearMiss(device, amount, reported))
    return tuple(found)
