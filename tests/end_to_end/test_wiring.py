"""What holds the wiring together, taken away from the living cluster: the devices vanish, and status says so."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.end_to_end.conftest import Stack, eventually

NAMESPACE = "dra-driver-nvidia-gpu"
PLUGIN = "dra-driver-nvidia-gpu-kubelet-plugin"
WHOLE = {"a100": 2, "gputest": 1, "h100": 7, "t4": 2}


def counts(stack: Stack) -> dict[str, int]:
    return {pool: len(names) for pool, names in stack.slices().items()}


@pytest.fixture
def plugin(stack: Stack) -> Iterator[dict[str, Any]]:
    """The DaemonSet of the DRA driver, put back as it was afterwards."""
    original = stack.get("daemonset", PLUGIN, NAMESPACE)
    yield json.loads(json.dumps(original["spec"]["template"]["spec"]))
    body = [{"op": "replace", "path": "/spec/template", "value": original["spec"]["template"]}]
    stack.kube("patch", "daemonset", PLUGIN, "-n", NAMESPACE, "--type=json", "-p", json.dumps(body))
    eventually("all devices back", lambda: counts(stack) == WHOLE)


def change(stack: Stack, spec: dict[str, Any]) -> None:
    body = [{"op": "replace", "path": "/spec/template/spec", "value": spec}]
    stack.kube("patch", "daemonset", PLUGIN, "-n", NAMESPACE, "--type=json", "-p", json.dumps(body))


def status_says(stack: Stack, *words: str) -> None:
    status = stack.run("status")
    text = status.stdout + status.stderr
    assert status.returncode == 1, text
    for word in words:
        assert word in text


def test_all_is_well(stack: Stack) -> None:
    status = stack.run("status")
    assert status.returncode == 0, status.stdout + status.stderr


def test_toleration_taken_away(stack: Stack, plugin: dict[str, Any]) -> None:
    kept = [entry for entry in plugin["tolerations"] if entry.get("key") != "aks-dra.dev/test-pool"]
    assert len(kept) < len(plugin["tolerations"])
    change(stack, {**plugin, "tolerations": kept})
    eventually(
        "the test pool's devices gone", lambda: counts(stack) == {k: v for k, v in WHOLE.items() if k != "gputest"}
    )
    status_says(stack, "aks-gputest-", "toler")


def test_node_selector_changed(stack: Stack, plugin: dict[str, Any]) -> None:
    change(stack, {**plugin, "nodeSelector": {**plugin["nodeSelector"], "aks-dra.dev/allocation": "other"}})
    eventually("all devices gone", lambda: not stack.slices() or None)
    status_says(stack, "aks-a100-", "node selector")


def test_driver_root_of_another_owner(stack: Stack, plugin: dict[str, Any]) -> None:
    for container in plugin["containers"]:
        for entry in container["env"]:
            if entry["name"] == "NVIDIA_DRIVER_ROOT":
                entry["value"] = "/"
    change(stack, plugin)
    eventually("all devices gone", lambda: not stack.slices() or None)
    status_says(stack, "aks-t4-", "nvidiaDriverRoot", "/run/nvidia/driver")


def test_mig_label_taken_away(stack: Stack) -> None:
    node = next(i["metadata"]["name"] for i in stack.get("nodes")["items"] if "-h100-" in i["metadata"]["name"])
    stack.kube("label", "node", node, "nvidia.com/mig.config-")
    try:
        eventually("a whole GPU instead of partitions", lambda: counts(stack).get("h100") == 1)
        status_says(stack, "aks-h100-")
    finally:
        stack.kube("label", "node", node, "nvidia.com/mig.config=all-1g.12gb", "--overwrite")
        eventually("partitions back", lambda: counts(stack) == WHOLE)


def test_operator_labels_deleted_and_set(stack: Stack) -> None:
    """No device plugin ever runs on a DRA node, whatever the operator's own labels say."""
    node = next(i["metadata"]["name"] for i in stack.get("nodes")["items"] if "-a100-" in i["metadata"]["name"])
    labels = stack.get("node", node)["metadata"]["labels"]
    stack.kube("label", "node", node, *[f"{key}-" for key in labels if key.startswith("nvidia.com/gpu.deploy.")])
    eventually(
        "labels set again", lambda: stack.get("node", node)["metadata"]["labels"].get("nvidia.com/gpu.deploy.client")
    )
    eventually("all devices back", lambda: counts(stack) == WHOLE)
    assert int(stack.get("node", node)["status"]["allocatable"].get("nvidia.com/gpu", 0)) == 0
    pods = stack.get("pods", "", "gpu-operator")["items"]
    plugins = [p for p in pods if p["metadata"]["labels"].get("app.kubernetes.io/name") == "nvidia-device-plugin"]
    assert plugins
    assert all("-t4old-" in pod["spec"]["nodeName"] for pod in plugins)
