"""The local stack, brought up once by the command that users type, in a state folder of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest

from local.tools.build import TOOLS, build

ROOT = Path(__file__).resolve().parent.parent.parent
T = TypeVar("T")
WAIT_SECONDS = 40.0


def eventually(what: str, probe: Callable[[], T | None], seconds: float = WAIT_SECONDS) -> T:
    """The probe's first answer that is not None or empty; fails with what was waited for."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if answer := probe():
            return answer
        time.sleep(0.25)
    pytest.fail(f"not seen within {seconds:.0f} s: {what}")


@dataclass
class Stack:
    """The running local stack: commands, and kubectl with its kubeconfig."""

    state: Path
    kubectl: list[str]
    made: list[tuple[str, str, str]] = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        paths = f"{ROOT}:{ROOT / 'components'}"
        return {**os.environ, "AKS_DRA_LOCAL_STATE": str(self.state), "PYTHONPATH": paths}

    def run(self, verb: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "local.up", verb, "--stack", "local"]
        return subprocess.run(command, cwd=ROOT, env=self.environment, capture_output=True, text=True, check=False)

    def kube(self, *arguments: str, stdin: str | None = None) -> str:
        run = subprocess.run([*self.kubectl, *arguments], input=stdin, capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stderr
        return run.stdout

    def get(self, kind: str, name: str = "", namespace: str = "ml") -> Any:
        return json.loads(self.kube("get", kind, *([name] if name else []), "-n", namespace, "-o", "json"))

    def apply(self, manifest: dict[str, Any], namespace: str = "ml") -> None:
        self.kube("apply", "-n", namespace, "-f", "-", stdin=json.dumps(manifest))
        self.made.append((manifest["kind"], manifest["metadata"]["name"], namespace))

    def clean(self) -> None:
        """Deletes what the test made and waits until no pod and no claim of a template is left."""
        for kind, name, namespace in reversed(self.made):
            self.kube("delete", kind, name, "-n", namespace, "--ignore-not-found", "--wait=false")
        self.made.clear()
        eventually("pods and claims gone", lambda: not self.get("pods")["items"] and all(
            item["metadata"]["name"] == "shared-t4" and not item["status"].get("reservedFor")
            for item in self.get("resourceclaims")["items"]
        ))  # fmt: skip

    def pod(self, name: str, **spec: Any) -> None:
        """A pod with one container; spec is merged into its own."""
        container = {"name": "main", "image": "registry.example/app", **spec.pop("container", {})}
        manifest = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name},
            "spec": {"containers": [container], "terminationGracePeriodSeconds": 0, **spec},
        }
        self.apply(manifest)

    def pod_of(self, name: str, *, template: str = "", claim: str = "") -> None:
        """A pod with one claim, from a template or shared by name."""
        source = {"resourceClaimTemplateName": template} if template else {"resourceClaimName": claim}
        self.pod(
            name,
            resourceClaims=[{"name": "gpu", **source}],
            container={"resources": {"claims": [{"name": "gpu"}]}},
        )

    def legacy_pod(self, name: str, **spec: Any) -> None:
        self.pod(name, container={"resources": {"limits": {"nvidia.com/gpu": "1"}}}, **spec)

    def pool_of(self, pod: str) -> str:
        """The pool of the node that a running pod is on."""

        def running() -> Any:
            found = self.get("pod", pod)
            return found if found["status"].get("phase") == "Running" else None

        node = eventually(f"pod {pod} running", running)["spec"]["nodeName"]
        return str(self.get("node", node)["metadata"]["labels"]["kubernetes.azure.com/agentpool"])

    def devices_of(self, pod: str) -> list[tuple[str, str]]:
        """(pool in the slice, device) of every claim of a pod."""
        statuses = self.get("pod", pod)["status"]["resourceClaimStatuses"] if self._templated(pod) else None
        names = [entry["resourceClaimName"] for entry in statuses] if statuses else self._named(pod)
        results = []
        for name in names:
            allocation = self.get("resourceclaim", name)["status"]["allocation"]
            results += [(entry["pool"], entry["device"]) for entry in allocation["devices"]["results"]]
        return results

    def _templated(self, pod: str) -> bool:
        return any("resourceClaimTemplateName" in claim for claim in self.get("pod", pod)["spec"]["resourceClaims"])

    def _named(self, pod: str) -> list[str]:
        return [claim["resourceClaimName"] for claim in self.get("pod", pod)["spec"]["resourceClaims"]]

    def pending_reason(self, pod: str) -> str:
        """The scheduler's message for a pod that it could not place."""

        def refused() -> str:
            status = self.get("pod", pod)["status"]
            conditions = status.get("conditions", [])
            return next((c["message"] for c in conditions if c.get("reason") == "Unschedulable"), "")

        return eventually(f"pod {pod} refused by the scheduler", refused)

    def slices(self) -> dict[str, list[str]]:
        """Device names by the pool (in AKS) of their node."""
        result: dict[str, list[str]] = {}
        for item in self.get("resourceslices")["items"]:
            pool = item["spec"]["nodeName"].split("-")[1]
            result.setdefault(pool, []).extend(device["name"] for device in item["spec"]["devices"])
        return {pool: sorted(names) for pool, names in result.items()}


@pytest.fixture(scope="session")
def running_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    state = tmp_path_factory.mktemp("local")
    program = build(TOOLS["kubernetes"])
    stack = Stack(state, [str(program), "kubectl", "--kubeconfig", str(state / "kubernetes" / "kubeconfig")])
    try:
        up = stack.run("up")
        assert up.returncode == 0, up.stdout + up.stderr
        yield stack
        stack.kube("apply", "-n", "ml", "-f", str(ROOT / "examples" / "pods.yaml"))
        eventually("a pod that holds a claim of the stack", lambda: _held(stack))
    finally:
        down = stack.run("down")
    assert down.returncode == 0, down.stdout + down.stderr
    held = "deployments ml/notebooks, pods ml/infer, pods ml/train"
    assert f"deleted what holds claims: {held}" in down.stdout, down.stdout


def _held(stack: Stack) -> bool:
    return bool(stack.get("resourceclaim", "shared-t4")["status"].get("reservedFor"))


@pytest.fixture
def stack(running_stack: Stack) -> Iterator[Stack]:
    yield running_stack
    running_stack.clean()
