"""From the plan's Azure inputs to the arguments of azure-native's classes.

A plan speaks Azure Resource Manager's camelCase. azure-native's Python classes want snake_case for their own
arguments only: inside a value both spellings pass, and label and tag keys stay as they are, so nothing below
the first level may be touched.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from typing import Any

import pulumi

from aks_dra.facts.arm import provider_names
from aks_dra.model.plan import Plan

# Identity of a resource: it follows from names in the settings, never from raw inputs.
_SET_BY_COMPONENTS = {"resource_group_name", "resource_name", "agent_pool_name"}
# "vnetSubnetID" → vnet_subnet_id, "podIPAllocationMode" → pod_ip_allocation_mode, "osDiskSizeGB" → os_disk_size_gb.
_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def snake(name: str) -> str:
    """The Python name of an Azure or Kubernetes property."""
    return _WORD.sub("_", name).lower()


def arguments(inputs: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """Inputs of an ARM type (facts/arm.py) as keyword arguments of an azure-native class."""
    converted = {snake(name): value for name, value in provider_names(kind, inputs).items()}
    identity = converted.get("identity")
    if isinstance(identity, Mapping) and isinstance(identity.get("userAssignedIdentities"), Mapping):
        # Azure's API has a map here, azure-native a list of its keys.
        converted["identity"] = {**identity, "userAssignedIdentities": sorted(identity["userAssignedIdentities"])}
    return converted


def check_names(plan: Plan) -> None:
    """Refuses raw Azure inputs that azure-native has no property for, before anything is registered."""
    from pulumi_azure_native import containerservice

    problems = _unknown("aks-dra:cluster.azureInputs", plan.cluster.inputs, containerservice.ManagedClusterArgs)
    for pool in plan.pools:
        problems += _unknown(f"{pool.path}.azureInputs", pool.inputs, containerservice.AgentPoolArgs)
    if problems:
        raise pulumi.RunError("\n".join(["azure-native has no such property; nothing was registered:", *problems]))


def _unknown(path: str, inputs: Mapping[str, Any], args: type) -> list[str]:
    known = set(inspect.signature(args).parameters) - _SET_BY_COMPONENTS
    return [f"  {path}.{name}" for name in inputs if snake(name) not in known]
