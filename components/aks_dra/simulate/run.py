"""One simulation on a control plane: publish, create the pods, wait for the scheduler, look at it all, take it away.

Pods are created workload by workload in the files' order, each once the scheduler has spoken about those before, so
that the same files give the same answer. A pod that stays pending is given time for a second try: the scheduler repeats
itself after an event, and only what does not change any more is an answer.
"""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from aks_dra.facts import Facts
from aks_dra.kube.claims import pod_claims
from aks_dra.kube.workloads import CLUSTER_WIDE, Group, Pod, Workloads
from aks_dra.model.plan import Plan
from aks_dra.simulate.cleaning import wait
from aks_dra.simulate.cluster import KINDS, RUN_LABEL, Cluster, Refused
from aks_dra.simulate.fleet import NodePool, class_manifests, node_manifest, node_names, slice_manifests
from aks_dra.simulate.model import SimulationError
from aks_dra.simulate.pods import daemon_pod, pod_manifest

READY_SECONDS = 60.0
SPEAK_SECONDS = 30.0
QUIET_SECONDS = 2.0
"""The scheduler tries a pod again one second after an event that might help it, two seconds the next time."""

POLL_SECONDS = 0.05
ONE_BY_ONE = 24
"""Pods of one workload are the same; up to this many are created one after the other, which gives the same answer."""

HEARTBEAT_SECONDS = 15.0
PUBLISHED = (
    "PriorityClass", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "LimitRange", "ResourceQuota",
)  # fmt: skip
CLAIMS = ("ResourceClaimTemplate", "ResourceClaim")
FORBIDDEN = 403
"""What quotas and policies answer, and RBAC, which says NO_RIGHT."""

NO_RIGHT = "cannot create resource"


@dataclass
class Seen:
    """The cluster at the end. Objects are as the API server sent them."""

    run: str
    pods: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    claims: list[dict[str, Any]] = field(default_factory=list)
    nodes: dict[str, str] = field(default_factory=dict)  # node to pool
    events: dict[tuple[str, str], list[dict[str, Any]]] = field(default_factory=dict)  # by pod
    refused: dict[tuple[str, str], str] = field(default_factory=dict)  # pods that the API server did not take
    # claims and templates that quotas or policies refused, by kind, namespace and name
    refused_claims: dict[tuple[str, str, str], str] = field(default_factory=dict)
    groups: list[tuple[Group, list[Pod]]] = field(default_factory=list)


