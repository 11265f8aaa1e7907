"""Quantities and versions as values inside the CEL engine.

The engine takes values of a type of one's own only as protobuf messages, so Quantity and Semver are messages with
one field, the canonical text: equality of messages is then equality of numbers and of versions, and `type()` gives
the names that Kubernetes gives. `Unread` stands for a value that only the node knows.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, struct_pb2

from aks_dra.kube import quantity, semver

PACKAGE = "kubernetes"
# A name that no selector uses: a Quantity has no field that users could read.
FIELD = "canonical__"
_STRING, _BOOL, _MESSAGE, _OPTIONAL = 9, 8, 11, 1


def _build_pool() -> Any:
    file = descriptor_pb2.FileDescriptorProto(name="kubernetes.proto", package=PACKAGE, syntax="proto3")
    file.dependency.append("google/protobuf/struct.proto")
    for name in ("Quantity", "Semver", "Unread"):
        file.message_type.add(name=name).field.add(name=FIELD, number=1, type=_STRING, label=_OPTIONAL)
    # What `device` by itself can be asked, by version; the engine finds `device.driver` and its like before this.
    for name, fields in (("DRADevice", ()), ("DRADeviceConsumable", ("allowMultipleAllocations",))):
        message = file.message_type.add(name=name)
        message.field.add(name="driver", number=1, type=_STRING, label=_OPTIONAL)
        for number, field in enumerate(("attributes", "capacity"), 2):
            message.field.add(
                name=field, number=number, type=_MESSAGE, label=_OPTIONAL, type_name=".google.protobuf.Value"
            )
        for field in fields:
            message.field.add(name=field, number=4, type=_BOOL, label=_OPTIONAL)
    pool = descriptor_pool.DescriptorPool()
    struct = descriptor_pb2.FileDescriptorProto()
    struct_pb2.DESCRIPTOR.CopyToProto(struct)
    pool.Add(struct)
    pool.Add(file)
    return pool


POOL = _build_pool()
QuantityMessage, SemverMessage, UnreadMessage = (
    message_factory.GetMessageClass(POOL.FindMessageTypeByName(f"{PACKAGE}.{name}"))
    for name in ("Quantity", "Semver", "Unread")
)


@lru_cache(maxsize=4096)
def quantity_value(text: str) -> Any:
    return from_number(quantity.parse(text))


def from_number(number: Fraction) -> Any:
    return QuantityMessage(**{FIELD: f"{number.numerator}/{number.denominator}"})


def number_of(value: Any) -> Fraction:
    return _fraction(text_of(value))


@lru_cache(maxsize=4096)
def semver_value(text: str, normalize: bool = False) -> Any:
    return SemverMessage(**{FIELD: semver.parse(text, normalize).text()})


def version_of(value: Any) -> semver.Semver:
    return _version(text_of(value))


# The texts are canonical and few: those of devices and of constants.
_fraction = lru_cache(maxsize=4096)(Fraction)
_version = lru_cache(maxsize=4096)(semver.parse)


def unread(name: str) -> Any:
    return UnreadMessage(**{FIELD: name})


def text_of(value: Any) -> str:
    return str(getattr(value, FIELD))


def is_quantity(value: Any) -> bool:
    return isinstance(value, QuantityMessage)


def is_semver(value: Any) -> bool:
    return isinstance(value, SemverMessage)


def is_unread(value: Any) -> bool:
    return isinstance(value, UnreadMessage)
