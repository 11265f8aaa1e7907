"""The rules of this topic."""

from __future__ import annotations

from aks_dra.context.context import Check
from aks_dra.topics.classes import (
    match_rules,
    selector_rules,
)

RULES: tuple[Check, ...] = (
    *match_rules.RULES,
    *selector_rules.RULES,
)
