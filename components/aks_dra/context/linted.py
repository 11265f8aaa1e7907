"""The findings of hand-written CEL, for every topic that lets people write it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from aks_dra.cel import Program, compile_expression
from aks_dra.cel.lint import lint
from aks_dra.context.context import Context
from aks_dra.findings.build import finding
from aks_dra.findings.finding import Finding
from aks_dra.kube.devices import GPU_DRIVER

CEL = "Kubernetes: CEL in device selectors (k8s.io/dynamic-resource-allocation/cel)"

# Said of the whole class or ask elsewhere, or no fault of a selector that only adds to a class.
ELSEWHERE = {"matches_nothing"}

# Of a driver whose devices are not described, only what Kubernetes itself refuses can be said.
_WITHOUT_DEVICES = {"refused", "no_quantity", "non_boolean", "unknown_field"}


def linted(
    context: Context, code: str, path: str, text: str, before: Sequence[str], driver: str, ignored: set[str]
) -> Iterator[Finding]:
    known = driver == GPU_DRIVER or any(device.driver == driver for device in context.matcher.devices)
    for problem in lint(text, context.matcher.devices, context.cel_minor, before):
        if problem.kind in ignored or (not known and problem.kind not in _WITHOUT_DEVICES):
            continue
        yield finding(code, problem.severity, path, text, problem.text, problem.remedy, CEL)


def mentioned(context: Context, name: str, texts: Iterable[str]) -> bool:
    """Whether one of the selectors has a field or a text of this name."""
    programs = (compile_expression(text, context.cel_minor) for text in texts)
    return any(isinstance(program, Program) and name in program.words for program in programs)
