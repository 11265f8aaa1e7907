"""Claims from each way to write them, as whole manifests, and what a plan says of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from aks_dra.report.tables import claim_rows
from tests.stacks import planned

POOLS = """
aks-dra:pools:
  h100: {vmSize: Standard_NC40ads_H100_v5, sharing: {mode: mig, layout: all-1g.12gb}}
  a100: {vmSize: Standard_NC48ads_A100_v4}
  t4: {vmSize: Standard_NC4as_T4_v3}
"""
MPS = {"strategy": "MPS"}
SLICES = {"strategy": "TimeSlicing", "timeSlicingConfig": {"interval": "Short"}}


def claims(tmp_path: Path, body: str) -> dict[str, Any]:
    """Namespace/name to manifest. The plan has no errors."""
    plan = planned(tmp_path, POOLS + body)
    assert plan.errors == ()
    found = [dict(entry.manifest) for entry in plan.objects if entry.kind.startswith("ResourceClaim")]
    return {f"{m['metadata']['namespace']}/{m['metadata']['name']}": m for m in found}


def claim(tmp_path: Path, settings: str) -> Any:
    [manifest] = claims(tmp_path, f"aks-dra:claims: {{ml: {{c: {settings}}}}}").values()
    return manifest


def template(devices: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "c", "namespace": "ml"},
        "spec": {"spec": {"devices": devices}},
    }


def exactly(device_class: str, count: int = 1, **more: Any) -> dict[str, Any]:
    return {"deviceClassName": device_class, "allocationMode": "ExactCount", "count": count, **more}


def config(request: str, kind: str, sharing: dict[str, Any]) -> dict[str, Any]:
    parameters = {"apiVersion": "resource.nvidia.com/v1beta1", "kind": kind, "sharing": sharing}
    return {"requests": [request], "opaque": {"driver": "gpu.nvidia.com", "parameters": parameters}}


def test_the_short_form(tmp_path: Path) -> None:
    assert claim(tmp_path, "{deviceClass: a100-80gb, count: 2}") == template(
        {"requests": [{"name": "gpu", "exactly": exactly("a100-80gb", 2)}]}
    )


def test_several_requests_with_everything_that_they_can_have(tmp_path: Path) -> None:
    body = """{
        requests: {
          pair: {deviceClass: a100-80gb, count: 2, cel: ["device.attributes['gpu.nvidia.com'].type == 'gpu'"],
                 tolerations: [{key: example.com/tired, operator: Exists, effect: NoExecute, tolerationSeconds: 30},
                               {key: a, value: b}],
                 capacity: {memory: 10Gi}}
        },
        constraints: [{requests: [pair], matchAttribute: gpu.nvidia.com/productName},
                      {distinctAttribute: gpu.nvidia.com/uuid}],
        config: [{requests: [pair], parameters: {apiVersion: resource.nvidia.com/v1beta1, kind: GpuConfig}}]
    }"""
    tolerations = [
        {"key": "example.com/tired", "effect": "NoExecute", "tolerationSeconds": 30, "operator": "Exists"},
        {"key": "a", "value": "b", "operator": "Equal"},
    ]
    selectors = [{"cel": {"expression": "device.attributes['gpu.nvidia.com'].type == 'gpu'"}}]
    parameters = {"apiVersion": "resource.nvidia.com/v1beta1", "kind": "GpuConfig"}
    assert claim(tmp_path, body) == template(
        {
            "requests": [
                {
                    "name": "pair",
                    "exactly": exactly(
                        "a100-80gb",
                        2,
                        selectors=selectors,
                        tolerations=tolerations,
                        capacity={"requests": {"memory": "10Gi"}},
                    ),
                }
            ],
            "constraints": [
                {"requests": ["pair"], "matchAttribute": "gpu.nvidia.com/productName"},
                {"distinctAttribute": "gpu.nvidia.com/uuid"},
            ],
            "config": [
                {"requests": ["pair"], "opaque": {"driver": "gpu.nvidia.com", "parameters": parameters}},
            ],
        }
    )


def test_the_order_of_requests_means_nothing(tmp_path: Path) -> None:
    one, other = (
        claim(tmp_path, f"{{requests: {{{first}: {{deviceClass: a100-80gb}}, {second}: {{deviceClass: a100-80gb}}}}}}")
        for first, second in (("a", "b"), ("b", "a"))
    )
    assert one == other
    assert [request["name"] for request in one["spec"]["spec"]["devices"]["requests"]] == ["a", "b"]


def test_all_devices_of_a_class_have_no_count(tmp_path: Path) -> None:
    assert claim(tmp_path, "{deviceClass: a100-80gb, all: true}") == template(
        {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "a100-80gb", "allocationMode": "All"}}]}
    )


def test_one_config_for_each_alternative_of_its_own_kind(tmp_path: Path) -> None:
    """The driver compares exact names: what is scoped to `gpu` would be applied to no alternative."""
    alternatives = "[{deviceClass: h100-nvl-1g.12gb}, {deviceClass: a100-80gb, name: whole}]"
    body = f"{{firstAvailable: {alternatives}, sharing: {{mode: mps}}}}"
    assert claim(tmp_path, body) == template(
        {
            "requests": [
                {
                    "name": "gpu",
                    "firstAvailable": [
                        {"name": "h100-nvl-1g-12gb", **exactly("h100-nvl-1g.12gb")},
                        {"name": "whole", **exactly("a100-80gb")},
                    ],
                }
            ],
            "config": [
                config("gpu/h100-nvl-1g-12gb", "MigDeviceConfig", MPS),
                config("gpu/whole", "GpuConfig", MPS),
            ],
        }
    )


def test_a_mig_device_is_not_time_sliced(tmp_path: Path) -> None:
    alternatives = "[{deviceClass: mig.nvidia.com}, {deviceClass: t4}]"
    body = f"{{firstAvailable: {alternatives}, sharing: {{mode: timeSlicing, interval: Short}}}}"
    assert claim(tmp_path, body)["spec"]["spec"]["devices"]["config"] == [config("gpu/t4", "GpuConfig", SLICES)]


def test_a_class_has_the_config_of_its_devices_kind(tmp_path: Path) -> None:
    plan = planned(
        tmp_path,
        POOLS
        + "aks-dra:deviceClasses: {small: {require: {type: mig}, sharing: {mode: mps, activeThreadPercentage: 50}}}",
    )
    assert plan.errors == ()
    [manifest] = [dict(entry.manifest) for entry in plan.objects if entry.key == "deviceclass-small"]
    sharing = {"strategy": "MPS", "mpsConfig": {"defaultActiveThreadPercentage": 50}}
    parameters = {"apiVersion": "resource.nvidia.com/v1beta1", "kind": "MigDeviceConfig", "sharing": sharing}
    assert manifest["spec"]["config"] == [{"opaque": {"driver": "gpu.nvidia.com", "parameters": parameters}}]


def test_two_alternatives_of_one_class_have_two_names(tmp_path: Path) -> None:
    third = "{deviceClass: t4, name: a100-80gb-2}"
    body = f"{{firstAvailable: [{{deviceClass: a100-80gb, count: 2}}, {{deviceClass: a100-80gb}}, {third}]}}"
    alternatives = claim(tmp_path, body)["spec"]["spec"]["devices"]["requests"][0]["firstAvailable"]
    assert [entry["name"] for entry in alternatives] == ["a100-80gb", "a100-80gb-3", "a100-80gb-2"]


def test_pods_share_one_named_claim_in_each_namespace(tmp_path: Path) -> None:
    found = claims(
        tmp_path,
        """
