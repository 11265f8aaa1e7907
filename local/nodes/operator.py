"""The GPU Operator's own program, as far as others can see it.

It reads the one ClusterPolicy, labels the nodes that NFD has labelled, and makes a DaemonSet per operand with
the ClusterPolicy's tolerations. The DaemonSets here are real objects (with images that nobody starts), so
that Kubernetes decides where an operand runs: a taint that is not tolerated keeps the driver, the feature
discovery or the MIG manager away here as it would there.

Forced by the operator v26.7.0: a node that NFD has not labelled loses every gpu.deploy label, also one that a
pool set, at every pass; the MIG manager's label goes to MIG-capable nodes only; `operands=false` survives.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from local.nodes.actions import Action, Apply, Delete
from local.nodes.hardware import OPERATOR_DRIVER
from local.nodes.snapshot import DEPLOY, NFD_LABEL, OPERAND, SIMULATED, NodeView, Object, Snapshot, annotations_of

PRESENT = "nvidia.com/gpu.present"
OPERANDS_KEY = f"{DEPLOY}operands"
MIG_MANAGER_KEY = f"{DEPLOY}mig-manager"
DEPLOY_KEYS = tuple(
    DEPLOY + name
    for name in (
        "driver",
        "container-toolkit",
        "device-plugin",
        "gpu-feature-discovery",
        "dcgm",
        "dcgm-exporter",
        "node-status-exporter",
        "operator-validator",
        "mig-manager",
        "client",
    )
)
MIG_PRODUCTS = ("H100", "A100", "A30")
"""Without GFD's mig.capable label, the operator goes by these names in the product label."""


@dataclass(frozen=True)
class Operand:
    """One DaemonSet that the operator makes."""

    app: str
    container: str
    key: str  # the deploy label that it selects on
    section: str  # of the ClusterPolicy, whose `enabled` decides; "" for always
    also: Mapping[str, str] = field(default_factory=dict)  # further labels of its node selector


OPERANDS = (
    Operand("nvidia-driver-daemonset", "nvidia-driver-ctr", "driver", "driver"),
    Operand("nvidia-container-toolkit-daemonset", "nvidia-container-toolkit-ctr", "container-toolkit", "toolkit"),
    Operand("nvidia-operator-validator", "nvidia-operator-validator", "operator-validator", ""),
    Operand("nvidia-device-plugin-daemonset", "nvidia-device-plugin", "device-plugin", "devicePlugin"),
    Operand(
        "nvidia-device-plugin-mps-control-daemon",
        "mps-control-daemon-ctr",
        "device-plugin",
        "devicePlugin",
        {"nvidia.com/mps.capable": "true"},
    ),
    Operand("gpu-feature-discovery", "gpu-feature-discovery", "gpu-feature-discovery", "gfd"),
    Operand("nvidia-mig-manager", "nvidia-mig-manager", "mig-manager", "migManager"),
)


def section(policy: Object | None, name: str) -> Mapping[str, Any]:
    value = ((policy or {}).get("spec") or {}).get(name)
    return value if isinstance(value, Mapping) else {}


def enabled(policy: Object | None, name: str) -> bool:
    return policy is not None and section(policy, name).get("enabled", True) is not False


def namespace(policy: Object) -> str:
    return annotations_of(policy).get("meta.helm.sh/release-namespace") or "gpu-operator"


def label_node(view: NodeView) -> None:
    """The deploy labels of one node, and the default MIG layout."""
    if view.snapshot.policy is None:
        return
    if view.labels.get(NFD_LABEL) != "true":
        if PRESENT in view.labels and any(key.startswith(DEPLOY) for key in view.labels):
            view.labels[PRESENT] = "false"
        strip(view)
        return
    view.labels[PRESENT] = "true"
    if view.labels.get(OPERANDS_KEY) == "false":
        strip(view)
        return
    for key in DEPLOY_KEYS:
        if key == MIG_MANAGER_KEY and not mig_capable(view):
            view.labels.pop(key, None)
        elif not view.labels.get(key):
            view.labels[key] = "true"
    default = (section(view.snapshot.policy, "migManager").get("config") or {}).get("default", "all-disabled")
    if enabled(view.snapshot.policy, "migManager") and mig_capable(view) and default:
        view.labels.setdefault("nvidia.com/mig.config", default)


