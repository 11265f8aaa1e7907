"""Asks Azure's own Python models (azure-mgmt-containerservice) what a request may hold.

The service decodes strictly: a property that it does not know, a value of the wrong type, a word outside an
enumeration and a missing required property are refused, with nothing done. The package's models do not refuse by
themselves, but they say all of it in their annotations; this walks them.
"""

from __future__ import annotations

import datetime
import inspect
import sys
import typing
from enum import EnumMeta
from functools import cache
from types import ModuleType, NoneType
from typing import Any, ForwardRef, Union

from local.azure.arm import ArmError, Properties, invalid


@cache
def models() -> ModuleType:
    # Half a second to import: only where a cluster or a pool is really written.
    from azure.mgmt.containerservice import models as found

    return found


@cache
def base() -> type:
    """What all of the package's models come from."""
    from azure.mgmt.containerservice._utils.model_base import Model

    return Model


def check(model: str, body: Properties, path: str) -> None:
    """Refuses a body that the named model would not take. `path` is where the body is in the request."""
    check_model(getattr(models(), model), body, path)


@cache
def fields(model: type) -> dict[str, tuple[Any, bool]]:
    """By the name on the wire: the type, and whether only the service sets it."""
    hints: dict[str, Any] = {}
    for part in reversed(model.__mro__):
        scope = {**vars(sys.modules[part.__module__]), "_models": models()}
        for name, hint in inspect.get_annotations(part).items():
            hints[name] = eval(hint, scope) if isinstance(hint, str) else hint  # the package's own annotations
    found: dict[str, tuple[Any, bool]] = {}
    for part in reversed(model.__mro__):
        for name, field in vars(part).items():
            if type(field).__name__ == "_RestField":
                found[field._rest_name_input or name] = (hints[name], field._visibility == ["read"])
    return found


def resolve(hint: Any) -> Any:
    if isinstance(hint, ForwardRef):
        hint = hint.__forward_arg__
    if isinstance(hint, str):
        return eval(hint.replace("_models.", ""), dict(vars(models())))  # the package's own annotations
    return hint


def check_model(model: type, body: Any, path: str) -> None:
    if not isinstance(body, dict):
        raise wrong_type(path, "an object", body)
    known = fields(model)
    for name, value in body.items():
        if name not in known:
            where = f"{path}.{name}" if path else name
            raise ArmError(
                400,
                "UnmarshalError",
                f'UnmarshalEntity encountered error: json: unknown field "{name}" in {model.__name__}. Path: {where}.',
                where,
            )
        hint, read_only = known[name]
        if not read_only and value is not None:
            check_value(hint, value, f"{path}.{name}" if path else name)
    for name, (hint, read_only) in known.items():
        if not read_only and not optional(hint) and body.get(name) is None:
            where = f"{path}.{name}" if path else name
            raise ArmError(400, "InvalidParameter", f"Required parameter {where} is missing (null).", where)


def optional(hint: Any) -> bool:
    return typing.get_origin(hint) is Union and NoneType in typing.get_args(hint)


def check_value(hint: Any, value: Any, path: str) -> None:
    hint = resolve(hint)
    origin, arguments = typing.get_origin(hint), [resolve(argument) for argument in typing.get_args(hint)]
    if origin is Union:
        kinds = [argument for argument in arguments if argument is not NoneType]
        words = next((kind for kind in kinds if isinstance(kind, EnumMeta)), None)
        check_value(words or kinds[0], value, path)
    elif origin is list:
        if not isinstance(value, list):
            raise wrong_type(path, "an array", value)
        for index, item in enumerate(value):
            check_value(arguments[0], item, f"{path}[{index}]")
    elif origin is dict:
        if not isinstance(value, dict):
            raise wrong_type(path, "an object", value)
        for key, item in value.items():
            if item is not None:
                check_value(arguments[1], item, f"{path}.{key}")
    elif isinstance(hint, EnumMeta):
        check_word(hint, value, path)
    elif isinstance(hint, type):
        check_plain(hint, value, path)


def check_word(words: EnumMeta, value: Any, path: str) -> None:
    allowed = [str(member.value) for member in words]  # type: ignore[var-annotated]
    if not isinstance(value, str):
        raise wrong_type(path, "a string", value)
    # The service compares without regard to case.
    if value.lower() not in {word.lower() for word in allowed}:
        raise invalid(path, f"'{value}' is not one of {', '.join(allowed)}.")


def check_plain(kind: type, value: Any, path: str) -> None:
    if kind is bool:
        fits, wanted = isinstance(value, bool), "a boolean"
    elif kind is int:
        whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        fits, wanted = whole and not isinstance(value, bool), "an integer"
    elif kind is float:
        fits, wanted = isinstance(value, int | float) and not isinstance(value, bool), "a number"
    elif kind in (str, bytes, datetime.datetime, datetime.time, datetime.date):
        fits, wanted = isinstance(value, str), "a string"
    elif issubclass(kind, base()):
        return check_model(kind, value, path)
    else:
        return None
    if not fits:
        raise wrong_type(path, wanted, value)


def wrong_type(path: str, wanted: str, value: Any) -> ArmError:
    return ArmError(
        400,
        "UnmarshalError",
        f"UnmarshalEntity encountered error: {path} must be {wanted}, not {type(value).__name__} ({value!r}).",
        path,
    )
