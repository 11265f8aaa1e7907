"""One stack file as one value: `Settings`. Everything else in the package starts from it."""

from __future__ import annotations

from pydantic import Field

from aks_dra.settings.base import LabelValue, Model, Str
from aks_dra.settings.cluster import ClusterSettings
from aks_dra.settings.described import DescribedDevices
from aks_dra.settings.devices import ClaimSettings, DeviceClassSettings, NamespaceSettings
from aks_dra.settings.gpu import GpuSettings
from aks_dra.settings.pools import Pool, TestPool


class Acknowledgement(Model):
    """A warning that somebody looked at: `{code: AUT001, reason: ...}`. Errors cannot be acknowledged."""

    code: Str
    reason: Str = Field(min_length=3)
    path: Str | None = Field(None, description="only the finding at this path; default: all of the code")


class Settings(Model):
    """All settings of one cluster, keyed as in the stack file without the `aks-dra:` prefix."""

    cluster: ClusterSettings = ClusterSettings()
    gpu: GpuSettings = GpuSettings()
    pools: dict[Str, Pool] = {}
    test_pool: TestPool = TestPool()
    devices: dict[Str, DescribedDevices] = Field({}, description="devices of drivers that are not NVIDIA's")
    device_classes: dict[Str, DeviceClassSettings] = {}
    claims: dict[Str, dict[Str, ClaimSettings]] = Field({}, description="namespace to name to claim")
    namespaces: dict[Str, NamespaceSettings] = {}
    tags: dict[Str, LabelValue] = {}
    acknowledge: tuple[Acknowledgement, ...] = ()
    facts: Str | tuple[Str, ...] = Field((), description="TOML files with facts rows of your own")
    base: Str | tuple[Str, ...] = Field((), description="files that this one builds on, merged key by key")
