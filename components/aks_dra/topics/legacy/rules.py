"""The rules of this topic."""

from __future__ import annotations

from aks_dra.context.context import Check
from aks_dra.topics.legacy import (
    allocation_rules,
    extended_rules,
)

RULES: tuple[Check, ...] = (
    *allocation_rules.RULES,
    *extended_rules.RULES,
)
