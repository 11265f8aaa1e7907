"""Claims and classes against the API server: what we emit it takes unchanged, what we refuse it refuses or drops."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kubernetes.client.exceptions import ApiException

from aks_dra.model.plan import Plan
from local import kubernetes
from local.nodes.cluster import Cluster
from tests.cluster.conftest import TestCluster
from tests.stacks import planned

API = "/apis/resource.k8s.io/v1"
PLURAL = {"ResourceClaim": "resourceclaims", "ResourceClaimTemplate": "resourceclaimtemplates"}
POOLS = """
aks-dra:pools:
  h100: {vmSize: Standard_NC40ads_H100_v5, sharing: {mode: mig, layout: all-1g.12gb}}
  a100: {vmSize: Standard_NC48ads_A100_v4}
  t4: {vmSize: Standard_NC4as_T4_v3}
"""
GPU = "{apiVersion: resource.nvidia.com/v1beta1, kind: GpuConfig}"
WITH_LABEL = {"resource.kubernetes.io/admin-access": "true"}


def post(api: Cluster, manifest: dict[str, Any], namespace: str) -> dict[str, Any]:
    """What the server would store."""
    body = copy.deepcopy(manifest)
    where = "deviceclasses"
    if body["kind"] in PLURAL:
        body["metadata"]["namespace"] = namespace
        where = f"namespaces/{namespace}/{PLURAL[body['kind']]}"
    return dict(api.call("POST", f"{API}/{where}?dryRun=All&fieldValidation=Strict", body))


def refusal(api: Cluster, manifest: dict[str, Any], namespace: str) -> str:
    """The server's words; "" when it takes the object."""
    try:
        post(api, manifest, namespace)
    except ApiException as error:
        return f"{error.status} {error.reason} {error.body or ''}"
    return ""


def manifests(plan: Plan, kinds: tuple[str, ...] = (*PLURAL, "DeviceClass")) -> list[dict[str, Any]]:
    # As Pulumi sends them: plain data.
    return [json.loads(json.dumps(dict(entry.manifest))) for entry in plan.objects if entry.kind in kinds]


def claim_spec(manifest: dict[str, Any]) -> Any:
    """The claim's own spec, also of a template, beside which the server puts an empty metadata."""
    return manifest["spec"]["spec"] if manifest["kind"] == "ResourceClaimTemplate" else manifest["spec"]


SHAPES = [
    "{deviceClass: t4}",
    "{deviceClass: t4, shareAcross: pods}",
    "{deviceClass: a100-80gb, count: 2, cel: [\"device.attributes['gpu.nvidia.com'].type == 'gpu'\"]}",
    "{deviceClass: a100-80gb, all: true}",
    "{firstAvailable: [{deviceClass: h100-nvl-1g.12gb}, {deviceClass: t4, name: whole}], sharing: {mode: mps}}",
    "{firstAvailable: [{deviceClass: a100-80gb, all: true}, {deviceClass: t4, tolerations: [{operator: Exists}]}]}",
    "{requests: {a: {deviceClass: a100-80gb},"
    " b: {firstAvailable: [{deviceClass: a100-80gb, capacity: {memory: 4Gi}}]}},"
    " constraints: [{requests: [a, b/a100-80gb], matchAttribute: gpu.nvidia.com/productName}]}",
    "{deviceClass: t4, tolerations: [{key: example.com/a, value: b, effect: NoExecute, tolerationSeconds: 30},"
    " {key: example.com/b, operator: Exists}, {key: c, effect: NoSchedule}], capacity: {memory: 4Gi}}",
    "{deviceClass: mig.nvidia.com, count: 2, constraints: [{distinctAttribute: gpu.nvidia.com/uuid}]}",
    "{deviceClass: t4, sharing: {mode: timeSlicing, interval: Short}, shareAcross: pods}",
    f"{{deviceClass: t4, config: [{{requests: [gpu], parameters: {GPU}}}, {{parameters: {GPU}}}]}}",
    "{raw: {devices: {requests: [{name: any, firstAvailable: [{name: a, deviceClassName: t4, allocationMode: All},"
    " {name: b, deviceClassName: t4}]}]}}}",
    "{raw: {kind: ResourceClaim, metadata: {labels: {team: ml}},"
    " spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: t4}}]}}}}",
]


