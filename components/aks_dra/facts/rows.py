"""The rows of the tables: one frozen class per table, its fields the keys of a row. A new table is a class here or in
rows_aks.py, and its rows in a TOML file of this folder.

A key that a class does not have is refused by the reader, and so is a missing one without a default here. Every
row says where it comes from (`source`) and whether that was seen on the real thing (`verified`): what is not
verified may warn a user and never stop one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from aks_dra.facts.fact import Fact, table


@table("gpu")
@dataclass(frozen=True, kw_only=True)
class Gpu(Fact):
    """A kind of whole GPU, or of vGPU, as NVIDIA's driver publishes it."""

    product_name: str
    class_name: str
    memory_mib: int  # what a ResourceSlice shows
    memory_mib_range: tuple[int, ...]  # lowest and highest that were seen or must be allowed for
    brand: str
    architecture: str
    compute_capability: str  # semver
    mig: str  # a MIG family, or ""
    vgpu: bool
    open_modules_only: bool = False  # NVIDIA makes no proprietary kernel modules for it


@dataclass(frozen=True, kw_only=True)
class MigProfile(Fact):
    """One size of MIG instance."""

    name: str  # with "+me", as the driver and CEL have it
    gi_profile_id: int
    compute: int
    memory: int  # memory slots
    max: int
    memory_mib: int
    placements: tuple[int, ...]  # memory slots where it may begin
    multiprocessors: int
    copy_engines: int
    decoders: int
    encoders: int
    jpeg_engines: int
    ofa_engines: int

    @property
    def layout(self) -> str:
        """The layout that fills a GPU with this profile: `all-1g.10gb.me` for 1g.10gb+me."""
        return "all-" + self.name.replace("+", ".")


@table("family")
@dataclass(frozen=True, kw_only=True)
class MigFamily(Fact):
    """GPUs that are cut alike. `layouts` holds the listed ones and one `all-<profile>` per profile."""

    compute_slices: int
    memory_slices: int
    pci_device_ids: tuple[str, ...] = ()  # as mig-parted's device-filter has them; other ids may exist
    mode_needs_reset: bool = False  # only a reset of the GPU turns its MIG mode on, which no driver does in a VM
    profiles: Mapping[str, MigProfile]
    layouts: Mapping[str, Mapping[str, int]]


@table("size")
@dataclass(frozen=True, kw_only=True)
class VmSize(Fact):
    """A GPU VM size. `gpus` counts devices that the VM sees: one vGPU is one."""

    gpu: str
    gpus: int
    vcpus: int
    memory_gib: int  # 0: not known
    mig: bool
    gpu_instance_profile: bool
    arch: Literal["amd64", "arm64"]
    grid: bool
    aks_driver: str
    family: str
    retired: str = ""

    @property
    def name(self) -> str:
        return self.key


@table("version")
@dataclass(frozen=True, kw_only=True)
class KubernetesVersion(Fact):
    """A minor version on AKS. Dates are ISO, "" where there is none."""

    preview: str
    ga: str
    eol: str
    lts_eol: str
    latest_patch: str
    lts_only: bool


@table("feature")
@dataclass(frozen=True, kw_only=True)
class Feature(Fact):
    """A feature gate of Kubernetes that a need rests on, the minor versions from which it is on and stable, or ""."""

    gate: str
    ga: str
    default_since: str
    what: str


@table("need")
@dataclass(frozen=True, kw_only=True)
class Need(Fact):
    """Something a user can ask for, the feature it rests on, and the minor version from which AKS has that on."""

    feature: str
    minimum: str
    what: str


@dataclass(frozen=True, kw_only=True)
class ChartVersion(Fact):
    """One version of a chart. `key` is the version."""

    chart_name: str
    released: str
    features: tuple[str, ...]
    components: Mapping[str, str]


@table("chart")
@dataclass(frozen=True, kw_only=True)
class Chart(Fact):
    """A chart of NVIDIA's. `versions` is in the order of release."""

    namespace: str
    release: str
    default_version: str
    minimum_version: str
    repo: str
    oci: str
    renumbered: bool  # calendar versions (25.12.0) came before 0.4.0
    versions: Mapping[str, ChartVersion]

    def at_least(self, version: str, other: str) -> bool:
        """Whether `version` was numbered like `other` or after it; also for versions that the table does not have."""
        return self._order(version) >= self._order(other)

    def _order(self, version: str) -> tuple[int, tuple[int, ...], bool]:
        core, _, suffix = version.removeprefix("v").partition("-")
        numbers = tuple(int(part) if part.isdigit() else 0 for part in core.split("+")[0].split("."))
        return (int(not (self.renumbered and numbers[0] >= 25)), numbers, not suffix)


@table("gate")
@dataclass(frozen=True, kw_only=True)
class Gate(Fact):
    """A feature gate of the DRA driver. `excludes` and `needs` stop it at start; documented_excludes do not."""

    default: bool
    since: str  # chart version
    excludes: tuple[str, ...]
    needs: tuple[str, ...]
    documented_excludes: tuple[str, ...]
    kubernetes_need: str  # a Need, or ""
    what: str


@table("fault")
@dataclass(frozen=True, kw_only=True)
class ChartFault(Fact):
    """What is broken in some versions of a chart, when `setting` is `value` ("" for any, or for its default)."""

    chart: str
    versions: tuple[str, ...]
    setting: str
    value: str
    without_mig: bool  # only where a pool's GPUs have no MIG
    severity: Literal["error", "warning"]
    effect: str
    remedy: str


@table("driver_minimum")
@dataclass(frozen=True, kw_only=True)
class DriverMinimum(Fact):
    """The lowest NVIDIA driver for something."""

    version: str
    what: str


@table("image")
@dataclass(frozen=True, kw_only=True)
class Image(Fact):
    """A container image that the package runs itself."""

    reference: str
    what: str


@dataclass(frozen=True)
class ChartValue:
    """Type and default of one value of a chart; below a map with free keys anything goes."""

    type: str
    default: Any
