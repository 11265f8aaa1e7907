"""What the pools should publish against what the cluster's slices say, and for each gap the reason.

Pure functions over the API server's own JSON. The expectation comes from the stack's exports and the facts tables;
the reasons from the DaemonSets, pods and nodes that are there, in the order in which things can go wrong: no plugin
at all, no pod on this node, a pod that does not run, a pod that looks for the driver in the wrong place, too few.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from local.stack.expected import MIG_CONFIG, devices_per_node
from local.stack.placement import Item, labels_of, name_of, obstacles, pod_spec

POOL_LABEL = "kubernetes.azure.com/agentpool"
ALLOCATION_LABEL = "aks-dra.dev/allocation"
MIG_STATE = "nvidia.com/mig.config.state"
DRIVER_ANNOTATION = "local.aks-dra.dev/gpu-driver"
DRA_DRIVER = "gpu.nvidia.com"
LEGACY_RESOURCE = "nvidia.com/gpu"
KUBELET_PLUGIN = ("dra-driver-nvidia-gpu-component", "kubelet-plugin")
DEVICE_PLUGIN = ("app.kubernetes.io/name", "nvidia-device-plugin")
# The chart's other DaemonSet, which carries the same label.
MPS_DAEMON = "mps-control-daemon-ctr"
SAYS = "local.aks-dra.dev/says"


@dataclass(frozen=True)
class ClusterFacts:
    """The lists that decide, as the API server gives them."""

    nodes: tuple[Item, ...]
    slices: tuple[Item, ...]
    pods: tuple[Item, ...]
    daemonsets: tuple[Item, ...]
    layouts: str | None = None  # the user's own MIG layout file, where there is one


@dataclass(frozen=True)
class PoolReport:
    name: str
    allocation: str  # dra | devicePlugin
    nodes: int
    expected: int | None  # devices of the whole pool; None when the exports do not say
    published: int
    kinds: Mapping[str, int] = field(default_factory=dict)  # product, or product and profile, to count
    classes: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()  # one line per node that lacks something


def report(pools: Mapping[str, Any], facts: ClusterFacts) -> list[PoolReport]:
    """One report per exported pool, and per pool that only the nodes tell of."""
    names = [*pools, *sorted(pools_of_nodes(facts.nodes) - set(pools))]
    return [pool_report(name, pools.get(name) or {}, facts) for name in names]


def pools_of_nodes(nodes: Iterable[Item]) -> set[str]:
    marked = (labels_of(node) for node in nodes)
    return {labels[POOL_LABEL] for labels in marked if POOL_LABEL in labels and ALLOCATION_LABEL in labels}


def pool_report(name: str, exported: Mapping[str, Any], facts: ClusterFacts) -> PoolReport:
    nodes = [node for node in facts.nodes if labels_of(node).get(POOL_LABEL) == name]
    legacy = allocation(exported, nodes) == "devicePlugin"
    per_node = (
        legacy_per_node(exported)
        if legacy
        else devices_per_node(exported, first(nodes), facts.layouts, dynamic_mig(facts.daemonsets))
    )
    kinds: Counter[str] = Counter()
    gaps: list[str] = []
    published = 0
    if not nodes and nodes_wanted(exported) > 0:
        gaps.append(f"{name}: none of its nodes is in the cluster")
    for node in nodes:
        devices = [] if legacy else devices_of(node, facts.slices)
        count = legacy_count(node) if legacy else len(devices)
        kinds.update([LEGACY_RESOURCE] * count if legacy else [kind(device) for device in devices])
        published += count
        if count < (1 if per_node is None else per_node):
            gaps.append(f"{name_of(node)}: {lack(count, per_node)}: {reason(node, legacy, count, facts)}")
    return PoolReport(
        name,
        "devicePlugin" if legacy else "dra",
        len(nodes),
        None if per_node is None else per_node * max(len(nodes), nodes_wanted(exported)),
        published,
        dict(sorted(kinds.items())),
        tuple(map(str, exported.get("deviceClasses") or [])),
        tuple(gaps),
    )


def allocation(exported: Mapping[str, Any], nodes: Iterable[Item]) -> str:
    given = exported.get("allocation") or next((labels_of(node).get(ALLOCATION_LABEL) for node in nodes), "dra")
    return "devicePlugin" if given in {"devicePlugin", "device-plugin"} else "dra"


def legacy_per_node(exported: Mapping[str, Any]) -> int | None:
    resources = exported.get("extendedResources")
    return None if resources is None else sum(map(int, resources.values()))


def first(nodes: list[Item]) -> Item | None:
    return nodes[0] if nodes else None


def nodes_wanted(exported: Mapping[str, Any]) -> int:
    """The fewest nodes that the pool has. One that is exported without a number has at least one."""
    return int(exported.get("minNodes", 1 if exported else 0))


def devices_of(node: Item, slices: Iterable[Item]) -> list[Item]:
    """The devices that NVIDIA's driver publishes for this node, in the newest generation of its pool."""
    own = [
        item["spec"]
        for item in slices
        if item["spec"].get("driver") == DRA_DRIVER and item["spec"].get("nodeName") == name_of(node)
    ]
    newest: dict[str, int] = {}
    for spec in own:
        pool = spec.get("pool") or {}
        newest[str(pool.get("name"))] = max(newest.get(str(pool.get("name")), 0), int(pool.get("generation", 0)))
    return [
        device
        for spec in own
        if int((spec.get("pool") or {}).get("generation", 0)) == newest[str((spec.get("pool") or {}).get("name"))]
        for device in spec.get("devices") or []
    ]


