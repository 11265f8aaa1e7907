"""Kubernetes' CEL environment for device selectors, on Google's engine (`cel-expr-python`).

An expression is checked as the API server checks a new one and evaluated as the scheduler evaluates it: an unknown
domain is an empty map, a missing key an error, `&&` and `||` absorb an error on one side.

What differs from upstream:
- Cost is not counted, but what Kubernetes cannot estimate it refuses, and so is refused here: `!=` between quantities
  or versions, `==` of types or optionals, `join`, and `min`, `max` and `isSorted` of texts.
- The libraries for IP addresses, CIDR, URLs, named formats and authorizer checks are missing, and so are `indexOf`
  and `lastIndexOf` of lists: an expression with one of these is refused here.
- `find` and `findAll` use Python's regular expressions, after RE2 has accepted the pattern.
- An unknown domain counts as an empty map where its name is written out in the expression, or is `device.driver`;
  one that is computed in another way raises an error.
- Fields asked of `device` under another name (`cel.bind(d, device, d.driver)`) are checked at run time only.
- `1 < 1.5` between constants, or results of CEL's own functions, is refused; with an attribute or a result of
  Kubernetes' functions it is not.
- `asInteger` and `isInteger` go by the number (see quantity.py). Texts of errors are the engine's own, except for
  missing keys.
- Versions and quantities inside lists and maps are compared by value; upstream takes them for equal to anything.
- A comparison of whole maps that hold values only known on the node is answered as if those were equal to nothing.

A value that only the node knows raises an error of its own when it is read. If that error, or another one that it
might have prevented, reaches the top, the answer is Undecided; if `&&` or `||` absorbs it, the answer does not rest on
it. An attribute that may be missing altogether is tried both ways; where its absence raises, that is the answer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import Any

from cel_expr_python import cel

from aks_dra.cel import functions, projection, refusals, rewriting, syntax, values
from aks_dra.cel.environment import MAPS, checker, evaluator, parsed
from aks_dra.cel.refusals import CompileError
from aks_dra.cel.rewriting import Names
from aks_dra.facts import load_facts
from aks_dra.kube.devices import MAYBE, Device, Unknown, Version

_FIELDS = frozenset({"driver", "attributes", "capacity", "allowMultipleAllocations"})
_MISSING = re.compile(r'Key not found in map : "?(.*?)"?$')


@dataclass(frozen=True)
class RuntimeProblem:
    """What aborts the scheduling of a pod on every node while this device is a candidate."""

    text: str


@dataclass(frozen=True)
class Undecided:
    """The answer rests on attributes that only the node knows, named with their domains."""

    attributes: tuple[str, ...]


Result = bool | RuntimeProblem | Undecided


def compile_expression(expression: str, kubernetes_minor: tuple[int, int] | None = None) -> Program | CompileError:
    """The program of a selector, or why the API server of that version (default: of the newest) would refuse it."""
    return _compile(expression, kubernetes_minor is None or kubernetes_minor >= consumable_since())


@cache
def consumable_since() -> tuple[int, int]:
    """DRAConsumableCapacity, which brings `device.allowMultipleAllocations`, is on from here and off on AKS before."""
    return load_facts().since("claim_capacity")


@lru_cache(maxsize=4096)
def _compile(expression: str, consumable: bool) -> Program | CompileError:
    if len(expression.encode()) > (most := load_facts().limit("cel_expression_bytes")):
        return CompileError(f"too long: may not be more than {most} bytes")
    text = _without_has(expression, _FIELDS if consumable else _FIELDS - {"allowMultipleAllocations"})
    try:
        checked = checker(consumable, loose=False).compile(text)
    except RuntimeError as error:
        problem = refusals.from_engine(str(error))
        if not refusals.is_across_numbers(problem):
            return problem
        try:
            checked = checker(consumable, loose=True).compile(text)
        except RuntimeError:
            return problem
    program = Program(expression, bytes(checked.serialize()))
    return refusals.of_tree(program.tree, expression) or program


def _without_has(expression: str, fields: frozenset[str]) -> str:
    """The expression with `true` for `has(device.driver)` and the like, as long as before.

    Every device has these fields, and the engine's checker loses their `has`.
    """
    tree = parsed(expression) if "has" in expression else None
    if tree is None:
        return expression
    places = tree.positions()
    for node in tree.nodes():
        is_test = node.HasField("select") and node.select.test_only and node.select.field in fields
        if is_test and syntax.variable(node.select.operand) == "device":
            start = expression.rindex("has", 0, places[node.id])
            end = expression.index(")", places[node.id]) + 1
            expression = expression[:start] + "true".ljust(end - start) + expression[end:]
    return expression


class Program:
    """A checked selector, ready for any number of devices."""

    def __init__(self, expression: str, serialized: bytes) -> None:
        self.expression = expression
        self._serialized = serialized
        self._built: dict[tuple[Names, Names], Any] = {}
        self._for_names: dict[tuple[frozenset[str], frozenset[str]], Any] = {}  # what a device has to the program

    @cached_property
    def tree(self) -> syntax.Tree:
        """The checked expression, for those who look for what it mentions."""
        return syntax.Tree(self._serialized)

    @cached_property
    def words(self) -> frozenset[str]:
        """Every string and every field name written in the expression."""
        return frozenset(
            word
            for node in self.tree.nodes()
            for word in (syntax.string_constant(node), node.select.field if node.HasField("select") else None)
            if word is not None
        )

    @cached_property
    def reads(self) -> Names:
        """The names that decide what it answers, beside the driver; see projection.py."""
        return projection.names_read(self.tree)

    @cached_property
    def _domains(self) -> frozenset[str]:
        """The domains that it looks up, which are empty maps where a device has nothing in them."""
        return self.words if self.reads is None else projection.domains_read(self.tree)

    @cached_property
    def _is_indirect(self) -> bool:
        return rewriting.is_indirect(self.tree)

    def _runnable(self, unread: Names, versions: Names) -> Any:
        """The program for devices that have these unread values and versions."""
        if (unread, versions) not in self._built:
            serialized = rewriting.rewritten(self._serialized, unread, versions)
            self._built[unread, versions] = evaluator().deserialize(serialized)
        return self._built[unread, versions]

    def evaluate(self, device: Device) -> Result:
        """Whether the device matches, by Kubernetes' rules."""
        maybe = _maybe_names(device)
        if not maybe or (maybe.isdisjoint(self.words) and not self._is_indirect):
            return self._evaluate(device, without_maybe=False)
        absent = self._evaluate(device, without_maybe=True)
        present = self._evaluate(device, without_maybe=False)
        if absent == present or isinstance(absent, RuntimeProblem | Undecided):
            return absent  # a device that lacks the attribute aborts scheduling, whatever others hold
        return present if isinstance(present, Undecided) else Undecided(tuple(sorted(maybe & self.words)))

    def _evaluate(self, device: Device, without_maybe: bool) -> Result:
        _, unread, versions = _device_values(device, without_maybe)
        runnable = self._for_names.get((unread, versions))
        if runnable is None:
            runnable = self._for_names[unread, versions] = self._runnable(
                None if self._is_indirect and unread else unread & self.words,
                None if self._is_indirect else versions & self.words,
            )
        functions.READS.names, functions.READS.fatal = [], ""
        answer = runnable.eval(_activation(device, without_maybe, self._domains))
        if functions.READS.fatal:
            return RuntimeProblem(functions.READS.fatal)
        if answer.type() == cel.Type.BOOL:
            return bool(answer.value())
        if functions.READS.names:
            return Undecided(tuple(dict.fromkeys(functions.READS.names)))
        if answer.type() == cel.Type.ERROR:
            return RuntimeProblem(_runtime_text(str(answer.value())))
        return RuntimeProblem(f"CEL result of type {answer.type().name().lower()} could not be converted to bool")