@pytest.mark.parametrize("claim", SHAPES)
def test_the_server_stores_what_we_send(tmp_path: Path, cluster: TestCluster, claim: str) -> None:
    """Nothing is filled in either: a field that the server adds would be a difference in every later preview."""
    plan = planned(tmp_path, f"{POOLS}aks-dra:claims: {{ml: {{c: {claim}}}}}")
    assert plan.errors == ()
    [manifest] = manifests(plan, tuple(PLURAL))
    assert claim_spec(post(cluster.api, manifest, cluster.namespace)) == claim_spec(manifest)


CLASSES = (
    """
aks-dra:gpu: {extendedResources: true}
aks-dra:deviceClasses:
  any: {require: {memory: ">=20Gi", type: gpu}, extendedResourceName: example.com/gpu, labels: {team: ml}}
  shared: {require: {type: mig}, sharing: {mode: mps, activeThreadPercentage: 50, pinnedMemoryLimit: 1Gi}}
  sliced: {require: {type: gpu}, sharing: {mode: timeSlicing, interval: Long}}
  nic: {driver: nic.example.com, cel: ["device.attributes['nic.example.com'].speed > 100"],
        config: [{driver: nic.example.com, parameters: {mtu: 9000}}]}
  long: {require: {type: gpu}, extendedResourceName: """
    + f"example.com/{'x' * 63}"
    + "}\n"
)


def test_the_server_stores_our_classes(tmp_path: Path, cluster: TestCluster) -> None:
    plan = planned(tmp_path, POOLS + CLASSES)
    assert plan.errors == ()
    sent = manifests(plan, ("DeviceClass",))
    assert len(sent) == 9
    for manifest in sent:
        assert post(cluster.api, manifest, "")["spec"] == manifest["spec"]


REFUSED = [
    # (claim, our code, the server's words)
    ("{firstAvailable: [" + ", ".join(["{deviceClass: t4}"] * 9) + "]}", "CLM002", "must have at most 8 items"),
    ("{deviceClass: a100-80gb, count: -1}", "CLM005", "must be greater than zero"),
    ("{requests: {Big_One: {deviceClass: t4}}}", "CLM019", "name"),
    ("{firstAvailable: [{deviceClass: t4, name: a}, {deviceClass: t4, name: a}]}", "CLM020", "Duplicate"),
    ("{deviceClass: t4, tolerations: [{key: a b, operator: Exists}]}", "CON010", "tolerations"),
    ("{deviceClass: t4, constraints: [{}]}", "CON002", "exactly one"),
    ("{deviceClass: t4, constraints: [{requests: [gup], matchAttribute: gpu.nvidia.com/uuid}]}", "CON003", "gup"),
    ("{deviceClass: mig.nvidia.com, constraints: [{matchAttribute: parentUUID}]}", "CON005", "matchAttribute"),
    ("{deviceClass: t4, tolerations: [{key: a, operator: Exists, value: b}]}", "CON010", "value"),
    ("{deviceClass: t4, capacity: {memory: 4GB}}", "CON012", "quantities"),
    (f"{{deviceClass: t4, config: [{{requests: [gup], parameters: {GPU}}}]}}", "CFG002", "gup"),
    ("{deviceClass: t4, config: [{driver: '', parameters: {}}]}", "CFG005", "driver"),
    ("{deviceClass: t4, cel: [\"device.attributes['gpu.nvidia.com'].memory ==\"]}", "CLM017", "cel"),
    ("{requests: {" + ", ".join(f"r{n}: {{deviceClass: t4}}" for n in range(33)) + "}}", "CLM010", "at most 32"),
]


