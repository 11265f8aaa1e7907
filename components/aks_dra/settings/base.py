"""What every settings model shares: frozen, camelCase outside and snake_case inside, unknown keys refused.

Scalars are strict: Pulumi and its CLI guess types (`1.40` becomes the number 1.4, `true` a boolean), and a
guess that is quietly turned back into text has already lost what the user wrote.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, StrictBool, StrictInt, StrictStr
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

Str = StrictStr
Int = StrictInt
Bool = StrictBool


class Model(BaseModel):
    """Base of all settings: immutable, refuses keys it does not know."""

    # Deferred: the validator of a whole tree of models is built once, not once more for every model in it.
    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True, defer_build=True
    )


def _number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise PydanticCustomError("number", "a number is needed")
    return float(value)


Number = Annotated[float, BeforeValidator(_number)]


def _version(value: Any) -> Any:
    if isinstance(value, int | float) and not isinstance(value, bool):
        raise PydanticCustomError("version_number", "a version is text, in quotes")
    return value


Version = Annotated[StrictStr, BeforeValidator(_version)]
"""A version as text. A number is refused with the quoted form."""


def _label(value: Any) -> Any:
    if not isinstance(value, str):
        raise PydanticCustomError("label_value", "Kubernetes labels, selectors and annotations are text, in quotes")
    return value


LabelValue = Annotated[StrictStr, BeforeValidator(_label)]
"""The value of a label, annotation or tag. Booleans and numbers are refused with the quoted form."""


def _zone(value: Any) -> Any:
    # An unquoted 1 can only be zone 1: nothing is lost.
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


Zone = Annotated[StrictStr, BeforeValidator(_zone)]
"""An availability zone: text, or the whole number of its name."""
