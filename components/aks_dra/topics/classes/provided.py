"""Which device classes a cluster will have, and what brings one that it will not have."""

from __future__ import annotations

from aks_dra import names
from aks_dra.context.context import Context
from aks_dra.model.classes import CHART_CLASSES, COMPUTE_DOMAIN_CLASSES
from aks_dra.trees import mapping


def chart_values(context: Context) -> tuple[bool, bool]:
    """Whether the DRA chart, with the values it would get, makes its GPU classes and its compute-domain classes."""
    released = next((entry for entry in context.plan.releases if entry.key == names.DRA_RELEASE), None)
    if released is None:
        # GPUCluster makes the GPU classes too; without a DRA pool there is nothing that could.
        return any(pool.allocation == "dra" for pool in context.plan.pools), False
    given = context.settings.gpu.charts.dra_driver.values.get("resources")
    resources = {**mapping(released.values.get("resources")), **mapping(given)}
    return tuple(mapping(resources.get(key)).get("enabled", True) is not False for key in ("gpus", "computeDomains"))  # type: ignore[return-value]


def class_names(context: Context) -> set[str]:
    """Every class that claims may name."""
    gpus, domains = chart_values(context)
    known = {entry.name for entry in context.classes}
    if gpus:
        known |= {entry.name for entry in CHART_CLASSES}
    if domains:
        known |= set(COMPUTE_DOMAIN_CLASSES)
    return known


def chart_class_remedy(context: Context, name: str) -> str:
    """What to set so that NVIDIA's chart makes a class; "" where it is not the chart's."""
    value = "resources.gpus.enabled" if name in {entry.name for entry in CHART_CLASSES} else ""
    value = "resources.computeDomains.enabled" if name in COMPUTE_DOMAIN_CLASSES else value
    if not value:
        return ""
    if not any(pool.allocation == "dra" for pool in context.plan.pools):
        return f"NVIDIA's DRA chart makes {name}: add a pool with allocation: dra"
    return f"NVIDIA's DRA chart makes {name} where {value} is true: set it under gpu.charts.draDriver.values"
