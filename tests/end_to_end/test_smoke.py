"""The test pool's smoke test on the local stack: it passes, it fails with the reason, it comes and goes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.conftest import Stack, eventually
from tests.end_to_end.variants import Variant, changes, variants

LIMIT = 8


@pytest.fixture
def variant(stack: Stack, tmp_path: Path) -> Iterator[Variant]:
    with variants(stack, tmp_path) as found:
        yield found


def jobs(stack: Stack) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for namespace in ("gpu-test", "gpu-test-admin"):
        for job in stack.get("jobs", namespace=namespace)["items"]:
            found[f"{namespace}/{job['metadata']['name']}"] = job["status"]
    return found


def holder(stack: Stack, name: str, namespace: str) -> None:
    """A pod on the test pool's only GPU, by the template of its namespace."""
    stack.apply(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name},
            "spec": {
                "terminationGracePeriodSeconds": 0,
                "nodeSelector": {"kubernetes.azure.com/agentpool": "gputest"},
                "tolerations": [{"operator": "Exists"}],
                "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "gpu-test"}],
                "containers": [
                    {"name": "main", "image": "registry.example/app", "resources": {"claims": [{"name": "gpu"}]}}
                ],
            },
        },
        namespace,
    )
    eventually(f"{name} runs", lambda: stack.get("pod", name, namespace)["status"].get("phase") == "Running" or None)


def devices(stack: Stack, namespace: str) -> list[tuple[str, str]]:
    claims = stack.get("resourceclaims", namespace=namespace)["items"]
    return [(r["pool"], r["device"]) for claim in claims for r in claim["status"]["allocation"]["devices"]["results"]]


def test_both_jobs_are_done_and_hold_nothing(stack: Stack) -> None:
    found = jobs(stack)
    assert sorted(name.rpartition("-")[0] for name in found) == [
        "gpu-test-admin/gpu-admin-access-test",
        "gpu-test/gpu-smoke-test",
    ]
    assert [status["succeeded"] for status in found.values()] == [1, 1]
    for namespace in ("gpu-test", "gpu-test-admin"):
        (pod,) = stack.get("pods", namespace=namespace)["items"]
        assert pod["spec"]["nodeName"].startswith("aks-gputest-")
    assert devices(stack, "gpu-test") == devices(stack, "gpu-test-admin") == []


def test_admin_access_reserves_no_gpu(variant: Variant) -> None:
    stack = variant.stack
    holder(stack, "worker", "gpu-test")
    holder(stack, "watcher", "gpu-test-admin")
    assert devices(stack, "gpu-test") == devices(stack, "gpu-test-admin")
    assert len(devices(stack, "gpu-test")) == 1


def test_a_claim_that_cannot_be_allocated_fails_up_in_time_and_with_the_reason(variant: Variant) -> None:
    stack = variant.stack
    outcome, log = variant.up(more="  aks-dra:namespaces: {scratch: {}}\n")
    assert outcome.code == 0, log
    holder(stack, "worker", "gpu-test")
    before = time.monotonic()
    outcome, log = variant.up(f"aks-dra:testPool: {{enabled: true, smokeTest: {{timeoutSeconds: {LIMIT}}}}}")
    assert outcome.code != 0
    assert time.monotonic() - before < 120  # and not the provider's ten minutes
    (name,) = [name for name, status in jobs(stack).items() if not status.get("succeeded")]
    assert f"the test pool's smoke test {name} did not succeed (limit: {LIMIT} s)" in log
    pod = f"pod {name}-"
    (reason,) = [line for line in log.splitlines() if line.strip().startswith(pod)]
    assert ": Unschedulable: 0/8 nodes are available: 1 cannot allocate all claims" in reason
    leaves = "CHG021 aks-dra:namespaces.scratch"
    assert leaves in log

    # Once the GPU is free the very same settings succeed, and then there is nothing left to do.
    stack.clean()
    outcome, log = variant.up(f"aks-dra:testPool: {{enabled: true, smokeTest: {{timeoutSeconds: {LIMIT * 5}}}}}")
    assert outcome.code == 0, log
    assert all(status["succeeded"] == 1 for status in jobs(stack).values())
    assert leaves in log  # a run that failed is not what the next one compares with
    outcome, log = variant.up(f"aks-dra:testPool: {{enabled: true, smokeTest: {{timeoutSeconds: {LIMIT * 5}}}}}")
    assert (outcome.code, outcome.changed) == (0, 0)
    assert leaves not in log


def test_a_container_that_fails_fails_up_with_what_it_said_and_is_tried_again(variant: Variant) -> None:
    stack = variant.stack
    stack.apply(failing_pods(), "default")
    stack.apply(
        {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "MutatingAdmissionPolicyBinding",
            "metadata": {"name": "fail-pods"},
            "spec": {"policyName": "fail-pods"},
        },
        "default",
    )
    eventually("the policy is in force", lambda: "local.aks-dra.dev/fail" in probe(stack) or None)
    setting = "aks-dra:testPool: {enabled: true, smokeTest: {timeoutSeconds: 100}}"
    outcome, log = variant.up(setting)
    assert outcome.code != 0
    assert "[Error] No devices found." in log
    assert "[BackoffLimitExceeded] Job has reached the specified backoff limit" in log
    (name,) = [name for name, status in jobs(stack).items() if status.get("failed")]
    assert f"the test pool's smoke test {name} did not succeed" in log

    stack.clean()
    eventually("the policy is gone", lambda: "local.aks-dra.dev/fail" not in probe(stack) or None)
    outcome, log = variant.up(setting)
    assert outcome.code == 0, log
    assert jobs(stack)[name]["succeeded"] == 1


def failing_pods() -> dict[str, Any]:
    """Marks the pods of the test pool's namespace, so that the simulated kubelet lets them fail."""
    annotation = 'Object{metadata: Object.metadata{annotations: {"local.aks-dra.dev/fail": "No devices found."}}}'
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingAdmissionPolicy",
        "metadata": {"name": "fail-pods"},
        "spec": {
            "failurePolicy": "Fail",
            "reinvocationPolicy": "Never",
            "matchConstraints": {
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "gpu-test"}},
                "resourceRules": [rule],
            },
            "mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": annotation}}],
        },
    }


def probe(stack: Stack) -> str:
    """What a pod in the test pool's namespace would look like."""
    arguments = ("run", "probe", "--image=registry.example/app", "--dry-run=server", "-n", "gpu-test", "-o", "json")
    return stack.kube(*arguments)


def test_it_goes_and_comes_without_touching_another_pool(variant: Variant) -> None:
    outcome, log = variant.up("aks-dra:testPool: {enabled: false}")
    assert outcome.code == 0, log
    # The pool and its component, two Jobs with a claim and their component, the claim; the namespaces stay.
    assert changes(outcome) == {"deleted": 9}
    assert "gputest" not in variant.stack.slices()
    assert variant.stack.kube("get", "namespace", "gpu-test", "-o", "name").strip() == "namespace/gpu-test"

    outcome, log = variant.up()
    assert outcome.code == 0, log
    assert changes(outcome) == {"created": 9}
    assert all(status["succeeded"] == 1 for status in jobs(variant.stack).values())
    eventually("its device is back", lambda: variant.stack.slices().get("gputest"))
