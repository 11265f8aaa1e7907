"""What each workload has to change when its pool moves to DRA: a claim to write, or nothing.

A container that asks for an extended resource in its limits gets a device by one of two ways afterwards: by a claim,
which works everywhere, or by the mapping of nvidia.com/gpu to DRA, from Kubernetes 1.36 on, which changes nothing in
the manifest but gives a whole GPU of any DRA pool that the pod tolerates.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from aks_dra import names
from aks_dra.facts import load_facts
from aks_dra.kube.reading import Manifest, WorkloadError
from aks_dra.migrate.budgets import at, gentle_strategy
from aks_dra.model.plan import PlannedPool
from aks_dra.settings import Settings
from aks_dra.topics.tenants.policies import may_use
from aks_dra.trees import mapping

# Where the pod's spec is, and what a patch can reach.
POD_PATHS = {
    "Pod": ("spec",),
    "Deployment": ("spec", "template", "spec"),
    "ReplicaSet": ("spec", "template", "spec"),
    "ReplicationController": ("spec", "template", "spec"),
    "StatefulSet": ("spec", "template", "spec"),
    "DaemonSet": ("spec", "template", "spec"),
    "Job": ("spec", "template", "spec"),
    "CronJob": ("spec", "jobTemplate", "spec", "template", "spec"),
}
# Their pods' spec cannot be changed: they are deleted and made anew.
FIXED = ("Pod", "Job")
MAPPING = "extended_resource_name"  # the need (facts) that DRA serves nvidia.com/gpu by
DEFAULT_NAMESPACE = "default"
REFERENCE = "gpu"
_NAMELESS = "it and each of its containers need a name"


@dataclass(frozen=True)
class Fleet:
    """What decides how a workload goes on."""

    old: PlannedPool
    new: PlannedPool
    sharing: str  # of the old pool
    replicas: int
    minor: tuple[int, int]
    last: bool  # the old pool is the last of the device plugin
    taken: set[str]  # claims there are, namespace/name
    claims: bool  # a claim also where the mapping would do
    settings: Settings  # with the namespaces' lists


@dataclass(frozen=True)
class Advice:
    """One workload: `claim` (a patch where one can be applied, and the whole manifest), `unchanged`, or `stays`."""

    kind: Literal["claim", "unchanged", "stays"]
    workload: str  # its kind
    namespace: str
    name: str
    where: str
    asks: tuple[str, ...]
    text: str
    claims: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    patch: Mapping[str, Any] | None = None
    manifest: Mapping[str, Any] | None = None
    notes: tuple[str, ...] = ()
    generated: bool = False  # the server adds to its name

    @property
    def title(self) -> str:
        return f"{self.workload} {self.namespace}/{self.name}"

    @property
    def files(self) -> dict[str, Mapping[str, Any]]:
        """What there is to write, by file name."""
        stem = f"{self.namespace}-{self.workload.lower()}-{self.name}"
        contents = {f"{stem}.patch.yaml": self.patch, f"{stem}.manifest.yaml": self.manifest}
        return {name: content for name, content in contents.items() if content is not None}


def advise(fleet: Fleet, manifests: Sequence[Manifest]) -> tuple[Advice, ...]:
    """Advice for every workload that asks for what a device plugin advertises."""
    found = []
    fleet = replace(fleet, taken=set(fleet.taken))  # with the shared claims of each workload
    for manifest in manifests:
        path = POD_PATHS.get(manifest.kind)
        spec = at(manifest.content, *path) if path else None
        if isinstance(spec, dict) and (asks := list(_asks(spec, fleet))):
            if not _name(manifest) or any(not ask.container for ask in asks):
                title = f"{manifest.where}: {manifest.kind} {_name(manifest)}"
                raise WorkloadError(f"{title}: {_NAMELESS}")
            found.append(_advice(fleet, manifest, spec, asks, manifests))
    return tuple(found)


def _name(manifest: Manifest) -> str:
    """The name, or what a generated one begins with."""
    prefix = manifest.metadata.get("generateName")
    return manifest.name or (prefix.rstrip("-") if isinstance(prefix, str) else "")


@dataclass(frozen=True)
class _Ask:
    section: str  # containers or initContainers
    container: str
    resource: str
    count: int
    in_requests: bool
    claims: tuple[Mapping[str, Any], ...]  # that the container has already


def _asks(spec: Mapping[str, Any], fleet: Fleet) -> Iterator[_Ask]:
    names_of_pool = set(fleet.old.extended_resources) | {names.LEGACY_RESOURCE}
    for section in ("containers", "initContainers"):
        listed = spec.get(section)
        for container in listed if isinstance(listed, list) else ():
            resources = at(container, "resources")
            limits, requests = (mapping(at(container, "resources", part)) for part in ("limits", "requests"))
            for resource in sorted(name for name in {*limits, *requests} if isinstance(name, str)):
                known = resource in names_of_pool or resource.startswith(("nvidia.com/mig-", "nvidia.com/gpu."))
                count = _count(limits.get(resource, requests.get(resource)))
                if known and count:
                    own = at(resources, "claims")
                    claims = tuple(
                        entry for entry in (own if isinstance(own, list) else ()) if isinstance(entry, Mapping)
                    )
                    name = at(container, "name")
                    yield _Ask(
                        section, name if isinstance(name, str) else "", resource, count, resource in requests, claims
                    )


def _count(value: object) -> int:
    try:
        return int(str(value))
    except ValueError:
        return 0


def _advice(
    fleet: Fleet, manifest: Manifest, spec: Mapping[str, Any], asks: list[_Ask], manifests: Sequence[Manifest]
) -> Advice:
    namespace = manifest.namespace or DEFAULT_NAMESPACE
    shown = tuple(f"{ask.container}: {ask.resource} {ask.count}" for ask in asks)
    base: dict[str, Any] = {
        "workload": manifest.kind,
        "namespace": namespace,
        "name": _name(manifest),
        "generated": not manifest.name,
        "where": manifest.where,
    }
    pinned = str(at(spec, "nodeSelector", names.LABEL_AGENT_POOL) or "")
    foreign = [ask.resource for ask in asks if ask.resource not in fleet.old.extended_resources]
    if (pinned and pinned != fleet.old.name) or len(foreign) == len(asks):
        reason = f"it is pinned to pool {pinned}" if pinned else f"{fleet.old.name} has no {foreign[0]}"
        return Advice("stays", asks=shown, text=f"is not touched: {reason}", **base)
    strategy, notes = gentle_strategy(manifest, manifests)
    reason = _why_not_carried(fleet, spec, asks, pinned, namespace)
    if not reason:
        text = (
            f"is carried unchanged: nvidia.com/gpu is mapped to DRA (class {names.LEGACY_CLASS}), "
            "which gives it a whole GPU of any DRA pool that it tolerates"
        )
        gentle = {"spec": {"strategy": strategy}} if strategy else None
        return Advice("unchanged", asks=shown, text=text, patch=gentle, notes=tuple(notes), **base)
    claims, references = _claims(fleet, manifest, namespace, asks, _claimed(spec))
    change = _pod_change(fleet, spec, asks, references, pinned)
    text = f"needs a claim: {reason}"
    whole = _whole(manifest, change, strategy)
    if manifest.kind in FIXED:
        notes.append("its pod cannot be changed: delete it and create this manifest instead")
        return Advice("claim", asks=shown, text=text, claims=claims, manifest=whole, notes=tuple(notes), **base)
    patch: dict[str, Any] = change
    for key in reversed(POD_PATHS[manifest.kind]):
        patch = {key: patch}
    if strategy:
        patch["spec"]["strategy"] = strategy
    return Advice(
        "claim", asks=shown, text=text, claims=claims, patch=patch, manifest=whole, notes=tuple(notes), **base
    )


def _why_not_carried(fleet: Fleet, spec: Mapping[str, Any], asks: list[_Ask], pinned: str, namespace: str) -> str:
    """Why nvidia.com/gpu in the manifest cannot stay; "" when it can."""
    others = sorted({ask.resource for ask in asks} - {names.LEGACY_RESOURCE})
    if fleet.minor < load_facts().since(MAPPING):
        minimum = load_facts().kubernetes.needs[MAPPING].minimum
        return f"below Kubernetes {minimum} DRA serves no extended resource (this is {fleet.minor[0]}.{fleet.minor[1]})"
    if others:
        return f"{others[0]} is a name of the device plugin alone"
    if fleet.sharing == "mig":
        return "nvidia.com/gpu is a MIG partition there, and would be a whole GPU under DRA"
    if fleet.replicas > 1:
        return f"nvidia.com/gpu is one of {fleet.replicas} shares of a GPU there, and would be a whole one under DRA"
    if pinned or fleet.old.name in str(spec.get("affinity") or ""):
        return f"it is pinned to {fleet.old.name}"
    if not fleet.last:
        return "nvidia.com/gpu stays with the device plugin while another pool uses it"
    if fleet.claims:
        return "that is what was asked for"
    if not may_use(fleet.settings, namespace, names.LEGACY_CLASS):
        return (
            f"namespace {namespace} may not use class {names.LEGACY_CLASS}, by which DRA serves nvidia.com/gpu; "
            f"with it in aks-dra:namespaces.{namespace}.allow the workload is carried unchanged"
        )
    return ""


def _class_for(fleet: Fleet, resource: str) -> str:
    """The device class of the new pool that stands for a resource; the pool's first class by default."""
    profile = resource.removeprefix("nvidia.com/mig-") if resource.startswith("nvidia.com/mig-") else ""
    classes = fleet.new.device_classes
    return next((name for name in classes if profile and name.endswith(f"-{profile}")), classes[0] if classes else "")


