"""Pulumi components for AKS clusters whose GPUs are handed out by Dynamic Resource Allocation (DRA).

`from aks_dra import DraCluster, DraClusterArgs` loads Pulumi and the provider SDKs, so these names are
imported only when they are asked for: `aks_dra.settings`, `aks_dra.planning` and the `aks-dra` command need
neither and start in a fraction of a second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aks_dra.resources import (
        AksCluster as AksCluster,
    )
    from aks_dra.resources import (
        Claims as Claims,
    )
    from aks_dra.resources import (
        DeviceClasses as DeviceClasses,
    )
    from aks_dra.resources import (
        DevicePlugin as DevicePlugin,
    )
    from aks_dra.resources import (
        DraCluster as DraCluster,
    )
    from aks_dra.resources import (
        DraClusterArgs as DraClusterArgs,
    )
    from aks_dra.resources import (
        DraDriver as DraDriver,
    )
    from aks_dra.resources import (
        GpuOperator as GpuOperator,
    )
    from aks_dra.resources import (
        GpuPool as GpuPool,
    )
    from aks_dra.resources import (
        Namespaces as Namespaces,
    )
    from aks_dra.resources import (
        SmokeTest as SmokeTest,
    )

__version__ = "0.1.0"

_COMPONENTS = (
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
)
__all__ = list(_COMPONENTS)


def __getattr__(name: str) -> Any:
    if name in _COMPONENTS:
        from aks_dra import resources

        return getattr(resources, name)
    raise AttributeError(f"module 'aks_dra' has no attribute {name!r}")
