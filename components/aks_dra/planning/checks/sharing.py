"""Sharing modes: what each allocation can do, and the settings that belong to one of them only."""

from __future__ import annotations

from collections.abc import Iterator

from aks_dra.planning.checks.context import Context, finding
from aks_dra.planning.model import Finding
from aks_dra.settings import Sharing

DRIVER = "NVIDIA DRA driver: GpuConfig (resource.nvidia.com/v1beta1)"
PLUGIN = "NVIDIA device plugin: config file, sharing"


def pool_sharing(context: Context) -> Iterator[Finding]:
    for _, path, pool in context.pools():
        where = f"{path}.sharing"
        if pool.allocation == "dra":
            yield from _dra(where, pool.sharing)
        else:
            yield from _plugin(where, pool.sharing)


def _dra(path: str, sharing: Sharing) -> Iterator[Finding]:
    if sharing.replicas is not None:
        yield finding(
            "SHA001",
            "error",
            f"{path}.replicas",
            sharing.replicas,
            "replicas exist in the device plugin only: DRA shares a device by sharing its claim",
            "remove replicas; let pods share a claim (shareAcross: pods)",
            DRIVER,
        )
    if sharing.rename or sharing.fail_requests_greater_than_one:
        yield finding(
            "SHA002",
            "error",
            path,
            "rename / failRequestsGreaterThanOne",
            "these belong to the device plugin",
            "remove them",
            PLUGIN,
        )
    yield from _config(path, sharing)


def _config(path: str, sharing: Sharing) -> Iterator[Finding]:
    if sharing.interval is not None and sharing.mode != "timeSlicing":
        yield finding(
            "SHA003",
            "error",
            f"{path}.interval",
            sharing.interval,
            "an interval belongs to mode timeSlicing",
            "set mode: timeSlicing, or remove interval",
            DRIVER,
        )
    mps = sharing.active_thread_percentage is not None or sharing.pinned_memory_limit is not None
    if mps and sharing.mode != "mps":
        yield finding(
            "SHA003",
            "error",
            path,
            "activeThreadPercentage / pinnedMemoryLimit",
            "these belong to mode mps",
            "set mode: mps, or remove them",
            DRIVER,
        )
    percentage = sharing.active_thread_percentage
    if percentage is not None and not 0 <= percentage <= 100:
        yield finding(
            "SHA004",
            "error",
            f"{path}.activeThreadPercentage",
            percentage,
            "a percentage is 0 to 100",
            "write a number from 0 to 100",
            DRIVER,
        )


def _plugin(path: str, sharing: Sharing) -> Iterator[Finding]:
    if sharing.interval is not None:
        yield finding(
            "SHA005",
            "error",
            f"{path}.interval",
            sharing.interval,
            "an interval exists under DRA only",
            "write replicas",
            PLUGIN,
        )
    if sharing.active_thread_percentage is not None or sharing.pinned_memory_limit is not None:
        yield finding(
            "SHA005",
            "error",
            path,
            "activeThreadPercentage / pinnedMemoryLimit",
            "these exist under DRA only",
            "remove them",
            PLUGIN,
        )
    if sharing.mode in ("timeSlicing", "mps"):
        if sharing.replicas is None:
            yield finding(
                "SHA006",
                "error",
                path,
                f"mode: {sharing.mode}",
                "the device plugin shares a GPU by replicas",
                "add replicas: 2 or more",
                PLUGIN,
            )
        elif sharing.replicas < 2:
            yield finding(
                "SHA007",
                "error",
                f"{path}.replicas",
                sharing.replicas,
                "the device plugin crashes on fewer than 2 replicas",
                "write 2 or more, or mode: exclusive for no sharing",
                PLUGIN,
            )
    elif sharing.replicas is not None:
        yield finding(
            "SHA008",
            "error",
            f"{path}.replicas",
            sharing.replicas,
            f"replicas do not belong to mode {sharing.mode}",
            "set mode: timeSlicing, or remove replicas",
            PLUGIN,
        )


def config_sharing(context: Context) -> Iterator[Finding]:
    settings = context.settings
    places = [
        (f"aks-dra:deviceClasses.{name}.sharing", entry.sharing) for name, entry in settings.device_classes.items()
    ]
    places += [
        (f"aks-dra:claims.{namespace}.{name}.sharing", claim.sharing)
        for namespace, claims in settings.claims.items()
        for name, claim in claims.items()
    ]
    for path, sharing in places:
        if sharing is None:
            continue
        if sharing.mode not in ("timeSlicing", "mps"):
            yield finding(
                "SHA009",
                "error",
                f"{path}.mode",
                sharing.mode,
                "a class or claim is shared by timeSlicing or mps; MIG is a property of the pool",
                "write one of them, or remove sharing",
                DRIVER,
            )
        yield from _dra(path, sharing)


CHECKS = (pool_sharing, config_sharing)
