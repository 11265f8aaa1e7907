"""What may become of a stack that lives: rules that need what was there before.

All of them compare two values of the same kind: what the earlier plan was, and what this one is. Without an earlier
stack there is nothing to compare, and `protect` alone stands between a mistake and a pool.
"""

from __future__ import annotations

from collections.abc import Iterator

from aks_dra.planning.checks import (
    changes_around,
    changes_cluster,
    changes_nodes,
    changes_objects,
    changes_pools,
    changes_software,
    changes_versions,
)
from aks_dra.planning.checks.context import Context
from aks_dra.planning.model import Finding
from aks_dra.planning.previous import previous_of

TOPICS = (
    changes_cluster,
    changes_around,
    changes_versions,
    changes_pools,
    changes_nodes,
    changes_objects,
    changes_software,
)


def changes(context: Context) -> Iterator[Finding]:
    if context.previous is None:
        return
    now = previous_of(context.plan)
    for topic in TOPICS:
        for rule in topic.RULES:
            yield from rule(context, context.previous, now)


CHECKS = (changes,)
