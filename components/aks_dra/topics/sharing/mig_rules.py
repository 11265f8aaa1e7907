"""MIG layouts: known for the GPU, placeable on it, covering every GPU of the node, doable by their owner."""

from __future__ import annotations

import re
from collections.abc import Iterator

from aks_dra.context.context import Context
from aks_dra.facts import MigFamily, MigProfile, VmSize, fits
from aks_dra.findings.build import did_you_mean, finding, listed
from aks_dra.findings.finding import Finding
from aks_dra.settings import MigGroup, Pool
from aks_dra.settings.pools_of import driver_owner
from aks_dra.topics.devices.published import filtered_out, instance_profile, uniform

PROFILE = re.compile(r"([1-7]g)\.[0-9]+gb(.*)")  # its slices, and what it has besides
PCI_ID = re.compile(r"0x[0-9a-fA-F]{8}", re.ASCII)
MOST_NAMED = 8  # of a list that is wrong throughout the first ones say enough
GUIDE = "NVIDIA MIG user guide: supported profiles and placements"


def layouts(context: Context) -> Iterator[Finding]:
    for _, path, pool in context.pools():
        size = context.facts.vm_size(pool.vm_size)
        where = f"{path}.sharing.layout"
        if pool.sharing.mode != "mig":
            if pool.sharing.layout is not None:
                yield finding(
                    "MIG001",
                    "error",
                    where,
                    pool.sharing.layout,
                    "a layout belongs to sharing mode mig",
                    "set sharing.mode: mig, or remove layout",
                    "aks-dra",
                )
            continue
        if size is None:
            continue
        gpu = context.facts.gpus[size.gpu]
        family = context.facts.families.get(gpu.mig) if gpu.mig else None
        if family is None or not size.mig:
            models = listed(context.facts.partitioned_models(), "or")
            yield finding(
                "MIG002",
                "error",
                f"{path}.sharing.mode",
                "mig",
                f"a {gpu.product_name} in size {size.name} cannot be partitioned",
                f"write exclusive or timeSlicing, or take an {models} size",
                GUIDE,
            )
        elif pool.sharing.layout is None:
            yield finding(
                "MIG003",
                "error",
                f"{path}.sharing",
                "mode: mig",
                "a MIG pool needs a layout",
                "add layout: one of " + ", ".join(sorted(family.layouts)),
                GUIDE,
            )
        elif isinstance(pool.sharing.layout, str):
            yield from _stock(where, pool.sharing.layout, family)
        else:
            yield from _custom(where, pool.sharing.layout, family, size)


def _stock(path: str, layout: str, family: MigFamily) -> Iterator[Finding]:
    if layout not in family.layouts:
        profiles = ", ".join(name for name in family.profiles if "+" not in name)
        yield finding(
            "MIG004",
            "error",
            path,
            layout,
            f"this GPU has no such layout; its profiles are {profiles}",
            nearest_layout(layout, family),
            GUIDE,
        )


def nearest_layout(layout: str, family: MigFamily) -> str:
    """What was probably meant: the layout of the profile that was."""
    if layout == "all-disabled":
        return "write mode: exclusive, which leaves the GPUs whole"
    profile = nearest_profile(layout.lower().removeprefix("all-"), family)
    return f"did you mean {profile.layout}?" if profile else did_you_mean(layout, family.layouts, most=20)


def nearest_profile(given: str, family: MigFamily) -> MigProfile | None:
    """The profile of this name, whatever its spelling, or else the smallest of as many slices (and `+me` if given)."""
    own = {profile.name.replace("+", "."): profile for profile in family.profiles.values()}
    name = given.lower().replace("+", ".")
    asked = PROFILE.fullmatch(name)
    alike = [own[form] for form in own if asked and (m := PROFILE.fullmatch(form)) and m.groups() == asked.groups()]
    return own.get(name) or min(alike, key=lambda profile: profile.memory, default=None)


