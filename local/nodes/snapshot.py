"""What one pass sees of the cluster, and small questions to it. Objects are as the API server sent them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from local.nodes.hardware import Machine, Tables
from local.nodes.partitions import Partition, at_boot

Object = Mapping[str, Any]

VM_SIZE = "local.aks-dra.dev/vm-size"
GPU_DRIVER = "local.aks-dra.dev/gpu-driver"
INSTANCE_PROFILE = "local.aks-dra.dev/gpu-instance-profile"
MIG_DEVICES = "local.aks-dra.dev/mig-devices"
SIMULATED = "local.aks-dra.dev/simulated"
OPERAND = "local.aks-dra.dev/operand"
PLUGIN_POD = "local.aks-dra.dev/plugin-pod"
SAYS = "local.aks-dra.dev/says"
"""What simulated programs would have in their logs: program to text, as JSON, on the node."""

NFD_LABEL = "feature.node.kubernetes.io/pci-10de.present"
DEPLOY = "nvidia.com/gpu.deploy."


@dataclass(frozen=True)
class Snapshot:
    """The cluster at one moment. `policy` is the one ClusterPolicy, if any."""

    tables: Tables
    now: float
    nodes: Sequence[Object] = ()
    pods: Sequence[Object] = ()
    slices: Sequence[Object] = ()
    policy: Object | None = None
    operands: Sequence[Object] = ()  # DaemonSets and RuntimeClasses that an earlier pass made
    configmaps: Mapping[tuple[str, str], Mapping[str, str]] = field(default_factory=dict)

    def running_on(self, node: str) -> list[Object]:
        return [pod for pod in self.pods if pod["spec"].get("nodeName") == node and is_running(pod)]


@dataclass
class Memory:
    """What the daemon remembers between passes: only since when something is so. A restart may forget it."""

    since: dict[str, float] = field(default_factory=dict)

    def lasted(self, what: str, now: float) -> float:
        return now - self.since.setdefault(what, now)

    def forget(self, what: str) -> None:
        self.since.pop(what, None)


class NodeView:
    """One node during a pass. The rules change labels and annotations here; what differs at the end is written."""

    def __init__(self, node: Object, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.name: str = node["metadata"]["name"]
        self.uid: str = node["metadata"].get("uid", "")
        self.before_labels: dict[str, str] = dict(node["metadata"].get("labels") or {})
        self.before_annotations: dict[str, str] = dict(node["metadata"].get("annotations") or {})
        self.labels = dict(self.before_labels)
        self.annotations = dict(self.before_annotations)
        self.capacity: dict[str, str] = dict((node.get("status") or {}).get("capacity") or {})
        self.allocatable: dict[str, str] = dict((node.get("status") or {}).get("allocatable") or {})
        self.pods = snapshot.running_on(self.name)
        self.machine: Machine | None = snapshot.tables.machine(self.annotations.get(VM_SIZE, ""))
        self.said: dict[str, str] = {}

    @property
    def aks_driver(self) -> bool:
        return self.annotations.get(GPU_DRIVER, "Install") == "Install"

    def runs(self, app: str) -> Object | None:
        """A running pod of one of the operator's operands."""
        return next((pod for pod in self.pods if labels_of(pod).get("app") == app), None)

    @property
    def driver(self) -> tuple[str, str]:
        """(root, version) of the driver on this node, ("", "") without one."""
        if self.machine is None:
            return "", ""
        if self.aks_driver:
            return "/", self.machine.aks_driver
        pod = self.runs("nvidia-driver-daemonset")
        if pod is None:
            return "", ""
        return "/run/nvidia/driver", environment(pod, "nvidia-driver-ctr").get("DRIVER_VERSION", "")

    @property
    def record(self) -> dict[str, Any]:
        try:
            value = json.loads(self.annotations.get(MIG_DEVICES, "{}"))
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}

    def partitions(self) -> tuple[Partition, ...]:
        """How the GPUs are partitioned now: as recorded, else as they were at boot."""
        assert self.machine is not None
        recorded = self.record.get("gpus")
        if recorded and len(recorded) == self.machine.count:
            return tuple(Partition.from_json(item) for item in recorded)
        return at_boot(self.machine, self.annotations.get(INSTANCE_PROFILE, ""), self.aks_driver)

    def say(self, program: str, text: str) -> None:
        self.said[program] = text

    def write_down(self) -> None:
        """What was said in this pass goes onto the node; silence removes it."""
        if self.said:
            self.annotations[SAYS] = json.dumps(self.said, separators=(",", ":"), sort_keys=True)
        else:
            self.annotations.pop(SAYS, None)

    def keep(self, partitions: Sequence[Partition], **facts: str) -> None:
        value = {"gpus": [item.to_json() for item in partitions], **facts}
        self.annotations[MIG_DEVICES] = json.dumps(value, separators=(",", ":"))


def labels_of(item: Object) -> Mapping[str, str]:
    return item["metadata"].get("labels") or {}


def annotations_of(item: Object) -> Mapping[str, str]:
    return item["metadata"].get("annotations") or {}


def is_running(pod: Object) -> bool:
    return (pod.get("status") or {}).get("phase") == "Running" and not pod["metadata"].get("deletionTimestamp")


def containers(pod: Object) -> Iterator[Object]:
    yield from pod["spec"].get("initContainers") or ()
    yield from pod["spec"]["containers"]


def environment(pod: Object, container: str) -> dict[str, str]:
    """The plain values of a container's environment."""
    for item in containers(pod):
        if item["name"] == container:
            return {entry["name"]: entry["value"] for entry in item.get("env") or () if "value" in entry}
    return {}


def has_container(pod: Object, name: str) -> bool:
    return any(item["name"] == name for item in pod["spec"]["containers"])


def configmap_volume(pod: Object) -> str:
    """The ConfigMap that the pod mounts, "" without one."""
    for volume in pod["spec"].get("volumes") or ():
        name = (volume.get("configMap") or {}).get("name")
        if name and name != "kube-root-ca.crt":
            return str(name)
    return ""