class Run:
    """The objects of one simulation. Use it inside `cleaning.leaving_nothing`, which cleans up."""

    def __init__(self, cluster: Cluster, plan: Plan, facts: Facts, pools: list[NodePool]) -> None:
        self.cluster, self.plan, self.facts, self.pools = cluster, plan, facts, pools
        self.id = secrets.token_hex(4)
        self.seen = Seen(self.id)
        self.namespaces: set[str] = set()
        self.beat = time.monotonic()

    @property
    def marks(self) -> dict[str, str]:
        return {RUN_LABEL: self.id}

    def create(self, manifest: dict[str, Any], may_be_refused: bool = False) -> None:
        """An object with the run's mark. What exists already is somebody else's.

        What quotas or policies refuse ends the run, or is kept in `seen` where that may be.
        """
        metadata = {**manifest["metadata"], "labels": {**(manifest["metadata"].get("labels") or {}), **self.marks}}
        title = f"{manifest['kind']} {metadata.get('namespace', '')}/{metadata['name']}".replace(" /", " ")
        try:
            self.cluster.create({**manifest, "metadata": metadata})
        except Refused as error:
            if error.status == 409 and "already exists" in error.text:
                raise SimulationError(f"{title} is in the cluster already, and not of this simulation") from None
            if may_be_refused and error.status == FORBIDDEN and NO_RIGHT not in error.text:
                self.seen.refused_claims[_identity(manifest)] = error.text
                return
            raise SimulationError(f"the API server refuses {title}: {error.text}") from None

    def publish(self, workloads: Workloads) -> None:
        """Everything but the workload's pods."""
        planned = [_plain(entry.manifest) for entry in (*self.plan.namespaces, *self.plan.objects) if not entry.patch]
        objects = [entry for entry in planned if entry["kind"] in KINDS and entry["kind"] != "DeviceClass"]
        for manifest in (*objects, *workloads.objects):
            if manifest["kind"] == "Namespace":
                self.namespace(manifest["metadata"]["name"], manifest)
        needed = {entry["metadata"]["namespace"] for entry in (*objects, *workloads.objects) if _is_namespaced(entry)}
        for name in sorted(needed | {group.namespace for group in workloads.groups}):
            self.namespace(name)
        self.classes(workloads)
        theirs = [entry for entry in workloads.objects if entry["kind"] != "Namespace"]
        own_names = {_identity(entry) for entry in theirs}
        everything = [entry for entry in objects if _identity(entry) not in own_names] + theirs
        for manifest in _of_kinds(everything, PUBLISHED):
            self.create(manifest)
        nodes = [(pool, name, index) for pool in self.pools for index, name in enumerate(node_names(pool))]
        with ThreadPoolExecutor(4) as several:
            list(several.map(self.node, nodes))
        self.seen.nodes = {name: pool.name for pool, name, _ in nodes}
        self.until_ready()
        # quotas and policies are in force: claims are held against them
        for manifest in _of_kinds(everything, CLAIMS):
            self.create(manifest, may_be_refused=True)

    def namespace(self, name: str, manifest: dict[str, Any] | None = None) -> None:
        """A namespace with its service account; one that the cluster has is used and left."""
        if name in self.namespaces:
            return
        self.namespaces.add(name)
        content = manifest or {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        metadata = {**content["metadata"], "labels": {**(content["metadata"].get("labels") or {}), **self.marks}}
        account = {"name": "default", "namespace": name, "labels": self.marks}
        for each in (
            {**content, "metadata": metadata},
            {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": account},
        ):
            try:
                self.cluster.create(each)
            except Refused as error:
                if error.status != 409:
                    raise SimulationError(f"the API server refuses namespace {name}: {error.text}") from None
                if each["kind"] == "Namespace":
                    return

    def classes(self, workloads: Workloads) -> None:
        """Of two classes for one resource name the newest serves it, and creation times have whole seconds."""
        further = workloads.of_kind("DeviceClass")
        replaced = {entry["metadata"]["name"] for entry in further}
        steps = [[e for e in step if e["metadata"]["name"] not in replaced] for step in class_manifests(self.plan)]
        named: set[str] = set()
        for step in (*steps, further):
            names = {str(e["spec"]["extendedResourceName"]) for e in step if e["spec"].get("extendedResourceName")}
            if names & named:
                time.sleep(1.02 - time.time() % 1)
            named |= names
            for manifest in step:
                self.create(manifest)

    def node(self, entry: tuple[NodePool, str, int]) -> None:
        pool, name, index = entry
        self.create(node_manifest(pool, name, index, self.facts, self.id, now()))
        for manifest in slice_manifests(pool.devices, name, self.id):
            self.create(manifest)

    def until_ready(self) -> None:
        """Until nodes may be scheduled on and quotas and policies are in force."""

        def ready() -> bool:
            nodes = self.cluster.ours("Node", self.id)
            taints = [taint["key"] for node in nodes for taint in node["spec"].get("taints") or ()]
            quotas = self.cluster.ours("ResourceQuota", self.id)
            policies = self.cluster.ours("ValidatingAdmissionPolicy", self.id)
            return (
                not any(key.startswith("node.kubernetes.io/") for key in taints)
                and all((quota.get("status") or {}).get("hard") for quota in quotas)
                and all("observedGeneration" in (policy.get("status") or {}) for policy in policies)
            )

        if not wait(ready, READY_SECONDS):
            raise SimulationError(
                f"the simulated nodes were not ready after {READY_SECONDS:.0f} s: does {self.cluster.server} have a "
                "controller manager, and one that plays kubelet (kwok)?"
            )
        # the scheduler and the admission plugins hear of it a moment later; policies are read once a second
        time.sleep(1.2 if self.cluster.ours("ValidatingAdmissionPolicy", self.id) else 0.2)

    def place(self, workloads: Workloads) -> Seen:
        """All pods, workload by workload, and what came of them."""
        for group in workloads.groups:
            pods = [each for pod in group.pods for each in self.each_node(pod)]
            self.seen.groups.append((group, pods))
            step = 1 if len(pods) <= ONE_BY_ONE else len(pods)
            for start in range(0, len(pods), step):
                self.create_pods(pods[start : start + step])
        self.until_quiet()
        self.look()
        return self.seen

    def create_pods(self, pods: list[Pod]) -> None:
        """Creates them, and waits for the scheduler's word on each."""
        for pod in pods:
            try:
                self.cluster.create(pod_manifest(pod, self.marks))
            except Refused as error:
                self.seen.refused[pod.namespace, pod.name] = error.text
        # of a pod whose claim was refused nobody speaks: it waits for the claim
        waiting = [pod for pod in pods if not any(claim in self.seen.refused_claims for claim in claims_named(pod))]
        expected = {(pod.namespace, pod.name) for pod in waiting} - set(self.seen.refused)
        wait(lambda: self.spoken(expected), SPEAK_SECONDS)

    def each_node(self, pod: Pod) -> Iterator[Pod]:
        if not pod.every_node:
            yield pod
            return
        for node in self.seen.nodes:
            yield daemon_pod(pod, node)

    def spoken(self, names: set[tuple[str, str]]) -> bool:
        """Whether each of these pods has a node or a word why not."""
        self.look(events=False)
        silent = {name for name in names if name in self.seen.pods and not answered(self.seen.pods[name])}
        if silent:
            self.look()
            silent = {name for name in silent if not self.seen.events.get(name)}
        return not silent

    def until_quiet(self) -> None:
        """Until nothing has changed for a while, if a pod is pending at all."""
        deadline = time.monotonic() + SPEAK_SECONDS
        last, since = self.state(), time.monotonic()
        while any(not bound for bound in last.values()) and time.monotonic() < deadline:
            if time.monotonic() - since > QUIET_SECONDS:
                return
            time.sleep(POLL_SECONDS)
            if (state := self.state()) != last:
                last, since = state, time.monotonic()

    def state(self) -> dict[tuple[str, str], str]:
        self.look(events=False)
        return {name: str(pod["spec"].get("nodeName") or "") for name, pod in self.seen.pods.items()}

    def look(self, events: bool = True) -> None:
        pods = self.cluster.ours("Pod", self.id)
        self.seen.pods = {(pod["metadata"]["namespace"], pod["metadata"]["name"]): pod for pod in pods}
        if time.monotonic() - self.beat > HEARTBEAT_SECONDS:
            self.heartbeat()
        if events:
            self.seen.claims = self.cluster.items("ResourceClaim")
            found: dict[tuple[str, str], list[dict[str, Any]]] = {}
            for namespace in sorted(self.namespaces):
                for event in self.cluster.events(namespace):
                    about = event.get("involvedObject") or {}
                    if about.get("kind") == "Pod":
                        found.setdefault((namespace, str(about.get("name"))), []).append(event)
            self.seen.events = found

    def heartbeat(self) -> None:
        """Where nothing plays kubelet, nodes would count as lost after 40 seconds."""
        self.beat = time.monotonic()
        for name in self.seen.nodes:
            condition = {"type": "Ready", "status": "True", "reason": "Simulated", "lastHeartbeatTime": now()}
            patch = {"status": {"conditions": [condition]}}
            path = f"/api/v1/nodes/{name}/status"
            with contextlib.suppress(Refused):
                self.cluster.call("PATCH", path, patch, "application/strategic-merge-patch+json")


def claims_named(pod: Pod) -> Iterator[tuple[str, str, str]]:
    """Kind, namespace and name of each claim and template that a pod names."""
    for named in pod_claims(pod.spec):
        yield named.kind, pod.namespace, named.claim


def answered(pod: dict[str, Any]) -> bool:
    if pod["spec"].get("nodeName"):
        return True
    conditions = (pod.get("status") or {}).get("conditions") or ()
    return any(item["type"] == "PodScheduled" and item["status"] == "False" for item in conditions)


def now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _plain(manifest: Any) -> dict[str, Any]:
    return {key: _plain(value) if hasattr(value, "items") else value for key, value in manifest.items()}


def _of_kinds(manifests: list[dict[str, Any]], kinds: tuple[str, ...]) -> list[dict[str, Any]]:
    """Those of these kinds, kind by kind."""
    return [manifest for kind in kinds for manifest in manifests if manifest["kind"] == kind]


def _is_namespaced(manifest: dict[str, Any]) -> bool:
    return manifest["kind"] not in CLUSTER_WIDE and KINDS[manifest["kind"]][2]


def _identity(manifest: dict[str, Any]) -> tuple[str, str, str]:
    metadata = manifest["metadata"]
    return manifest["kind"], str(metadata.get("namespace", "")), str(metadata["name"])
