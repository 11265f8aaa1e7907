"""What goes wrong with a hand-written selector, before a cluster sees it.

Kubernetes checks types and nothing else: a name that cannot exist compiles, and at run time one device that lacks it
aborts the scheduling of the pod on every node. So the names are measured by what the driver publishes, and the
selector is evaluated on the planned devices and on one device of every sort that the driver knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from aks_dra.cel import advice
from aks_dra.cel.engine import Program, Result, RuntimeProblem, Undecided, compile_expression, consumable_since
from aks_dra.cel.guards import IS_NVIDIA
from aks_dra.cel.references import Reference, References
from aks_dra.cel.refusals import CompileError
from aks_dra.cel.vocabulary import SORTS, Vocabulary
from aks_dra.findings.build import nearest
from aks_dra.kube import semver
from aks_dra.kube.devices import GPU_DRIVER, STANDARD_DOMAIN, Device, distinct

Kind = Literal[
    "refused", "no_quantity", "non_boolean", "unknown_field", "unknown_domain", "unknown_attribute", "is_capacity",
    "is_attribute", "unguarded", "raises", "version_as_string", "matches_nothing", "matches_everything", "mixes_types",
    "undecided", "uuid_pinned", "pcie_root",
]  # fmt: skip


@dataclass(frozen=True)
class SelectorProblem:
    """One thing that is wrong with a selector, and what to write instead."""

    kind: Kind
    severity: Literal["error", "warning"]
    text: str
    remedy: str


def lint(
    expression: str,
    devices: Iterable[Device],
    kubernetes_minor: tuple[int, int] | None = None,
    before: Sequence[str] = (IS_NVIDIA,),
) -> list[SelectorProblem]:
    """Everything that is wrong with one selector.

    `before` are the selectors that Kubernetes evaluates first and that stop it when they are false: those of the class,
    for a claim's. The package puts the driver's name before every class's own.
    """
    program = compile_expression(expression, kubernetes_minor)
    if isinstance(program, CompileError):
        return [_refused(expression, program, kubernetes_minor)]
    planned = distinct(devices)
    earlier = [found for text in before if isinstance(found := compile_expression(text, kubernetes_minor), Program)]
    names = list(_names(program, Vocabulary(planned)))
    behaviour = list(_behaviour(program, earlier, planned, named={problem.kind for problem in names}))
    return list(dict.fromkeys([*names, *behaviour]))


def _refused(expression: str, error: CompileError, minor: tuple[int, int] | None) -> SelectorProblem:
    if not expression.strip():
        return SelectorProblem("refused", "error", "the expression is empty", advice.against_refusal(expression))
    shown = f"{error.text} (line {error.line}, column {error.column})"
    if "kubernetes.Quantity" in error.text and "overload" in error.text:
        remedy = advice.against_operator(expression, error.line, error.column)
        what = "a capacity is compared without quantity()"
        if (sign := re.search(r"'_([<>]=?)_'", error.text)) and "kubernetes.Quantity)" in error.text:
            what = f"quantities have no {sign[1]}"
        return SelectorProblem("no_quantity", "error", f"{what}: {shown}", remedy)
    if error.text.startswith("must evaluate to bool"):
        remedy = "compare it with something: a selector is true or false"
        return SelectorProblem("non_boolean", "error", f"not a condition: {error.text}", remedy)
    if field := re.search(r"undefined field '(\w+)'", error.text):
        if field[1] == "allowMultipleAllocations" and minor:
            lacking, having = ("{}.{}".format(*version) for version in (minor, consumable_since()))
            remedy = f"leave it out: Kubernetes {lacking} on AKS does not have it, {having} does"
        else:
            remedy = (
                "a selector sees driver, attributes and capacity of a device and not its pool or node; "
                "pin a pod to a pool by the pool's label (nodeSelector)"
            )
        return SelectorProblem("unknown_field", "error", f"device has no {field[1]}: {shown}", remedy)
    remedy = advice.against_refusal(expression)
    return SelectorProblem("refused", "error", f"{shown}\n{error.caret}".rstrip(), remedy)


def _names(program: Program, known: Vocabulary) -> Iterator[SelectorProblem]:
    references = References(program.tree)
    for reference in references:
        if reference.domain == "" or (reference.domain not in known.domains and reference.domain in references.drivers):
            continue  # another driver's device, asked for by its driver
        if reference.domain not in known.domains:
            if not reference.name:
                yield _unknown_domain(reference, known)
        elif reference.name:
            yield from _unknown_name(reference, known, program)
            yield from _risky(reference, known)


def _unknown_domain(reference: Reference, known: Vocabulary) -> SelectorProblem:
    better = nearest(reference.domain, known.domains) or GPU_DRIVER
    return SelectorProblem(
        "unknown_domain",
        "error",
        f"no device has {reference.part} of the domain {reference.domain}",
        f"did you mean {better}? NVIDIA's GPUs have {GPU_DRIVER}",
    )


def _unknown_name(reference: Reference, known: Vocabulary, program: Program) -> Iterator[SelectorProblem]:
    part, domain, name = reference.part, reference.domain, reference.name
    if name in known.names(part).get(domain, ()):
        return
    other = "capacity" if part == "attributes" else "attributes"
    if name in known.names(other).get(domain, ()):
        single = "capacity" if other == "capacity" else "attribute"
        yield SelectorProblem(
            "is_capacity" if single == "capacity" else "is_attribute",
            "error",
            f"{name} is {'a' if single == 'capacity' else 'an'} {single} of {domain}, not in {part}",
            f"write device.{other}['{domain}'].{name}"
            + (advice.as_capacity(program, name) if single == "capacity" else ""),
        )
        return
    elsewhere = [place for place, names in known.names(part).items() if name in names]
    better = nearest(name, known.names(part).get(domain, ()))
    if elsewhere:
        remedy = f"write device.{part}['{elsewhere[0]}'].{name}"
    elif better:
        remedy = f"did you mean {better}?"
    else:
        remedy = f"{domain} has: {', '.join(sorted(known.names(part).get(domain, ()))) or 'nothing here'}"
    yield SelectorProblem("unknown_attribute", "error", f"{domain} has no {name} in {part}", remedy)


def _risky(reference: Reference, known: Vocabulary) -> Iterator[SelectorProblem]:
    name, domain, texts = reference.name, reference.domain, reference.compared_with
    if reference.part != "attributes":
        return
    if (domain, name) in known.versions and texts:
        exact, operator = texts[0], reference.operators[0]
        if semver.is_semver(exact, normalize=True):
            exact = semver.parse(exact, normalize=True).text()
        effect = "is always true" if operator == "!=" else "raises and aborts scheduling on every node"
        yield SelectorProblem(
            "version_as_string",
            "error",
            f"{name} is a version: {operator} '{texts[0]}' compares it with a text, which {effect}",
            f"write .{name}.compareTo(semver('{exact}')) {'==' if operator == 'in' else operator} 0",
        )
    if domain == GPU_DRIVER and name in {"uuid", "parentUUID"} and texts:
        yield SelectorProblem(
            "uuid_pinned",
            "warning",
            f"{name} {texts[0]} belongs to one GPU of one node, and a replaced node has another",
            "select by product, memory or profile; pin a pod to a pool by the pool's label",
        )
    if domain == STANDARD_DOMAIN and name == "pcieRoot":
        yield SelectorProblem(
            "pcie_root",
            "warning",
            "Azure passes GPUs through without a PCIe root, so no device there is known to have pcieRoot",
            "leave it out on AKS",
        )


def _behaviour(
    program: Program, before: Sequence[Program], planned: tuple[Device, ...], named: set[Kind]
) -> Iterator[SelectorProblem]:
    answers = {device: _after(before, program, device) for device in planned}
    raised = {device: answer for device, answer in answers.items() if isinstance(answer, RuntimeProblem)}
    severity: Literal["error", "warning"] = "error"
    if not raised:
        severity = "warning"
        sorts = {device: _after(before, program, device) for device in SORTS}
        raised = {device: answer for device, answer in sorts.items() if isinstance(answer, RuntimeProblem)}
    explained = named & {"unknown_domain", "unknown_attribute", "is_capacity", "is_attribute", "version_as_string"}
    if raised and not explained:
        device, answer = next(iter(raised.items()))
        assert isinstance(answer, RuntimeProblem)
        yield _raises(program, device, answer, severity)
        if severity == "error":
            return
    if explained:
        return
    yield from _matching(answers, named)


def _after(before: Sequence[Program], program: Program, device: Device) -> Result:
    if any(earlier.evaluate(device) is False for earlier in before):
        return False
    return program.evaluate(device)


def _raises(
    program: Program, device: Device, answer: RuntimeProblem, severity: Literal["error", "warning"]
) -> SelectorProblem:
    where = f"on a device like {device.name} of {device.driver}"
    if "could not be converted to bool" in answer.text:
        return SelectorProblem(
            "non_boolean", severity, f"not a condition {where}: {answer.text}", "compare the value with something"
        )
    effect = "and that aborts scheduling on every node while such a device is free"
    name = advice.missing_key(answer.text)
    if not name:
        remedy = advice.against_error(program.tree)
        return SelectorProblem("raises", severity, f"raises '{answer.text}' {where}, {effect}", remedy)
    remedy = advice.against_missing(program, name, device.driver)
    return SelectorProblem("unguarded", severity, f"{name} is missing {where}: {answer.text}, {effect}", remedy)


def _matching(answers: dict[Device, Result], named: set[Kind]) -> Iterator[SelectorProblem]:
    if not answers:
        return
    undecided = sorted({n for answer in answers.values() if isinstance(answer, Undecided) for n in answer.attributes})
    matched = [device for device, answer in answers.items() if answer is True or isinstance(answer, Undecided)]
    if undecided and "uuid_pinned" not in named:
        yield SelectorProblem(
            "undecided",
            "warning",
            f"rests on {', '.join(undecided)}, known only on the node: what it matches cannot be said before",
            "check it on the running cluster: kubectl get resourceslices -o yaml",
        )
    if not matched:
        remedy = "loosen it, or add a pool that has such devices"
        yield SelectorProblem("matches_nothing", "warning", "matches no device of any pool", remedy)
    if len(answers) > 1 and all(answer is True for answer in answers.values()):
        remedy = "say what the device must be"
        yield SelectorProblem("matches_everything", "warning", "matches every device of every pool", remedy)
        return
    certain = [device for device in matched if answers[device] is True]
    types = {device.qualified_attributes().get(GPU_DRIVER, {}).get("type") for device in certain}
    if {"gpu", "mig"} <= types:
        yield SelectorProblem(
            "mixes_types",
            "warning",
            "matches whole GPUs and MIG devices alike: a claim may get a seventh of a GPU or all of it",
            f"add device.attributes['{GPU_DRIVER}'].type == 'gpu', or 'mig'",
        )
