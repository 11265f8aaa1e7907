"""The device classes of a simulation: the chart's, the plan's, and those of the workload's files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from aks_dra import names
from aks_dra.kube.claims import selector_texts
from aks_dra.model.classes import CHART_CLASSES
from aks_dra.model.plan import Plan


@dataclass(frozen=True)
class KnownClass:
    """A device class as the scheduler knows it. `rank` orders those of one resource name: the highest is the newest."""

    name: str
    selectors: tuple[str, ...]
    resource: str = ""
    rank: int = 0


def known_classes(plan: Plan, further: Iterable[Mapping[str, Any]] = ()) -> dict[str, KnownClass]:
    """The classes of the chart, of the plan, and of further DeviceClass manifests, which come after those."""
    found = {
        match.device_class: KnownClass(
            match.device_class,
            match.selectors,
            names.LEGACY_RESOURCE if match.device_class == CHART_CLASSES[0].name else "",
        )
        for match in plan.matches
        if match.origin == "chart"
    }
    elsewhere = (match for match in plan.matches if not match.create)
    found |= {m.device_class: KnownClass(m.device_class, m.selectors, m.extended_resource) for m in elsewhere}
    planned = [dict(entry.manifest) for entry in plan.objects if entry.kind == "DeviceClass"]
    for rank, manifests in enumerate((planned, further), 1):
        for manifest in manifests:
            spec = manifest.get("spec") or {}
            name = str(manifest["metadata"]["name"])
            found[name] = KnownClass(name, selector_texts(spec), str(spec.get("extendedResourceName") or ""), rank)
    return found
