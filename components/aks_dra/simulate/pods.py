"""A pod's manifest as it goes to the simulated cluster: without what no simulated node could give it.

What is taken away has no say in the choice of the node there: images' secrets, service accounts, runtime classes (the
operator brings `nvidia`), volumes that would wait for a storage driver. What decides (claims, resources, selectors,
affinity, spread, tolerations, priority) is untouched.
"""

from __future__ import annotations

import copy
from typing import Any

from aks_dra.kube.workloads import Pod

TAKEN = ("serviceAccount", "serviceAccountName", "runtimeClassName", "overhead", "imagePullSecrets")
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
# What the DaemonSet controller adds to its pods.
DAEMON_TOLERATIONS = [
    {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": effect}
    for key, effect in (
        ("not-ready", "NoExecute"),
        ("unreachable", "NoExecute"),
        ("disk-pressure", "NoSchedule"),
        ("memory-pressure", "NoSchedule"),
        ("pid-pressure", "NoSchedule"),
        ("unschedulable", "NoSchedule"),
    )
]


def pod_manifest(pod: Pod, marks: dict[str, str]) -> dict[str, Any]:
    """The pod with the run's label."""
    spec = copy.deepcopy(pod.spec)
    for key in TAKEN:
        spec.pop(key, None)
    spec["automountServiceAccountToken"] = False
    # Nothing runs, so nothing needs time to end.
    spec["terminationGracePeriodSeconds"] = 0
    for volume in spec.get("volumes") or ():
        if isinstance(volume, dict):
            for source in ("persistentVolumeClaim", "ephemeral", "csi"):
                if volume.pop(source, None) is not None:
                    volume["emptyDir"] = {}
    for container in [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]:
        if isinstance(container, dict):
            container.setdefault("image", "registry.invalid/none")
    metadata: dict[str, Any] = {
        "name": pod.name,
        "namespace": pod.namespace,
        "labels": {**{key: str(value) for key, value in pod.labels.items()}, **marks},
    }
    if pod.annotations:
        metadata["annotations"] = {key: str(value) for key, value in pod.annotations.items()}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def daemon_pod(pod: Pod, node: str) -> Pod:
    """A DaemonSet's pod for one node, pinned as its controller pins it."""
    spec = copy.deepcopy(pod.spec)
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
    affinity = spec["affinity"] = spec.get("affinity") or {}
    of_node = affinity["nodeAffinity"] = affinity.get("nodeAffinity") or {}
    required = of_node[REQUIRED] = of_node.get(REQUIRED) or {}
    terms = required.get("nodeSelectorTerms") or [{}]
    required["nodeSelectorTerms"] = [{**entry, **term} for entry in terms]
    spec["tolerations"] = [*(spec.get("tolerations") or ()), *DAEMON_TOLERATIONS]
    return Pod(pod.namespace, f"{pod.name.rpartition('-')[0]}-{node}"[:253], spec, pod.labels, pod.annotations)
