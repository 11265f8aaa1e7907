"""The rules of this topic."""

from __future__ import annotations

from aks_dra.context.context import Check
from aks_dra.topics.charts import (
    cdi_rules,
    driver_rules,
    gate_rules,
    gpu_cluster_rules,
    image_rules,
    installed_rules,
    operand_rules,
    source_rules,
    text_rules,
    value_rules,
)

RULES: tuple[Check, ...] = (
    *cdi_rules.RULES,
    *driver_rules.RULES,
    *gate_rules.RULES,
    *gpu_cluster_rules.RULES,
    *image_rules.RULES,
    *installed_rules.RULES,
    *operand_rules.RULES,
    *source_rules.RULES,
    *text_rules.RULES,
    *value_rules.RULES,
)
