"""Settings of the GPU software: `aks-dra:gpu`.

Who owns the driver is one choice from which five values in three places follow; they are never set one by one.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from aks_dra.settings.base import Bool, Int, Model, Str, Version
from aks_dra.settings.pools import DriverOwner


class ChartSettings(Model):
    """One Helm chart: its version, where it comes from, values on top of the package's own."""

    version: Version | None = Field(None, description="exact version; default: the one this package was tested with")
    source: Str | None = Field(
        None, description="folder of packed charts, https:// repository or oci:// registry; default: charts.source"
    )
    values: dict[Str, Any] = Field({}, description="extra chart values; one that contradicts the package is refused")
    timeout_seconds: Int = Field(1800, description="how long the installation may take")


class Charts(Model):
    """The three charts, and a mirror for all of them."""

    source: Str | None = Field(None, description="mirror for all charts: folder, https:// or oci://; default NVIDIA's")
    operator: ChartSettings = Field(ChartSettings(), description="GPU Operator: driver, MIG manager, feature discovery")
    dra_driver: ChartSettings = Field(ChartSettings(), description="the driver that publishes GPUs for DRA")
    device_plugin: ChartSettings = Field(ChartSettings(), description="serves nvidia.com/gpu on device-plugin pools")


class Images(Model):
    """Where the container images of the three charts come from."""

    registry: Str | None = Field(
        None,
        description="mirror of nvcr.io and registry.k8s.io, which keeps the paths below them, e.g. "
        "example.azurecr.io or example.azurecr.io/mirror",
    )
    pull_secrets: tuple[Str, ...] = Field(
        (), description="names of image pull secrets; you create them in the namespaces of the charts"
    )


class DcgmExporter(Model):
    """Metrics of the GPUs, by NVIDIA's DCGM exporter, which the operator installs."""

    enabled: Bool = Field(True, description="whether it runs on the GPU nodes")
    service_monitor: Bool = Field(
        False, description="a ServiceMonitor for Prometheus Operator; its definition must be in the cluster already"
    )


class GpuSettings(Model):
    """`aks-dra:gpu`."""

    driver: DriverOwner = Field("operator", description="who installs the GPU driver on the nodes")
    driver_version: Version | None = Field(None, description="operator-owned driver only")
    dra_stack: Literal["chart", "operator"] = Field(
        "chart",
        description="chart: NVIDIA's DRA chart beside the operator's ClusterPolicy; operator: the operator runs the "
        "DRA driver (GPUCluster), every GPU pool is DRA",
    )
    legacy_requests: Literal["devicePlugin", "dra"] = Field(
        "devicePlugin", description="who serves pods that ask for nvidia.com/gpu while a device-plugin pool exists"
    )
    extended_resources: Bool | dict[Str, Str] = Field(
        False,
        description="pods that ask for nvidia.com/mig-1g.10gb and the like are served by DRA (Kubernetes 1.36 and "
        "later): true for every MIG class of the package, or class to resource name",
    )
    existing_nfd: Bool = Field(False, description="node feature discovery runs already: the operator's is left out")
    feature_gates: dict[Str, Bool] = Field({}, description="gates of the DRA driver, beyond those that pools imply")
    charts: Charts = Field(Charts(), description="versions, sources and extra values of NVIDIA's three charts")
    kernel_modules: Literal["auto", "open", "proprietary"] = Field(
        "auto", description="operator-owned driver only: which kernel modules it installs"
    )
    tolerations: tuple[Str, ...] = Field(
        (), description="taints that NVIDIA's pods tolerate beyond those of the pools, e.g. team=ml:NoExecute"
    )
    images: Images = Field(Images(), description="a mirror for the container images; default: the public registries")
    dcgm_exporter: DcgmExporter = Field(DcgmExporter(), description="metrics of the GPUs for Prometheus; on")
