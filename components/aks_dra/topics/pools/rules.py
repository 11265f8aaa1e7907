"""The rules of this topic."""

from __future__ import annotations

from aks_dra.context.context import Check
from aks_dra.topics.pools import (
    autoscaling_rules,
    label_rules,
    name_rules,
    node_label_rules,
    node_rules,
    size_rules,
    text_rules,
)

RULES: tuple[Check, ...] = (
    *autoscaling_rules.RULES,
    *label_rules.RULES,
    *name_rules.RULES,
    *node_label_rules.RULES,
    *node_rules.RULES,
    *size_rules.RULES,
    *text_rules.RULES,
)
