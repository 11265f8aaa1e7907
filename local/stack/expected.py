"""How many devices one node of a pool must publish, by the facts tables and not by the plan: a second opinion.

The exports say what the pool is (VM size, labels); the tables say what is in such a machine and what a MIG layout
makes of it. Only a pool that AKS partitions at boot has to be asked of a node, which carries that choice.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from local.nodes import dynamic_mig, hardware, partitions
from local.nodes.hardware import Tables
from local.stack.placement import Item, labels_of

MIG_CONFIG = "nvidia.com/mig.config"
VM_SIZE = "local.aks-dra.dev/vm-size"
INSTANCE_PROFILE = "local.aks-dra.dev/gpu-instance-profile"
DRIVER = "local.aks-dra.dev/gpu-driver"


def devices_per_node(
    exported: Mapping[str, Any],
    node: Item | None,
    custom: str | None,
    dynamic: bool = False,
    tables: Tables | None = None,
) -> int | None:
    """None when the tables do not know the size, or the layout is nobody's. `dynamic`: the driver cuts the GPUs."""
    annotations = ((node or {}).get("metadata") or {}).get("annotations") or {}
    size = str(exported.get("vmSize") or annotations.get(VM_SIZE, ""))
    machine = (tables or hardware.tables()).machine(size)
    if machine is None:
        return None
    labels = exported.get("labels") or (labels_of(node) if node else {})
    layout = str(labels.get(MIG_CONFIG, ""))
    try:
        if layout:
            gpus = partitions.target(machine, layout, custom)
        else:
            profile = str(annotations.get(INSTANCE_PROFILE, ""))
            gpus = partitions.at_boot(machine, profile, annotations.get(DRIVER) == "Install")
    except partitions.LayoutError:
        return None
    if dynamic:
        return dynamic_mig.count(machine, gpus)
    return sum(len(gpu.devices) if gpu.mig else 1 for gpu in gpus)