@pytest.mark.parametrize(("claim", "code", "words"), REFUSED, ids=[f"{r[1]}-{n}" for n, r in enumerate(REFUSED)])
def test_what_we_refuse_the_server_refuses(
    tmp_path: Path, cluster: TestCluster, claim: str, code: str, words: str
) -> None:
    plan = planned(tmp_path, f"{POOLS}aks-dra:claims: {{ml: {{c: {claim}}}}}")
    assert code in {finding.code for finding in plan.errors}
    [manifest] = manifests(plan, tuple(PLURAL))
    said = refusal(cluster.api, manifest, cluster.namespace)
    assert said.startswith(("422", "400")), said
    assert words in said


RAW_REFUSED = [
    ({"name": "gpu", "deviceClassName": "t4"}, "RAW001"),
    ({"name": "gpu", "exactly": {"deviceClassName": "t4"}, "firstAvailable": [{"name": "a", "deviceClassName": "t4"}]},
     "RAW006"),
    ({"name": "gpu"}, "RAW006"),
    ({"name": "gpu", "exactly": {}}, "RAW005"),
    ({"exactly": {"deviceClassName": "t4"}}, "RAW005"),
    ({"name": "gpu", "exactly": {"deviceClassName": "t4", "allocationMode": "All", "count": 2}}, "CLM011"),
    ({"name": "gpu", "firstAvailable": [{"name": "a", "deviceClassName": "t4", "adminAccess": True}]}, "RAW005"),
    ({"name": "gpu", "exactly": {"deviceClassName": "t4", "allocationMode": "Every"}}, "RAW005"),
]  # fmt: skip


@pytest.mark.parametrize(("request_body", "code"), RAW_REFUSED)
def test_raw_requests_that_we_refuse_the_server_refuses(
    tmp_path: Path, cluster: TestCluster, request_body: dict[str, Any], code: str
) -> None:
    spec = {"devices": {"requests": [request_body]}}
    plan = planned(tmp_path, f"{POOLS}aks-dra:claims: {{ml: {{c: {{raw: {json.dumps(spec)}}}}}}}")
    assert code in {finding.code for finding in plan.errors}
    claim = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "c"}, "spec": spec}
    assert refusal(cluster.api, claim, cluster.namespace).startswith(("422", "400"))


@pytest.mark.parametrize("version", ["v1beta1", "v1beta2"])
def test_the_beta_versions_are_not_served(cluster: TestCluster, version: str) -> None:
    with pytest.raises(ApiException) as error:
        cluster.api.call("GET", f"/apis/resource.k8s.io/{version}/deviceclasses")
    assert error.value.status == 404