def _claimed(spec: Mapping[str, Any]) -> set[str]:
    """What the pod calls the claims that it has already."""
    listed = spec.get("resourceClaims")
    return {str(at(entry, "name")) for entry in listed} if isinstance(listed, list) else set()


def _claims(
    fleet: Fleet, manifest: Manifest, namespace: str, asks: list[_Ask], claimed: set[str]
) -> tuple[dict[str, dict[str, Any]], dict[tuple[str, str], tuple[str, str, str]]]:
    """Claims by name, and for each container and resource (reference, key, claim)."""
    shared = fleet.replicas > 1 or fleet.sharing in ("timeSlicing", "mps")
    claims: dict[str, dict[str, Any]] = {}
    references: dict[tuple[str, str], tuple[str, str, str]] = {}
    for number, ask in enumerate(asks):
        device_class = _class_for(fleet, ask.resource)
        claim: dict[str, Any] = {"deviceClass": device_class}
        if shared:
            name, claim["shareAcross"] = f"{_name(manifest)}-gpu", "pods"
        else:
            name = device_class if ask.count == 1 else f"{device_class}-x{ask.count}"
            if ask.count > 1:
                claim["count"] = ask.count
        while f"{namespace}/{name}" in fleet.taken and name not in claims:
            name += "-moved"
        if shared:
            fleet.taken.add(f"{namespace}/{name}")
        claims[name] = claim
        first = shared and references
        reference = next(iter(references.values()))[0] if first else REFERENCE + (f"-{number + 1}" if number else "")
        while not first and reference in claimed:
            reference += "-moved"
        key = "resourceClaimName" if shared else "resourceClaimTemplateName"
        references[ask.container, ask.resource] = (reference, key, name)
    return claims, references