def strip(view: NodeView) -> None:
    for key in [key for key in view.labels if key.startswith(DEPLOY) and key != OPERANDS_KEY]:
        del view.labels[key]


def mig_capable(view: NodeView) -> bool:
    capable = view.labels.get("nvidia.com/mig.capable")
    if capable is not None:
        return capable == "true"
    return any(name in view.labels.get("nvidia.com/gpu.product", "") for name in MIG_PRODUCTS)


def objects(snapshot: Snapshot) -> Iterator[Action]:
    """The operator's DaemonSets and its RuntimeClass: made, changed, or removed with the ClusterPolicy."""
    wanted = dict(manifests(snapshot.policy)) if snapshot.policy else {}
    known = {path_of(item): item for item in snapshot.operands}
    for path, manifest in wanted.items():
        if path not in known or annotations_of(known[path]).get(OPERAND) != fingerprint(manifest):
            marked = {**manifest["metadata"], "annotations": {OPERAND: fingerprint(manifest)}}
            yield Apply(path, {**manifest, "metadata": marked})
    for path in known:
        if path not in wanted:
            yield Delete(path)


def manifests(policy: Object) -> Iterator[tuple[str, dict[str, Any]]]:
    handler = section(policy, "operator").get("runtimeClass") or "nvidia"
    labels = {SIMULATED: "true", OPERAND: "runtime-class"}
    runtime_class = {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": handler, "labels": labels},
        "handler": handler,
    }
    yield f"/apis/node.k8s.io/v1/runtimeclasses/{handler}", runtime_class
    space = namespace(policy)
    for operand in OPERANDS:
        if not operand.section or enabled(policy, operand.section):
            yield f"/apis/apps/v1/namespaces/{space}/daemonsets/{operand.app}", daemonset(operand, policy, space)


def daemonset(operand: Operand, policy: Object, space: str) -> dict[str, Any]:
    part = section(policy, operand.section) if operand.section else {}
    common = section(policy, "daemonsets")
    container: dict[str, Any] = {"name": operand.container, "image": f"simulated/{operand.app}"}
    env = [dict(entry) for entry in part.get("env") or () if "value" in entry]
    spec: dict[str, Any] = {
        "nodeSelector": {DEPLOY + operand.key: "true", **operand.also},
        "tolerations": [dict(item) for item in common.get("tolerations") or ()],
    }
    if operand.section == "driver":
        env.append({"name": "DRIVER_VERSION", "value": str(part.get("version") or OPERATOR_DRIVER)})
    config = part.get("config") or {}
    if operand.section == "devicePlugin":
        env.append({"name": "MIG_STRATEGY", "value": section(policy, "mig").get("strategy") or "single"})
        if config.get("name"):
            chosen = [{"name": "DEFAULT_CONFIG", "value": config.get("default") or ""}]
            image = f"simulated/{operand.app}"
            spec["initContainers"] = [{"name": "config-manager-init", "image": image, "env": chosen}]
    if config.get("name"):
        spec["volumes"] = [{"name": "available-configs", "configMap": {"name": config["name"]}}]
    if env:
        container["env"] = env
    labels = {"app": operand.app, SIMULATED: "true"}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": operand.app, "namespace": space, "labels": {**labels, OPERAND: operand.app}},
        "spec": {
            "selector": {"matchLabels": {"app": operand.app}},
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "100%"}},
            "template": {"metadata": {"labels": labels}, "spec": {**spec, "containers": [container]}},
        },
    }


def path_of(item: Object) -> str:
    name = item["metadata"]["name"]
    if item.get("kind") == "RuntimeClass":
        return f"/apis/node.k8s.io/v1/runtimeclasses/{name}"
    return f"/apis/apps/v1/namespaces/{item['metadata']['namespace']}/daemonsets/{name}"


def fingerprint(manifest: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()[:16]
