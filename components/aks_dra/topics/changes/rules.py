"""What may become of a stack that lives: rules that need what was there before.

All of them compare two values of the same kind: what the earlier plan was, and what this one is. Without an earlier
stack there is nothing to compare, and `protect` alone stands between a mistake and a pool.
"""

from __future__ import annotations

from collections.abc import Iterator

from aks_dra.context.context import Context
from aks_dra.context.previous import previous_of
from aks_dra.findings.finding import Finding
from aks_dra.topics.changes import (
    around_rules,
    cluster_rules,
    count_rules,
    object_rules,
    pool_rules,
    software_rules,
    version_rules,
)

TOPICS = (
    cluster_rules,
    around_rules,
    version_rules,
    pool_rules,
    count_rules,
    object_rules,
    software_rules,
)


def changes(context: Context) -> Iterator[Finding]:
    if context.previous is None:
        return
    now = previous_of(context.plan)
    for topic in TOPICS:
        for rule in topic.RULES:
            yield from rule(context, context.previous, now)


RULES = (changes,)
