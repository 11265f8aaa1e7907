"""What the charts install, by hand and as small as it can be: for tests of the simulated nodes alone."""

from __future__ import annotations

from typing import Any

IMAGE = "example.invalid/none"
EVERYWHERE = [{"operator": "Exists"}]


def daemonset(name: str, labels: dict[str, str], spec: dict[str, Any]) -> dict[str, Any]:
    spec = {"tolerations": EVERYWHERE, "containers": [{"name": "main", "image": IMAGE}], **spec}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "selector": {"matchLabels": labels},
            "updateStrategy": {"rollingUpdate": {"maxUnavailable": "100%"}},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }


def dra_plugin(root: str, selector: dict[str, str], affinity: dict[str, Any] | None = None) -> dict[str, Any]:
    env = [{"name": "NVIDIA_DRIVER_ROOT", "value": root}]
    spec: dict[str, Any] = {"nodeSelector": selector, "containers": [{"name": "gpus", "image": IMAGE, "env": env}]}
    if affinity:
        spec["affinity"] = affinity
    return daemonset("dra", {"dra-driver-nvidia-gpu-component": "kubelet-plugin"}, spec)


def mig_ready() -> dict[str, Any]:
    """The two terms: a pool that the operator does not partition, or one whose partitions are there."""
    terms = [
        [{"key": "aks-dra.dev/mig-owner", "operator": "NotIn", "values": ["operator"]}],
        [{"key": "nvidia.com/mig.config.state", "operator": "In", "values": ["success"]}],
    ]
    selector = {"nodeSelectorTerms": [{"matchExpressions": term} for term in terms]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": selector}}


def device_plugin(selector: dict[str, str], configmap: str = "", default: str = "", **env: str) -> dict[str, Any]:
    variables = [{"name": name, "value": value} for name, value in env.items()]
    spec: dict[str, Any] = {
        "nodeSelector": selector,
        "containers": [{"name": "nvidia-device-plugin-ctr", "image": IMAGE, "env": variables}],
    }
    if configmap:
        chosen = [{"name": "DEFAULT_CONFIG", "value": default}]
        spec["initContainers"] = [{"name": "nvidia-device-plugin-init", "image": IMAGE, "env": chosen}]
        spec["volumes"] = [{"name": "available-configs", "configMap": {"name": configmap}}]
    return daemonset("plugin", {"app.kubernetes.io/name": "nvidia-device-plugin"}, spec)


def nfd_worker(selector: dict[str, str], **spec: Any) -> dict[str, Any]:
    labels = {"app.kubernetes.io/name": "node-feature-discovery", "role": "worker"}
    return daemonset("nfd-worker", labels, {"nodeSelector": selector, **spec})


def crd() -> dict[str, Any]:
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "clusterpolicies.nvidia.com"},
        "spec": {
            "group": "nvidia.com",
            "scope": "Cluster",
            "names": {"plural": "clusterpolicies", "kind": "ClusterPolicy"},
            "versions": [version],
        },
    }


def cluster_policy(namespace: str, **sections: Any) -> dict[str, Any]:
    spec = {
        "daemonsets": {"tolerations": EVERYWHERE},
        "devicePlugin": {"enabled": False},
        "driver": {"enabled": True, "version": "580.159.04"},
        "mig": {"strategy": "mixed"},
        "migManager": {"enabled": True, "config": {"default": "all-disabled"}},
        **sections,
    }
    annotations = {"meta.helm.sh/release-namespace": namespace}
    return {
        "apiVersion": "nvidia.com/v1",
        "kind": "ClusterPolicy",
        "metadata": {"name": "cluster-policy", "annotations": annotations},
        "spec": spec,
    }