def _pod_change(
    fleet: Fleet,
    spec: Mapping[str, Any],
    asks: list[_Ask],
    references: Mapping[tuple[str, str], tuple[str, str, str]],
    pinned: str,
) -> dict[str, Any]:
    """What changes in the pod's spec, as a strategic merge patch."""
    change: dict[str, Any] = {}
    for ask in asks:
        reference, key, claim = references[ask.container, ask.resource]
        section = change.setdefault(ask.section, [])
        entry = next((item for item in section if item["name"] == ask.container), None)
        if entry is None:
            entry = {"name": ask.container, "resources": {"limits": {}, "claims": [dict(own) for own in ask.claims]}}
            section.append(entry)
        entry["resources"]["limits"][ask.resource] = None
        if ask.in_requests:
            entry["resources"].setdefault("requests", {})[ask.resource] = None
        if {"name": reference} not in entry["resources"]["claims"]:
            entry["resources"]["claims"].append({"name": reference})
        wanted = {"name": reference, key: claim}
        if wanted not in change.setdefault("resourceClaims", []):
            change["resourceClaims"].append(wanted)
    if pinned:
        change["nodeSelector"] = {names.LABEL_AGENT_POOL: fleet.new.name}
    return change


def _whole(manifest: Manifest, change: Mapping[str, Any], strategy: Mapping[str, Any] | None) -> dict[str, Any]:
    """The manifest with the change in it: to create what cannot be patched, and to try all of it beforehand."""
    whole = copy.deepcopy(manifest.content)
    spec = at(whole, *POD_PATHS[manifest.kind])
    for section in ("containers", "initContainers"):
        for entry in change.get(section, ()):
            container = next(item for item in spec[section] if item.get("name") == entry["name"])
            resources = container["resources"]
            for part in ("limits", "requests"):
                kept = {
                    k: v for k, v in mapping(resources.get(part)).items() if k not in entry["resources"].get(part, {})
                }
                resources.pop(part, None)
                if kept:
                    resources[part] = kept
            resources["claims"] = entry["resources"]["claims"]
    present = spec.get("resourceClaims")
    spec["resourceClaims"] = [*(present if isinstance(present, list) else []), *change["resourceClaims"]]
    if strategy:
        whole["spec"]["strategy"] = {key: value for key, value in strategy.items() if not key.startswith("$")}
    if "nodeSelector" in change:
        spec["nodeSelector"] = {**spec["nodeSelector"], **change["nodeSelector"]}
    return whole
