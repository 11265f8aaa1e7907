"""From a pool's settings to its AgentPool inputs, labels, taints and devices.

The inputs are camelCase, as Azure Resource Manager has them. What Azure cannot change in place comes from the
facts' table of pool fields; labels and taints are never among it.
"""

from __future__ import annotations

from typing import Literal

from aks_dra import names
from aks_dra.facts import Facts
from aks_dra.kube.taints import toleration
from aks_dra.model.plan import PlannedPool, PodSnippet
from aks_dra.settings import Pool, Settings, Sharing, Spot
from aks_dra.settings.fields import plain_inputs
from aks_dra.settings.pools_of import driver_owner, node_counts
from aks_dra.topics.devices.published import instance_profile, planned_devices, planned_resources
from aks_dra.trees import merge_values

CUSTOM_LAYOUT_PREFIX = "aks-dra-"


def mig_layout_name(pool_name: str, sharing: Sharing) -> str:
    """The layout's name in nvidia.com/mig.config: a stock one as it is, a custom one by its pool."""
    if sharing.mode != "mig" or sharing.layout is None:
        return ""
    return sharing.layout if isinstance(sharing.layout, str) else CUSTOM_LAYOUT_PREFIX + pool_name


def pool_labels(name: str, pool: Pool, owner: str, mig_owner: str) -> dict[str, str]:
    labels = {
        **pool.labels,
        names.LABEL_ALLOCATION: names.ALLOCATION_LABELS[pool.allocation],
        names.LABEL_DRIVER_OWNER: owner,
        names.LABEL_MIG_OWNER: mig_owner,
    }
    if mig_owner == "operator":
        labels[names.LABEL_MIG_CONFIG] = mig_layout_name(name, pool.sharing)
    if pool.allocation == "devicePlugin":
        labels[names.LABEL_PLUGIN_CONFIG] = name
    if pool.spot:
        # Updating labels replaces the whole set, the service's spot label included, so it is always sent.
        labels[names.SPOT_LABEL[0]] = names.SPOT_LABEL[1]
    return dict(sorted(labels.items()))


def pool_taints(pool: Pool) -> tuple[str, ...]:
    spot = (names.SPOT_TAINT,) if pool.spot else ()
    return (*pool.taints, *(taint for taint in spot if taint not in pool.taints))


def describe_sharing(name: str, sharing: Sharing) -> str:
    if sharing.mode == "mig":
        return f"mig {mig_layout_name(name, sharing)}"
    if sharing.mode == "exclusive":
        return "exclusive"
    detail = sharing.interval or (f"x{sharing.replicas}" if sharing.replicas else "")
    return f"{sharing.mode} {detail}".strip()


def plan_pool(
    settings: Settings, facts: Facts, name: str, path: str, pool: Pool, version: str, classes: tuple[str, ...]
) -> PlannedPool:
    """One pool. `classes` are the names of the package's classes for its devices."""
    size = facts.vm_size(pool.vm_size)
    gpu = facts.gpus[size.gpu] if size else None
    family = facts.families.get(gpu.mig) if gpu and gpu.mig else None
    owner = driver_owner(settings, pool)
    mig_owner: Literal["operator", "aks", "none"] = owner if pool.sharing.mode == "mig" else "none"
    labels = pool_labels(name, pool, owner, mig_owner)
    taints = pool_taints(pool)
    counts = node_counts(pool.nodes, pool.allocation)
    inputs = plain_inputs(pool) | {
        "mode": "User",
        "type": "VirtualMachineScaleSets",
        "osType": "Linux",
        "vmSize": size.name if size else pool.vm_size,
        **counts,
        "orchestratorVersion": pool.kubernetes_version or version,
        "nodeLabels": labels,
        "gpuProfile": {"driver": "None" if owner == "operator" else "Install"},
    }
    if taints:
        inputs["nodeTaints"] = list(taints)
    if mig_owner == "aks":
        inputs["gpuInstanceProfile"] = instance_profile(facts, pool.sharing, family)
    if pool.spot:
        spot = pool.spot if isinstance(pool.spot, Spot) else Spot()
        inputs |= {
            "scaleSetPriority": "Spot",
            "scaleSetEvictionPolicy": spot.eviction_policy,
            "spotMaxPrice": spot.max_price,
        }
    if subnet := pool.subnet_id or settings.cluster.network.subnet_id:
        inputs["vnetSubnetID"] = subnet
    if tags := {**settings.tags, **pool.tags}:
        inputs["tags"] = dict(sorted(tags.items()))
    inputs, _ = merge_values(inputs, pool.azure_inputs)
    dra = pool.allocation == "dra"
    # A pool that may be replaced is not protected: the engine refuses to replace what is.
    protect = pool.protect if pool.protect is not None else settings.cluster.protect and not pool.allow_replace
    return PlannedPool(
        name=name,
        path=path,
        vm_size=inputs["vmSize"],
        gpu=size.gpu if size else "",
        gpus_per_node=size.gpus if size else 0,
        nodes=f"{counts['minCount']}-{counts['maxCount']}" if counts["enableAutoScaling"] else str(counts["count"]),
        first_nodes=counts["count"],
        allocation=pool.allocation,
        sharing=describe_sharing(name, pool.sharing),
        driver_owner=owner,
        mig_owner=mig_owner,
        mig_layout=mig_layout_name(name, pool.sharing),
        inputs=inputs,
        labels=labels,
        taints=taints,
        devices=planned_devices(facts, size, pool.sharing) if size and dra else (),
        extended_resources=planned_resources(facts, size, pool.sharing) if size and not dra else {},
        device_classes=classes,
        pod=PodSnippet({names.LABEL_AGENT_POOL: name}, tuple(toleration(taint) for taint in taints)),
        protect=protect,
        ignore_changes=facts.moving_fields() if counts["enableAutoScaling"] else (),
        replace_on_changes=facts.pool_fields_of("replace"),
    )
