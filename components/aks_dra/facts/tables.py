"""The one typed door to the tables beside this file.

What is true of GPUs, VM sizes, Kubernetes on AKS and NVIDIA's charts stands in TOML, so that a new model, size or
version is a row and no code. `load_facts()` reads them once; a stack's own TOML files may add rows or overrule them.
Rows that name rows of other tables are checked here: a bad one raises FactsError with its file and key.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from aks_dra.facts import reader, rows
from aks_dra.facts.fact import Fact
from aks_dra.facts.mig import fits
from aks_dra.facts.reader import FactsError, Raw
from aks_dra.facts.rows_aks import (
    AksDriver,
    AksFault,
    GpuInstanceProfile,
    LabelRule,
    Limit,
    NameRule,
    NodeLabel,
    OsSku,
    PoolField,
    ReservedRange,
    Role,
)

_HERE = Path(__file__).parent
_FILES = tuple(_HERE / f"{name}.toml" for name in ("gpus", "mig", "vm_sizes", "kubernetes", "charts", "aks"))


@dataclass(frozen=True)
class Row:
    """One row for people: the command that prints the tables."""

    table: str
    key: str
    values: Mapping[str, Any]
    source: str
    verified: bool


@dataclass(frozen=True, kw_only=True)
class Kubernetes:
    """Kubernetes on AKS: versions by minor, the lowest full version, the default minor, and features."""

    floor: str
    default: str
    source: str
    verified: bool
    versions: Mapping[str, rows.KubernetesVersion]
    features: Mapping[str, rows.Feature]
    needs: Mapping[str, rows.Need]

    def has(self, need: str, version: str) -> bool:
        """Whether AKS at this version ("1.36", "1.36.2") has what the need rests on."""
        return minor(version) >= minor(self.needs[need].minimum)

    def patch(self, version: str) -> str:
        """The full version that a minor alone means: its latest patch, or itself where that is not known."""
        row = self.versions.get(version)
        return row.latest_patch or version if row else version


@dataclass(frozen=True, kw_only=True)
class Facts:
    """All tables. Every row has .key, .source and .verified."""

    gpus: Mapping[str, rows.Gpu]
    families: Mapping[str, rows.MigFamily]
    vm_sizes: Mapping[str, rows.VmSize]
    kubernetes: Kubernetes
    charts: Mapping[str, rows.Chart]
    gates: Mapping[str, rows.Gate]
    chart_faults: Mapping[str, rows.ChartFault]
    driver_minimums: Mapping[str, rows.DriverMinimum]
    pool_fields: Mapping[str, PoolField]
    cluster_fields: Mapping[str, PoolField]
    labels: Mapping[str, LabelRule]
    node_labels: Mapping[str, NodeLabel]
    name_rules: Mapping[str, NameRule]
    limits: Mapping[str, Limit]
    aks_drivers: Mapping[str, AksDriver]
    gpu_instance_profiles: Mapping[str, GpuInstanceProfile]
    os_skus: Mapping[str, OsSku]
    roles: Mapping[str, Role]
    reserved_ranges: Mapping[str, ReservedRange]
    aks_faults: Mapping[str, AksFault]
    images: Mapping[str, rows.Image]
    _sizes: Mapping[str, rows.VmSize] = field(default_factory=dict, repr=False, compare=False)

    def vm_size(self, name: str) -> rows.VmSize | None:
        """A VM size whatever the case of its name: Azure does not mind it either."""
        return self._sizes.get(name.casefold())

    def family(self, size: rows.VmSize) -> rows.MigFamily | None:
        """How the GPUs of a size can be cut; None where they cannot."""
        name = self.gpus[size.gpu].mig
        return self.families[name] if size.mig and name else None

    def label_rule(self, label: str) -> LabelRule | None:
        """The most specific rule for a label key of a pool; None where none applies, which allows it."""
        found = [rule for rule in self.labels.values() if rule.matches(label)]
        return max(found, key=lambda rule: (rule.match == "exact", len(rule.pattern)), default=None)

    def replaced_pool_fields(self) -> tuple[str, ...]:
        """The fields of a pool whose change Azure refuses, so that the pool is made anew."""
        return tuple(name for name, row in self.pool_fields.items() if row.change == "replace" and "." not in name)

    def faults_of(self, chart: str, version: str) -> tuple[rows.ChartFault, ...]:
        """What is known to be broken in one version of a chart."""
        return tuple(f for f in self.chart_faults.values() if f.chart == chart and version in f.versions)

    def chart_values(self, chart: str) -> Mapping[str, rows.ChartValue]:
        """Every value of a chart by its dotted path, with type and default."""
        if chart not in self.charts:
            raise KeyError(chart)
        return _chart_values(chart)

    def rows(self) -> list[Row]:
        """Every row of every table, for people."""
        kubernetes = self.kubernetes
        versions = {"floor": kubernetes.floor, "default": kubernetes.default}
        found = [Row("kubernetes", "versions", versions, kubernetes.source, kubernetes.verified)]
        for table, content in self._tables():
            for key, row in content.items():
                found.append(_row(table, key, row))
                if isinstance(row, rows.MigFamily):
                    found += [_row("profile", f"{key}/{name}", profile) for name, profile in row.profiles.items()]
                if isinstance(row, rows.Chart):
                    found += [_row("chart_version", f"{key}/{name}", item) for name, item in row.versions.items()]
        return found

    def _tables(self) -> Iterator[tuple[str, Mapping[str, Fact]]]:
        yield from (
            ("gpu", self.gpus), ("family", self.families), ("size", self.vm_sizes),
            ("version", self.kubernetes.versions), ("feature", self.kubernetes.features),
            ("need", self.kubernetes.needs), ("chart", self.charts), ("gate", self.gates), ("fault", self.chart_faults),
            ("driver_minimum", self.driver_minimums), ("pool_field", self.pool_fields),
            ("cluster_field", self.cluster_fields), ("label_rule", self.labels),
            ("node_label", self.node_labels), ("name_rule", self.name_rules), ("limit", self.limits),
            ("aks_driver", self.aks_drivers), ("gpu_instance_profile", self.gpu_instance_profiles),
            ("os_sku", self.os_skus), ("role", self.roles),
            ("reserved_range", self.reserved_ranges), ("aks_fault", self.aks_faults), ("image", self.images),
        )  # fmt: skip


def load_facts(*extra_toml: Path) -> Facts:
    """The tables of this package, and on top of them those of the files given, in their order."""
    return _load(tuple(Path(path) for path in extra_toml))


def minor(version: str) -> tuple[int, int]:
    """(1, 36) of "1.36" or "v1.36.2"; raises ValueError where that is no version."""
    major, second, *_ = version.removeprefix("v").split(".")
    return int(major), int(second)


def _load(extra: tuple[Path, ...]) -> Facts:
    return _default() if not extra else _build(reader.read((*_FILES, *extra)))


@cache
def _default() -> Facts:
    return _build(reader.read(_FILES))


def _build(raw: Raw) -> Facts:
    for name in reader.SCALARS:
        if name not in raw.scalars:
            raise FactsError("facts", name, "is missing")
    facts = Facts(
        gpus=raw.rows("gpu", rows.Gpu),
        families=MappingProxyType({key: _family(raw, key, data) for key, data in raw.tables["family"].items()}),
        vm_sizes=(sizes := raw.rows("size", rows.VmSize)),
        kubernetes=Kubernetes(
            **raw.scalars,
            versions=raw.rows("version", rows.KubernetesVersion),
            features=raw.rows("feature", rows.Feature),
            needs=raw.rows("need", rows.Need),
        ),
        charts=MappingProxyType({key: _chart(raw, key, data) for key, data in raw.tables["chart"].items()}),
        gates=raw.rows("gate", rows.Gate),
        chart_faults=raw.rows("fault", rows.ChartFault),
        driver_minimums=raw.rows("driver_minimum", rows.DriverMinimum),
        pool_fields=raw.rows("pool_field", PoolField),
        cluster_fields=raw.rows("cluster_field", PoolField),
        labels=raw.rows("label_rule", LabelRule),
        node_labels=raw.rows("node_label", NodeLabel),
        name_rules=raw.rows("name_rule", NameRule),
        limits=raw.rows("limit", Limit),
        aks_drivers=raw.rows("aks_driver", AksDriver),
        gpu_instance_profiles=raw.rows("gpu_instance_profile", GpuInstanceProfile),
        os_skus=raw.rows("os_sku", OsSku),
        roles=raw.rows("role", Role),
        reserved_ranges=raw.rows("reserved_range", ReservedRange),
        aks_faults=raw.rows("aks_fault", AksFault),
        images=raw.rows("image", rows.Image),
        _sizes=MappingProxyType({name.casefold(): size for name, size in sizes.items()}),
    )
    _check(facts, raw)
    return facts


def _family(raw: Raw, key: str, data: Mapping[str, Any]) -> rows.MigFamily:
    profiles = {
        str(item["name"]): raw.row(rows.MigProfile, "family", f"{key}{reader.PROFILE}{item['name']}", item)
        for item in data.get("profile", [])
    }
    layouts = {profile.layout: {profile.name: profile.max} for profile in profiles.values()}
    for name, counts in data.get("layouts", {}).items():
        if not isinstance(counts, dict):
            raise raw.error("family", key, f"layouts.{name} is not a table of profile = count")
        layouts[name] = counts
    plain = {name: value for name, value in data.items() if name not in ("profile", "layouts")}
    return raw.row(rows.MigFamily, "family", key, {**plain, "profiles": MappingProxyType(profiles), "layouts": layouts})


def _chart(raw: Raw, key: str, data: Mapping[str, Any]) -> rows.Chart:
    versions = {
        version: raw.row(rows.ChartVersion, "chart", f"{key}{reader.VERSIONS}{version}", row)
        for version, row in data.get("versions", {}).items()
    }
    return raw.row(rows.Chart, "chart", key, {**data, "versions": MappingProxyType(versions)})


def _check(facts: Facts, raw: Raw) -> None:
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


@cache
def _chart_values(chart: str) -> Mapping[str, rows.ChartValue]:
    path = _HERE / "chart_values" / f"{chart}.json"
    values = json.loads(path.read_text(encoding="utf-8"))["values"]
    return MappingProxyType({name: rows.ChartValue(value["type"], value["default"]) for name, value in values.items()})


def _row(table: str, key: str, row: Fact) -> Row:
    hidden = ("key", "source", "verified", "profiles", "versions" if isinstance(row, rows.Chart) else "")
    values = {item.name: getattr(row, item.name) for item in fields(row) if item.name not in hidden}
    return Row(table, key, MappingProxyType(values), row.source, row.verified)