def kind(device: Item) -> str:
    """What people call it: the product, and for a partition its profile."""
    attributes = device.get("attributes") or {}
    words = [next(iter((attributes.get(key) or {}).values()), "") for key in ("productName", "profile")]
    return " ".join(str(word) for word in words if word) or name_of({"metadata": device})


def legacy_count(node: Item) -> int:
    """Every `nvidia.com/…` resource counts: with MIG and the mixed strategy each profile has a name of its own."""
    allocatable = (node.get("status") or {}).get("allocatable") or {}
    return sum(int(value) for key, value in allocatable.items() if str(key).startswith("nvidia.com/"))


def lack(count: int, wanted: int | None) -> str:
    if not count:
        return "no devices" if wanted is None else f"none of {wanted} device(s)"
    return f"{count} of {wanted} devices"


def reason(node: Item, legacy: bool, count: int, facts: ClusterFacts) -> str:
    what, key_and_value = ("device plugin", DEVICE_PLUGIN) if legacy else ("DRA driver", KUBELET_PLUGIN)
    daemonsets = [
        item
        for item in facts.daemonsets
        if has_label(item["spec"]["template"], key_and_value) and not runs_mps(pod_spec(item))
    ]
    if not daemonsets:
        return f"no DaemonSet of the {what} is in the cluster"
    pods = [
        pod
        for pod in facts.pods
        if has_label(pod, key_and_value) and pod_node(pod) == name_of(node) and not runs_mps(pod.get("spec") or {})
    ]
    if not pods:
        # The one that comes nearest to fitting is the one meant for this node.
        best = min((obstacles(item, node) for item in daemonsets), key=len)
        why = "; ".join(best) or "it fits the node, and the DaemonSet controller has not made it yet"
        return f"no pod of the {what} runs there: {why}{mig_note(node)}"
    pod = pods[0]
    phase = (pod.get("status") or {}).get("phase", "unknown")
    if phase != "Running":
        return f"the {what}'s pod {name_of(pod)} is {phase}{mig_note(node)}"
    if not legacy and (root := wrong_root(pod, node)):
        return root
    if words := says(node, "device-plugin" if legacy else "dra-driver"):
        return f"the {what} of this node says: {words}{mig_note(node)}"
    if mig_note(node):
        return f"the {what} runs{mig_note(node)}"
    if count:
        return f"the {what} runs and publishes fewer than the pool's GPUs give"
    return f"the {what} runs (pod {name_of(pod)}) and has published nothing yet"


def has_label(item: Item, key_and_value: tuple[str, str]) -> bool:
    key, value = key_and_value
    return labels_of(item).get(key) == value


def pod_node(pod: Item) -> str:
    return str((pod.get("spec") or {}).get("nodeName", ""))


def mig_note(node: Item) -> str:
    """What the MIG manager says of a node that is to be partitioned and is not."""
    labels = labels_of(node)
    layout, state = labels.get(MIG_CONFIG), labels.get(MIG_STATE)
    if layout in {None, "", "all-disabled"} or state == "success":
        return ""
    words = says(node, "mig-manager")
    return f" (MIG layout {layout}: {state or 'not begun, no state label'}{', ' + words if words else ''})"


def says(node: Item, program: str) -> str:
    """What a simulated program of this node would have in its log, "" when it does not complain."""
    try:
        found = json.loads(((node.get("metadata") or {}).get("annotations") or {}).get(SAYS, "{}"))
    except ValueError:
        return ""
    return str(found.get(program, "")) if isinstance(found, dict) else ""


def runs_mps(spec: Item) -> bool:
    return any(container.get("name") == MPS_DAEMON for container in spec.get("containers") or [])


def dynamic_mig(daemonsets: Iterable[Item]) -> bool:
    """Whether the DRA driver that is installed cuts GPUs itself."""
    return any(
        variable.get("name") == "FEATURE_GATES" and "DynamicMIG=true" in str(variable.get("value", ""))
        for item in daemonsets
        if has_label(item["spec"]["template"], KUBELET_PLUGIN)
        for container in pod_spec(item).get("containers") or []
        for variable in container.get("env") or []
    )


def wrong_root(pod: Item, node: Item) -> str:
    """The driver root that the pod was given, when the driver of this node lies elsewhere."""
    installer = ((node.get("metadata") or {}).get("annotations") or {}).get(DRIVER_ANNOTATION, "")
    if not installer:
        return ""
    wanted, owner = ("/", "AKS") if installer == "Install" else ("/run/nvidia/driver", "the GPU operator")
    containers = pod_spec({"spec": {"template": pod}}).get("containers") or []
    given = {
        str(variable.get("value", ""))
        for container in containers
        for variable in container.get("env") or []
        if variable.get("name") == "NVIDIA_DRIVER_ROOT"
    }
    if given and wanted not in given:
        return (
            f"the DRA driver looks for NVIDIA's driver in {' and '.join(sorted(given))}, "
            f"but {owner} installed it in {wanted} (chart value nvidiaDriverRoot)"
        )
    return ""
