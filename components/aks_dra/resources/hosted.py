"""The component as other languages see it: TypeScript, Go, C#, Java and YAML get it by `pulumi package add`.

The schema comes from the annotations here, so they are plain types of our own: a provider SDK's types do not
survive the way into another language's SDK. All inputs are plain, because everything is planned before anything
is registered. They arrive as a dict, with every number as a float.

No `from __future__ import annotations` here: the schema is read from the annotations' values, not their text.
"""

from typing import Any, TypedDict

import pulumi

from aks_dra.resources import twins
from aks_dra.resources.dra_cluster import DraCluster as _DraCluster


class DraClusterArgs(TypedDict, total=False):
    """The settings of a stack file, without the `aks-dra:` prefix."""

    cluster: dict[str, Any]
    """The AKS cluster: version, system pool, access, network; or `existing`, the id of one that is there."""
    gpu: dict[str, Any]
    """Who owns the driver, which DRA stack, chart versions and sources."""
    pools: dict[str, Any]
    """GPU pools by name."""
    test_pool: dict[str, Any]
    """A small tainted pool to try things on."""
    devices: dict[str, Any]
    """Devices of drivers that are not NVIDIA's, by name."""
    device_classes: dict[str, Any]
    """Device classes by name, beside those that every kind of device gets."""
    claims: dict[str, Any]
    """Claims by namespace and name."""
    namespaces: dict[str, Any]
    """Namespaces by name."""
    tags: dict[str, str]
    """Tags of every Azure resource."""
    acknowledge: list[Any]
    """Warnings that somebody looked at: code and reason."""
    facts: list[str]
    """TOML files with facts rows of your own."""


class DraCluster(_DraCluster):
    """An AKS cluster whose GPUs are handed out by Dynamic Resource Allocation."""

    cluster_id: pulumi.Output[str]
    """The cluster's id in Azure."""
    cluster_name: pulumi.Output[str]
    """The cluster's name."""
    kubeconfig: pulumi.Output[str]
    """How to reach the cluster; a secret. Empty when a Kubernetes provider was passed."""
    oidc_issuer: pulumi.Output[str]
    """Issuer of the cluster's service account tokens."""
    node_resource_group: pulumi.Output[str]
    """The resource group in which AKS keeps the nodes."""
    pools: dict[str, Any]
    """Per pool: labels, taints, device classes, and what to merge into a pod's spec."""
    claims: dict[str, dict[str, str]]
    """Kind of claim by namespace and name."""
    findings: int
    """Number of warnings that nobody acknowledged."""
    previous: pulumi.Output[dict[str, Any]]
    """What the cluster is now, as plain data: `aks-dra check --against` finds it in the state."""

    def __init__(self, name: str, args: DraClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        with twins.hosted():
            super().__init__(name, _with_integers(args), opts)


def _with_integers(value: Any) -> Any:
    """Whole numbers as int again: between languages all numbers are floats."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _with_integers(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_with_integers(inner) for inner in value]
    return value
