"""A device-plugin pool becomes a DRA pool on the living cluster, by the files and commands that `migrate` writes."""

from __future__ import annotations

import dataclasses
import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from aks_dra.migrate.command import migrate
from aks_dra.migrate.steps import Road
from local.stack import stackfile
from local.stack.engine import PROGRESS, Engine
from local.stack.engine_env import programs
from tests.end_to_end.conftest import ROOT, Stack, eventually

LABELS = {"app": "inference"}
# Its budget allows none to be away, and its strategy would take all away at once.
DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "inference", "namespace": "ml"},
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": LABELS},
        "strategy": {"type": "Recreate"},
        "template": {
            "metadata": {"labels": LABELS},
            "spec": {
                "terminationGracePeriodSeconds": 0,
                "containers": [
                    {
                        "name": "main",
                        "image": "registry.example/app",
                        "resources": {"limits": {"nvidia.com/gpu": "1"}},
                    }
                ],
            },
        },
    },
}
BUDGET = {
    "apiVersion": "policy/v1",
    "kind": "PodDisruptionBudget",
    "metadata": {"name": "inference", "namespace": "ml"},
    "spec": {"minAvailable": 2, "selector": {"matchLabels": LABELS}},
}


class Migration:
    """The stack's own engine, given one stack file after the other."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        self.own = stackfile.read(ROOT, "local")
        self.programs = programs(stack.state)

    def up(self, path: Path) -> set[str]:
        """Brings the file's stack up; gives what was done but the smoke tests, which run anew by their own rules."""
        file = dataclasses.replace(self.own, path=path)
        engine = Engine(self.stack.state, ROOT, file, self.programs)
        outcome = engine.update("up")
        assert outcome.code == 0, engine.log.read_text()
        lines = [match for line in engine.log.read_text().splitlines() if (match := PROGRESS.match(line))]
        return {line["done"] for line in lines if "-smoke-test" not in line["name"] and ":Stack" not in line["type"]}


@pytest.fixture
def migration(stack: Stack) -> Iterator[Migration]:
    """Puts the stack back as it was."""
    before = stack.slices()
    running = Migration(stack)
    yield running
    for kind, name, namespace in stack.made:
        stack.kube("delete", kind, name, "-n", namespace, "--ignore-not-found", "--wait=false")
    eventually("no pod left", lambda: not stack.get("pods")["items"])
    running.up(running.own.path)  # takes the claim of the migration away, too
    stack.clean()
    eventually("the devices of before", lambda: stack.slices() == before)
    eventually("the device plugin of before", lambda: _advertised(stack, "t4old") == 4)


def _advertised(stack: Stack, pool: str) -> int:
    nodes = json.loads(stack.kube("get", "nodes", "-l", f"kubernetes.azure.com/agentpool={pool}", "-o", "json"))[
        "items"
    ]
    return sum(int(node["status"]["allocatable"].get("nvidia.com/gpu", 0)) for node in nodes)


def _pods(stack: Stack) -> dict[str, tuple[str, int, str]]:
    """uid, restarts and node of each pod that is not the Deployment's."""
    found = {}
    for pod in stack.get("pods")["items"]:
        if pod["metadata"].get("labels") != LABELS and not pod["metadata"].get("ownerReferences"):
            restarts = sum(status["restartCount"] for status in pod["status"]["containerStatuses"])
            found[pod["metadata"]["name"]] = (pod["metadata"]["uid"], restarts, pod["spec"]["nodeName"])
    return found


def _available(stack: Stack) -> int:
    return int(stack.get("deployment", "inference")["status"].get("availableReplicas", 0))


@contextmanager
def watched(stack: Stack) -> Iterator[list[int]]:
    """Every number of available replicas that the API server tells of meanwhile."""
    command = [*stack.kubectl, "get", "deployment", "inference", "-n", "ml", "--watch", "-o"]
    template = 'jsonpath={.metadata.generation} {.status.availableReplicas}{"\\n"}'
    watch = subprocess.Popen([*command, template], stdout=subprocess.PIPE, text=True)
    seen: list[int] = []
    try:
        yield seen
    finally:
        watch.terminate()
        text, _ = watch.communicate()
        seen += [int((line.split(" ")[1:] or ["0"])[0] or 0) for line in text.splitlines()]


