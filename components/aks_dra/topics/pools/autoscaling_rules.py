"""The cluster autoscaler and DRA: AKS documents nothing on it, so these are warnings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from aks_dra.context.context import Context
from aks_dra.findings.build import finding
from aks_dra.findings.finding import Finding
from aks_dra.kube.versions import minor
from aks_dra.names import LEGACY_RESOURCE

FAULT = "gpu-node-stops-scale-up"


def asleep_for_ever(context: Context) -> Iterator[Finding]:
    stuck = _scaled(context) if _without(context) else {}
    for name, path, pool in context.pools():
        if pool.allocation == "dra" and pool.nodes.min == 0:
            remedy = "write min: 1"
            if name in stuck:
                remedy += ", or a fixed count (nodes: {count: 1}), which AUT002 asks for as well"
            yield finding(
                "AUT001",
                "warning",
                f"{path}.nodes.min",
                0,
                "a DRA pool at zero nodes is not known to wake up: "
                "the autoscaler has no resource slices of a node that does not exist",
                remedy,
                "kubernetes/autoscaler#7783; unproven on AKS",
            )


def stuck_autoscaler(context: Context) -> Iterator[Finding]:
    without, scaled = _without(context), _scaled(context)
    versions = context.facts.aks_faults[FAULT].versions
    if without and scaled:
        listed = ", ".join(scaled)
        asleep = [name for name, _, pool in context.pools() if pool.allocation == "dra" and pool.nodes.min == 0]
        yield finding(
            "AUT002",
            "warning",
            context.place([f"{path}.nodes" for path in scaled.values()]),
            listed,
            "a GPU node without nvidia.com/gpu, which is what the nodes of "
            f"{', '.join(without)} are, stopped scale-up of every pool on AKS {', '.join(versions)}; later "
            "versions are unverified",
            f"give {listed} a fixed count{', which settles AUT001 too' if asleep else ''}, "
            "or acknowledge this after a try on your version",
            "kubernetes/autoscaler#10301",
        )


def _without(context: Context) -> list[str]:
    """Pools with the label of a GPU node and without the resource: DRA pools, and those that advertise another name."""
    if context.minor < minor(context.facts.aks_faults[FAULT].versions[0]):
        return []
    return [pool.name for pool in context.plan.pools if pool.gpu and LEGACY_RESOURCE not in pool.extended_resources]


def _scaled(context: Context) -> Mapping[str, str]:
    """The pools that the autoscaler runs, with their paths."""
    scaled = {name: path for name, path, pool in context.pools() if pool.nodes.autoscaled}
    cluster = context.settings.cluster
    if cluster.system_pool.nodes.autoscaled and not cluster.existing:
        scaled[cluster.system_pool.name] = "aks-dra:cluster.systemPool"
    return scaled


RULES = (asleep_for_ever, stuck_autoscaler)
