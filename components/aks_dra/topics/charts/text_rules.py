"""Values that look like text and are none: a Pulumi Output turned into text, and labels that YAML read as true or 1.

Python gives an Output in an f-string without a word, and what would be named by it is named by a sentence of Pulumi's.
Helm hands a selector on as it is, and the API server then refuses the boolean in it, in the middle of an update.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from aks_dra.context.context import Context
from aks_dra.findings.build import finding
from aks_dra.findings.finding import Finding

# Maps of the charts whose values Kubernetes takes as text only.
TEXT_MAPS = ("nodeselector", "labels", "annotations", "podlabels", "podannotations", "matchlabels", "additionallabels")


# Lists of the charts, and the fields of their entries that are text only.
TEXT_LISTS: Mapping[str, tuple[tuple[str, ...], str, str]] = {
    "env": (("name", "value"), "the values of environment variables are text", "Kubernetes: EnvVar"),
    "tolerations": (("key", "operator", "value", "effect"), "keys and values of tolerations are text",
                    "Kubernetes: Toleration"),
    "matchexpressions": (("key", "operator", "values"), "keys and values of selectors are text",
                         "Kubernetes: labels and selectors"),
}  # fmt: skip


def chart_labels(context: Context) -> Iterator[Finding]:
    charts = context.settings.gpu.charts
    for name, own in (
        ("operator", charts.operator),
        ("draDriver", charts.dra_driver),
        ("devicePlugin", charts.device_plugin),
    ):
        for path, value, what, source in _no_texts(own.values, ""):
            shown = str(value).lower() if isinstance(value, bool) else str(value)
            where = f"aks-dra:gpu.charts.{name}.values.{path}"
            yield finding("CHT019", "error", where, shown, f"{what}, in quotes", f'write "{shown}"', source)


def _no_texts(value: Any, path: str) -> Iterator[tuple[str, Any, str, str]]:
    if isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            yield from _no_texts(inner, f"{path}.{index}")
    if not isinstance(value, Mapping):
        return
    for key, inner in value.items():
        where, lowered = (f"{path}.{key}" if path else str(key)), str(key).lower()
        if lowered in TEXT_MAPS and isinstance(inner, Mapping):
            what = "Kubernetes labels, selectors and annotations are text"
            yield from (
                (f"{where}.{name}", item, what, "Kubernetes: labels and selectors")
                for name, item in inner.items()
                if _is_bare(item)
            )
        elif lowered in TEXT_LISTS and isinstance(inner, list | tuple):
            fields, what, source = TEXT_LISTS[lowered]
            for index, entry in enumerate(inner):
                for name in fields:
                    given = entry.get(name) if isinstance(entry, Mapping) else None
                    for place, item in _items(given, f"{where}.{index}.{name}"):
                        yield place, item, what, source
        else:
            yield from _no_texts(inner, where)


def _items(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, list | tuple):
        yield from ((f"{path}.{index}", item) for index, item in enumerate(value) if _is_bare(item))
    elif _is_bare(value):
        yield path, value


def _is_bare(value: Any) -> bool:
    return isinstance(value, bool | int | float)


RULES = (chart_labels,)
