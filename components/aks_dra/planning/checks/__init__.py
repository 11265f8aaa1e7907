"""Every rule that a stack file must keep, one file per topic. All checks run; none stops another."""

from __future__ import annotations

from collections.abc import Iterator

from aks_dra.planning.checks import (
    access,
    admin,
    allocation,
    autoscaling,
    cdi,
    changes,
    charts,
    claims,
    classes,
    configs,
    constraints,
    devices,
    drivers,
    dynamic_mig,
    enough,
    extended,
    gates,
    gpu_cluster,
    images,
    installed,
    labels,
    mig,
    names,
    network,
    node_labels,
    nodes,
    operands,
    raw,
    selectors,
    sharing,
    sizes,
    snapshot,
    sources,
    tenants,
    texts,
    together,
    versions,
)
from aks_dra.planning.checks.context import Check, Context
from aks_dra.planning.model import Finding

CHECKS: tuple[Check, ...] = tuple(
    check
    for topic in (
        names,
        labels,
        node_labels,
        versions,
        sizes,
        drivers,
        mig,
        sharing,
        allocation,
        autoscaling,
        extended,
        devices,
        classes,
        selectors,
        claims,
        enough,
        admin,
        constraints,
        together,
        configs,
        cdi,
        charts,
        gates,
        dynamic_mig,
        gpu_cluster,
        sources,
        installed,
        operands,
        access,
        images,
        network,
        nodes,
        raw,
        texts,
        tenants,
        snapshot,
        changes,
    )
    for check in topic.CHECKS
)


def run_checks(context: Context) -> Iterator[Finding]:
    for check in CHECKS:
        yield from check(context)
