"""The cluster autoscaler and DRA: AKS documents nothing on it, so these are warnings."""

from __future__ import annotations

from collections.abc import Iterator

from aks_dra.planning.checks.context import Context, finding
from aks_dra.planning.model import Finding


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
    dra = [pool.name for pool in context.plan.pools if pool.allocation == "dra"]
    scaled = [name for name, _, pool in context.pools() if pool.nodes.autoscaled]
    if context.settings.cluster.system_pool.nodes.autoscaled:
        scaled.append(context.settings.cluster.system_pool.name)
    if dra and scaled and context.minor >= (1, 35):
        yield finding(
            "AUT002",
            "warning",
            "aks-dra:pools",
            ", ".join(scaled),
            "a GPU node without nvidia.com/gpu, which is "
            f"what DRA pools have ({', '.join(dra)}), stopped scale-up of every pool on AKS 1.35.7; later versions are "
            "unverified",
            "keep these pools at a fixed count, or acknowledge this after a try on your version",
            "kubernetes/autoscaler#10301",
        )


CHECKS = (asleep_for_ever, stuck_autoscaler)
