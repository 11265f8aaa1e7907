"""`draStack: operator`: what GPUCluster cannot do, and the driver that it needs."""

from __future__ import annotations

from collections.abc import Iterator

from aks_dra.context.context import Context
from aks_dra.findings.build import finding
from aks_dra.findings.finding import Finding
from aks_dra.settings import ChartSettings
from aks_dra.settings.pools_of import driver_owner

SOURCE = "GPU Operator v26.7.0: GPUCluster (dra-intro-install.rst, templates/gpucluster.yaml)"
STACK = "aks-dra:gpu.draStack"


def pools(context: Context) -> Iterator[Finding]:
    if context.settings.gpu.dra_stack != "operator":
        return
    for name, path, pool in context.pools():
        if pool.allocation == "devicePlugin":
            yield finding(
                "GPC001",
                "error",
                f"{path}.allocation",
                "devicePlugin",
                "with draStack: operator every GPU pool is DRA: GPUCluster has no device plugin and selects no nodes",
                f"set allocation: dra on pool {name}, or {STACK}: chart",
                SOURCE,
            )
        elif pool.sharing.mode == "mig" and driver_owner(context.settings, pool) == "operator":
            yield finding(
                "GPC002",
                "error",
                f"{path}.sharing.mode",
                "mig",
                "GPUCluster brings no MIG manager, so nothing would partition this pool",
                f"let AKS partition it (driver: aks), set mode: dynamicMig, or {STACK}: chart",
                SOURCE,
            )


def charts(context: Context) -> Iterator[Finding]:
    settings = context.settings.gpu
    if settings.dra_stack != "operator":
        return
    for key, own in (("draDriver", settings.charts.dra_driver), ("devicePlugin", settings.charts.device_plugin)):
        if own != ChartSettings():
            yield finding(
                "GPC003",
                "error",
                f"aks-dra:gpu.charts.{key}",
                ", ".join(sorted(own.model_fields_set)),
                "with draStack: operator there is no release of this chart: the operator runs the DRA driver itself",
                "write values of the operator's chart (charts.operator.values.draDriver), or remove this",
                SOURCE,
            )
    chart = context.facts.charts["gpu-operator"]
    version = settings.charts.operator.version or chart.default_version
    row = chart.versions.get(version)
    first = next(key for key, known in chart.versions.items() if "gpuCluster" in known.features)
    if not ("gpuCluster" in row.features if row else chart.at_least(version, first)):
        yield finding(
            "GPC004",
            "error",
            "aks-dra:gpu.charts.operator.version",
            version,
            f"GPUCluster came with {first}",
            f"write {first} or later, or {STACK}: chart",
            SOURCE,
        )


def drivers(context: Context) -> Iterator[Finding]:
    gpu = context.settings.gpu
    if gpu.dra_stack != "operator":
        return
    minimum = context.facts.driver_minimums["gpu_cluster"]
    if gpu.driver_version and _branch(gpu.driver_version) < _branch(minimum.version):
        yield finding(
            "GPC005",
            "error",
            "aks-dra:gpu.driverVersion",
            gpu.driver_version,
            f"GPUCluster needs driver {minimum.version} or later",
            f"write a version of branch {minimum.version} or later, or remove it",
            minimum.source,
        )
    for name, path, pool in context.pools():
        size = context.facts.vm_size(pool.vm_size)
        if size is None or driver_owner(context.settings, pool) != "aks":
            continue
        installed = context.facts.aks_drivers[size.aks_driver].version
        if installed and _branch(installed) < _branch(minimum.version):
            yield finding(
                "GPC006",
                "warning",
                f"{path}.vmSize",
                pool.vm_size,
                f"GPUCluster needs driver {minimum.version} or later, and AKS installs {installed} on pool {name}",
                f"set {STACK}: chart, or ask AKS for a newer image first",
                f"{minimum.source}; {context.facts.aks_drivers[size.aks_driver].source}",
            )


def _branch(version: str) -> int:
    first = version.removeprefix("v").split(".")[0]
    return int(first) if first.isdecimal() else 0


RULES = (pools, charts, drivers)
