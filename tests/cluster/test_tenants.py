"""The policies and quotas of tenants on the real API server, and what the real scheduler makes of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cluster import installed
from tests.cluster.conftest import TestCluster, make_node
from tests.cluster.tenants_help import CLAIM, POD, TEMPLATE, Tenants, claim_of, exactly, pod_of, ranked, tenants_of


@pytest.fixture
def tenants(cluster: TestCluster, tmp_path: Path) -> Tenants:
    return tenants_of(cluster, tmp_path)


def test_classes_outside_of_the_list_are_refused_wherever_they_are_named(tenants: Tenants) -> None:
    name = tenants.namespace()
    may = "(it may use small, t4; annotation aks-dra.dev/allowed-device-classes of the namespace)"

    def text(kind: str, what: str) -> str:
        return f"may not use device class {what} {may}"

    for kind, refusal in (
        ("claims", tenants.claim(exactly("gpu.nvidia.com"))),
        ("templates", tenants.create(TEMPLATE, {"spec": claim_of(exactly("gpu.nvidia.com"))})),
        ("claims", tenants.claim(ranked("t4", "gpu.nvidia.com"))),
        ("templates", tenants.create(TEMPLATE, {"spec": claim_of(ranked("t4", "gpu.nvidia.com"))})),
        ("claims", tenants.claim(exactly("t4"), ranked("small", "gpu.nvidia.com"))),
    ):
        assert refusal.startswith("403 "), refusal
        assert f"ValidatingAdmissionPolicy 'aks-dra-device-classes-{kind}'" in refusal
        assert refusal.endswith(f"denied request: namespace {name} {text(kind, 'gpu.nvidia.com')}"), refusal
    both = tenants.claim(exactly("mig.nvidia.com"), ranked("h100-nvl", "t4", "gpu.nvidia.com"))
    assert both.endswith(f"namespace {name} {text('claims', 'mig.nvidia.com, h100-nvl, gpu.nvidia.com')}")
    assert tenants.claim(exactly("aks-dra-legacy-requests")).startswith("403 ")
    # What the scheduler writes on its own claims is no way in.
    mark: dict[str, Any] = {
        "generateName": "x-",
        "annotations": {"resource.kubernetes.io/extended-resource-claim": "true"},
    }
    assert tenants.claim(exactly("gpu.nvidia.com"), **mark).startswith("403 ")


def test_a_namespace_without_a_list_may_use_no_gpu_class(tenants: Tenants) -> None:
    refusal = tenants.claim(exactly("t4"), which="none")
    assert refusal.endswith(
        f"namespace {tenants.namespace('none')} may not use device class t4 (it may use none; annotation "
        "aks-dra.dev/allowed-device-classes of the namespace)"
    )


def test_what_is_allowed_passes_and_so_do_other_drivers_and_the_test_pool(tenants: Tenants) -> None:
    assert tenants.claim(exactly("t4"), ranked("small", "t4")) == ""
    assert tenants.create(CLAIM, {"devices": {}}) == ""
    assert tenants.create(CLAIM, {}) == ""
    assert tenants.create(TEMPLATE, {"spec": {}}) == ""
    assert tenants.create(TEMPLATE, {"spec": claim_of(exactly("small"))}) == ""
    assert tenants.claim(exactly("fpga")) == ""
    assert tenants.claim(exactly("fpga"), which="none") == ""
    assert tenants.claim(exactly("somebody-elses"), which="none") == ""
    assert tenants.claim(ranked("somebody-elses", "compute-domain-default-channel.nvidia.com"), which="none") == ""
    assert tenants.create(POD, pod_of("deviceclass.resource.kubernetes.io/somebody-elses"), "none") == ""
    assert tenants.claim(exactly("gpu.nvidia.com"), which="pool") == ""
    assert tenants.create(POD, pod_of("cpu")) == ""
    assert tenants.create(POD, pod_of("example.com/other")) == ""


@pytest.mark.parametrize("where", ["containers", "initContainers"])
def test_pods_with_an_extended_resource_of_a_class(tenants: Tenants, where: str) -> None:
    refusal = tenants.create(POD, pod_of("deviceclass.resource.kubernetes.io/h100-nvl", where))
    assert refusal.startswith("403 ")
    assert refusal.endswith(
        f"namespace {tenants.namespace()} may not use deviceclass.resource.kubernetes.io/h100-nvl of device class "
        "h100-nvl (it may use small, t4; annotation aks-dra.dev/allowed-device-classes of the namespace)"
    )
    assert "nvidia.com/gpu of device class aks-dra-legacy-requests" in tenants.create(
        POD, pod_of("nvidia.com/gpu", where)
    )
    assert "example.com/small-gpu" in tenants.create(POD, pod_of("example.com/small-gpu", where), "none")
    assert tenants.create(POD, pod_of("deviceclass.resource.kubernetes.io/t4", where)) == ""
    assert tenants.create(POD, pod_of("example.com/small-gpu", where)) == ""


@pytest.mark.parametrize("resource", ["deviceclass.resource.kubernetes.io/t4", "example.com/small-gpu"])
def test_the_schedulers_own_claim_of_an_allowed_class_passes(tenants: Tenants, resource: str) -> None:
    cluster = tenants.cluster
    make_node(cluster, "t4", "Standard_NC4as_T4_v3")
    cluster.apply(installed.dra_plugin("/", {"test": cluster.namespace}))
    cluster.until(lambda: cluster.slices(f"{cluster.namespace}-t4"))
    spec = {**pod_of(resource), "nodeSelector": {"test": cluster.namespace}}
    cluster.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec})
    cluster.until(lambda: cluster.get("Pod", "p")["status"]["phase"] == "Running", "the pod runs")
    status = cluster.get("Pod", "p")["status"]["extendedResourceClaimStatus"]
    claim = cluster.get("ResourceClaim", status["resourceClaimName"])
    served = {"deviceclass.resource.kubernetes.io/t4": "t4", "example.com/small-gpu": "small"}[resource]
    assert [r["exactly"]["deviceClassName"] for r in claim["spec"]["devices"]["requests"]] == [served]
    assert [r["device"] for r in claim["status"]["allocation"]["devices"]["results"]] == ["gpu-0"]


def test_a_list_that_shrinks_leaves_the_schedulers_claim_refused(tenants: Tenants) -> None:
    """A pod that was accepted before cannot reach the class any more."""
    cluster = tenants.cluster
    resource = "deviceclass.resource.kubernetes.io/t4"
    spec = {**pod_of(resource), "nodeSelector": {"test": cluster.namespace}}
    cluster.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec})
    annotation = {"metadata": {"annotations": {"aks-dra.dev/allowed-device-classes": "small"}}}
    path = f"/api/v1/namespaces/{cluster.namespace}"
    cluster.api.call("PATCH", path, annotation, "application/merge-patch+json")
    cluster.until(lambda: tenants.claim(exactly("t4")), "the shorter list is in force")
    make_node(cluster, "t4", "Standard_NC4as_T4_v3")
    cluster.apply(installed.dra_plugin("/", {"test": cluster.namespace}))

    def refusal() -> str:
        events = cluster.api.call("GET", f"/api/v1/namespaces/{cluster.namespace}/events")["items"]
        return next((e["message"] for e in events if "may not use device class t4" in e.get("message", "")), "")

    assert "aks-dra-device-classes-claims" in cluster.until(refusal, "the scheduler says why")
    assert cluster.get("Pod", "p")["status"]["phase"] == "Pending"


def test_admin_access_needs_the_stack_and_not_only_the_label(tenants: Tenants) -> None:
    look = exactly("gpu.nvidia.com", adminAccess=True)
    assert tenants.claim(look, which="watch") == ""
    assert "may not use device class" in tenants.claim(exactly("gpu.nvidia.com"), which="watch")
    refusal = tenants.claim(look, which="none")
    assert refusal.endswith(
        f"namespace {tenants.namespace('none')} may not ask for admin access to device class gpu.nvidia.com"
    )
    assert tenants.claim(exactly("fpga", adminAccess=True), which="none") == ""
    assert "may not ask for admin access to device class h300" in tenants.claim(
        exactly("h300", adminAccess=True), which="none"
    )


def test_a_quota_refuses_what_is_too_much(tenants: Tenants) -> None:
    def metadata(name: str) -> dict[str, Any]:
        return {"name": name, "namespace": tenants.namespace()}

    assert tenants.claim(exactly("small"), really=True, **metadata("one")) == ""
    refusal = tenants.claim(exactly("small"), really=True, **metadata("two"))
    assert refusal.startswith("403 ")
    assert "exceeded quota: aks-dra-device-classes" in refusal
    full = "requests.deviceclass.resource.kubernetes.io/small=1,small.deviceclass.resource.k8s.io/devices=1"
    assert f"requested: {full}, used: {full}, limited: {full}" in refusal
    assert "exceeded quota" in tenants.claim(exactly("t4", count=3))
    # What one may not expect: every device counts 32, and every alternative counts.
    assert "t4.deviceclass.resource.k8s.io/devices=32" in tenants.claim(exactly("t4", allocationMode="All"))
    assert "exceeded quota" in tenants.claim(ranked("t4", "small"))
    assert tenants.claim(ranked("t4", "fpga")) == ""
    assert tenants.create(POD, pod_of("deviceclass.resource.kubernetes.io/t4")) == ""
    many = pod_of("deviceclass.resource.kubernetes.io/t4")
    many["containers"][1]["resources"]["limits"] = {"deviceclass.resource.kubernetes.io/t4": "3"}
    assert "requests.deviceclass.resource.kubernetes.io/t4=3" in tenants.create(POD, many)
