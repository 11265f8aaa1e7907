"""The fields of a claim in resource.k8s.io/v1, by the kind of their values."""

from __future__ import annotations

from typing import Any

TEXT, NUMBER, FLAG, MODE, ANY = "text", "a whole number", "true or false", "ExactCount or All", ""
TOLERATION = {"key": TEXT, "operator": TEXT, "value": TEXT, "effect": TEXT, "tolerationSeconds": NUMBER}
ASK: dict[str, Any] = {
    "deviceClassName": TEXT,
    "selectors": [{"cel": {"expression": TEXT}}],
    "allocationMode": MODE,
    "count": NUMBER,
    "tolerations": [TOLERATION],
    "capacity": {"requests": {"*": TEXT}},
}
# What stands under `exactly`; before v1 it stood beside the request's name.
OF_EXACTLY = ("deviceClassName", "selectors", "allocationMode", "count", "adminAccess", "tolerations", "capacity")
SPEC: dict[str, Any] = {
    "devices": {
        "requests": [
            {
                "name": TEXT,
                "exactly": {**ASK, "adminAccess": FLAG},
                "firstAvailable": [{"name": TEXT, **ASK}],
            }
        ],
        "constraints": [{"requests": [TEXT], "matchAttribute": TEXT, "distinctAttribute": TEXT}],
        "config": [{"requests": [TEXT], "opaque": {"driver": TEXT, "parameters": {"*": ANY}}}],
    }
}
METADATA = {"name": TEXT, "namespace": TEXT, "labels": {"*": TEXT}, "annotations": {"*": TEXT}}
# Fields of an object that was read from a cluster.
SERVERS = {
    "creationTimestamp", "deletionTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "status",
    "uid",
}  # fmt: skip


def right_value(value: Any, form: str) -> str:
    """The value as it has to be written."""
    if form == TEXT and isinstance(value, int | float):
        return f'write "{value}"'
    text = str(value).strip()
    plain = text.isdecimal() if form == NUMBER else text in ("true", "false")
    return f"write {text}, without quotes" if plain and isinstance(value, str) else "correct the value"


def fits(value: Any, form: str) -> bool:
    if form == NUMBER:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, bool if form == FLAG else str)


def without_nulls(value: Any) -> Any:
    """Without keys that have no value: null means that a field is not there. Parameters are left to their driver."""
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: held if key == "parameters" else without_nulls(held) for key, held in value.items() if held is not None
    }
