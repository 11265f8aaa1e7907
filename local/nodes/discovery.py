"""NFD's and GFD's labels: the first says that NVIDIA hardware is there, the second which.

AKS writes neither. NFD's worker must run on the node, so a taint that it does not tolerate leaves the node
without a label and everything of the operator away. When the worker goes, its labels go with it: that is
why an NFD restart takes the gpu.deploy labels away for a while.
"""

from __future__ import annotations

from collections import Counter

from local.nodes.device_plugin import Sharing, config_text, parse
from local.nodes.hardware import Gpu
from local.nodes.operator import section
from local.nodes.snapshot import NFD_LABEL, NodeView, labels_of

PER_PROFILE = "nvidia.com/mig-"


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
    """GFD. MIG_STRATEGY of the ClusterPolicy, where it has one, wins over the plugin's config."""
    if view.machine is None or view.runs("gpu-feature-discovery") is None or not validated(view):
        return
    sharing = plugin_sharing(view)
    policy = section(view.snapshot.policy, "mig")
    cluster_wide = policy.get("strategy", "single") if policy else "single"
    strategy = cluster_wide or (sharing.mig_strategy if sharing else "") or "none"
    labels = gpu_labels(view, view.machine.gpu, sharing)
    view.labels = {key: value for key, value in view.labels.items() if not key.startswith(PER_PROFILE)}
    if view.machine.mig_capable and strategy != "none":
        labels["nvidia.com/mig.strategy"] = strategy
        labels.update(mig_labels(view, view.machine.gpu, strategy, sharing))
    else:
        view.labels.pop("nvidia.com/mig.strategy", None)
    view.labels.update(labels)


def gpu_labels(view: NodeView, gpu: Gpu, sharing: Sharing | None) -> dict[str, str]:
    """The labels of whole GPUs."""
    assert view.machine is not None
    major, minor, *_ = gpu.compute_capability.split(".")
    mps = sharing is not None and sharing.kind == "mps" and not any(item.mig for item in view.partitions())
    return {
        **resource_labels("nvidia.com/gpu", gpu.product_name, view.machine.count, gpu.memory_mib, sharing),
        "nvidia.com/gpu.family": gpu.architecture.lower(),
        "nvidia.com/gpu.compute.major": major,
        "nvidia.com/gpu.compute.minor": minor,
        "nvidia.com/mps.capable": "true" if mps else "false",
        "nvidia.com/mig.capable": "true" if view.machine.mig_capable else "false",
    }


def resource_labels(name: str, product: str, count: int, memory: int, sharing: Sharing | None) -> dict[str, str]:
    replicas = sharing.replicas.get(name, 1) if sharing else 1
    suffix = "-SHARED" if sharing is not None and replicas > 1 and not sharing.rename else ""
    return {
        f"{name}.product": product.replace(" ", "-") + suffix,
        f"{name}.count": str(count),
        f"{name}.memory": str(memory),
        f"{name}.replicas": str(replicas),
        f"{name}.sharing-strategy": sharing.kind if sharing and replicas > 1 else "none",
    }


def mig_labels(view: NodeView, gpu: Gpu, strategy: str, sharing: Sharing | None) -> dict[str, str]:
    """Labels of partitions: as nvidia.com/gpu (single), or for each profile (mixed)."""
    gpus = [item for item in view.partitions() if item.mig]
    counts = Counter(name for item in gpus for name, _ in item.devices)
    if not gpus:
        return {}
    if strategy == "single":
        if len(counts) != 1 or len(gpus) < len(view.partitions()) or not all(item.devices for item in gpus):
            invalid = resource_labels("nvidia.com/gpu", f"{gpu.product_name}-MIG-INVALID", 0, 0, None)
            return {**invalid, "nvidia.com/gpu.replicas": "0", "nvidia.com/gpu.sharing-strategy": ""}
        names = dict.fromkeys(counts, "nvidia.com/gpu")
    else:
        names = {profile: PER_PROFILE + profile.replace("+", ".") for profile in counts}
    found: dict[str, str] = {}
    for profile, count in counts.items():
        product = f"{gpu.product_name}-MIG-{profile}".replace("+", ".")
        memory = gpu.profiles[profile].memory_mib
        found.update(resource_labels(names[profile], product, count, memory, sharing))
    return found


def plugin_sharing(view: NodeView) -> Sharing | None:
    """GFD reads the operator's devicePlugin.config, also when the operator's plugin is off."""
    policy = view.snapshot.policy
    config = section(policy, "devicePlugin").get("config") or {}
    if policy is None or not config.get("name"):
        return None
    text = config_text(view, str(config["name"]), str(config.get("default") or ""), "named,single")
    return None if text is None else parse(text)
