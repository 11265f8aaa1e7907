"""Settings of pools that look like text and are none: a Pulumi Output turned into text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from aks_dra.context.context import Context
from aks_dra.findings.build import finding
from aks_dra.findings.finding import Finding
from aks_dra.topics.pools.name_rules import OUTPUT_TEXT


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


RULES = (outputs_as_text,)
