"""NFD's and GFD's labels: the first says that NVIDIA hardware is there, the second which.

AKS writes neither. NFD's worker must run on the node, so a taint that it does not tolerate leaves the node
without a label and everything of the operator away. When the worker goes, its labels go with it: that is
why an NFD restart takes the gpu.deploy labels away for a while.
"""

from __future__ import annotations

from local.nodes.device_plugin import Sharing, config_text, parse
from local.nodes.operator import section
from local.nodes.snapshot import NFD_LABEL, NodeView, labels_of


def label_hardware(view: NodeView) -> None:
    """NFD."""
    worker = any(
        labels_of(pod).get("app.kubernetes.io/name") == "node-feature-discovery"
        and "worker" in (labels_of(pod).get("role"), labels_of(pod).get("app.kubernetes.io/component"))
        for pod in view.pods
    )
    if worker and view.machine is not None:
        view.labels[NFD_LABEL] = "true"
    else:
        view.labels.pop(NFD_LABEL, None)


def validated(view: NodeView) -> bool:
    """The validator alone writes the file for which GFD and the MIG manager wait for ever."""
    return view.runs("nvidia-operator-validator") is not None and view.driver[0] != ""


def label_gpus(view: NodeView) -> None:
    """GFD."""
    if view.machine is None or view.runs("gpu-feature-discovery") is None or not validated(view):
        return
    gpu = view.machine.gpu
    strategy = section(view.snapshot.policy, "mig").get("strategy") or "single"
    product, count, memory = gpu.product_name.replace(" ", "-"), view.machine.count, gpu.memory_mib
    profiles = {name for item in view.partitions() for name, _ in item.devices}
    if strategy == "single" and len(profiles) == 1 and all(item.devices for item in view.partitions()):
        (profile,) = profiles
        product += f"-MIG-{profile}".replace("+", ".")
        count = sum(len(item.devices) for item in view.partitions())
        memory = gpu.profiles[profile].memory_mib
    sharing = plugin_sharing(view)
    replicas = sharing.replicas.get("nvidia.com/gpu", 1) if sharing else 1
    if replicas > 1 and sharing is not None and not sharing.rename:
        product += "-SHARED"
    major, minor, *_ = gpu.compute_capability.split(".")
    view.labels.update(
        {
            "nvidia.com/gpu.product": product,
            "nvidia.com/gpu.count": str(count),
            "nvidia.com/gpu.memory": str(memory),
            "nvidia.com/gpu.family": gpu.architecture.lower(),
            "nvidia.com/gpu.compute.major": major,
            "nvidia.com/gpu.compute.minor": minor,
            "nvidia.com/gpu.replicas": str(replicas),
            "nvidia.com/gpu.sharing-strategy": sharing.kind if sharing and replicas > 1 else "none",
            "nvidia.com/mps.capable": "true" if sharing and sharing.kind == "mps" else "false",
            "nvidia.com/mig.capable": "true" if view.machine.mig_capable else "false",
        }
    )
    if view.machine.mig_capable and strategy != "none":
        view.labels["nvidia.com/mig.strategy"] = strategy
    else:
        view.labels.pop("nvidia.com/mig.strategy", None)


def plugin_sharing(view: NodeView) -> Sharing | None:
    """GFD reads the operator's devicePlugin.config, also when the operator's plugin is off."""
    policy = view.snapshot.policy
    config = section(policy, "devicePlugin").get("config") or {}
    if policy is None or not config.get("name"):
        return None
    text = config_text(view, str(config["name"]), str(config.get("default") or ""), "named,single")
    return None if text is None else parse(text)
