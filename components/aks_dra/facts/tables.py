"""The one typed door to the tables beside this file.

What is true of GPUs, VM sizes, Kubernetes on AKS and NVIDIA's charts stands in TOML, so that a new model, size or
version is a row and no code. `load_facts()` reads them once; a stack's own TOML files may add rows or overrule them.
Rows that name rows of other tables are checked (consistency.py): a bad one raises FactsError with its file and key.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from aks_dra.facts import reader, rows, rows_aks
from aks_dra.facts.consistency import check
from aks_dra.facts.fact import TABLES, Fact, R
from aks_dra.facts.reader import FactsError, Raw

_HERE = Path(__file__).parent
# What has a reader of its own, and is read where it is needed only.
_APART = "arm_properties.toml"
_FILES = tuple(sorted(path for path in _HERE.glob("*.toml") if path.name != _APART))


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


@dataclass(frozen=True, kw_only=True)
class Facts:
    """All tables, by the class of their rows. Every row has .key, .source and .verified."""

    kubernetes: Kubernetes
    tables: Mapping[type[Fact], Mapping[str, Any]]
    _sizes: Mapping[str, rows.VmSize] = field(default_factory=dict, repr=False, compare=False)

    def table(self, kind: type[R]) -> Mapping[str, R]:
        return self.tables[kind]

    def since(self, need: str) -> tuple[int, int]:
        """The minor version of Kubernetes from which AKS has what a need rests on: (1, 36)."""
        return minor(self.kubernetes.needs[need].minimum)

    def limit(self, name: str) -> int:
        return self.limits[name].value

    @property
    def gpus(self) -> Mapping[str, rows.Gpu]:
        return self.table(rows.Gpu)

    @property
    def families(self) -> Mapping[str, rows.MigFamily]:
        return self.table(rows.MigFamily)

    @property
    def vm_sizes(self) -> Mapping[str, rows.VmSize]:
        return self.table(rows.VmSize)

    @property
    def charts(self) -> Mapping[str, rows.Chart]:
        return self.table(rows.Chart)

    @property
    def gates(self) -> Mapping[str, rows.Gate]:
        return self.table(rows.Gate)

    @property
    def chart_faults(self) -> Mapping[str, rows.ChartFault]:
        return self.table(rows.ChartFault)

    @property
    def driver_minimums(self) -> Mapping[str, rows.DriverMinimum]:
        return self.table(rows.DriverMinimum)

    @property
    def pool_fields(self) -> Mapping[str, rows_aks.PoolField]:
        return self.table(rows_aks.PoolField)

    @property
    def cluster_fields(self) -> Mapping[str, rows_aks.ClusterField]:
        return self.table(rows_aks.ClusterField)

    @property
    def name_rules(self) -> Mapping[str, rows_aks.NameRule]:
        return self.table(rows_aks.NameRule)

    @property
    def limits(self) -> Mapping[str, rows_aks.Limit]:
        return self.table(rows_aks.Limit)

    @property
    def aks_drivers(self) -> Mapping[str, rows_aks.AksDriver]:
        return self.table(rows_aks.AksDriver)

    @property
    def os_skus(self) -> Mapping[str, rows_aks.OsSku]:
        return self.table(rows_aks.OsSku)

    @property
    def roles(self) -> Mapping[str, rows_aks.Role]:
        return self.table(rows_aks.Role)

    @property
    def reserved_ranges(self) -> Mapping[str, rows_aks.ReservedRange]:
        return self.table(rows_aks.ReservedRange)

    @property
    def aks_faults(self) -> Mapping[str, rows_aks.AksFault]:
        return self.table(rows_aks.AksFault)

    @property
    def images(self) -> Mapping[str, rows.Image]:
        return self.table(rows.Image)

    def vm_size(self, name: str) -> rows.VmSize | None:
        """A VM size whatever the case of its name: Azure does not mind it either."""
        return self._sizes.get(name.casefold())

    def family(self, size: rows.VmSize) -> rows.MigFamily | None:
        """How the GPUs of a size can be cut; None where they cannot."""
        name = self.gpus[size.gpu].mig
        return self.families[name] if size.mig and name else None

    def label_rule(self, label: str) -> rows_aks.LabelRule | None:
        """The most specific rule for a label key of a pool; None where none applies, which allows it."""
        found = [rule for rule in self.table(rows_aks.LabelRule).values() if rule.matches(label)]
        return max(found, key=lambda rule: (rule.match == "exact", len(rule.pattern)), default=None)

    def instance_profile(self, profile: rows.MigProfile) -> str | None:
        """AKS's gpuInstanceProfile that fills GPUs with this profile: MIG1g … MIG7g; None where AKS has none."""
        known = self.table(rows_aks.GpuInstanceProfile)
        return next((key for key, row in known.items() if row.gi_profile_id == profile.gi_profile_id), None)

    def partitioned_models(self, *, on_demand: bool = False) -> tuple[str, ...]:
        """Models of GPU (A100, H100 …) that AKS documents the partitioning of; on demand: only what DRA may cut."""
        sizes = (size for size in self.vm_sizes.values() if size.gpu_instance_profile)
        gpus = [self.gpus[size.gpu] for size in sizes if not on_demand or self.cut_on_demand(size)]
        return tuple(sorted({gpu.class_name.partition("-")[0].upper() for gpu in gpus}))

    def cut_on_demand(self, size: rows.VmSize) -> bool:
        """Whether DynamicMIG cuts the GPUs of this size on Azure, rather than publish them whole."""
        family = self.family(size)
        return family is not None and not self.gpus[size.gpu].vgpu and not family.mode_needs_reset

    def pool_fields_of(self, change: str) -> tuple[str, ...]:
        """The fields of a pool with which Azure does this when they change; those of parts of a field not."""
        return tuple(name for name, row in self.pool_fields.items() if row.change == change and "." not in name)

    def moving_fields(self) -> tuple[str, ...]:
        """The fields of a pool that the autoscaler moves on."""
        return tuple(name for name, row in self.pool_fields.items() if row.moves_by_itself)

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
        for table, kind in TABLES.items():
            for key, row in self.tables[kind].items():
                found.append(_row(table, key, row))
                if isinstance(row, rows.MigFamily):
                    found += [_row("profile", f"{key}/{name}", profile) for name, profile in row.profiles.items()]
                if isinstance(row, rows.Chart):
                    found += [_row("chart_version", f"{key}/{name}", item) for name, item in row.versions.items()]
        return found


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
    tables: dict[type[Fact], Mapping[str, Any]] = {kind: _rows(raw, name, kind) for name, kind in TABLES.items()}
    facts = Facts(
        kubernetes=Kubernetes(
            **raw.scalars,
            versions=tables[rows.KubernetesVersion],
            features=tables[rows.Feature],
            needs=tables[rows.Need],
        ),
        tables=MappingProxyType(tables),
        _sizes=MappingProxyType({name.casefold(): size for name, size in tables[rows.VmSize].items()}),
    )
    check(facts, raw)
    return facts


def _rows(raw: Raw, table: str, kind: type[Fact]) -> Mapping[str, Fact]:
    inner = {rows.MigFamily: _family, rows.Chart: _chart}.get(kind)
    if inner is None:
        return raw.rows(table, kind)
    return MappingProxyType({key: inner(raw, key, data) for key, data in raw.tables[table].items()})


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


@cache
def _chart_values(chart: str) -> Mapping[str, rows.ChartValue]:
    path = _HERE / "chart_values" / f"{chart}.json"
    values = json.loads(path.read_text(encoding="utf-8"))["values"]
    return MappingProxyType({name: rows.ChartValue(value["type"], value["default"]) for name, value in values.items()})


def _row(table: str, key: str, row: Fact) -> Row:
    hidden = ("key", "source", "verified", "profiles", "versions" if isinstance(row, rows.Chart) else "")
    values = {item.name: getattr(row, item.name) for item in fields(row) if item.name not in hidden}
    return Row(table, key, MappingProxyType(values), row.source, row.verified)
