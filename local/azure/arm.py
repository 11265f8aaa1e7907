"""What every part of the simulated Azure speaks: ids, errors in ARM's words, and values that never change.

Only the subscription of zeros exists here, and no real Azure has it: that is what keeps a real stack from being
served by the simulation, and a simulated one from reaching Azure.
"""

from __future__ import annotations

import hashlib
import uuid
from typing import Any

Properties = dict[str, Any]

SUBSCRIPTION = "00000000-0000-0000-0000-000000000000"
TENANT = "00000000-0000-0000-0000-000000000001"
NAMESPACE = uuid.UUID("5d9bb3c1-5a53-4d63-8d3c-5c1a2f0c7a51")
API_VERSION = "2025-09-01"


class ArmError(Exception):
    """A refusal, as ARM words it: a status, a code and a message."""

    def __init__(self, status: int, code: str, message: str, target: str = "") -> None:
        self.status, self.code, self.message, self.target = status, code, message, target
        super().__init__(str(self))

    def __str__(self) -> str:
        target = f' Target="{self.target}"' if self.target else ""
        return f'Status={self.status} Code="{self.code}" Message="{self.message}"{target}'


def invalid(parameter: str, details: str) -> ArmError:
    """AKS's own form for a value that it refuses."""
    return ArmError(
        400, "InvalidParameter", f"The value of parameter {parameter} is invalid. Error details: {details}", parameter
    )


def change_not_allowed(path: str) -> ArmError:
    return ArmError(409, "PropertyChangeNotAllowed", f"Changing property '{path}' is not allowed.", path)


def group_not_found(name: str) -> ArmError:
    return ArmError(404, "ResourceGroupNotFound", f"Resource group '{name}' could not be found.")


def resource_not_found(resource_id: str) -> ArmError:
    group, kind, name = group_of(resource_id), type_of(resource_id), name_of(resource_id)
    if kind == "Microsoft.ContainerService/managedClusters/agentPools":
        cluster = name_of(parent_of(resource_id))
        return ArmError(
            404,
            "AgentPoolNotFound",
            f"Agent pool '{name}' of managed cluster '{cluster}' in resource group '{group}' was not found.",
        )
    return ArmError(
        404,
        "ResourceNotFound",
        f"The Resource '{kind}/{name}' under resource group '{group}' was not found. "
        "For more details please go to https://aka.ms/ARMResourceNotFoundFix",
    )


def segments(resource_id: str) -> list[str]:
    return [part for part in resource_id.split("/") if part]


def name_of(resource_id: str) -> str:
    return segments(resource_id)[-1]


def parent_of(resource_id: str) -> str:
    """The id without its last type and name."""
    return "/" + "/".join(segments(resource_id)[:-2])


def group_of(resource_id: str) -> str:
    parts = segments(resource_id)
    lower = [part.lower() for part in parts]
    return parts[lower.index("resourcegroups") + 1] if "resourcegroups" in lower else ""


def group_id(name: str) -> str:
    return f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{name}"


def type_of(resource_id: str) -> str:
    """`Microsoft.ContainerService/managedClusters/agentPools` of such an id; a group's type without a provider."""
    parts = segments(resource_id)
    last = max((index for index, part in enumerate(parts) if part.lower() == "providers"), default=-1)
    if last < 0:
        return "Microsoft.Resources/resourceGroups"
    return "/".join([parts[last + 1], *parts[last + 2 :: 2]])


def stable_uuid(*parts: str) -> str:
    """The same parts give the same UUID for ever: object ids, client ids, issuers."""
    return str(uuid.uuid5(NAMESPACE, "/".join(parts).lower()))


def digits(text: str, count: int) -> str:
    """A number of that many digits that follows from the text, as AKS has them in names of nodes and of API servers."""
    number = int(hashlib.sha256(text.lower().encode()).hexdigest(), 16) % 10**count
    return str(number).zfill(count)


def location(name: str) -> str:
    """`Sweden Central` and `swedencentral` are one location."""
    return name.replace(" ", "").lower()
