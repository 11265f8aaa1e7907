"""Hand-written CEL of classes and claims: names that exist, guards, conditions that can hold."""

from __future__ import annotations

from collections.abc import Iterator

from aks_dra.context.context import Context
from aks_dra.context.linted import ELSEWHERE, linted
from aks_dra.findings.finding import Finding


def of_classes(context: Context, only: str = "") -> Iterator[Finding]:
    for name, entry in context.settings.device_classes.items():
        if only not in ("", name):
            continue
        path = f"aks-dra:deviceClasses.{name}.cel"
        before = [f"device.driver == '{entry.driver}'"]
        for index, text in enumerate(entry.cel):
            yield from linted(context, "CLS004", f"{path}.{index}", text, before, entry.driver, ELSEWHERE)
            before.append(text)


def class_has_errors(context: Context, name: str) -> bool:
    return any(found.severity == "error" for found in of_classes(context, name))


RULES = (of_classes,)