def _custom(path: str, groups: tuple[MigGroup, ...], family: MigFamily, size: VmSize) -> Iterator[Finding]:
    covered: dict[int, int] = {}
    others = [number for number, group in enumerate(groups) if filtered_out(group, family)]
    for number, group in enumerate(groups):
        where = f"{path}.{number}"
        yield from _filter(f"{where}.deviceFilter", group)
        if number in others:
            continue
        indices = range(size.gpus) if group.devices == "all" else group.devices
        bad = [index for index in indices if not 0 <= index < size.gpus]
        for index in (index for index in indices if 0 <= index < size.gpus or index in bad[:MOST_NAMED]):
            if not 0 <= index < size.gpus:
                known = "0" if size.gpus == 1 else f"0-{size.gpus - 1}"
                yield finding(
                    "MIG005",
                    "error",
                    f"{where}.devices",
                    index,
                    f"{size.name} has GPUs {known}",
                    "remove the index",
                    "Azure: VM size",
                )
            elif index in covered:
                yield finding(
                    "MIG006",
                    "error",
                    f"{where}.devices",
                    index,
                    "this GPU is named twice",
                    "name it once"
                    if covered[index] == number
                    else f"remove it from group {covered[index]} or group {number}",
                    "mig-parted: one entry for each GPU",
                )
            else:
                covered[index] = number
        unknown = [name for name in group.profiles if name not in family.profiles]
        for name in unknown:
            yield finding(
                "MIG007",
                "error",
                f"{where}.profiles.{name}",
                name,
                "this GPU has no such profile",
                f"did you mean {meant.name}?"
                if (meant := nearest_profile(name, family))
                else did_you_mean(name, family.profiles, most=20),
                GUIDE,
            )
        low = [name for name, count in group.profiles.items() if count < 1]
        for name in low:
            yield finding(
                "MIG008",
                "error",
                f"{where}.profiles.{name}",
                group.profiles[name],
                "a profile is asked for at least once",
                "write 1 or more, or remove it",
                GUIDE,
            )
        if not unknown and not low and not fits(family, group.profiles):
            compute = sum(family.profiles[name].compute * count for name, count in group.profiles.items())
            memory = sum(family.profiles[name].memory * count for name, count in group.profiles.items())
            yield finding(
                "MIG009",
                "error",
                f"{where}.profiles",
                ", ".join(f"{count}x {name}" for name, count in group.profiles.items()),
                f"these partitions do not fit on one GPU: they take {compute} of {family.compute_slices} compute "
                f"and {memory} of {family.memory_slices} memory slices, and each has fixed places",
                "take fewer or smaller profiles, for example the layout all-balanced",
                GUIDE,
            )
    missing = sorted(set(range(size.gpus)) - set(covered))
    if missing and others:
        yield finding(
            "MIG016",
            "warning",
            f"{path}.{others[0]}.deviceFilter",
            groups[others[0]].device_filter,
            f"the filter names none of the PCI ids known for the GPUs of {size.name} "
            f"({', '.join(family.pci_device_ids)}), so GPU {', '.join(map(str, missing))} may stay without an entry, "
            "and the MIG manager refuses the layout then",
            "add an id of this GPU, or a group for it",
            "mig-parted: not all GPUs match",
        )
    elif missing:
        yield finding(
            "MIG010",
            "error",
            path,
            ", ".join(map(str, missing)),
            "a layout covers every GPU of the node: the MIG manager refuses it otherwise",
            "add these GPUs to a group, or write devices: all",
            "mig-parted: not all GPUs match",
        )
    if groups and not any(group.profiles for group in groups):
        yield finding(
            "MIG015",
            "error",
            path,
            "no profiles",
            "this layout leaves every GPU whole",
            "write mode: exclusive, or name profiles",
            "aks-dra: sharing.layout",
        )


def _filter(path: str, group: MigGroup) -> Iterator[Finding]:
    given = group.device_filter
    for text in (given,) if isinstance(given, str) else given or ():
        if not PCI_ID.fullmatch(text):
            yield finding(
                "MIG017",
                "error",
                path,
                text,
                "a filter is a PCI device and vendor id in hexadecimal",
                "for example 0x20B510DE, an A100 80GB PCIe",
                "mig-parted: device-filter",
            )


def owner_can(context: Context) -> Iterator[Finding]:
    owners: dict[str, list[str]] = {}
    for name, path, pool in context.pools():
        if pool.sharing.mode != "mig" or pool.sharing.layout is None:
            continue
        owner = driver_owner(context.settings, pool)
        owners.setdefault(owner, []).append(name)
        size = context.facts.vm_size(pool.vm_size)
        gpu = context.facts.gpus[size.gpu] if size else None
        family = context.facts.families.get(gpu.mig) if gpu and gpu.mig else None
        if owner == "aks" and family and size and size.mig and not size.gpu_instance_profile:
            models = listed(context.facts.partitioned_models(), "and")
            yield finding(
                "MIG018",
                "warning",
                f"{path}.vmSize",
                size.name,
                f"AKS documents its partitioning (gpuInstanceProfile) for {models} sizes, not for this one",
                "take such a size" + ("" if size.grid else ", or let the operator own the driver"),
                "AKS: gpu-multi-instance.md",
            )
        if (
            owner == "aks"
            and family
            and _known(pool, family)
            and instance_profile(context.facts, pool.sharing, family) is None
        ):
            yield finding(
                "MIG011",
                "error",
                f"{path}.sharing.layout",
                pool.sharing.layout,
                "AKS partitions every GPU of a pool alike, with the plain profiles of 1, 2, 3, 4 or 7 slices only",
                "take such a layout, or let the operator own the driver",
                "AKS: gpuInstanceProfile",
            )
    if len(owners) > 1:
        yield finding(
            "MIG012",
            "error",
            "aks-dra:pools",
            "; ".join(f"{k}: {', '.join(v)}" for k, v in sorted(owners.items())),
            "the operator's MIG manager would wipe what AKS has partitioned",
            "give all MIG pools one driver owner",
            "GPU Operator: mig.config=all-disabled where the label is missing",
        )


def _known(pool: Pool, family: MigFamily) -> bool:
    return not isinstance(pool.sharing.layout, str) or pool.sharing.layout in family.layouts


def strategy(context: Context) -> Iterator[Finding]:
    for _, path, pool in context.pools():
        sharing = pool.sharing
        if sharing.strategy is None:
            continue
        if sharing.mode != "mig" or pool.allocation == "dra":
            yield finding(
                "MIG013",
                "error",
                f"{path}.sharing.strategy",
                sharing.strategy,
                "a MIG strategy names resources of the device plugin; DRA publishes every partition with its profile",
                "remove it",
                "NVIDIA device plugin: migStrategy",
            )
        elif sharing.strategy == "single" and not uniform(sharing):
            yield finding(
                "MIG014",
                "error",
                f"{path}.sharing.strategy",
                "single",
                "strategy single needs partitions of one profile on every GPU",
                "write mixed",
                "NVIDIA device plugin: migStrategy",
            )


RULES = (layouts, owner_can, strategy)
