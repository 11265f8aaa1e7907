"""Who installs the GPU driver: one owner for all DRA pools, and sizes whose driver only Azure has."""

from __future__ import annotations

import re
from collections.abc import Iterator

from aks_dra.context.context import Context
from aks_dra.findings.build import finding
from aks_dra.findings.finding import Finding, Severity
from aks_dra.settings.pools_of import driver_owner
from aks_dra.topics.charts.installed_rules import OPERATOR, PAIRS
from aks_dra.trees import value_at

OPEN_SOURCE = "NVIDIA driver installation guide: open GPU kernel modules are required from Blackwell on"
DRIVER_VERSION = re.compile(r"[0-9]{3,}(\.[0-9]+){0,2}(-[0-9A-Za-z.-]+)?")
DRIVER_IMAGES = "NVIDIA GPU Operator: driver.version, driver.usePrecompiled"


def one_owner(context: Context) -> Iterator[Finding]:
    owners: dict[str, list[str]] = {}
    for name, _, pool in context.pools():
        if pool.allocation == "dra":
            owners.setdefault(driver_owner(context.settings, pool), []).append(name)
    if len(owners) > 1:
        listed = "; ".join(f"{owner}: {', '.join(pools)}" for owner, pools in sorted(owners.items()))
        for name, path, pool in context.pools():
            if pool.allocation == "dra" and pool.driver and pool.driver != context.settings.gpu.driver:
                yield finding(
                    "DRV001",
                    "error",
                    f"{path}.driver",
                    pool.driver,
                    "all DRA pools of a cluster have one "
                    f"driver owner, since the DRA release has one driver root ({listed})",
                    f"remove driver from pool {name}, set gpu.driver: {pool.driver} for all, or make it a devicePlugin "
                    "pool, which gets a device-plugin release of its own driver owner",
                    "NVIDIA DRA driver chart: nvidiaDriverRoot; its classes cannot be installed twice",
                )


def version_needs_owner(context: Context) -> Iterator[Finding]:
    gpu = context.settings.gpu
    owners = {driver_owner(context.settings, pool) for _, _, pool in context.pools()}
    if gpu.driver_version and "operator" not in owners and owners:
        yield finding(
            "DRV002",
            "error",
            "aks-dra:gpu.driverVersion",
            gpu.driver_version,
            "Azure's image has the driver already, and the operator then installs none; " + PAIRS,
            "set gpu.driver: operator, or remove driverVersion",
            "NVIDIA GPU Operator: pre-installed drivers",
        )


def version_serves(context: Context) -> Iterator[Finding]:
    """The version of the operator's driver, from the setting or from the values of its chart."""
    gpu = context.settings.gpu
    raw = value_at(gpu.charts.operator.values, "driver.version")
    places = [("aks-dra:gpu.driverVersion", gpu.driver_version), (f"{OPERATOR}.driver.version", raw)]
    served = [pool for pool in context.plan.pools if pool.driver_owner == "operator"]
    minimums = [context.facts.driver_minimums["gpu_allocation"]]
    if value_at(gpu.charts.dra_driver.values, "resources.computeDomains.enabled") is True:
        minimums.append(context.facts.driver_minimums["compute_domains"])
    for path, version in places:
        if not isinstance(version, str) or not version or not served:
            continue
        if version.startswith("sha256:"):  # of a digest nothing can be said
            continue
        if not DRIVER_VERSION.fullmatch(version):
            message = "this is not a driver's version"
            yield finding("DRV010", "error", path, version, message, "for example 580.126.20", DRIVER_IMAGES)
            continue
        if "." not in version and value_at(gpu.charts.operator.values, "driver.usePrecompiled") is not True:
            message = "a branch alone is the name of precompiled driver images; others have a whole version"
            remedy = (
                "write the whole version, for example 580.126.20, or set driver.usePrecompiled in the chart's values"
            )
            yield finding("DRV010", "warning", path, version, message, remedy, DRIVER_IMAGES)
        by_chart = gpu.dra_stack == "chart" and any(pool.allocation == "dra" for pool in served)
        # The last that is not met asks for the most.
        for minimum in [entry for entry in minimums if by_chart and _older(version, entry.version)][-1:]:
            message = f"{minimum.what} need driver {minimum.version} or later"
            remedy = f"write version {minimum.version} or later, or remove it"
            severity: Severity = "error" if minimum.verified else "warning"
            yield finding("DRV011", severity, path, version, message, remedy, minimum.source)


def _older(version: str, minimum: str) -> bool:
    """Compared as far as both go: 570 is not older than 570.158."""
    left, right = ([int(part) for part in re.findall(r"\d+", text.partition("-")[0])] for text in (version, minimum))
    shared = min(len(left), len(right))
    return left[:shared] < right[:shared]


def kernel_modules(context: Context) -> Iterator[Finding]:
    wanted = context.settings.gpu.kernel_modules
    if wanted == "auto":
        return
    owned = [name for name, _, pool in context.pools() if driver_owner(context.settings, pool) == "operator"]
    path = "aks-dra:gpu.kernelModules"
    if not owned:
        message = "Azure's image has the driver with its modules already; " + PAIRS
        remedy = "set gpu.driver: operator, or remove kernelModules"
        yield finding("DRV008", "error", path, wanted, message, remedy, "NVIDIA GPU Operator: pre-installed drivers")
    for planned in context.plan.pools:
        gpu = context.facts.gpus.get(planned.gpu)
        if planned.name in owned and wanted == "proprietary" and gpu and gpu.open_modules_only:
            message = f"{gpu.architecture} GPUs (pool {planned.name}) run with the open kernel modules only"
            yield finding("DRV009", "error", path, wanted, message, "write open, or auto", OPEN_SOURCE)


def grid_sizes(context: Context) -> Iterator[Finding]:
    for _, path, pool in context.pools():
        size = context.facts.vm_size(pool.vm_size)
        if size and size.grid and driver_owner(context.settings, pool) == "operator":
            yield finding(
                "DRV003",
                "error",
                f"{path}.vmSize",
                pool.vm_size,
                "this size needs Azure's GRID driver, which the operator cannot install",
                "set gpu.driver: aks" if path == "aks-dra:testPool" else "set driver: aks",
                "Azure/AKS#5875; gpu-operator#2201",
            )


RULES = (one_owner, version_needs_owner, version_serves, kernel_modules, grid_sizes)
