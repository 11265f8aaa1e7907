"""Sharing modes: what each allocation can do, and the settings that belong to one of them only."""

from __future__ import annotations

from collections.abc import Iterator

from aks_dra.context.context import Context
from aks_dra.findings.build import finding
from aks_dra.findings.finding import Finding
from aks_dra.kube import quantity
from aks_dra.settings import Pool, Sharing

DRIVER = "NVIDIA DRA driver: GpuConfig (resource.nvidia.com/v1beta1)"
PLUGIN = "NVIDIA device plugin: config file, sharing"


def pool_sharing(context: Context) -> Iterator[Finding]:
    for _, path, pool in context.pools():
        where = f"{path}.sharing"
        if pool.allocation == "dra":
            yield from _dra(where, pool.sharing)
            yield from _old_gpu(context, where, pool)
        else:
            yield from _plugin(where, pool.sharing, context.facts.limit("mps_clients"))


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
    if sharing.pinned_memory_limit is not None:
        yield from _memory_limit(f"{path}.pinnedMemoryLimit", sharing.pinned_memory_limit)


def _memory_limit(path: str, text: str) -> Iterator[Finding]:
    """The driver looks at it on the node only, when a pod has the GPU already."""
    try:
        enough = quantity.parse(text) >= 2**20
    except quantity.QuantityError:
        rule, remedy = "this is no quantity", "write a number with a unit, for example 4Gi"
    else:
        if enough:
            return
        rule = "the driver refuses a limit below 1Mi, on the node, and the pod never starts"
        remedy = "write 1Mi or more"
    yield finding("SHA010", "error", path, text, rule, remedy, DRIVER)


def _old_gpu(context: Context, path: str, pool: Pool) -> Iterator[Finding]:
    """The time slice is a knob that GPUs have since Volta; on older ones every claim fails on the node."""
    size = context.facts.vm_size(pool.vm_size)
    if size is None or pool.sharing.mode != "timeSlicing":
        return
    gpu = context.facts.gpus[size.gpu]
    if tuple(map(int, gpu.compute_capability.split(".")[:2])) < (7, 0):
        yield finding(
            "SHA011",
            "error" if gpu.verified else "warning",
            f"{path}.mode",
            "timeSlicing",
            f"a {gpu.product_name} (compute capability {gpu.compute_capability}) has no time slice to set, and claims "
            "that ask for one fail on the node",
            "write mode: exclusive; a claim can still be shared",
            "dra-driver-nvidia-gpu#1183",
        )


def _plugin(path: str, sharing: Sharing, mps_clients: int) -> Iterator[Finding]:
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
    if (sharing.rename or sharing.fail_requests_greater_than_one) and sharing.replicas is None:
        yield finding(
            "SHA012",
            "error",
            path,
            "rename / failRequestsGreaterThanOne",
            "these say how shares are advertised and asked for, and nothing is shared here",
            "add replicas, or remove them",
            PLUGIN,
        )
    if sharing.mode == "mps" and sharing.replicas is not None and sharing.replicas > mps_clients:
        yield finding(
            "SHA013",
            "error",
            f"{path}.replicas",
            sharing.replicas,
            f"MPS serves at most {mps_clients} clients of one GPU, and its daemon stops on more",
            f"write {mps_clients} or less",
            "NVIDIA device plugin: mps-control-daemon",
        )
    if sharing.mode in ("timeSlicing", "mps") or (sharing.mode == "mig" and sharing.replicas is not None):
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
                "write 2 or more"
                + (", or remove it: partitions are not shared then" if sharing.mode == "mig" else "")
                + (", or mode: exclusive for no sharing" if sharing.mode != "mig" else ""),
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


def templates(context: Context) -> Iterator[Finding]:
    """Two pods from one template hold two GPUs: the commonest mistake, where sharing is asked for and not between whom.

    Whoever writes shareAcross: containers has decided, and is believed.
    """
    shared = {entry.name for entry in context.classes if entry.origin == "package" and entry.configs}
    shared |= {name for name, entry in context.settings.device_classes.items() if entry.sharing is not None}
    for claim in context.claims:
        written = context.settings.claims.get(claim.namespace, {}).get(claim.name)
        if claim.kind != "ResourceClaimTemplate" or written is None or "share_across" in written.model_fields_set:
            continue
        classes = sorted({ask.device_class for ask in claim.asks} & shared)
        sharing = context.sharing_of(claim)
        if sharing is None and not classes:
            continue
        means = f"mode {sharing.mode}" if sharing else f"class {', '.join(classes)}"
        yield finding(
            "SHA014",
            "warning",
            f"{claim.path}.shareAcross",
            f"containers (the default), {means}",
            "every pod that names this template gets a GPU of its own, which only its own containers share: two pods "
            "hold two GPUs",
            "write shareAcross: pods, so that all pods that name the claim share one GPU; or shareAcross: containers, "
            "if that is meant",
            "Kubernetes: a ResourceClaimTemplate makes a claim for each pod",
        )


RULES = (pool_sharing, config_sharing, templates)
