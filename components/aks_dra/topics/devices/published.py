"""What one node of a pool offers: devices for DRA, extended resources for the device plugin.

A GPU in MIG mode publishes its partitions and not itself. Under the device plugin the strategy decides the
name: `single` counts partitions as nvidia.com/gpu, `mixed` names the profile; replicas multiply either.
"""

from __future__ import annotations

from collections.abc import Mapping

from aks_dra.facts import Facts, MigFamily, VmSize, place
from aks_dra.kube.devices import Device
from aks_dra.names import LEGACY_RESOURCE
from aks_dra.settings import MigGroup, Sharing
from aks_dra.topics.devices.dynamic_mig import dynamic_devices
from aks_dra.topics.devices.nvidia import gpu_device, mig_device


def layout_counts(sharing: Sharing, family: MigFamily, gpu_index: int) -> Mapping[str, int] | None:
    """MIG profile to number for one GPU of the node; None when the layout is not known for this GPU."""
    if isinstance(sharing.layout, str):
        return family.layouts.get(sharing.layout)
    for group in sharing.layout or ():
        if filtered_out(group, family):
            continue
        if group.devices == "all" or gpu_index in group.devices:
            return group.profiles
    return {}


def filtered_out(group: MigGroup, family: MigFamily) -> bool:
    """Whether the group's filter names other GPUs. Where no id of the family is known, every filter is believed."""
    if group.device_filter is None or not family.pci_device_ids:
        return False
    asked = (group.device_filter,) if isinstance(group.device_filter, str) else group.device_filter
    return not {text.lower() for text in asked} & {text.lower() for text in family.pci_device_ids}


def planned_devices(facts: Facts, size: VmSize, sharing: Sharing) -> tuple[Device, ...]:
    """The devices that NVIDIA's DRA driver publishes on one node; empty where the layout cannot be placed."""
    if sharing.mode == "dynamicMig":
        return dynamic_devices(facts, size)
    gpu = facts.gpus[size.gpu]
    devices: list[Device] = []
    for index in range(size.gpus):
        family = facts.families.get(gpu.mig) if gpu.mig else None
        counts = layout_counts(sharing, family, index) if sharing.mode == "mig" and family else {}
        if not counts or family is None:
            if sharing.mode != "mig" or counts is not None:
                devices.append(gpu_device(gpu, index))
            continue
        if any(name not in family.profiles for name in counts):
            continue
        devices += [
            mig_device(gpu, family, family.profiles[name], index, start) for name, start in place(family, counts) or ()
        ]
    return tuple(devices)


def planned_resources(facts: Facts, size: VmSize, sharing: Sharing) -> dict[str, int]:
    """What the device plugin advertises on one node."""
    if sharing.mode == "mig":
        resources: dict[str, int] = {}
        for device in planned_devices(facts, size, sharing):
            profile = str(device.attributes.get("profile", ""))
            mixed = mig_strategy(sharing) == "mixed" and profile
            name = f"nvidia.com/mig-{profile.replace('+', '.')}" if mixed else LEGACY_RESOURCE
            resources[name] = resources.get(name, 0) + 1
    else:
        resources = {LEGACY_RESOURCE: size.gpus}
    replicas = sharing.replicas or 1
    suffix = ".shared" if sharing.rename and replicas > 1 else ""
    return {name + suffix: number * replicas for name, number in resources.items()}


def shared_resources(facts: Facts, size: VmSize | None, sharing: Sharing) -> tuple[str, ...]:
    """The resource names that replicas apply to: those that one node advertises before any renaming."""
    if size is None:
        return (LEGACY_RESOURCE,)
    plain = sharing.model_copy(update={"replicas": None, "rename": False})
    return tuple(sorted(planned_resources(facts, size, plain))) or (LEGACY_RESOURCE,)


def mig_strategy(sharing: Sharing) -> str:
    """none without MIG, single for a uniform layout, mixed for another; what the pool says wins."""
    if sharing.mode != "mig":
        return "none"
    if sharing.strategy:
        return sharing.strategy
    return "single" if uniform(sharing) else "mixed"


def uniform(sharing: Sharing) -> bool:
    """True when every GPU of the node is cut into partitions of one profile."""
    if isinstance(sharing.layout, str):
        return sharing.layout != "all-balanced"
    groups: tuple[MigGroup, ...] = sharing.layout or ()
    profiles = {profile for group in groups for profile in group.profiles}
    return len(profiles) <= 1 and (not profiles or all(group.profiles for group in groups))


def instance_profile(facts: Facts, sharing: Sharing, family: MigFamily | None) -> str | None:
    """AKS's gpuInstanceProfile for the layout: MIG1g … MIG7g, each its GPU's plain profile of that size.

    None when AKS has no profile for the layout: AKS partitions uniformly, with the profiles of the facts' table only.
    """
    if family is None or not isinstance(sharing.layout, str):
        return None
    counts = family.layouts.get(sharing.layout, {})
    if len(counts) != 1 or sharing.layout == "all-balanced":
        return None
    return facts.instance_profile(family.profiles[next(iter(counts))])
