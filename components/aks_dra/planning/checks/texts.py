"""Values that look like text and are none: a Pulumi Output turned into text, and labels that YAML read as true or 1.

Python gives an Output in an f-string without a word, and what would be named by it is named by a sentence of Pulumi's.
Helm hands a selector on as it is, and the API server then refuses the boolean in it, in the middle of an update.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from aks_dra.planning.checks.context import Context, finding
from aks_dra.planning.checks.names import OUTPUT_TEXT
from aks_dra.planning.model import Finding

# Maps of the charts whose values Kubernetes takes as text only.
TEXT_MAPS = ("nodeselector", "labels", "annotations", "podlabels", "podannotations", "matchlabels", "additionallabels")


def outputs_as_text(context: Context) -> Iterator[Finding]:
    whole = context.settings.model_dump(by_alias=True, exclude_unset=True)
    for path, text in _texts(whole, ""):
        if ".labels." in path:
            continue  # a label's value has a finding of its own
        yield finding(
            "NAM006",
            "error",
            f"aks-dra:{path}",
            text,
            "this is the text that Pulumi gives for an Output, not its value",
            "write plain text: names and settings are checked before anything is created",
            "Pulumi: Outputs and strings",
        )


def _texts(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if _is_output(key):
                yield path, str(key)
            else:
                yield from _texts(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            yield from _texts(inner, f"{path}.{index}")
    elif _is_output(value):
        yield path, str(value)


def _is_output(value: Any) -> bool:
    return isinstance(value, str) and any(text in value for text in OUTPUT_TEXT)


def chart_labels(context: Context) -> Iterator[Finding]:
    charts = context.settings.gpu.charts
    for name, own in (
        ("operator", charts.operator),
        ("draDriver", charts.dra_driver),
        ("devicePlugin", charts.device_plugin),
    ):
        for path, value in _no_texts(own.values, ""):
            shown = str(value).lower() if isinstance(value, bool) else str(value)
            yield finding(
                "CHT019",
                "error",
                f"aks-dra:gpu.charts.{name}.values.{path}",
                shown,
                "Kubernetes labels, selectors and annotations are text, in quotes",
                f'write "{shown}"',
                "Kubernetes: labels and selectors",
            )


def _no_texts(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            yield from _no_texts(inner, f"{path}.{index}")
    if not isinstance(value, Mapping):
        return
    for key, inner in value.items():
        where = f"{path}.{key}" if path else str(key)
        if str(key).lower() in TEXT_MAPS and isinstance(inner, Mapping):
            yield from (
                (f"{where}.{name}", item) for name, item in inner.items() if isinstance(item, bool | int | float)
            )
        else:
            yield from _no_texts(inner, where)


CHECKS = (outputs_as_text, chart_labels)
