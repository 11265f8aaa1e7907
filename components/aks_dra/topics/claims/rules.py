"""The rules of this topic."""

from __future__ import annotations

from aks_dra.context.context import Check
from aks_dra.topics.claims import (
    admin_rules,
    config_rules,
    constraint_rules,
    enough_rules,
    request_rules,
    selector_rules,
    together_rules,
)

RULES: tuple[Check, ...] = (
    *admin_rules.RULES,
    *config_rules.RULES,
    *constraint_rules.RULES,
    *enough_rules.RULES,
    *request_rules.RULES,
    *selector_rules.RULES,
    *together_rules.RULES,
)
