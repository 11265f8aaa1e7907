"""What `allow`, `quota` and `adminAccess` of a namespace come to, and what is said of those that cannot be meant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aks_dra.planning import Plan
from aks_dra.planning.tenants import ALLOWED
from tests.unit.planning_help import found, planned

pytestmark = pytest.mark.unit

POOLS = "aks-dra:pools: {t4: {vmSize: Standard_NC4as_T4_v3}, h100: {vmSize: Standard_NC40ads_H100_v5}}\n"
FPGA = "aks-dra:deviceClasses: {fpga: {driver: fpga.example.com, cel: ['true']}}\n"


def objects(plan: Plan, *keys: str) -> dict[str, Any]:
    return {entry.key: dict(entry.manifest) for entry in plan.objects if entry.key.startswith(keys)}


def namespace(plan: Plan, name: str) -> dict[str, Any]:
    return next(dict(o.manifest) for o in plan.namespaces if o.manifest["metadata"]["name"] == name)


def variables(policy: dict[str, Any]) -> dict[str, str]:
    return {entry["name"]: entry["expression"] for entry in policy["spec"]["variables"]}


def test_nothing_is_governed_until_a_namespace_has_a_list(tmp_path: Path) -> None:
    plan = planned(tmp_path, POOLS + "aks-dra:namespaces: {ml: {quota: {t4: 1}}}")
    assert objects(plan, "policy") == {}
    assert namespace(plan, "ml") == {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ml"}}


def test_the_policy_on_claims(tmp_path: Path) -> None:
    plan = planned(tmp_path, POOLS + FPGA + "aks-dra:namespaces: {ml: {allow: [t4]}, watch: {adminAccess: true}}")
    policies = objects(plan, "policy")
    topics = ("claims", "templates", "pods")
    assert list(policies) == [key for topic in topics for key in (f"policy-{topic}", f"policy-binding-{topic}")]
    claims = policies["policy-claims"]
    governed = (
        "['aks-dra-legacy-requests', 'gpu.nvidia.com', 'h100-nvl', 'mig.nvidia.com', 't4', 'vfio.gpu.nvidia.com']"
    )
    use = (
        "'namespace ' + request.namespace + ' may not use device class ' + variables.refused.join(', ') + ' (it may "
        "use ' + (size(variables.allowed) == 0 ? 'none' : variables.allowed.join(', ')) + '; annotation "
        "aks-dra.dev/allowed-device-classes of the namespace)'"
    )
    look = (
        "'namespace ' + request.namespace + ' may not ask for admin access to device class ' + "
        "variables.admin.map(request, request.exactly.deviceClassName).join(', ')"
    )
    shown = variables(claims)
    assert shown.pop("governed") == governed
    assert shown.pop("allowed") == ALLOWED
    assert shown.pop("requests") == "has(object.spec.devices.requests) ? object.spec.devices.requests : []"
    assert set(shown) == {"refused", "admin"}
    del claims["spec"]["variables"]
    assert claims == {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "aks-dra-device-classes-claims"},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {
                "matchPolicy": "Equivalent",
                "namespaceSelector": {
                    "matchExpressions": [
                        {
                            "key": "kubernetes.io/metadata.name",
                            "operator": "NotIn",
                            "values": [
                                "aks-command", "aks-istio-system", "app-routing-system", "calico-system",
                                "dra-driver-nvidia-gpu", "gatekeeper-system", "gpu-operator", "kube-node-lease",
                                "kube-public", "kube-system", "tigera-operator",
                            ],
                        }
                    ]
                },
                "resourceRules": [
                    {
                        "apiGroups": ["resource.k8s.io"],
                        "apiVersions": ["v1"],
                        "operations": ["CREATE"],
                        "resources": ["resourceclaims"],
                        "scope": "Namespaced",
                    }
                ],
            },
            "validations": [
                {"expression": "size(variables.refused) == 0", "messageExpression": use, "reason": "Forbidden"},
                {
                    "expression": "size(variables.admin) == 0 || request.namespace in ['watch']",
                    "messageExpression": look,
                    "reason": "Forbidden",
                },
            ],
        },
    }  # fmt: skip
    assert policies["policy-binding-claims"] == {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": "aks-dra-device-classes-claims"},
        "spec": {"policyName": "aks-dra-device-classes-claims", "validationActions": ["Deny"]},
    }


def test_templates_are_looked_at_one_level_deeper_and_pods_by_resource(tmp_path: Path) -> None:
    classes = "aks-dra:deviceClasses: {small: {require: {memory: '<=20Gi'}, extendedResourceName: example.com/small}}\n"
    plan = planned(tmp_path, POOLS + classes + "aks-dra:namespaces: {ml: {allow: [t4]}}")
    policies = objects(plan, "policy")
    templates, pods = policies["policy-templates"], policies["policy-pods"]
    assert variables(templates)["requests"] == (
        "has(object.spec.spec.devices.requests) ? object.spec.spec.devices.requests : []"
    )
    assert templates["spec"]["matchConstraints"]["resourceRules"][0]["resources"] == ["resourceclaimtemplates"]
    rule = pods["spec"]["matchConstraints"]["resourceRules"][0]
    assert (rule["apiGroups"], rule["resources"], rule["operations"]) == ([""], ["pods"], ["CREATE"])
    prefix = "deviceclass.resource.kubernetes.io"
    assert variables(pods)["resources"] == (
        f"{{'{prefix}/aks-dra-legacy-requests': 'aks-dra-legacy-requests', "
        f"'{prefix}/gpu.nvidia.com': 'gpu.nvidia.com', "
        f"'{prefix}/h100-nvl': 'h100-nvl', '{prefix}/mig.nvidia.com': 'mig.nvidia.com', '{prefix}/small': 'small', "
        f"'{prefix}/t4': 't4', '{prefix}/vfio.gpu.nvidia.com': 'vfio.gpu.nvidia.com', "
        "'example.com/small': 'small', 'nvidia.com/gpu': 'aks-dra-legacy-requests'}"
    )


def test_pods_for_the_device_plugin_are_not_governed(tmp_path: Path) -> None:
    pools = (
        "aks-dra:pools: {t4: {vmSize: Standard_NC4as_T4_v3}, old: {vmSize: Standard_NC4as_T4_v3, "
        "allocation: devicePlugin}}\n"
    )
    plan = planned(tmp_path, pools + "aks-dra:namespaces: {ml: {allow: [t4]}}")
    assert "'nvidia.com/gpu'" not in variables(objects(plan, "policy-pods")["policy-pods"])["resources"]


def test_the_list_is_an_annotation_and_an_empty_one_is_a_list(tmp_path: Path) -> None:
    plan = planned(
        tmp_path,
        POOLS
        + "aks-dra:namespaces: {ml: {allow: [t4, h100-nvl], adminAccess: true, labels: {team: a}}, no: {allow: []}}",
    )
    assert namespace(plan, "ml")["metadata"] == {
        "name": "ml",
        "labels": {"resource.kubernetes.io/admin-access": "true", "team": "a"},
        "annotations": {"aks-dra.dev/allowed-device-classes": "h100-nvl,t4"},
    }
    assert namespace(plan, "no")["metadata"]["annotations"] == {"aks-dra.dev/allowed-device-classes": ""}
    assert objects(plan, "policy")


def test_a_namespace_that_exists_is_patched_and_let_go_of(tmp_path: Path) -> None:
    plan = planned(tmp_path, POOLS + "aks-dra:namespaces: {ml: {create: false, allow: [t4]}, other: {create: false}}")
    (patch,) = [o for o in plan.namespaces if o.key in ("namespace-ml", "namespace-other")]
    assert (patch.key, patch.patch, patch.retain) == ("namespace-ml", True, False)
    assert patch.manifest["metadata"] == {
        "name": "ml",
        "annotations": {"aks-dra.dev/allowed-device-classes": "t4"},
    }


@pytest.mark.parametrize(("version", "early"), [("1.36", True), ("1.35", False)])
def test_quotas_count_extended_resources_where_there_are_some(tmp_path: Path, version: str, early: bool) -> None:
    cluster = f'aks-dra:cluster: {{access: {{azureRbac: true}}, kubernetesVersion: "{version}"}}\n'
    body = cluster + POOLS + "aks-dra:namespaces: {ml: {quota: {t4: 2, gpu.nvidia.com: 0}}}"
    plan = planned(tmp_path, body, access=False)
    claims = {"gpu.nvidia.com.deviceclass.resource.k8s.io/devices": "0", "t4.deviceclass.resource.k8s.io/devices": "2"}
    pods = {
        "requests.deviceclass.resource.kubernetes.io/gpu.nvidia.com": "0",
        "requests.deviceclass.resource.kubernetes.io/t4": "2",
    }
    assert objects(plan, "quota") == {
        "quota-ml": {
            "apiVersion": "v1",
            "kind": "ResourceQuota",
            "metadata": {"name": "aks-dra-device-classes", "namespace": "ml"},
            "spec": {"hard": claims | (pods if early else {})},
        }
    }


CASES = [
    ("aks-dra:namespaces: {gpu-operator: {allow: [t4]}}", "TEN001", "aks-dra:namespaces.gpu-operator.allow", "remove"),
    ("aks-dra:namespaces: {kube-system: {allow: []}}", "TEN001", "aks-dra:namespaces.kube-system.allow", "remove"),
    (
        "aks-dra:testPool: {enabled: true}\naks-dra:namespaces: {gpu-test: {allow: [t4]}}",
        "TEN001",
        "aks-dra:namespaces.gpu-test.allow",
        "remove",
    ),
    (FPGA + "aks-dra:namespaces: {ml: {allow: [t4, fpga]}}", "TEN002", "aks-dra:namespaces.ml.allow.1", "remove it"),
    (
        "aks-dra:namespaces: {ml: {allow: [t4, h100-nv]}}",
        "TEN003",
        "aks-dra:namespaces.ml.allow.1",
        "did you mean h100-nvl?",
    ),
    (
        "aks-dra:namespaces: {ml: {allow: [t4]}}\n"
        "aks-dra:claims: {ml: {a: {firstAvailable: [{deviceClass: t4}, {deviceClass: gpu.nvidia.com}]}}}",
        "TEN004",
        "aks-dra:claims.ml.a",
        "set aks-dra:namespaces.ml.allow: [gpu.nvidia.com, t4]",
    ),
    (
        "aks-dra:namespaces: {ml: {allow: [t4]}}\naks-dra:claims: {other: {a: {deviceClass: t4}}}",
        "TEN004",
        "aks-dra:claims.other.a",
        "set aks-dra:namespaces.other.allow: [t4]",
    ),
    ("aks-dra:namespaces: {ml: {quota: {t4: -1}}}", "TEN005", "aks-dra:namespaces.ml.quota.t4", "write 0"),
    (
        "aks-dra:namespaces: {ml: {quota: {t4: 0}}}\naks-dra:claims: {ml: {a: {deviceClass: t4}}}",
        "TEN006",
        "aks-dra:claims.ml.a",
        "set aks-dra:namespaces.ml.quota.t4: 1",
    ),
    (
        "aks-dra:namespaces: {ml: {quota: {t4: 1, h100-nvl: 1}}}\n"
        "aks-dra:claims: {ml: {a: {firstAvailable: [{deviceClass: h100-nvl}, {deviceClass: t4}]}}}",
        "TEN007",
        "aks-dra:claims.ml.a",
        "leave room for it in each of these quotas",
    ),
    (
        "aks-dra:namespaces: {ml: {quota: {t4: 1}}}\n"
        "aks-dra:claims: {ml: {a: {deviceClass: t4, shareAcross: pods}, b: {deviceClass: t4, shareAcross: pods}}}",
        "TEN008",
        "aks-dra:namespaces.ml.quota.t4",
        "write 2 or more",
    ),
    (
        "aks-dra:namespaces: {ml: {allow: [t4, gpu.nvidia.com, h100-nvl], quota: {t4: 2, h100-nvl: 1}}}",
        "TEN009",
        "aks-dra:namespaces.ml.quota",
        "set aks-dra:namespaces.ml.quota.gpu.nvidia.com as well (0 for none), or take it out of allow",
    ),
    ("aks-dra:testPool: {enabled: true, namespace: Gpu_Test}", "TST001", "aks-dra:testPool.namespace", "gpu-test"),
    ("aks-dra:testPool: {enabled: true, namespace: kube-system}", "TST002", "aks-dra:testPool.namespace", "gpu-test"),
    (
        "aks-dra:testPool: {enabled: true, smokeTest: {timeoutSeconds: 0}}",
        "TST003",
        "aks-dra:testPool.smokeTest.timeoutSeconds",
        "e.g. 900",
    ),
    ("aks-dra:testPool: {enabled: true, nodes: {count: 0}}", "TST004", "aks-dra:testPool.nodes", "enabled: false"),
    (
        "aks-dra:testPool: {enabled: true}\naks-dra:namespaces: {gpu-test-admin: {quota: {t4: 1}}}",
        "TST005",
        "aks-dra:namespaces.gpu-test-admin.quota",
        "remove the quota",
    ),
]


@pytest.mark.parametrize(("body", "code", "path", "remedy"), CASES, ids=[f"{c[1]}-{c[2]}" for c in CASES])
def test_findings(tmp_path: Path, body: str, code: str, path: str, remedy: str) -> None:
    findings = [f for f in found(tmp_path, POOLS + body) if f.code.startswith(("TEN", "TST"))]
    assert [(f.code, f.path, f.severity) for f in findings] == [
        (code, path, "warning" if code in ("TEN007", "TEN009") else "error")
    ]
    assert remedy in findings[0].remedy
    assert findings[0].source
    assert findings[0].line


def test_what_counts_more_than_one_may_think_is_said(tmp_path: Path) -> None:
    body = POOLS + (
        "aks-dra:namespaces: {ml: {quota: {t4: 1, h100-nvl: 8}}}\n"
        "aks-dra:claims:\n"
        "  ml:\n"
        "    ranked: {firstAvailable: [{deviceClass: h100-nvl}, {deviceClass: t4, count: 2}]}\n"
        "    every: {deviceClass: h100-nvl, all: true}\n"
    )
    said = {(f.code, f.path.rpartition(".")[2]): f.message for f in found(tmp_path, body) if f.code.startswith("TEN")}
    assert said[("TEN006", "ranked")] == (
        "such a claim counts 2 against the quota of t4, which is 1, so it is always refused, also while an earlier "
        "alternative is free: each alternative counts"
    )
    assert said[("TEN006", "every")] == (
        "such a claim counts 32 against the quota of h100-nvl, which is 8, so it is always refused: all devices count "
        "32, the most that a claim can hold"
    )
    assert said[("TEN007", "ranked")].endswith("also of those that it does not get: h100-nvl 1, t4 2")


def test_what_is_allowed_and_fits_says_nothing(tmp_path: Path) -> None:
    body = (
        POOLS
        + FPGA
        + (
            "aks-dra:testPool: {enabled: true}\n"
            "aks-dra:namespaces: {ml: {allow: [t4], quota: {t4: 2}}, watch: {adminAccess: true}}\n"
            "aks-dra:claims:\n"
            "  ml: {a: {deviceClass: t4, count: 1}, f: {deviceClass: fpga}}\n"
            "  watch: {w: {deviceClass: gpu.nvidia.com, adminAccess: true}}\n"
        )
    )
    assert [f for f in found(tmp_path, body) if f.code.startswith(("TEN", "TST"))] == []


SHARED = "aks-dra:pools: {t4: {vmSize: Standard_NC4as_T4_v3, sharing: {mode: timeSlicing}}}\n"
HOLES = [
    ("allow: [t4, t4-timesliced], quota: {t4: 2}", "the quota of t4 can be got round: t4-timesliced matches"),
    (
        "allow: [t4, gpu.nvidia.com, t4-timesliced, aks-dra-legacy-requests], quota: {t4: 2}",
        "the quota of t4 can be got round: gpu.nvidia.com, t4-timesliced, aks-dra-legacy-requests match devices of the "
        "same pools (t4), are allowed and without a quota",
    ),
    ("allow: [t4, t4-timesliced], quota: {t4: 2, t4-timesliced: 2}", ""),
    ("allow: [t4, mig.nvidia.com], quota: {t4: 2}", ""),
    ("allow: [t4, aks-dra-legacy-requests], quota: {t4: 2, aks-dra-legacy-requests: 1}", ""),
    ("allow: [t4, t4-timesliced]", ""),
    ("allow: [t4], quota: {gpu.nvidia.com: 0}", ""),
    ("allow: [t4-timesliced], quota: {t4: 2}", ""),
    ("quota: {t4: 2}", ""),
]


@pytest.mark.parametrize(("entry", "text"), HOLES)
def test_a_class_beside_a_quota_that_reaches_the_same_devices(tmp_path: Path, entry: str, text: str) -> None:
    body = SHARED + f"aks-dra:namespaces: {{ml: {{{entry}}}}}"
    said = [f.message for f in found(tmp_path, body) if f.code.startswith(("TEN", "CLM"))]
    assert len(said) == bool(text)
    assert all(message.startswith(text) for message in said)


def test_a_list_is_proposed_without_names_that_do_not_exist(tmp_path: Path) -> None:
    body = (
        POOLS
        + FPGA
        + ("aks-dra:namespaces: {ml: {allow: [t4, fpga, nothing]}}\naks-dra:claims: {ml: {a: {deviceClass: h100-nvl}}}")
    )
    [refused] = [f for f in found(tmp_path, body) if f.code == "TEN004"]
    assert refused.remedy == "set aks-dra:namespaces.ml.allow: [h100-nvl, t4]"
