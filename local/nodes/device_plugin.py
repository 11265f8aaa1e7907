"""NVIDIA's device plugin: whole GPUs, replicas of them, or MIG devices, as extended resources in a node's status.

Its config is a key of the ConfigMap that its pod mounts, named by the node's label, else by DEFAULT_CONFIG,
else found by the fallback strategies. A name that is no key, a sharing of fewer than two replicas or a wrong
driver root end the real plugin in a crash loop: nothing is advertised. What was advertised once stays in the
status with 0, since the kubelet never removes it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import yaml

from local.nodes.operator import namespace
from local.nodes.snapshot import NodeView, Object, configmap_volume, containers, labels_of

CONFIG_LABEL = "nvidia.com/device-plugin.config"
GPU = "nvidia.com/gpu"
OTHER_CONTAINERS = ("mps-control-daemon", "gpu-feature-discovery")
"""The chart's other DaemonSets carry the same name label; their containers tell them apart."""


@dataclass(frozen=True)
class Sharing:
    """What a config says about sharing."""

    kind: str = "none"  # none, time-slicing, mps
    replicas: Mapping[str, int] = field(default_factory=dict)  # resource to number
    rename: bool = False
    mig_strategy: str = ""


def is_plugin(pod: Object) -> bool:
    labels = labels_of(pod)
    if labels.get("app") == "nvidia-device-plugin-daemonset":
        return True
    return labels.get("app.kubernetes.io/name") == "nvidia-device-plugin" and not any(
        item["name"].startswith(OTHER_CONTAINERS) for item in pod["spec"]["containers"]
    )


def plugin_pod(view: NodeView) -> Object | None:
    pods = sorted(view.pods, key=lambda pod: str(pod["metadata"]["name"]))
    return next((pod for pod in pods if is_plugin(pod)), None)


def variables(pod: Object) -> dict[str, str]:
    """The environments of all its containers: no name in them means two things."""
    return {
        entry["name"]: entry["value"]
        for item in containers(pod)
        for entry in item.get("env") or ()
        if "value" in entry and item["name"] not in OTHER_CONTAINERS
    }


def config_text(view: NodeView, configmap: str, default: str, fallbacks: str, space: str = "") -> str | None:
    """The config that holds for this node; None when the plugin would find none."""
    policy = view.snapshot.policy
    where = space or (namespace(policy) if policy is not None else "")
    data = view.snapshot.configmaps.get((where, configmap))
    if not data:
        return None
    name = view.labels.get(CONFIG_LABEL) or default
    if not name:
        for strategy in filter(None, fallbacks.split(",")):
            if strategy == "named" and "default" in data:
                name = "default"
            elif strategy == "single" and len(data) == 1:
                (name,) = data
            elif strategy == "empty":
                return "version: v1"
            if name:
                break
    return data.get(name)


def parse(text: str) -> Sharing | None:
    """None for a config that the plugin refuses."""
    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError:
        return None
    if not isinstance(content, dict) or content.get("version") != "v1":
        return None
    strategy = str((content.get("flags") or {}).get("migStrategy") or "")
    sharing = content.get("sharing") or {}
    # both are exclusive; the plugin's code lets MPS win
    kind, part = ("mps", sharing["mps"]) if sharing.get("mps") else ("time-slicing", sharing.get("timeSlicing"))
    if not part:
        return Sharing(mig_strategy=strategy)
    replicas: dict[str, int] = {}
    for entry in part.get("resources") or ():
        number = entry.get("replicas")
        if not isinstance(number, int) or number < 2 or not entry.get("name"):
            return None
        replicas[str(entry["name"])] = number
    return Sharing(kind, replicas, bool(part.get("renameByDefault")), strategy)


def advertised(view: NodeView) -> dict[str, int]:
    """Resource to number, for the plugin that runs on this node."""
    pod = plugin_pod(view)
    if view.machine is None or pod is None:
        return {}
    env = variables(pod)
    root, _ = view.driver
    if not root or env.get("NVIDIA_DRIVER_ROOT", root) != root:
        return {}
    sharing: Sharing | None = Sharing()
    configmap = configmap_volume(pod)
    if configmap:
        fallbacks = env.get("FALLBACK_STRATEGIES", "named,single")
        space = pod["metadata"]["namespace"]
        text = config_text(view, configmap, env.get("DEFAULT_CONFIG", ""), fallbacks, space)
        sharing = None if text is None else parse(text)
    if sharing is None:
        return {}
    strategy = env.get("MIG_STRATEGY") or sharing.mig_strategy or "none"
    found: dict[str, int] = {}
    for name, number in devices(view, strategy).items():
        shared = sharing.replicas.get(name, 1)
        found[f"{name}.shared" if shared > 1 and sharing.rename else name] = number * shared
    return found


def devices(view: NodeView, strategy: str) -> Counter[str]:
    """Resource to number before sharing. Empty where the plugin refuses the partitions."""
    found: Counter[str] = Counter()
    partitions = view.partitions()
    mig = [item for item in partitions if item.mig]
    if strategy == "none" or not mig:
        found[GPU] = len(partitions)
    elif strategy == "single":
        profiles = {name for item in mig for name, _ in item.devices}
        if len(mig) == len(partitions) and len(profiles) == 1:
            found[GPU] = sum(len(item.devices) for item in mig)
    else:
        found[GPU] += len(partitions) - len(mig)
        found.update(f"nvidia.com/mig-{name.replace('+', '.')}" for item in mig for name, _ in item.devices)
    return +found


def capacity(view: NodeView) -> dict[str, str]:
    """What the node's status must say, and does not say yet."""
    wanted = {name: str(number) for name, number in advertised(view).items()}
    known = {name for name in view.capacity if name.startswith("nvidia.com/")}
    wanted.update(dict.fromkeys(known - set(wanted), "0"))
    return {
        name: number
        for name, number in wanted.items()
        if view.capacity.get(name) != number or view.allocatable.get(name) != number
    }
