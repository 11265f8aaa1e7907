"""Tenants by the stack file: policies, lists and quotas come with one `up` and go with another."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.end_to_end.conftest import Stack, eventually
from tests.end_to_end.variants import changes, variants

pytestmark = [pytest.mark.engine, pytest.mark.cluster]

TENANTS = """\
  aks-dra:namespaces:
    ml: {allow: [a100-80gb, t4, h100-nvl-1g.12gb, gpu-20gi], quota: {gpu-20gi: 1}}
    team: {create: false, allow: [t4]}
"""


def claim(stack: Stack, namespace: str, device_class: str) -> str:
    """What the API server says to a claim: its refusal, or ""."""
    requests = [{"name": "gpu", "exactly": {"deviceClassName": device_class}}]
    manifest = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "asks", "namespace": namespace},
        "spec": {"devices": {"requests": requests}},
    }
    command = [*stack.kubectl, "create", "--dry-run=server", "-f", "-"]
    run = subprocess.run(command, input=json.dumps(manifest), capture_output=True, text=True, check=False)
    return run.stderr if run.returncode else ""


def annotated(stack: Stack, namespace: str) -> dict[str, str]:
    return dict(stack.get("namespace", namespace)["metadata"].get("annotations", {}))


def test_tenants_come_and_go(stack: Stack, tmp_path: Path) -> None:
    stack.kube("create", "namespace", "team")
    stack.kube("annotate", "namespace", "team", "owner=somebody")
    try:
        with variants(stack, tmp_path) as variant:
            outcome, log = variant.up(more=TENANTS)
            assert outcome.code == 0, log
            # Three policies with bindings, a quota, and what is laid over the namespace that exists.
            assert changes(outcome) == {"created": 8, "updated": 1}
            listed = annotated(stack, "team")
            assert listed["aks-dra.dev/allowed-device-classes"] == "t4"
            assert listed["owner"] == "somebody"

            refusal = "namespace team may not use device class gpu.nvidia.com (it may use t4; annotation"
            eventually("the policy is in force", lambda: refusal in claim(stack, "team", "gpu.nvidia.com") or None)
            assert claim(stack, "team", "t4") == ""
            assert "may not use device class t4 (it may use none" in claim(stack, "default", "t4")
            assert claim(stack, "gpu-test", "gpu.nvidia.com") == ""
            stack.pod_of("first", template="big")
            assert stack.pool_of("first") == "a100"
            stack.pod_of("second", template="big")

            def over_quota() -> bool:
                events = stack.get("events")["items"]
                return any("exceeded quota: aks-dra-device-classes" in event["message"] for event in events)

            eventually("the second claim is over quota", over_quota)

            outcome, log = variant.up(more=TENANTS)
            assert (outcome.code, outcome.changed) == (0, 0), log
        assert claim(stack, "default", "t4") == ""
        assert annotated(stack, "team") == {"owner": "somebody"}
    finally:
        stack.kube("delete", "namespace", "team", "--wait=false")
