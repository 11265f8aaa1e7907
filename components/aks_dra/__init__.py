"""Pulumi components for AKS clusters whose GPUs are handed out by Dynamic Resource Allocation (DRA).

`from aks_dra import DraCluster, DraClusterArgs` loads Pulumi and the provider SDKs, so these names are
imported only when they are asked for: `aks_dra.settings`, `aks_dra.plan` and the `aks-dra` command need
neither and start in a fraction of a second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aks_dra.resources import (
        AksCluster,
        Claims,
        DeviceClasses,
        DevicePlugin,
        DraCluster,
        DraClusterArgs,
        DraDriver,
        GpuOperator,
        GpuPool,
        Namespaces,
        SmokeTest,
    )

__version__ = "0.1.0"

__all__ = [
    "AksCluster",
    "Claims",
    "DeviceClasses",
    "DevicePlugin",
    "DraCluster",
    "DraClusterArgs",
    "DraDriver",
    "GpuOperator",
    "GpuPool",
    "Namespaces",
    "SmokeTest",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from aks_dra import resources

        return getattr(resources, name)
    raise AttributeError(f"module 'aks_dra' has no attribute {name!r}")
