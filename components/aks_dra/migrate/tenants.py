"""What lists and quotas of namespaces mean for the workloads that move: which lists grow, which quotas are short."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from aks_dra import names
from aks_dra.kube.claims import read_manifest
from aks_dra.kube.reading import Manifest, WorkloadError
from aks_dra.kube.workloads import number_of_pods
from aks_dra.migrate.budgets import at
from aks_dra.migrate.workloads import POD_PATHS, Advice
from aks_dra.model.plan import Plan
from aks_dra.settings import Settings
from aks_dra.stackfile.edit import Put
from aks_dra.topics.tenants.policies import may_use
from aks_dra.topics.tenants.rules import counted


def widened(settings: Settings, advice: Sequence[Advice]) -> tuple[list[Put], tuple[str, ...]]:
    """The lists that grow by the classes of new claims, and what to say of each."""
    added: dict[str, dict[str, list[str]]] = {}  # namespace, class, workloads
    for entry in advice:
        for claim in entry.claims.values():
            if not may_use(settings, entry.namespace, claim["deviceClass"]):
                titles = added.setdefault(entry.namespace, {}).setdefault(claim["deviceClass"], [])
                if entry.title not in titles:
                    titles.append(entry.title)
    edits, notes = [], []
    for namespace, classes in added.items():
        space = settings.namespaces.get(namespace)
        allow, quota = (space.allow or (), space.quota) if space else ((), {})
        edits.append(Put(("config", "aks-dra:namespaces", namespace, "allow"), [*allow, *classes]))
        for device_class, titles in classes.items():
            free = "" if device_class in quota else ", without a quota"
            notes.append(
                f"`aks-dra:namespaces.{namespace}.allow` grows by `{device_class}`, for {', '.join(titles)}: everybody "
                f"in the namespace may use the class from then on{free}"
            )
    return edits, tuple(notes)


def short_quotas(
    settings: Settings, before: Plan, advice: Sequence[Advice], manifests: Sequence[Manifest]
) -> Iterator[str]:
    """Where a quota leaves no room for all pods of a workload, beside those of the workloads before it."""
    used: dict[tuple[str, str], int] = {}
    for planned in before.objects:
        if planned.kind == "ResourceClaim":
            claim = read_manifest(planned.manifest)
            _add(used, claim.namespace, counted(claim))
    for entry in advice:
        space = settings.namespaces.get(entry.namespace)
        each, once = _demand(entry)
        _add(used, entry.namespace, once)
        pods = _pods(entry, manifests)
        for device_class, count in each.items():
            limit = space.quota.get(device_class) if space else None
            held = used.get((entry.namespace, device_class), 0)
            if limit is not None and held + count * pods > limit:
                beside = f", beside {held} of what else is counted" if held else ""
                yield (
                    f"quota: {limit} of {device_class} in namespace {entry.namespace} leaves room for "
                    f"{max(limit - held, 0) // count} of the {pods} pods of {entry.title} ({count} each{beside}); the "
                    f"others never run: set aks-dra:namespaces.{entry.namespace}.quota.{device_class}: "
                    f"{held + count * pods}, or run fewer"
                )
            used[entry.namespace, device_class] = held + count * pods


def _demand(entry: Advice) -> tuple[dict[str, int], dict[str, int]]:
    """What a workload counts by class: with each of its pods, and once however many they are."""
    each: dict[str, int] = {}
    once: dict[str, int] = {}
    if entry.kind == "unchanged":
        each[names.LEGACY_CLASS] = sum(int(ask.rpartition(" ")[2]) for ask in entry.asks)
    references = at(entry.manifest or {}, *POD_PATHS[entry.workload], "resourceClaims")
    for reference in references if isinstance(references, list) else ():
        for key, total in (("resourceClaimTemplateName", each), ("resourceClaimName", once)):
            if claim := entry.claims.get(str(at(reference, key))):
                total[claim["deviceClass"]] = total.get(claim["deviceClass"], 0) + claim.get("count", 1)
    return each, once


def _pods(entry: Advice, manifests: Sequence[Manifest]) -> int:
    """How many pods run at the same time; one where that is not to be read."""
    for manifest in manifests:
        if (manifest.where, manifest.kind) == (entry.where, entry.workload) and entry.name in _names(manifest):
            path = ("spec", "jobTemplate", "spec") if manifest.kind == "CronJob" else ("spec",)
            spec: Any = at(manifest.content, *path)
            try:
                return number_of_pods(manifest.kind, spec, entry.title)
            except WorkloadError:
                return 1
    return 1


def _names(manifest: Manifest) -> tuple[str, str]:
    return manifest.name, str(manifest.metadata.get("generateName") or "").rstrip("-")


def _add(used: dict[tuple[str, str], int], namespace: str, counts: Mapping[str, int]) -> None:
    for device_class, count in counts.items():
        used[namespace, device_class] = used.get((namespace, device_class), 0) + count
