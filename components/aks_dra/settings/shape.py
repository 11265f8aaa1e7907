"""What may stand at a path of the settings, read off the models."""

from __future__ import annotations

import types
import typing
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel
from pydantic.alias_generators import to_camel

Path = tuple[str | int, ...]


def members(annotation: Any) -> tuple[Any, ...]:
    """The members of a union, or the annotation alone; Annotated is looked through."""
    if typing.get_origin(annotation) is typing.Annotated:
        return members(typing.get_args(annotation)[0])
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return tuple(inner for argument in typing.get_args(annotation) for inner in members(argument))
    return (annotation,)


def models_of(annotation: Any) -> list[type[BaseModel]]:
    """The models among the members of an annotation."""
    return [inner for inner in members(annotation) if isinstance(inner, type) and issubclass(inner, BaseModel)]


def several(annotation: Any) -> bool:
    """Whether a value may have more than one shape beside null."""
    return len([inner for inner in members(annotation) if inner is not type(None)]) > 1


def step(annotation: Any, part: int | str) -> tuple[str | int, Any] | None:
    """One part of a path: the key as the user writes it, and what its value may be."""
    for inner in members(annotation):
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            for name, field in inner.model_fields.items():
                if part in (name, field.alias):
                    return field.alias or to_camel(name), field.annotation
        origin, arguments = typing.get_origin(inner), typing.get_args(inner)
        if origin is dict and isinstance(part, str):
            return part, arguments[1]
        if origin is tuple and isinstance(part, int):
            return part, arguments[0]
    return None


def named_member(annotation: Any, name: str) -> Any:
    """The member of a union that pydantic calls so; Any where none is recognised."""
    for inner in members(annotation):
        kind = getattr(typing.get_origin(inner), "__name__", "") or getattr(inner, "__name__", "")
        if name == kind or (kind and name.startswith(f"{kind}[")):
            return inner
    return Any


def annotation_at(start: Any, path: Sequence[str | int]) -> Any:
    """What the value at a path may be; None where the models say nothing of it."""
    annotation = start
    for part in path:
        found = step(annotation, part)
        if found is None:
            return None
        annotation = found[1]
    return annotation


def model_at(start: type[BaseModel], path: Sequence[str | int]) -> type[BaseModel] | None:
    """The model that a path leads to, if it is one."""
    models = models_of(annotation_at(start, path))
    return models[0] if models else None


def required(start: type[BaseModel], path: Path) -> bool:
    """Whether what is at a path cannot be without: a list's item keeps the numbers of those after it."""
    if not path or isinstance(path[-1], int):
        return True
    return any(
        field.is_required()
        for model in models_of(annotation_at(start, path[:-1]))
        for name, field in model.model_fields.items()
        if path[-1] in (name, field.alias)
    )
