"""Who installs the GPU driver: one owner for all DRA pools, and sizes whose driver only Azure has."""

from __future__ import annotations

from collections.abc import Iterator

from aks_dra.planning.checks.context import Context, finding
from aks_dra.planning.checks.installed import PAIRS
from aks_dra.planning.model import Finding
from aks_dra.planning.pools import driver_owner

OPEN_SOURCE = "NVIDIA driver installation guide: open GPU kernel modules are required from Blackwell on"


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


CHECKS = (one_owner, version_needs_owner, kernel_modules, grid_sizes)
