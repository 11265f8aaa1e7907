"""The cluster autoscaler and DRA: AKS documents nothing on it, so these are warnings."""

from __future__ import annotations

from collections.abc import Iterator

from aks_dra.planning.checks.context import Context, finding
from aks_dra.planning.model import Finding
from aks_dra.planning.names import LEGACY_RESOURCE


def asleep_for_ever(context: Context) -> Iterator[Finding]:
    for _, path, pool in context.pools():
        if pool.allocation == "dra" and pool.nodes.min == 0:
            yield finding(
                "AUT001",
                "warning",
                f"{path}.nodes.min",
                0,
                "a DRA pool at zero nodes is not known to wake up: "
                "the autoscaler has no resource slices of a node that does not exist",
                "write min: 1",
                "kubernetes/autoscaler#7783; unproven on AKS",
            )


def stuck_autoscaler(context: Context) -> Iterator[Finding]:
    # The label of a GPU node without the resource: DRA pools, and device-plugin pools that advertise another name.
    without = [pool.name for pool in context.plan.pools if pool.gpu and LEGACY_RESOURCE not in pool.extended_resources]
    scaled = [name for name, _, pool in context.pools() if pool.nodes.autoscaled]
    cluster = context.settings.cluster
    if cluster.system_pool.nodes.autoscaled and not cluster.existing:
        scaled.append(cluster.system_pool.name)
    if without and scaled and context.minor >= (1, 35):
        yield finding(
            "AUT002",
            "warning",
            "aks-dra:pools",
            ", ".join(scaled),
            "a GPU node without nvidia.com/gpu, which is what the nodes of "
            f"{', '.join(without)} are, stopped scale-up of every pool on AKS 1.35.7; later versions are unverified",
            f"give {', '.join(scaled)} a fixed count, or acknowledge this after a try on your version",
            "kubernetes/autoscaler#10301",
        )


CHECKS = (asleep_for_ever, stuck_autoscaler)