def _move(stack: Stack, road: Road, folder: Path) -> list[int]:
    """Step 2's commands: cordon, patch, rollout; gives the numbers of available pods that were seen."""
    selector = f"kubernetes.azure.com/agentpool={road.pool}"
    stack.kube("cordon", "-l", selector)
    patch = folder / "workloads" / "ml-deployment-inference.patch.yaml"
    with watched(stack) as seen:
        stack.kube("patch", "deployment", "inference", "-n", "ml", "--type", "strategic", "--patch-file", str(patch))
        stack.kube("rollout", "status", "deployment/inference", "-n", "ml", "--timeout=60s")
        eventually("the old pods gone", lambda: len(stack.get("pods", "")["items"]) == 5)
    stack.kube("drain", "-l", selector, "--ignore-daemonsets", "--delete-emptydir-data", "--timeout=60s")
    return seen


def test_from_the_device_plugin_to_dra(stack: Stack, migration: Migration, tmp_path: Path) -> None:
    manifests = tmp_path / "workloads.yaml"
    manifests.write_text(yaml.safe_dump_all([DEPLOYMENT, BUDGET]))
    road, folder, _ = migrate(str(migration.own.path), "t4old", out=tmp_path / "road", workloads=[manifests])
    assert road.new_pool == "t4old2"
    for name, template in (("a100", "one-a100"), ("slice", "slice")):
        stack.pod_of(name, template=template)
    stack.pod_of("shared", claim="shared-t4")
    assert [stack.pool_of(name) for name in ("a100", "slice", "shared")] == ["a100", "h100", "t4"]
    stack.apply(DEPLOYMENT)
    stack.apply(BUDGET)
    eventually("the Deployment up", lambda: _available(stack) == 2)
    strangers = _pods(stack)
    old = {pod["metadata"]["uid"] for pod in stack.get("pods")["items"]}

    add = migration.up(folder / "1-add.yaml")
    assert add <= {"created", "updated"}
    eventually("the new pool's device", lambda: len(stack.slices().get("t4old2", [])) == 1)
    assert {pod["metadata"]["uid"] for pod in stack.get("pods")["items"]} == old

    move = migration.up(folder / "2-move.yaml")
    assert move <= {"created", "updated"}
    seen = _move(stack, road, folder)
    assert min(seen) >= 2, seen
    assert max(seen) == 3  # one more first: the watch has seen the rollout
    moved = [pod["metadata"]["name"] for pod in stack.get("pods")["items"] if pod["metadata"]["name"] not in strangers]
    assert {stack.pool_of(pod) for pod in moved} <= {"t4", "t4old2"}
    assert stack.devices_of(moved[0]) == stack.devices_of(moved[1])

    shrink = migration.up(folder / "3-shrink.yaml")
    assert shrink == {"updated"}
    eventually("no node left", lambda: not _nodes(stack, "t4old"))

    remove = migration.up(folder / "4-remove.yaml")
    assert remove == {"updated", "deleted"}
    assert _pods(stack) == strangers
    assert _available(stack) == 2

    # nvidia.com/gpu has turned to DRA with the last device-plugin pool.
    stack.legacy_pod("asks-as-before")
    assert stack.pool_of("asks-as-before") in {"a100", "t4", "t4old2"}
    status: dict[str, Any] = stack.get("pod", "asks-as-before")["status"]
    assert status["extendedResourceClaimStatus"]["requestMappings"][0]["resourceName"] == "nvidia.com/gpu"


def _nodes(stack: Stack, pool: str) -> list[Any]:
    found = stack.kube("get", "nodes", "-l", f"kubernetes.azure.com/agentpool={pool}", "-o", "json")
    return list(json.loads(found)["items"])
