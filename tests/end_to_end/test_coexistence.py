"""DRA and the device plugin in one cluster: what the operator and NFD do to labels never puts both on one node."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.end_to_end.conftest import ROOT, Stack, eventually

OPERATOR = "gpu-operator"
DEPLOY = "nvidia.com/gpu.deploy."
WHOLE = {"a100": 2, "gputest": 1, "h100": 7, "t4": 2}
PLUGIN_CONTAINERS = ("nvidia-device-plugin-ctr", "nvidia-device-plugin")


def counts(stack: Stack) -> dict[str, int]:
    return {pool: len(names) for pool, names in stack.slices().items()}


def gpu_nodes(stack: Stack) -> dict[str, dict[str, str]]:
    """Labels of the nodes that a pool of ours made."""
    nodes = {item["metadata"]["name"]: item["metadata"]["labels"] for item in stack.get("nodes")["items"]}
    return {name: labels for name, labels in nodes.items() if "aks-dra.dev/allocation" in labels}


def advertised(stack: Stack) -> dict[str, int]:
    """nvidia.com/gpu by node, where there is any."""
    found = {
        item["metadata"]["name"]: int(item["status"]["allocatable"].get("nvidia.com/gpu", 0))
        for item in stack.get("nodes")["items"]
    }
    return {name: number for name, number in found.items() if number}


def allocations(stack: Stack) -> dict[str, Any]:
    return {
        item["metadata"]["uid"]: item["status"]["allocation"]["devices"]["results"]
        for item in stack.get("resourceclaims")["items"]
        if item["status"].get("allocation")
    }


def nodes_daemon(stack: Stack, verb: str) -> None:
    command = [sys.executable, "-m", "local.nodes", verb]
    run = subprocess.run(command, cwd=ROOT, env=stack.environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


@contextmanager
def device_plugins_seen(stack: Stack) -> Iterator[set[str]]:
    """Every node that a device plugin's pod is on at any moment in between, filled in at the end."""
    seen: set[str] = set()
    with tempfile.TemporaryFile("w+") as log:
        command = [*stack.kubectl, "get", "pods", "-n", OPERATOR, "--watch", "-o", "json"]
        watch = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
        try:
            yield seen
        finally:
            watch.terminate()
            watch.wait()
            log.seek(0)
            text = log.read()
    for pod in objects(text):
        names = {container["name"] for container in pod["spec"]["containers"]}
        if names & set(PLUGIN_CONTAINERS) and pod["spec"].get("nodeName"):
            seen.add(pod["spec"]["nodeName"])


