"""Where the real scheduler puts pods on the local stack, and which devices they hold."""

from __future__ import annotations

import json

import yaml

from tests.end_to_end.conftest import ROOT, Stack, eventually


def test_what_is_published(stack: Stack) -> None:
    slices = stack.slices()
    assert {pool: len(names) for pool, names in slices.items()} == {"a100": 2, "gputest": 1, "h100": 7, "t4": 2}
    assert slices["a100"] == ["gpu-0", "gpu-1"]
    assert all(name.startswith("gpu-0-mig-1g12gb-19-") for name in slices["h100"])


def test_template_for_one_a100(stack: Stack) -> None:
    stack.pod_of("train", template="one-a100")
    assert stack.pool_of("train") == "a100"
    [(node, device)] = stack.devices_of("train")
    assert node.startswith("aks-a100-")
    assert device in ("gpu-0", "gpu-1")


def test_two_pods_share_one_claim(stack: Stack) -> None:
    stack.pod_of("one", claim="shared-t4")
    stack.pod_of("two", claim="shared-t4")
    assert {stack.pool_of("one"), stack.pool_of("two")} <= {"t4"}
    assert stack.devices_of("one") == stack.devices_of("two")
    reserved = stack.get("resourceclaim", "shared-t4")["status"]["reservedFor"]
    assert sorted(entry["name"] for entry in reserved) == ["one", "two"]


def test_second_choice_when_the_first_is_exhausted(stack: Stack) -> None:
    for name in ("first", "second", "third"):
        stack.pod_of(name, template="a100-or-t4")
        stack.pool_of(name)
    assert [stack.pool_of(name) for name in ("first", "second", "third")] == ["a100", "a100", "t4"]


def test_mig_claims_get_different_partitions(stack: Stack) -> None:
    stack.pod_of("left", template="slice")
    stack.pod_of("right", template="slice")
    assert [stack.pool_of(name) for name in ("left", "right")] == ["h100", "h100"]
    left, right = stack.devices_of("left"), stack.devices_of("right")
    assert left[0][0] == right[0][0]
    assert left != right
    assert all("-mig-1g12gb-" in device for _, device in left + right)


def test_at_least_20gi_never_gets_a_t4(stack: Stack) -> None:
    for name in ("one", "two"):
        stack.pod_of(name, template="big")
        assert stack.pool_of(name) == "a100"
    stack.pod_of("three", template="big")  # T4s are free, and too small
    assert "cannot allocate all claims" in stack.pending_reason("three")


def test_legacy_pods_stay_on_the_device_plugin_pool(stack: Stack) -> None:
    names = [f"legacy{number}" for number in range(4)]
    for name in names:
        stack.legacy_pod(name)
    assert [stack.pool_of(name) for name in names] == ["t4old"] * 4
    stack.legacy_pod("fifth")  # the pool is full; whole GPUs are free on DRA nodes
    assert "Insufficient nvidia.com/gpu" in stack.pending_reason("fifth") or stack.pending_reason("fifth")
    assert "nodeName" not in stack.get("pod", "fifth")["spec"]


def test_legacy_requests_given_to_dra(stack: Stack) -> None:
    """What `legacyRequests: dra` changes in the cluster: the selector of one class."""

    def select(expression: str) -> None:
        body = {"spec": {"selectors": [{"cel": {"expression": expression}}]}}
        stack.kube("patch", "deviceclass", "aks-dra-legacy-requests", "--type=merge", "-p", json.dumps(body))

    select("device.driver == 'gpu.nvidia.com' && device.attributes['gpu.nvidia.com'].type == 'gpu'")
    try:
        names = [f"legacy{number}" for number in range(6)]
        for name in names:
            stack.legacy_pod(name)
        pools = [stack.pool_of(name) for name in names]
        assert set(pools) - {"t4old"} <= {"a100", "t4"}
        assert pools.count("t4old") <= 4
    finally:
        stack.clean()
        select("false")


def test_class_that_matches_nothing_leaves_its_pod_pending(stack: Stack) -> None:
    expression = (
        "device.driver == 'gpu.nvidia.com' && device.capacity['gpu.nvidia.com'].memory.isGreaterThan(quantity('200Gi'))"
    )
    stack.apply({
        "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "huge"},
        "spec": {"selectors": [{"cel": {"expression": expression}}]},
    })  # fmt: skip
    stack.apply({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": {"name": "huge"},
        "spec": {"spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "huge"}}]}}},
    })  # fmt: skip
    stack.pod_of("waits", template="huge")
    assert "cannot allocate all claims" in stack.pending_reason("waits")


def test_the_examples_of_the_readme(stack: Stack) -> None:
    for manifest in yaml.safe_load_all((ROOT / "examples" / "pods.yaml").read_text()):
        stack.apply(manifest)
    assert [stack.pool_of(name) for name in ("train", "infer", "old")] == ["a100", "h100", "t4old"]
    notebooks = eventually("three notebooks", lambda: running(stack, "app=notebooks", 3))
    assert {stack.devices_of(pod)[0] for pod in notebooks} == {stack.devices_of(notebooks[0])[0]}


def running(stack: Stack, selector: str, count: int) -> list[str] | None:
    """Names of the running pods, once there are as many."""
    items = json.loads(stack.kube("get", "pods", "-n", "ml", "-l", selector, "-o", "json"))["items"]
    names = [item["metadata"]["name"] for item in items if item["status"].get("phase") == "Running"]
    return names if len(names) == count else None
