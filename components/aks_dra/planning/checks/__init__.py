"""Every rule that a stack file must keep, one file per topic. All checks run; none stops another."""

from __future__ import annotations

from collections.abc import Iterator

from aks_dra.planning.checks import (
    access,
    allocation,
    autoscaling,
    charts,
    claims,
    classes,
    drivers,
    labels,
    mig,
    names,
    sharing,
    sizes,
    snapshot,
    versions,
)
from aks_dra.planning.checks.context import Check, Context
from aks_dra.planning.model import Finding

CHECKS: tuple[Check, ...] = tuple(
    check
    for topic in (
        names,
        labels,
        versions,
        sizes,
        drivers,
        mig,
        sharing,
        allocation,
        autoscaling,
        classes,
        claims,
        charts,
        access,
        snapshot,
    )
    for check in topic.CHECKS
)


def run_checks(context: Context) -> Iterator[Finding]:
    for check in CHECKS:
        yield from check(context)