aks-dra:claims:
  a: {gpu: {deviceClass: t4, shareAcross: pods}, own: {deviceClass: t4}}
  b: {gpu: {deviceClass: t4, shareAcross: pods}}
""",
    )
    assert {key: entry["kind"] for key, entry in found.items()} == {
        "a/gpu": "ResourceClaim",
        "a/own": "ResourceClaimTemplate",
        "b/gpu": "ResourceClaim",
    }
    spec = {"devices": {"requests": [{"name": "gpu", "exactly": exactly("t4")}]}}
    assert found["a/gpu"]["spec"] == found["b/gpu"]["spec"] == spec
    assert found["a/own"]["spec"] == {"spec": spec}


def test_admin_access_with_the_label_of_its_namespace(tmp_path: Path) -> None:
    plan = planned(
        tmp_path,
        POOLS
        + """
aks-dra:namespaces: {gpu-monitoring: {adminAccess: true}}
aks-dra:claims: {gpu-monitoring: {look: {deviceClass: t4, adminAccess: true}}}
""",
    )
    assert plan.findings == ()
    [namespace] = [entry.manifest for entry in plan.namespaces if entry.key == "namespace-gpu-monitoring"]
    assert namespace["metadata"]["labels"] == {"resource.kubernetes.io/admin-access": "true"}
    [look] = [entry.manifest for entry in plan.objects if entry.key == "claim-gpu-monitoring-look"]
    assert look["spec"]["spec"]["devices"]["requests"] == [{"name": "gpu", "exactly": exactly("t4", adminAccess=True)}]


def test_a_raw_claim_is_kept_and_completed(tmp_path: Path) -> None:
    body = """{raw: {
      apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {labels: {team: vision}},
      spec: {devices: {
        requests: [{name: any, firstAvailable: [
          {name: big, deviceClassName: a100-80gb, count: 2},
          {name: all, deviceClassName: t4, allocationMode: All}]}],
        config: [{requests: [any/big], opaque: {driver: gpu.nvidia.com, parameters:
          {apiVersion: resource.nvidia.com/v1beta1, kind: GpuConfig, sharing: {strategy: MPS}}}}]}}}}"""
    assert claim(tmp_path, body) == {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"labels": {"team": "vision"}, "name": "c", "namespace": "ml"},
        "spec": {
            "devices": {
                "requests": [
                    {
                        "name": "any",
                        "firstAvailable": [
                            {"name": "big", **exactly("a100-80gb", 2)},
                            {"name": "all", "deviceClassName": "t4", "allocationMode": "All"},
                        ],
                    }
                ],
                "config": [config("any/big", "GpuConfig", MPS)],
            }
        },
    }


def test_a_raw_spec_becomes_what_share_across_says(tmp_path: Path) -> None:
    spec = "{devices: {requests: [{name: gpu, exactly: {deviceClassName: t4}}]}}"
    devices = {"requests": [{"name": "gpu", "exactly": exactly("t4")}]}
    assert claim(tmp_path, f"{{raw: {spec}}}") == template(devices)
    shared = claim(tmp_path, f"{{raw: {spec}, shareAcross: pods}}")
    assert (shared["kind"], shared["spec"]) == ("ResourceClaim", {"devices": devices})


def test_what_a_plan_says_of_a_claim(tmp_path: Path) -> None:
    body = """
aks-dra:claims:
  ml:
    c:
      requests:
        every: {deviceClass: a100-80gb, all: true, adminAccess: true}
        two: {firstAvailable: [{deviceClass: a100-80gb, count: 2}, {deviceClass: t4}]}
aks-dra:namespaces: {ml: {adminAccess: true}}
"""
    plan = planned(tmp_path, POOLS + body)
    [found] = plan.claims
    assert (found.claim.namespace, found.claim.name, found.claim.kind) == ("ml", "c", "ResourceClaimTemplate")
    asked = [
        (request.name, request.admin_access, [(one.ask.reference, str(one.ask), one.pools) for one in asks])
        for request, asks in found.requests
    ]
    assert asked == [
        ("every", True, [("every", "all a100-80gb", ("a100",))]),
        ("two", False, [("two/a100-80gb", "2x a100-80gb", ("a100",)), ("two/t4", "1x t4", ("t4",))]),
    ]
    assert claim_rows(plan) == [
        ("ml/c", "template", "all a100-80gb (looked at only) and 2x a100-80gb else 1x t4", "a100 and a100 else t4")
    ]
