"""docs/settings.md, written from the models themselves so that it cannot go stale.

python -m aks_dra.reference.settings_doc > docs/settings.md
"""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from aks_dra.facts import PoolField, load_facts
from aks_dra.settings import ClusterSettings, Nodes, Pool, Settings, Sharing
from aks_dra.settings.fields import CLUSTER, POOL

HEAD = """# Settings

Every key of a stack file, written from the models in `components/aks_dra/settings`. The keys of the first table are
written `aks-dra:<key>` under `config:`. In Python the same models take snake_case names. Unknown keys are refused.
A default `-` is none, unless the description names one; `its own` are those of the linked table. `Azure:` is the name
in Azure Resource Manager, with what a change of it does to what exists.
"""


def document() -> str:
    parts = [HEAD]
    for model in _models(Settings):
        parts += [
            f"## {model.__name__}",
            "",
            _plain_doc(model),
            "",
            "| key | type | default | |",
            "| --- | --- | --- | --- |",
        ]
        parts += [_row(model, name, field) for name, field in model.model_fields.items()]
        parts.append("")
    return "\n".join(parts)


def _models(start: type[BaseModel]) -> list[type[BaseModel]]:
    """The model and all below it, each once, in the order in which a reader meets them."""
    seen: dict[type[BaseModel], None] = {}

    def visit(model: type[BaseModel]) -> None:
        if model in seen:
            return
        seen[model] = None
        for field in model.model_fields.values():
            for inner in _inside(field.annotation):
                visit(inner)

    visit(start)
    return list(seen)


def _inside(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in typing.get_args(annotation):
        yield from _inside(argument)


def _plain_doc(model: type[BaseModel]) -> str:
    return " ".join((model.__doc__ or "").split())


def _row(model: type[BaseModel], name: str, field: FieldInfo) -> str:
    default = "" if field.is_required() else _default(field)
    if (model, name) == (ClusterSettings, "kubernetes_version"):
        default = f"`{load_facts().kubernetes.default}`"
    text = (field.description or "").replace("|", "\\|") + _in_azure().get((model, field.alias or name), "")
    return f"| `{field.alias or name}` | {_type(field.annotation)} | {default} | {text} |"


@cache
def _in_azure() -> dict[tuple[type[BaseModel], str], str]:
    """By model and key, what the setting is called in Azure Resource Manager and what a change of it does there."""
    facts = load_facts()
    found: dict[tuple[type[BaseModel], str], list[str]] = {}
    for start, table, rows, what in (
        (Pool, POOL, facts.pool_fields, "pool"),
        (ClusterSettings, CLUSTER, facts.cluster_fields, "cluster"),
    ):
        for entry in table:
            place = _place(start, entry.setting)
            if place and place[0] not in (Nodes, Sharing):  # of these it depends on what else is set
                found.setdefault(place, []).append(_named(entry.arm, rows, what))
    return {place: f" (Azure: {'; '.join(names)})" for place, names in found.items()}


def _named(arm: str, rows: Mapping[str, PoolField], what: str) -> str:
    row = rows.get(arm) or rows.get(arm.partition(".")[0])
    effects = {
        "replace": f"a change replaces the {what}",
        "reimage": "a change rebuilds every node",
        "stays": "once on, it stays on",
        "unverified": "what a change does is not known",
    }
    effect = effects.get(row.change, "") if row else ""
    return f"`{arm}`" + (f", {effect}" if effect else "")


def _place(start: type[BaseModel], setting: str) -> tuple[type[BaseModel], str] | None:
    """The model and the key of a setting's path; None where the models have none."""
    first, _, rest = setting.partition(".")
    for name, field in start.model_fields.items():
        if (field.alias or name) == first:
            inner = next(_inside(field.annotation), None)
            return (start, first) if not rest else _place(inner, rest) if inner else None
    return None


def _default(field: FieldInfo) -> str:
    value = field.default
    if value is PydanticUndefined or value is None or value in ((), {}):
        return "-"
    if isinstance(value, BaseModel):
        given = value.model_dump(by_alias=True, exclude_unset=True)
        return f"`{given}`".replace("'", "") if given else "its own"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _type(annotation: Any) -> str:
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return _type(arguments[0])
    if origin in (typing.Union, types.UnionType):
        return " or ".join(_type(argument) for argument in arguments if argument is not type(None))
    if origin is typing.Literal:
        return ", ".join(f"`{argument}`" for argument in arguments)
    if origin is tuple:
        return f"list of {_type(arguments[0])}"
    if origin is dict:
        return f"map of name to {_type(arguments[1])}"
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return f"[{annotation.__name__}](#{annotation.__name__.lower()})"
    return {"str": "text", "int": "whole number", "bool": "true or false", "float": "number"}.get(
        getattr(annotation, "__name__", ""), "anything"
    )


if __name__ == "__main__":
    print(document(), end="")
