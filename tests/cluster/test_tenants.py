"""The policies and quotas of tenants on the real API server, and what the real scheduler makes of them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from kubernetes.client.exceptions import ApiException

from tests.cluster import installed
from tests.cluster.conftest import TestCluster, make_node
from tests.unit.planning_help import planned

pytestmark = pytest.mark.cluster

CLAIM, TEMPLATE, POD = "resourceclaims", "resourceclaimtemplates", "pods"
STACK = """
aks-dra:cluster: {{access: {{azureRbac: true}}, kubernetesVersion: "1.36"}}
aks-dra:pools:
  t4: {{vmSize: Standard_NC4as_T4_v3}}
  h100: {{vmSize: Standard_NC40ads_H100_v5}}
aks-dra:testPool: {{enabled: true, namespace: {name}-pool}}
aks-dra:deviceClasses:
  fpga: {{driver: fpga.example.com, cel: ["true"]}}
  somebody-elses: {{driver: npu.example.com, create: false}}
  small: {{require: {{memory: "<=20Gi"}}, extendedResourceName: example.com/small-gpu}}
aks-dra:namespaces:
  {name}: {{allow: [t4, small], quota: {{t4: 2, small: 1}}, labels: {{tenants: {name}}}}}
  {name}-pool: {{labels: {{tenants: {name}}}}}
  {name}-none: {{labels: {{tenants: {name}, resource.kubernetes.io/admin-access: "true"}}}}
  {name}-watch: {{adminAccess: true, labels: {{tenants: {name}}}}}
"""


@dataclass
class Tenants:
    """The namespaces of a test: its own (t4, small), -pool, -none (no list) and -watch (admin access)."""

    cluster: TestCluster

    def namespace(self, which: str = "") -> str:
        return self.cluster.namespace + (f"-{which}" if which else "")

    def create(self, kind: str, spec: dict[str, Any], which: str = "", *, really: bool = False, **more: Any) -> str:
        """Asks the API server for an object; gives its refusal, or ""."""
        group = "/api/v1" if kind == POD else "/apis/resource.k8s.io/v1"
        query = "" if really else "?dryRun=All"
        metadata = more or {"generateName": "x-"}
        path = f"{group}/namespaces/{self.namespace(which)}/{kind}{query}"
        return self.ask("POST", path, {"metadata": metadata, "spec": spec})

    def ask(self, method: str, path: str, body: dict[str, Any], content: str = "application/json") -> str:
        api = self.cluster.api
        headers = {"Authorization": api.token, "Accept": "application/json", "Content-Type": content}
        answer = api.client.call_api(method, f"{api.server}{path}", headers, body)
        if answer.status >= 300:
            text: bytes = answer.read()  # type: ignore[no-untyped-call]
            return f"{answer.status} {json.loads(text)['message']}"
        return ""

    def claim(self, *requests: dict[str, Any], which: str = "", **more: Any) -> str:
        return self.create(CLAIM, claim_of(*requests), which, **more)


def claim_of(*requests: dict[str, Any]) -> dict[str, Any]:
    return {"devices": {"requests": [{"name": f"r{number}", **request} for number, request in enumerate(requests)]}}


def exactly(device_class: str, **more: Any) -> dict[str, Any]:
    return {"exactly": {"deviceClassName": device_class, **more}}


def ranked(*classes: str) -> dict[str, Any]:
    return {"firstAvailable": [{"name": f"c{n}", "deviceClassName": name} for n, name in enumerate(classes)]}


def pod_of(resource: str, where: str = "containers") -> dict[str, Any]:
    plain = {"name": "plain", "image": "example.invalid/none"}
    asks = {"name": "asks", "image": "example.invalid/none", "resources": {"limits": {resource: "1"}}}
    spec: dict[str, Any] = {"containers": [plain], "tolerations": [{"operator": "Exists"}]}
    spec[where] = [*spec.get(where, []), asks]
    return spec


@pytest.fixture
def tenants(cluster: TestCluster, tmp_path: Path) -> Tenants:
    """Classes, namespaces, quotas and policies as planned; the bindings look at this test's namespaces alone."""
    plan = planned(tmp_path, STACK.format(name=cluster.namespace), access=False)
    found = Tenants(cluster)
    for entry in plan.namespaces:
        if entry.manifest["metadata"]["name"].startswith(cluster.namespace):
            cluster.apply(entry.manifest)
    for entry in plan.objects:
        manifest = dict(entry.manifest)
        if entry.kind == "ValidatingAdmissionPolicyBinding":
            only = {"namespaceSelector": {"matchLabels": {"tenants": cluster.namespace}}}
            manifest["spec"] = {**manifest["spec"], "matchResources": only}
        if entry.kind in ("DeviceClass", "ResourceQuota") or entry.key.startswith("policy-"):
            cluster.apply(manifest)
    cluster.until(lambda: found.claim(exactly("gpu.nvidia.com")), "claims are looked at")
    cluster.until(lambda: found.create(TEMPLATE, {"spec": claim_of(exactly("gpu.nvidia.com"))}), "templates")
    cluster.until(lambda: found.create(POD, pod_of("deviceclass.resource.kubernetes.io/gpu.nvidia.com")), "pods")
    return found


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
