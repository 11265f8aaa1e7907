"""Changes to a pool that lives. What Azure does with each field is in the facts' table of pool fields.

A pool's name is fixed in Azure, so a change that needs a new pool is a deletion first: the way without it is a second
pool under another name, and that name is proposed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from aks_dra import names
from aks_dra.context.context import Context
from aks_dra.context.previous import DYNAMIC_MIG, Previous, PreviousClass, PreviousPool
from aks_dra.facts import PoolField, load_facts
from aks_dra.findings.build import finding
from aks_dra.findings.finding import Finding
from aks_dra.settings import fields
from aks_dra.settings.fields import setting_of

DRAIN = "kubectl drain -l {label}={pool} --ignore-daemonsets --delete-emptydir-data"
# Said by their own names only while the pool stays a spot pool.
SPOT_DETAILS = tuple(field.arm for field in fields.POOL if field.setting.startswith("spot."))


def free_name(name: str, taken: Iterable[str]) -> str:
    """A pool name that is free: train, train2, train3; a name that ends with a digit gets a letter: t4, t4b."""
    used, most = set(taken), load_facts().name_rules["linux_pool"].longest
    endings = (
        [chr(letter) for letter in range(ord("b"), ord("z") + 1)]
        if name[-1:].isdigit()
        else [str(number) for number in range(2, 100)]
    )
    for ending in endings:
        proposal = name[: most - len(ending)] + ending
        if proposal not in used:
            return proposal
    return f"{name[: most - 3]}new"


def changed_fields(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Names of the inputs that differ; Azure minds no case in a size's name."""

    def same(one: Any, other: Any) -> bool:
        both_text = isinstance(one, str) and isinstance(other, str)
        if isinstance(one, list) and isinstance(other, list):
            return sorted(map(str, one)) == sorted(map(str, other))  # zones: their order says nothing
        return one.casefold() == other.casefold() if both_text else bool(one == other)

    found = [key for key in sorted({*before, *now}) if not same(before.get(key), now.get(key))]
    return [key for key in found if key not in SPOT_DETAILS or "scaleSetPriority" not in found]


def _back(old: str) -> str:
    return "remove it again" if old == "nothing" else f"put {old} back"


