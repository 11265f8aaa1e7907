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

    code: Str = Field(description="code of the finding, e.g. AUT001")
    reason: Str = Field(min_length=3, description="why it may stay; at least 3 characters")
    path: Str | None = Field(None, description="only the finding at this path; default: all of the code")


class Settings(Model):
    """All settings of one cluster, keyed as in the stack file without the `aks-dra:` prefix."""

    cluster: ClusterSettings = Field(ClusterSettings(), description="the AKS cluster, a new one or one that exists")
    gpu: GpuSettings = Field(GpuSettings(), description="GPU driver, NVIDIA's charts, who serves nvidia.com/gpu")
    pools: dict[Str, Pool] = Field({}, description="GPU pools by their name in AKS, at most 200")
    test_pool: TestPool = Field(TestPool(), description="a small pool to try things on, with a smoke test; off")
    devices: dict[Str, DescribedDevices] = Field({}, description="devices of drivers that are not NVIDIA's")
    device_classes: dict[Str, DeviceClassSettings] = Field(
        {}, description="device classes by name, beside those that the package makes for the pools' devices"
    )
    claims: dict[Str, dict[Str, ClaimSettings]] = Field({}, description="namespace to name to claim")
    namespaces: dict[Str, NamespaceSettings] = Field(
        {}, description="quotas, lists of classes and labels by namespace; those of claims exist without an entry"
    )
    tags: dict[Str, LabelValue] = Field({}, description="Azure tags of the cluster and of every pool")
    acknowledge: tuple[Acknowledgement, ...] = Field((), description="warnings that are known, each with a reason")
    facts: Str | tuple[Str, ...] = Field((), description="TOML files with facts rows of your own")
    base: Str | tuple[Str, ...] = Field((), description="files that this one builds on, merged key by key")
