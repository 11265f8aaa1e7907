"""Questions to the settings about pools."""

from __future__ import annotations

from typing import Any, Literal

from aks_dra import names
from aks_dra.settings import Nodes, Pool, Settings


def all_pools(settings: Settings) -> dict[str, tuple[str, Pool]]:
    """Every GPU pool by name, with its path in the stack file; the test pool is one of them."""
    pools = {name: (f"aks-dra:pools.{name}", pool) for name, pool in sorted(settings.pools.items())}
    test = settings.test_pool
    if test.enabled:
        pool = Pool(
            vm_size=test.vm_size, nodes=test.nodes, spot=test.spot, taints=(names.TEST_POOL_TAINT,), protect=False
        )
        pools.setdefault(test.name, ("aks-dra:testPool", pool))
    return pools


def driver_owner(settings: Settings, pool: Pool) -> Literal["operator", "aks"]:
    return pool.driver or settings.gpu.driver


def node_counts(nodes: Nodes, allocation: str) -> dict[str, Any]:
    """count and, with the autoscaler, bounds. Azure wants a count even when the autoscaler moves it."""
    if not nodes.autoscaled:
        return {"count": 1 if nodes.count is None else nodes.count, "enableAutoScaling": False}
    # An autoscaled DRA pool at zero is not known to wake, so its default minimum is one.
    lowest = nodes.min if nodes.min is not None else (1 if allocation == "dra" else 0)
    highest = nodes.max if nodes.max is not None else max(lowest, 1)
    first = nodes.initial if nodes.initial is not None else min(max(lowest, 1), highest)
    return {"count": first, "enableAutoScaling": True, "minCount": lowest, "maxCount": highest}