def shown(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {shown(inner)}" for key, inner in sorted(value.items()))
    if isinstance(value, list | tuple):
        return f"[{', '.join(shown(inner) for inner in value)}]"
    return "nothing" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def told(field: str, pool: PreviousPool) -> str:
    """The value of a field in the words of the settings, where they are others than Azure's."""
    value = pool.inputs.get(field)
    if field == "gpuProfile" and value in ({"driver": "None"}, {"driver": "Install"}):
        return f"driver: {pool.driver_owner}"
    if field == "gpuInstanceProfile":
        return pool.mig.partition(" ")[0] or "nothing"
    return "spot: true" if field == "scaleSetPriority" and value == "Spot" else shown(value)


def from_to(before: object, now: object) -> str:
    return f"{shown(before)} → {shown(now)}"


def setting(path: str, field: str) -> str:
    return f"{path}.{setting_of(fields.POOL, field)}"


def living(before: Previous, now: Previous) -> Iterator[tuple[str, PreviousPool, PreviousPool]]:
    for name, old in sorted(before.pools.items()):
        if name in now.pools:
            yield name, old, now.pools[name]


def new_name(context: Context, before: Previous, name: str) -> str:
    system = context.settings.cluster.system_pool.name
    return free_name(name, [*before.pools, *(pool.name for pool in context.plan.pools), system])


def fixed_fields(context: Context, before: Previous, now: Previous) -> Iterator[Finding]:
    planned = {pool.name: pool for pool in context.plan.pools}
    settings = {name: pool for name, _, pool in context.pools()}
    system = [pool.get("vnetSubnetID") for pool in (before.cluster.system_pool, now.cluster.system_pool)]
    for name, old, new in living(before, now):
        path, allowed = planned[name].path, settings[name].allow_replace
        proposal = new_name(context, before, name)
        replaced: list[tuple[str, PoolField]] = []
        for field in changed_fields(old.inputs, new.inputs):
            row = context.facts.pool_fields.get(field)
            if field == "vnetSubnetID" and [old.inputs.get(field), new.inputs.get(field)] == system:
                continue  # the cluster's subnet changes: said there, once
            elif row is None or row.change == "unverified":
                yield _unknown(setting(path, field), name, field, old, new, row)
            elif row.change == "reimage":
                yield _reimage(setting(path, field), name, field, old, new, row)
            elif row.change == "replace":
                replaced.append((field, row))
        for field, row in replaced:
            if not allowed:
                yield finding(
                    "CHG001",
                    "error",
                    setting(path, field),
                    from_to(told(field, old), told(field, new)),
                    f"Azure cannot change {field} of a pool that exists: {name} would be deleted and made anew",
                    _other_pool(path, name, proposal, told(field, old)),
                    row.source,
                )
        if replaced and allowed:
            yield _replacement(path, name, old, new, [field for field, _ in replaced], planned[name].protect, proposal)


def _other_pool(path: str, name: str, proposal: str, old: str) -> str:
    if path == "aks-dra:testPool":
        return f"{_back(old)}, or give testPool another name as well, for example {proposal}"
    return (
        f"{_back(old)} and add a pool with the new value under another name, for example {proposal}; move the "
        f"workloads, drain {name}, then remove it. allowReplace: true replaces {name} with all that runs on it"
    )


def _replacement(
    path: str, name: str, old: PreviousPool, new: PreviousPool, fields: list[str], protect: bool, proposal: str
) -> Finding:
    what = "; ".join(f"{field}: {from_to(told(field, old), told(field, new))}" for field in fields)
    if protect and old.protect:
        return finding(
            "CHG003",
            "error",
            f"{path}.protect",
            "true",
            f"{name} has to be replaced ({what}), and protect: true forbids it",
            f"remove protect here, or add a pool under another name, for example {proposal}",
            "Pulumi: a protected resource is not replaced",
        )
    return finding(
        "CHG002",
        "warning",
        f"{path}.allowReplace",
        what,
        f"pool {name} is deleted with every pod on it, and made anew: Azure cannot change {', '.join(fields)}",
        f"drain it first: {DRAIN.format(label=names.LABEL_AGENT_POOL, pool=name)}; or keep it and add {proposal}",
        "aks-dra: pools.allowReplace",
    )


def _reimage(path: str, name: str, field: str, old: PreviousPool, new: PreviousPool, row: PoolField) -> Finding:
    return finding(
        "CHG004",
        "warning",
        path,
        from_to(old.inputs.get(field), new.inputs.get(field)),
        f"every node of pool {name} is rebuilt in place, and its pods are moved away meanwhile",
        "choose a quiet hour, and see that the disruption budgets leave room; acknowledge this when it is meant",
        row.source,
    )


def _unknown(path: str, name: str, field: str, old: PreviousPool, new: PreviousPool, row: PoolField | None) -> Finding:
    return finding(
        "CHG005",
        "warning",
        path,
        from_to(old.inputs.get(field), new.inputs.get(field)),
        f"whether Azure changes {field} of pool {name} in place is not known here; it may refuse it",
        f"{_back(shown(old.inputs.get(field)))}, or try it on a pool that may be lost",
        row.source if row and row.source != "not known" else "aks-dra: facts, pool_field (not verified)",
    )


def allocation(context: Context, before: Previous, now: Previous) -> Iterator[Finding]:
    paths = {pool.name: pool.path for pool in context.plan.pools}
    for name, old, new in living(before, now):
        if old.allocation != new.allocation:
            proposal = new_name(context, before, name)
            yield finding(
                "CHG006",
                "error",
                f"{paths[name]}.allocation",
                from_to(old.allocation, new.allocation),
                f"a pool never changes from one allocation to the other: what pods on {name} hold would be left behind",
                f"put {old.allocation} back and add a pool with allocation: {new.allocation} under another name, for "
                f"example {proposal}; drain {name}, then remove it (`aks-dra migrate` writes the steps)",
                "Kubernetes: the kubelet can only give prepared devices back through the driver that prepared them",
            )


def partitions(context: Context, before: Previous, now: Previous) -> Iterator[Finding]:
    paths = {pool.name: pool.path for pool in context.plan.pools}
    for name, old, new in living(before, now):
        by_aks = "gpuInstanceProfile" in old.inputs or "gpuInstanceProfile" in new.inputs
        if old.mig == new.mig or by_aks or old.allocation != new.allocation:
            continue  # what AKS partitions at boot is a field of the pool
        proposal = new_name(context, before, name)
        was, becomes = (
            text if text == DYNAMIC_MIG else text.partition(" ")[0] or "no MIG" for text in (old.mig, new.mig)
        )
        yield finding(
            "CHG007",
            "warning",
            f"{paths[name]}.sharing" + ("" if {old.mig, new.mig} & {"", DYNAMIC_MIG} else ".layout"),
            f"{was} → {becomes}" if was != becomes else f"{was}, changed",
            f"the GPUs of pool {name} are partitioned anew while it lives: that fails, or takes devices from running "
            "pods, as long as one of them holds a device; A100 nodes reboot",
            f"leave {name} as it is and add a pool with the new layout, for example {proposal}; move the workloads, "
            f"drain {name}, then remove it. To do it in place, drain every node first "
            f"({DRAIN.format(label=names.LABEL_AGENT_POOL, pool=name)}) and acknowledge this",
            "NVIDIA GPU Operator: MIG manager; NVIDIA MIG user guide",
        )


def removed(context: Context, before: Previous, now: Previous) -> Iterator[Finding]:
    for name, old in sorted(before.pools.items()):
        if name in now.pools:
            continue
        lost = [
            device_class
            for device_class, entry in sorted(before.classes.items())
            if name in entry.pools and _without_pools(device_class, entry, before, now)
        ]
        claims = [
            key
            for key, claim in sorted({**before.claims, **now.claims}.items())
            if any(device_class in lost for device_class in claim.classes) and key in now.claims
        ]
        message = f"pool {name} is deleted; its nodes are drained, and a disruption budget can hold that up"
        own = [entry for entry in lost if before.classes[entry].origin != "chart"]
        if own:
            message += f"; no other pool has devices for {_listed('class', 'classes', own)}"
        if claims:
            message += f", which {_listed('the claim', 'the claims', claims)} still {_verb(claims)}"
        remedy = f"first {DRAIN.format(label=names.LABEL_AGENT_POOL, pool=name)}"
        if claims:
            remedy = "give these claims another class, or keep the pool; " + remedy
        if old.protect:
            remedy = f"write protect: false for {name} and run `pulumi up` once, or its deletion is refused; {remedy}"
        yield finding(
            "CHG008",
            "warning",
            old.path or f"aks-dra:pools.{name}",
            old.vm_size,
            message,
            remedy,
            "AKS docs: delete a node pool",
        )


def _without_pools(name: str, entry: PreviousClass, before: Previous, now: Previous) -> bool:
    if name in now.classes:
        return not now.classes[name].pools
    return set(entry.pools) <= set(before.pools) - set(now.pools)


def _listed(one: str, many: str, entries: list[str]) -> str:
    return f"{one if len(entries) == 1 else many} {', '.join(entries)}"


def _verb(entries: list[str]) -> str:
    return "names" if len(entries) == 1 else "name"


RULES = (fixed_fields, allocation, partitions, removed)
