"""What a workload comes to: the pods that its controllers would make, and the objects that those pods need.

Pods are made here instead of by controllers, so that their number and names are known beforehand and a Job's pods do
not end: a Job counts with the pods that run at the same time, a CronJob with one run of its Job. A DaemonSet has one
pod for each node, which is made later, when the nodes are known.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from aks_dra.kube.checking import check_affinity, check_object, check_pod
from aks_dra.kube.reading import Manifest, WorkloadError

DEFAULT_NAMESPACE = "default"
MOST_PODS = 2000
WORKLOADS = {
    ("v1", "Pod"),
    ("v1", "ReplicationController"),
    ("apps/v1", "Deployment"),
    ("apps/v1", "ReplicaSet"),
    ("apps/v1", "StatefulSet"),
    ("apps/v1", "DaemonSet"),
    ("batch/v1", "Job"),
    ("batch/v1", "CronJob"),
}
OBJECTS = {
    ("v1", "Namespace"),
    ("v1", "ResourceQuota"),
    ("v1", "LimitRange"),
    ("resource.k8s.io/v1", "DeviceClass"),
    ("resource.k8s.io/v1", "ResourceClaim"),
    ("resource.k8s.io/v1", "ResourceClaimTemplate"),
    ("scheduling.k8s.io/v1", "PriorityClass"),
}
CLUSTER_WIDE = {"Namespace", "DeviceClass", "PriorityClass"}
# Have no say in where a pod goes.
WITHOUT_SAY = {
    "Service", "ConfigMap", "Secret", "ServiceAccount", "Ingress", "NetworkPolicy", "PodDisruptionBudget", "Role",
    "RoleBinding", "ClusterRole", "ClusterRoleBinding", "Endpoints", "EndpointSlice", "PodMonitor", "ServiceMonitor",
}  # fmt: skip


@dataclass(frozen=True)
class Pod:
    """One pod before it is created."""

    namespace: str
    name: str
    spec: dict[str, Any]
    labels: dict[str, str] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)
    every_node: bool = False  # of a DaemonSet: stands for one pod on each node


@dataclass(frozen=True)
class Group:
    """The pods of one workload object, in order."""

    kind: str
    namespace: str
    name: str
    pods: tuple[Pod, ...]

    @property
    def title(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"


@dataclass(frozen=True)
class Workloads:
    """Everything of the workload files. `notes` say what was left out, and why."""

    groups: tuple[Group, ...] = ()
    objects: tuple[dict[str, Any], ...] = ()
    notes: tuple[str, ...] = ()

    def of_kind(self, kind: str) -> list[dict[str, Any]]:
        return [item for item in self.objects if item["kind"] == kind]


def served(kind: str) -> str:
    """The apiVersion of a kind that is taken."""
    return next(version for version, known in WORKLOADS | OBJECTS if known == kind)


def workloads(manifests: Iterable[Manifest], namespace: str = DEFAULT_NAMESPACE) -> Workloads:
    """Sorts the objects and makes the pods. Raises WorkloadError for what the API server would refuse or drop."""
    groups: list[Group] = []
    objects: list[dict[str, Any]] = []
    notes: list[str] = []
    seen: dict[tuple[str, str, str], str] = {}
    for manifest in manifests:
        key = (manifest.api_version, manifest.kind)
        if manifest.kind in {kind for _, kind in WORKLOADS | OBJECTS}:
            check_object(manifest, served(manifest.kind))
            identity = (manifest.kind, manifest.namespace or namespace, manifest.name)
            if manifest.name and identity in seen:
                raise WorkloadError(f"{manifest.where}: {manifest.kind} {manifest.name} is also in {seen[identity]}")
            seen[identity] = manifest.where
        if key in WORKLOADS:
            groups.append(_group(manifest, manifest.namespace or namespace, notes))
        elif key in OBJECTS:
            content = copy.deepcopy(manifest.content)
            content.pop("status", None)
            if manifest.kind not in CLUSTER_WIDE:
                content["metadata"]["namespace"] = manifest.namespace or namespace
            objects.append(content)
        elif manifest.kind not in WITHOUT_SAY:
            notes.append(
                f"{manifest.kind} {manifest.name or '(no name)'} was left out: aks-dra does not know what pods it makes"
            )
    total = sum(len(group.pods) for group in groups)
    if total > MOST_PODS:
        raise WorkloadError(f"the files come to {total} pods; at most {MOST_PODS} can be simulated at once")
    return Workloads(tuple(groups), tuple(objects), tuple(dict.fromkeys(notes)))


def _group(manifest: Manifest, namespace: str, notes: list[str]) -> Group:
    kind, spec, metadata = manifest.kind, manifest.spec, manifest.metadata
    name = manifest.name or f"{str(metadata.get('generateName')).rstrip('-')}-0"
    if kind == "Pod":
        template: Any = {"metadata": metadata, "spec": spec}
    elif kind == "CronJob":
        job = spec.get("jobTemplate")
        spec = (job.get("spec") if isinstance(job, dict) else None) or {}
        template = spec.get("template") if isinstance(spec, dict) else None
        notes.append(f"CronJob {name} counts with one run of its Job")
    else:
        template = spec.get("template")
    inner = (template or {}).get("spec") if isinstance(template, dict) else None
    if not isinstance(inner, dict) or not inner.get("containers"):
        raise WorkloadError(f"{manifest.where}: {kind} {name} has no pod with containers")
    count = number_of_pods(kind, spec, f"{manifest.where}: {kind} {name}")
    notes += check_pod(f"{manifest.where}: {kind} {name}", template)
    if kind == "DaemonSet":
        check_affinity(f"{manifest.where}: {kind} {name}", inner)
    own = template.get("metadata") or {}
    labels, annotations = dict(own.get("labels") or {}), dict(own.get("annotations") or {})
    names = [name] if kind == "Pod" else [f"{name}-{index}" for index in range(min(count, MOST_PODS + 1))]
    pods = tuple(
        Pod(namespace, each, copy.deepcopy(inner), labels, annotations, every_node=kind == "DaemonSet")
        for each in names
    )
    return Group(kind, namespace, name, pods)


def number_of_pods(kind: str, spec: dict[str, Any], title: str) -> int:
    """How many pods run at the same time."""
    if kind in ("Pod", "DaemonSet"):
        return 1
    if kind in ("Job", "CronJob"):
        parallel, completions = _number(spec, "parallelism", title), spec.get("completions")
        if spec.get("suspend"):
            return 0
        return parallel if completions is None else min(parallel, _number(spec, "completions", title))
    return _number(spec, "replicas", title)


def _number(spec: dict[str, Any], key: str, title: str) -> int:
    value = spec.get(key, 1)
    value = 1 if value is None else value
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise WorkloadError(f"{title}: {key} is a whole number of 0 or more, this is {value!r}")
    return value
