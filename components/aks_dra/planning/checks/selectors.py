"""Hand-written CEL of classes and claims: names that exist, guards, conditions that can hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from aks_dra.planning.cel.lint import lint
from aks_dra.planning.checks.context import Context, finding
from aks_dra.planning.claim_shape import Ask
from aks_dra.planning.devices import GPU_DRIVER
from aks_dra.planning.model import Finding

CEL = "Kubernetes: CEL in device selectors (k8s.io/dynamic-resource-allocation/cel)"
# Said of the whole class or ask elsewhere, or no fault of a selector that only adds to a class.
_ELSEWHERE = {"matches_nothing"}
# Of a driver whose devices are not described, only what Kubernetes itself refuses can be said.
_WITHOUT_DEVICES = {"refused", "no_quantity", "non_boolean", "unknown_field"}


def of_classes(context: Context, only: str = "") -> Iterator[Finding]:
    for name, entry in context.settings.device_classes.items():
        if only not in ("", name):
            continue
        path = f"aks-dra:deviceClasses.{name}.cel"
        before = [f"device.driver == '{entry.driver}'"]
        for index, text in enumerate(entry.cel):
            yield from _linted(context, "CLS004", f"{path}.{index}", text, before, entry.driver, _ELSEWHERE)
            before.append(text)


def has_errors(context: Context, ask: Ask) -> bool:
    """Whether one of an ask's selectors is refused or raises, so that nothing need be said of what it matches."""
    without_text = ask.raw and not all(ask.cel)
    return without_text or any(found.severity == "error" for found in _of_ask(context, ask))


def class_has_errors(context: Context, name: str) -> bool:
    return any(found.severity == "error" for found in of_classes(context, name))


def of_claims(context: Context) -> Iterator[Finding]:
    most = context.facts.limits["selectors"].value
    for claim in context.claims:
        for ask in claim.asks:
            yield from _of_ask(context, ask)
            if len(ask.cel) > most:
                rule = f"a request has at most {most} selectors"
                yield finding("CLM018", "error", ask.at("cel"), len(ask.cel), rule, "join some with &&", CEL)


def _of_ask(context: Context, ask: Ask) -> Iterator[Finding]:
    entry = context.claim_matches.classes.get(ask.device_class)
    before = list(entry.selectors) if entry else []
    driver = entry.driver if entry else GPU_DRIVER
    ignored = _ELSEWHERE | {"matches_everything", "mixes_types"}
    for index, text in enumerate(ask.cel):
        if ask.raw and not text:
            continue  # said of its shape
        yield from _linted(context, "CLM017", ask.cel_at(index), text, before, driver, ignored)
        before.append(text)


def _linted(
    context: Context, code: str, path: str, text: str, before: Sequence[str], driver: str, ignored: set[str]
) -> Iterator[Finding]:
    known = driver == GPU_DRIVER or any(device.driver == driver for device in context.matcher.devices)
    for problem in lint(text, context.matcher.devices, context.cel_minor, before):
        if problem.kind in ignored or (not known and problem.kind not in _WITHOUT_DEVICES):
            continue
        yield finding(code, problem.severity, path, text, problem.text, problem.remedy, CEL)


CHECKS = (of_classes, of_claims)