@lru_cache(maxsize=4096)
def _maybe_names(device: Device) -> frozenset[str]:
    held = (*device.attributes.items(), *device.capacity.items())
    return frozenset(key.rpartition("/")[2] for key, value in held if value is MAYBE)


@lru_cache(maxsize=8192)
def _device_values(device: Device, without_maybe: bool) -> tuple[dict[str, Any], frozenset[str], frozenset[str]]:
    """The device as the evaluator takes it, the names of its unread values, and of its versions."""
    unknown: set[str] = set()
    strict: set[str] = set()

    def engine_value(domain: str, name: str, value: Any, is_capacity: bool) -> Any:
        if isinstance(value, Unknown):
            unknown.add(name)
            return values.unread(f"{domain}/{name}")
        if is_capacity:
            return values.quantity_value(value)
        if isinstance(value, Version):
            strict.add(name)
            return values.semver_value(value.text)
        return value

    def by_domain(domains: dict[str, dict[str, Any]], is_capacity: bool) -> dict[str, dict[str, Any]]:
        return {
            domain: {
                name: engine_value(domain, name, value, is_capacity)
                for name, value in held.items()
                if not (without_maybe and value is MAYBE)
            }
            for domain, held in domains.items()
        }

    data = {
        "device.driver": device.driver,
        "device.allowMultipleAllocations": device.allow_multiple_allocations,
        "device.attributes": by_domain(dict(device.qualified_attributes()), is_capacity=False),
        "device.capacity": by_domain(dict(device.qualified_capacity()), is_capacity=True),
    }
    return data, frozenset(unknown), frozenset(strict)


@lru_cache(maxsize=8192)
def _activation(device: Device, without_maybe: bool, domains: frozenset[str]) -> Any:
    """The device for the evaluator, with these domains and the driver's there in any case."""
    data, _, _ = _device_values(device, without_maybe)
    found = dict(data)
    for name, hidden in MAPS.items():
        missing: dict[str, dict[str, Any]] = {
            domain: {} for domain in (*domains, device.driver) if domain not in data[name]
        }
        found[hidden] = {**data[name], **missing}
    found["device"] = {
        "driver": device.driver,
        "allowMultipleAllocations": device.allow_multiple_allocations,
        "attributes": found["@attributes"],
        "capacity": found["@capacity"],
    }
    return evaluator().Activation(found)


def _runtime_text(raw: str) -> str:
    text = re.sub(r"^[A-Z_]+: ", "", raw)
    found = _MISSING.search(text)
    return f"no such key: {found[1]}" if found else text
