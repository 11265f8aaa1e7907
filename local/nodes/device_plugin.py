"""NVIDIA's device plugin: whole GPUs, replicas of them, or MIG devices, as extended resources in a node's status.

Its config is a key of the ConfigMap that its pod mounts, named by the node's label, else by DEFAULT_CONFIG,
else found by the fallback strategies. A name that is no key, a sharing of fewer than two replicas or a wrong
driver root end the real plugin in a crash loop: nothing is advertised. So do MPS on MIG devices and MPS without its
control daemon, whose DaemonSet selects on a label that GFD sets. What was advertised once stays in the status with 0,
since the kubelet never removes it.
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
DAEMON = "mps-control-daemon-ctr"
PROGRAM = "device-plugin"
MOST_CLIENTS = 48
"""What an MPS server takes on GPUs of compute capability 7.5 and later."""

OTHER_CONTAINERS = ("mps-control-daemon", "gpu-feature-discovery")
"""The chart's other DaemonSets carry the same name label; their containers tell them apart."""


@dataclass(frozen=True)
class Sharing:
    """What a config says about sharing."""

    kind: str = "none"  # none, time-slicing, mps
    replicas: Mapping[str, int] = field(default_factory=dict)  # resource to number
    rename: bool = False
    mig_strategy: str = ""


class Stops(Exception):
    """The plugin ends, or advertises nothing; the text says why."""


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
        return read(text)
    except Stops:
        return None


def read(text: str) -> Sharing:
    """The config; raises Stops where the plugin refuses it."""
    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise Stops("the config is not YAML") from error
    if not isinstance(content, dict) or content.get("version") != "v1":
        raise Stops("the config's version is not v1")
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
            raise Stops(f"number of replicas must be >= 2, and the config says {number} of {entry.get('name')}")
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
    try:
        return shares(view, config(view, pod, env), env)
    except Stops as reason:
        view.say(PROGRAM, str(reason))
        return {}


def config(view: NodeView, pod: Object, env: Mapping[str, str]) -> Sharing:
    configmap = configmap_volume(pod)
    if not configmap:
        return Sharing()
    space, default = pod["metadata"]["namespace"], env.get("DEFAULT_CONFIG", "")
    text = config_text(view, configmap, default, env.get("FALLBACK_STRATEGIES", "named,single"), space)
    if text is None:
        known = ", ".join(sorted(view.snapshot.configmaps.get((space, configmap)) or ())) or "no key at all"
        raise Stops(
            f"no config {view.labels.get(CONFIG_LABEL) or default!r} (label {CONFIG_LABEL}) in ConfigMap "
            f"{space}/{configmap}, which has {known}"
        )
    return read(text)


def shares(view: NodeView, sharing: Sharing, env: Mapping[str, str]) -> dict[str, int]:
    strategy = env.get("MIG_STRATEGY") or sharing.mig_strategy or "none"
    before = devices(view, strategy)
    if sharing.kind == "mps":
        mps_ready(view, strategy, sharing)
    if not before:
        raise Stops(f"MIG strategy {strategy} does not go with the partitions of this node")
    found: dict[str, int] = {}
    for name, number in before.items():
        shared = sharing.replicas.get(name, 1)
        found[f"{name}.shared" if shared > 1 and sharing.rename else name] = number * shared
    return found


def mps_ready(view: NodeView, strategy: str, sharing: Sharing) -> None:
    if strategy != "none" and any(item.mig for item in view.partitions()):
        raise Stops("sharing using MPS is not supported for MIG devices")
    if not any(item["name"] == DAEMON for pod in view.pods for item in pod["spec"]["containers"]):
        raise Stops(
            "error checking MPS daemon health: no MPS control daemon runs on this node (its DaemonSet selects "
            f"nvidia.com/mps.capable=true, the node has {view.labels.get('nvidia.com/mps.capable', 'no such label')})"
        )
    if (most := max(sharing.replicas.values(), default=0)) > MOST_CLIENTS:
        raise Stops(f"error checking MPS daemon health: maximum allowed replicas exceeded: {most} > {MOST_CLIENTS}")


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
