"""`draStack: operator`: the GPU Operator runs the DRA driver itself, by its GPUCluster object.

One release instead of two, for clusters in which every GPU pool is DRA. The chart takes ClusterPolicy or GPUCluster,
never both, and nothing moves a living cluster from one to the other. GPUCluster brings the DRA driver, its validator
and DCGM; it brings no toolkit, no GPU feature discovery, no MIG manager and no device plugin, and it has no selector
for nodes: every node with a GPU is meant. Its class gpu.nvidia.com has no extendedResourceName, so what serves
nvidia.com/gpu there is the package's own class alone. The driver's root is found on the node, by its validation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aks_dra.model.plan import PlannedPool
from aks_dra.settings import Settings


def gpu_cluster_values(
    settings: Settings, common: Mapping[str, Any], pools: list[PlannedPool], gates: Mapping[str, bool]
) -> dict[str, Any]:
    """The operator chart's values. `common` are those that hold for either object: NFD and tolerations.

    An operator-owned driver comes by the NVIDIADriver object: the chart refuses GPUCluster with driver.enabled alone.
    """
    owned = any(pool.driver_owner == "operator" for pool in pools)
    driver: dict[str, Any] = {"enabled": owned, "nvidiaDriverCRD": {"enabled": owned}}
    if owned and settings.gpu.driver_version:
        driver["version"] = settings.gpu.driver_version
    dra: dict[str, Any] = {"computeDomains": {"enabled": False}}
    if gates:
        dra["featureGates"] = dict(gates)
    return {
        **common,
        "clusterPolicy": {"deployCR": False},
        "gpuCluster": {"deployCR": True},
        "driver": driver,
        "draDriver": dra,
    }
