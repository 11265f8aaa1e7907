"""The rules of this topic."""

from __future__ import annotations

from aks_dra.context.context import Check
from aks_dra.topics.cluster import (
    access_rules,
    name_rules,
    network_rules,
    raw_rules,
    version_rules,
)

RULES: tuple[Check, ...] = (
    *access_rules.RULES,
    *name_rules.RULES,
    *network_rules.RULES,
    *raw_rules.RULES,
    *version_rules.RULES,
)