def objects(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects in a watch's output, lists as their items; what its end cut off is left out."""
    decoder, at = json.JSONDecoder(), text.find("{")
    while at >= 0:
        try:
            found, end = decoder.raw_decode(text, at)
        except ValueError:
            return
        yield from found.get("items", [found])
        at = text.find("{", end)


@pytest.fixture
def held(stack: Stack) -> dict[str, Any]:
    """Pods that hold a whole GPU, a partition and a shared one, and what they hold."""
    stack.pod_of("whole", template="one-a100")
    stack.pod_of("slice", template="slice")
    stack.pod_of("shared", claim="shared-t4")
    for name in ("whole", "slice", "shared"):
        stack.pool_of(name)
    return allocations(stack)


def unchanged(stack: Stack, held: dict[str, Any], seen: set[str]) -> None:
    nodes = gpu_nodes(stack)
    legacy = {name for name, labels in nodes.items() if labels["aks-dra.dev/allocation"] == "device-plugin"}
    assert seen == legacy
    assert eventually("the legacy pool advertises its shares again", lambda: advertised(stack)) == dict.fromkeys(
        legacy, 4
    )
    assert allocations(stack) == held
    assert {stack.get("pod", name)["status"]["phase"] for name in ("whole", "slice", "shared")} == {"Running"}
    eventually("status is well again", lambda: stack.run("status").returncode == 0)


def test_every_label_of_the_operators_deleted_and_set(stack: Stack, held: dict[str, Any]) -> None:
    """The labels that switch its operands, on every node at once, and its program restarted in between."""
    assert len(held) == 3
    names = list(gpu_nodes(stack))
    keys = sorted({key for labels in gpu_nodes(stack).values() for key in labels if key.startswith(DEPLOY)})
    assert f"{DEPLOY}device-plugin" in keys
    with device_plugins_seen(stack) as seen:
        nodes_daemon(stack, "stop")
        stack.kube("label", "node", *names, *[f"{key}-" for key in keys])
        eventually("the DRA driver's pods go with the labels", lambda: not dra_pods(stack) or None)
        assert "not running" in stack.run("status").stdout
        stack.kube("label", "node", *names, *[f"{key}=true" for key in keys], "--overwrite")
        eventually("the DRA driver's pods are back", lambda: len(dra_pods(stack)) == 5)
        nodes_daemon(stack, "start")
        eventually("all devices back", lambda: counts(stack) == WHOLE)
        eventually("the operator's own labels", lambda: f"{DEPLOY}client" in gpu_nodes(stack)[names[0]])
    unchanged(stack, held, seen)


def dra_pods(stack: Stack) -> list[str]:
    pods = stack.get("pods", "", "dra-driver-nvidia-gpu")["items"]
    return [
        pod["spec"]["nodeName"]
        for pod in pods
        if pod["metadata"]["labels"].get("dra-driver-nvidia-gpu-component") == "kubelet-plugin"
        and pod["status"].get("phase") == "Running"
    ]


def test_nfd_away_and_back(stack: Stack, held: dict[str, Any]) -> None:
    """Without NFD's label the operator takes its own away: devices go for a while, and status says why."""
    worker = "gpu-operator-node-feature-discovery-worker"
    template = stack.get("daemonset", worker, OPERATOR)["spec"]["template"]

    def patch(value: dict[str, Any]) -> None:
        body = [{"op": "replace", "path": "/spec/template", "value": value}]
        stack.kube("patch", "daemonset", worker, "-n", OPERATOR, "--type=json", "-p", json.dumps(body))

    away = json.loads(json.dumps(template))
    away["spec"]["nodeSelector"] = {"nowhere": "true"}
    with device_plugins_seen(stack) as seen:
        patch(away)
        try:
            eventually("all devices gone", lambda: not stack.slices() or None)
            eventually("and the shares of the legacy pool", lambda: not advertised(stack) or None)
            labels = [key for found in gpu_nodes(stack).values() for key in found if key.startswith(DEPLOY)]
            assert labels == []
            status = stack.run("status")
            assert status.returncode == 1
            for pool in (*WHOLE, "t4old"):
                (line,) = [row for row in status.stdout.splitlines() if row.startswith(f"aks-{pool}-") and "0" in row][
                    :1
                ]
                assert f"{DEPLOY}client" in line
        finally:
            patch(template)
        eventually("all devices back", lambda: counts(stack) == WHOLE)
    unchanged(stack, held, seen)


def test_a_config_that_is_no_key_of_the_map(stack: Stack) -> None:
    (node,) = [name for name in gpu_nodes(stack) if "-t4old-" in name]
    stack.kube("label", "node", node, "nvidia.com/device-plugin.config=t4odl", "--overwrite")
    try:
        eventually("nothing is advertised", lambda: not advertised(stack) or None)
        status = stack.run("status")
        assert status.returncode == 1
        (line,) = [row for row in status.stdout.splitlines() if row.startswith(f"{node}:")]
        assert "no config 't4odl'" in line
        assert "gpu-operator/aks-dra-device-plugin, which has default, t4old" in line
    finally:
        stack.kube("label", "node", node, "nvidia.com/device-plugin.config=t4old", "--overwrite")
        eventually("shares back", lambda: advertised(stack) == {node: 4})