NAMES = [
    "gpu", "kubernetes.io/gpu", "gpu.kubernetes.io/gpu", "requests.example.com/gpu", "nvidia.com/mig-1g.10gb+me",
    "deviceclass.resource.kubernetes.io/t4", "Example.com/gpu", "example.com/" + "x" * 64,
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_resource_names_that_we_refuse_the_server_refuses(tmp_path: Path, cluster: TestCluster, name: str) -> None:
    body = f"{POOLS}aks-dra:deviceClasses: {{any: {{require: {{type: gpu}}, extendedResourceName: {name}}}}}"
    plan = planned(tmp_path, body)
    assert {finding.code for finding in plan.errors} & {"EXT001", "ALL004"}
    [manifest] = [m for m in manifests(plan, ("DeviceClass",)) if m["metadata"]["name"] == "any"]
    assert refusal(cluster.api, manifest, "").startswith("422")


def test_more_than_32_devices_pass_the_server_and_not_us(tmp_path: Path, cluster: TestCluster) -> None:
    """The scheduler is the one that gives up on them."""
    plan = planned(tmp_path, f"{POOLS}aks-dra:claims: {{ml: {{c: {{deviceClass: t4, count: 33}}}}}}")
    assert [finding.code for finding in plan.errors] == ["CLM006"]
    [manifest] = manifests(plan, tuple(PLURAL))
    assert refusal(cluster.api, manifest, cluster.namespace) == ""


@pytest.mark.parametrize("labels", [{}, WITH_LABEL, {"resource.kubernetes.io/admin-access": "True"}])
def test_admin_access_rests_on_the_namespaces_label(
    tmp_path: Path, cluster: TestCluster, labels: dict[str, str]
) -> None:
    body = f"""{POOLS}
aks-dra:namespaces: {{ml: {{labels: {json.dumps(labels)}}}}}
aks-dra:claims: {{ml: {{c: {{deviceClass: t4, adminAccess: true}}}}}}
"""
    plan = planned(tmp_path, body)
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": cluster.namespace, "labels": labels}}
    cluster.api.call("PATCH", f"/api/v1/namespaces/{cluster.namespace}", namespace, "application/merge-patch+json")
    [manifest] = manifests(plan, tuple(PLURAL))
    refused = refusal(cluster.api, manifest, cluster.namespace)
    assert bool(refused) == (labels != WITH_LABEL)
    assert ("CLM004" in {finding.code for finding in plan.errors}) == bool(refused)


@pytest.fixture(scope="module")
def older(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A control plane that follows Kubernetes 1.35."""
    root = tmp_path_factory.mktemp("older")
    try:
        yield Cluster(kubernetes.start(root, "1.35", durable=False))
    finally:
        kubernetes.stop(root)


DROPPED = [
    ("{deviceClass: t4, tolerations: [{operator: Exists}]}", "CON009", "tolerations"),
    ("{deviceClass: t4, capacity: {memory: 4Gi}}", "CON011", "capacity"),
]


def test_what_1_35_drops_in_silence_is_an_error_of_ours(tmp_path: Path, older: Cluster) -> None:
    cluster = 'aks-dra:cluster: {kubernetesVersion: "1.35", access: {azureRbac: true}}'
    for claim, code, field in DROPPED:
        plan = planned(tmp_path, f"{cluster}{POOLS}aks-dra:claims: {{ml: {{c: {claim}}}}}")
        assert [finding.code for finding in plan.errors] == [code]
        [manifest] = manifests(plan, tuple(PLURAL))
        stored = post(older, manifest, "default")["spec"]["spec"]["devices"]["requests"][0]["exactly"]
        assert field not in stored
    plan = planned(tmp_path, cluster + POOLS + CLASSES)
    assert {finding.code for finding in plan.errors} == {"ALL003"}
    [manifest] = [m for m in manifests(plan, ("DeviceClass",)) if m["metadata"]["name"] == "any"]
    assert "extendedResourceName" not in post(older, manifest, "")["spec"]
    distinct = "{deviceClass: mig.nvidia.com, constraints: [{distinctAttribute: gpu.nvidia.com/uuid}]}"
    plan = planned(tmp_path, f"{cluster}{POOLS}aks-dra:claims: {{ml: {{c: {distinct}}}}}")
    assert [finding.code for finding in plan.errors] == ["CON004"]
    assert refusal(older, manifests(plan, tuple(PLURAL))[0], "default").startswith("422")


def test_ranked_claims_of_1_35_are_stored_as_sent(tmp_path: Path, older: Cluster) -> None:
    cluster = 'aks-dra:cluster: {kubernetesVersion: "1.35", access: {azureRbac: true}}'
    claim = "{firstAvailable: [{deviceClass: a100-80gb, count: 2}, {deviceClass: t4}], sharing: {mode: mps}}"
    plan = planned(tmp_path, f"{cluster}{POOLS}aks-dra:claims: {{ml: {{c: {claim}}}}}")
    assert plan.errors == ()
    [manifest] = manifests(plan, tuple(PLURAL))
    assert claim_spec(post(older, manifest, "default")) == claim_spec(manifest)
