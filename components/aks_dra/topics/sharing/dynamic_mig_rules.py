"""DynamicMIG: what it can cut, and what it cannot live beside. The gate holds for every node of the DRA release."""

from __future__ import annotations

from collections.abc import Iterator

from aks_dra.context.context import Context
from aks_dra.context.gates import feature_gates, gate_asks
from aks_dra.findings.build import finding, listed
from aks_dra.findings.finding import Finding

GUIDE = "NVIDIA DRA driver docs: MIG, dynamic MIG"
GATE = "DynamicMIG"


def _asked_by(context: Context) -> str:
    """Who switches the gate on, "" when nobody does."""
    if not feature_gates(context.settings).get(GATE):
        return ""
    return ", ".join(ask.what for ask in gate_asks(context.settings) if ask.gate == GATE) or "gpu.featureGates"


def possible(context: Context) -> Iterator[Finding]:
    for _, path, pool in context.pools():
        if pool.sharing.mode != "dynamicMig":
            continue
        where = f"{path}.sharing.mode"
        if pool.allocation != "dra":
            yield finding(
                "DYN001",
                "error",
                where,
                "dynamicMig",
                "the device plugin advertises partitions that are there; only DRA cuts a GPU as claims ask",
                "set allocation: dra, or mode: mig with a layout",
                GUIDE,
            )
            continue
        size = context.facts.vm_size(pool.vm_size)
        if size is None:
            continue
        gpu = context.facts.gpus[size.gpu]
        if context.facts.cut_on_demand(size):
            continue
        models = listed(context.facts.partitioned_models(on_demand=True), "or")
        if size.mig and gpu.mig and not gpu.vgpu:
            yield finding(
                "DYN002",
                "warning",
                where,
                gpu.product_name,
                f"{gpu.architecture} GPUs change their MIG mode only by a reset, and in a VM nothing does so before "
                "the driver starts: the pool publishes whole GPUs and no partition",
                f"set mode: mig with a layout, or take an {models} size",
                GUIDE,
            )
        else:
            yield finding(
                "DYN003",
                "error",
                where,
                gpu.product_name,
                f"a {gpu.product_name} in size {size.name} cannot be partitioned",
                f"write exclusive or timeSlicing, or take an {models} size",
                GUIDE,
            )


def beside_others(context: Context) -> Iterator[Finding]:
    asked = _asked_by(context)
    if not asked:
        return
    planned = {pool.name: pool for pool in context.plan.pools}
    for name, path, pool in context.pools():
        where = f"{path}.sharing.mode"
        size = context.facts.vm_size(pool.vm_size)
        if pool.sharing.mode == "mig" and pool.allocation == "dra":
            yield finding(
                "DYN004",
                "error",
                where,
                "mig",
                f"DynamicMIG, asked for by {asked}, destroys the partitions of pool {name} when the driver starts: the "
                "gate holds for every DRA node",
                f"set mode: dynamicMig on pool {name}, or mode: mig on the others",
                GUIDE,
            )
        elif planned[name].mig_owner == "operator":
            yield finding(
                "DYN005",
                "error",
                where,
                "mig",
                f"pool {name} needs the operator's MIG manager, which would disable MIG on every other MIG-capable "
                f"node, also where {asked} has DRA cut the GPUs",
                f"let AKS partition pool {name} (driver: aks), or keep one of the two in this cluster",
                "GPU Operator: mig.config=all-disabled where the label is missing",
            )
        elif pool.allocation != "dra" or size is None or pool.sharing.mode == "dynamicMig":
            continue
        elif context.facts.cut_on_demand(size):
            yield finding(
                "DYN006",
                "error",
                where,
                pool.sharing.mode,
                f"with DynamicMIG, asked for by {asked}, the GPUs of pool {name} are cut for claims, too: the gate "
                "holds for every DRA node",
                f"set mode: dynamicMig on pool {name}, so that the plan says what it publishes",
                GUIDE,
            )
        elif not context.facts.gpus[size.gpu].mig:
            yield finding(
                "DYN007",
                "warning",
                path,
                context.facts.gpus[size.gpu].product_name,
                f"DynamicMIG, asked for by {asked}, is alpha and holds for pool {name}, too, whose GPUs have no MIG: "
                "the driver falls back to whole GPUs there (earlier versions published nothing)",
                "look at its slices after `up` (kubectl get resourceslices), or acknowledge this",
                "dra-driver-nvidia-gpu#1092, fixed by #1113",
            )


RULES = (possible, beside_others)
