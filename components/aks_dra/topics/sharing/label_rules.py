"""The label that the MIG manager acts on."""

from __future__ import annotations

from collections.abc import Iterator

from aks_dra import names
from aks_dra.context.context import Context
from aks_dra.context.gates import feature_gates
from aks_dra.facts import MigFamily
from aks_dra.findings.build import finding
from aks_dra.findings.finding import Finding
from aks_dra.topics.pools.node_label_rules import MANAGER, WHOLE
from aks_dra.topics.sharing.mig_rules import GUIDE, nearest_layout


def mig_config(context: Context) -> Iterator[Finding]:
    managed = any(pool.mig_owner == "operator" for pool in context.plan.pools)
    dynamic = bool(feature_gates(context.settings).get("DynamicMIG"))
    for _, path, pool in context.pools():
        value = pool.labels.get(names.LABEL_MIG_CONFIG)
        size = context.facts.vm_size(pool.vm_size)
        gpu = context.facts.gpus[size.gpu] if size else None
        family = context.facts.families.get(gpu.mig) if gpu and gpu.mig else None
        if value is None or value == WHOLE or pool.sharing.mode == "mig" or family is None:
            continue
        where = f"{path}.labels.{names.LABEL_MIG_CONFIG}"
        yield _mig_config(where, value, family, managed, dynamic and pool.allocation == "dra")


def _mig_config(where: str, value: str, family: MigFamily, managed: bool, dynamic: bool) -> Finding:
    known = value in family.layouts
    asked = f"set sharing: {{mode: mig, layout: {value if known else 'LAYOUT'}}} instead"
    if dynamic:
        message = "static partitions and DynamicMIG exclude each other: the driver destroys those it did not make"
        return finding(
            "MIG019", "error", where, value, message, "remove it", "NVIDIA DRA driver docs: MIG, dynamic MIG"
        )
    if not known:
        profiles = ", ".join(name for name in family.profiles if "+" not in name)
        message = f"this GPU has no such layout; its profiles are {profiles}"
        return finding("MIG019", "error", where, value, message, nearest_layout(value, family), GUIDE)
    if managed:
        message = "the MIG manager, which another pool needs, partitions these GPUs, and the plan counts whole ones"
        return finding("MIG019", "error", where, value, message, asked, MANAGER)
    message = "the operator's MIG manager is off, since no pool has sharing mode mig, so nothing reads this"
    return finding("MIG020", "warning", where, value, message, asked, MANAGER)


RULES = (mig_config,)
