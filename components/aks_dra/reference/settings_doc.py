"""docs/settings.md, written from the models themselves so that it cannot go stale.

python -m aks_dra.reference.settings_doc > docs/settings.md
"""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from aks_dra.facts import load_facts
from aks_dra.settings import ClusterSettings, Settings

HEAD = """# Settings

Every key of a stack file, written from the models in `components/aks_dra/settings`. The keys of the first table are
written `aks-dra:<key>` under `config:`. In Python the same models take snake_case names. Unknown keys are refused.
A default `-` is none, unless the description names one; `its own` are those of the linked table.
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
    text = (field.description or "").replace("|", "\\|")
    return f"| `{field.alias or name}` | {_type(field.annotation)} | {default} | {text} |"


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
