"""Values that a setting may have, read off the models: what may have been meant where something cannot be read."""

from __future__ import annotations

import typing
from typing import Any

from pydantic import BaseModel

from aks_dra.settings.shape import members

UNKNOWN_NAME = "unknown"
_NUMBERS = [1, 0, 2, 30, 1000]


class Unset:
    """Instead of a value: the key is not there at all."""

    def __deepcopy__(self, memo: object) -> Unset:
        return self


UNSET = Unset()


def samples(annotation: Any) -> list[Any]:
    """Some values of every kind that is allowed, a plain one first."""
    found: list[Any] = []
    for kind in members(annotation):
        origin = typing.get_origin(kind)
        if kind is type(None):
            found.append(None)
        elif origin is typing.Literal:
            found += typing.get_args(kind)
        elif origin is dict:
            found.append({})
        elif origin is tuple:
            found.append([])
        elif kind is bool:
            found += [False, True]
        elif kind is int:
            found += _NUMBERS
        elif kind is float:
            found.append(1.0)
        elif kind is str:
            found.append(UNKNOWN_NAME)
        elif isinstance(kind, type) and issubclass(kind, BaseModel):
            found += of_model(kind)
        else:
            found += [UNKNOWN_NAME, True, 1, {}]
    return found


def of_model(model: type[BaseModel]) -> list[dict[str, Any]]:
    """The model with as little as it needs; then with every key at its first value that is not null, its second, …"""
    needed = {(f.alias or n): samples(f.annotation)[0] for n, f in model.model_fields.items() if f.is_required()}
    keys = {
        field.alias or name: [value for value in samples(field.annotation) if value is not None] or [None]
        for name, field in model.model_fields.items()
    }
    most = max((len(values) for values in keys.values()), default=0)
    whole = [{key: values[number % len(values)] for key, values in keys.items()} for number in range(min(most, 4))]
    return [needed, *whole]
