"""What rows of different tables must agree on, so that a user's own row is refused with its place when it does not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from aks_dra.facts.mig import fits
from aks_dra.facts.reader import Raw

if TYPE_CHECKING:
    from aks_dra.facts.tables import Facts


def check(facts: Facts, raw: Raw) -> None:
    """Rows that name rows of other tables name ones that exist, and layouts fit on a GPU."""

    def known(table: str, key: str, name: str, values: tuple[str, ...], among: Mapping[str, Any]) -> None:
        for value in values:
            if value and value not in among:
                raise raw.error(table, key, f"{name}: no such row: {value} (known: {', '.join(among)})")

    for key, gpu in facts.gpus.items():
        known("gpu", key, "mig", (gpu.mig,), facts.families)
        if len(gpu.memory_mib_range) != 2 or not gpu.memory_mib_range[0] <= gpu.memory_mib <= gpu.memory_mib_range[1]:
            raise raw.error("gpu", key, "memory_mib_range is not [lowest, highest] around memory_mib")
    for key, family in facts.families.items():
        for name, counts in family.layouts.items():
            if not fits(family, counts):
                raise raw.error("family", key, f"layout {name} does not fit on one GPU: {dict(counts)}")
    for key, size in facts.vm_sizes.items():
        known("size", key, "gpu", (size.gpu or "(none)",), facts.gpus)
        known("size", key, "aks_driver", (size.aks_driver,), facts.aks_drivers)
        if size.gpus < 1:
            raise raw.error("size", key, "gpus is below 1")
    for key, need in facts.kubernetes.needs.items():
        known("need", key, "feature", (need.feature or "(none)",), facts.kubernetes.features)
    dra = facts.charts["dra-driver-nvidia-gpu"].versions
    for key, gate in facts.gates.items():
        known("gate", key, "since", (gate.since or "(none)",), dra)
        known("gate", key, "excludes, needs", gate.excludes + gate.needs + gate.documented_excludes, facts.gates)
        known("gate", key, "kubernetes_need", (gate.kubernetes_need,), facts.kubernetes.needs)
    for key, chart in facts.charts.items():
        known("chart", key, "default_version", (chart.default_version, chart.minimum_version), chart.versions)
    for key, fault in facts.chart_faults.items():
        known("fault", key, "chart", (fault.chart or "(none)",), facts.charts)
        known("fault", key, "versions", fault.versions, facts.charts[fault.chart].versions)
