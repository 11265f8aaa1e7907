"""A class that does not exist yet, and ways to name one that the API server itself leaves nobody."""

from __future__ import annotations

from pathlib import Path

import pytest
from kubernetes.client.exceptions import ApiException

from tests.cluster import installed
from tests.cluster.conftest import TestCluster, make_node
from tests.cluster.tenants_help import CLAIM, POD, TEMPLATE, Tenants, claim_of, exactly, pod_of, ranked, tenants_of


@pytest.fixture
def tenants(cluster: TestCluster, tmp_path: Path) -> Tenants:
    return tenants_of(cluster, tmp_path)


@pytest.mark.parametrize("which", ["", "none"])
def test_a_class_that_does_not_exist_yet_is_refused_in_every_way_to_name_it(tenants: Tenants, which: str) -> None:
    """Or the claim would be there, accepted, on the day the class comes."""
    may = "it may use none" if which else "it may use small, t4"
    resource = "deviceclass.resource.kubernetes.io/h300"
    by_request = pod_of("cpu")
    by_request["containers"][1]["resources"] = {"limits": {resource: "1"}, "requests": {resource: "1"}}
    for kind, spec in (
        (CLAIM, claim_of(exactly("h300"))),
        (CLAIM, claim_of(ranked("h300"))),
        (TEMPLATE, {"spec": claim_of(exactly("h300"))}),
        (TEMPLATE, {"spec": claim_of(ranked("h300"))}),
        (POD, pod_of(resource)),
        (POD, pod_of(resource, "initContainers")),
        (POD, by_request),
    ):
        refusal = tenants.create(kind, spec, which)
        assert refusal.startswith("403 "), (kind, spec, refusal)
        assert f"device class h300 ({may}; annotation" in refusal


def test_a_pod_that_waits_for_a_resource_name_gets_no_class_that_comes_with_it_later(tenants: Tenants) -> None:
    """No policy can know the name beforehand; the scheduler's own claim names the class, and is refused."""
    cluster = tenants.cluster
    resource = f"example.com/{cluster.namespace}"
    spec = {**pod_of(resource), "nodeSelector": {"test": cluster.namespace}}
    cluster.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec})
    later = f"{cluster.namespace}-later"
    selectors = [{"cel": {"expression": "device.driver == 'gpu.nvidia.com'"}}]
    cluster.apply(
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "DeviceClass",
            "metadata": {"name": later},
            "spec": {"selectors": selectors, "extendedResourceName": resource},
        }
    )
    make_node(cluster, "t4", "Standard_NC4as_T4_v3")
    cluster.apply(installed.dra_plugin("/", {"test": cluster.namespace}))

    def refusal() -> str:
        events = cluster.api.call("GET", f"/api/v1/namespaces/{cluster.namespace}/events")["items"]
        return next((e["message"] for e in events if f"may not use device class {later}" in e.get("message", "")), "")

    assert "aks-dra-device-classes-claims" in cluster.until(refusal, "the scheduler says why")
    assert cluster.get("Pod", "p")["status"]["phase"] == "Pending"


def test_the_api_server_itself_lets_nothing_name_a_class_after_its_creation(tenants: Tenants) -> None:
    """So the policies need not look at updates, which are mostly the system's."""
    cluster = tenants.cluster
    resource = "deviceclass.resource.kubernetes.io/h300"
    group = {"apiVersion": "resource.k8s.io/v1", "metadata": {"name": "x"}}
    cluster.apply({**group, "kind": "ResourceClaim", "spec": claim_of(exactly("t4"))})
    cluster.apply({**group, "kind": "ResourceClaimTemplate", "spec": {"spec": claim_of(exactly("t4"))}})
    cluster.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": pod_of("cpu")})
    pod_spec = {"spec": {"containers": [{"name": "asks", "resources": {"limits": {"cpu": "1", resource: "1"}}}]}}
    at = f"namespaces/{cluster.namespace}"
    for path, body, answer in (
        (f"/apis/resource.k8s.io/v1/{at}/resourceclaims/x", {"spec": claim_of(exactly("h300"))}, "immutable"),
        (
            f"/apis/resource.k8s.io/v1/{at}/resourceclaimtemplates/x",
            {"spec": {"spec": claim_of(exactly("h300"))}},
            "immutable",
        ),
        (f"/api/v1/{at}/pods/x", pod_spec, "pod updates may not change fields other than"),
        (f"/api/v1/{at}/pods/x/resize", pod_spec, "only cpu and memory resources are mutable"),
    ):
        content = "merge-patch" if "resource.k8s.io" in path else "strategic-merge-patch"
        assert answer in tenants.ask("PATCH", path, body, f"application/{content}+json"), path


def test_the_api_server_itself_takes_no_extended_resources_of_a_whole_pod(tenants: Tenants) -> None:
    whole = {**pod_of("cpu"), "resources": {"limits": {"deviceclass.resource.kubernetes.io/t4": "1"}}}
    refusal = tenants.create(POD, whole)
    assert refusal.startswith("422 ")
    assert 'Unsupported value: "deviceclass.resource.kubernetes.io/t4"' in refusal


def test_the_api_server_itself_takes_no_resources_of_ephemeral_containers(tenants: Tenants) -> None:
    """So the policy on pods need not look at them, and debugging a running pod is never in its way."""
    cluster = tenants.cluster
    cluster.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": pod_of("cpu")})
    resources = {"limits": {"deviceclass.resource.kubernetes.io/h100-nvl": "1"}}
    debug = {"name": "debug", "image": "example.invalid/none", "resources": resources}
    path = f"/api/v1/namespaces/{cluster.namespace}/pods/p/ephemeralcontainers"
    body = {"spec": {"ephemeralContainers": [debug]}}
    with pytest.raises(ApiException) as refused:
        cluster.api.call("PATCH", path, body, "application/strategic-merge-patch+json")
    assert "cannot be set for an Ephemeral Container" in str(refused.value)
