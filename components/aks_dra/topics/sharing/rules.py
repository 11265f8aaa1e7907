"""The rules of this topic."""

from __future__ import annotations

from aks_dra.context.context import Check
from aks_dra.topics.sharing import (
    dynamic_mig_rules,
    label_rules,
    mig_rules,
    mode_rules,
)

RULES: tuple[Check, ...] = (
    *dynamic_mig_rules.RULES,
    *label_rules.RULES,
    *mig_rules.RULES,
    *mode_rules.RULES,
)
