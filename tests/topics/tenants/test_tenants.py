"""What `allow`, `quota` and `adminAccess` of a namespace come to, and what is said of those that cannot be meant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aks_dra.context.previous import previous_of
from aks_dra.model.plan import Plan
from aks_dra.simulate.classes import known_classes
from aks_dra.topics.tenants.policies import ALLOWED
from tests.stacks import planned
from tests.topics.tenants.bodies import FPGA, POOLS


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
    others = "['compute-domain-daemon.nvidia.com', 'compute-domain-default-channel.nvidia.com', 'fpga']"
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
    assert shown.pop("others") == others
    assert shown.pop("allowed") == ALLOWED
    listed = "object.spec.devices.requests"
    assert shown.pop("requests") == f"has({listed}) && dyn({listed}) != null ? {listed} : []"
    assert set(shown) == {"named", "refused", "admin"}
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
    assert variables(templates)["requests"].endswith(" ? object.spec.spec.devices.requests : []")
    assert templates["spec"]["matchConstraints"]["resourceRules"][0]["resources"] == ["resourceclaimtemplates"]
    rule = pods["spec"]["matchConstraints"]["resourceRules"][0]
    assert (rule["apiGroups"], rule["resources"], rule["operations"]) == ([""], ["pods"], ["CREATE"])
    assert variables(pods)["classes"] == "{'example.com/small': 'small', 'nvidia.com/gpu': 'aks-dra-legacy-requests'}"


def test_a_further_class_changes_no_policy(tmp_path: Path) -> None:
    """So that there is no moment in which the class is there and its policy is not."""
    lists = "aks-dra:namespaces: {ml: {allow: [t4]}}"
    before, after = (
        objects(planned(tmp_path, f"aks-dra:pools: {{t4: {{vmSize: Standard_NC4as_T4_v3}}{more}}}\n" + lists), "policy")
        for more in ("", ", h100: {vmSize: Standard_NC40ads_H100_v5}")
    )
    assert before == after


def test_classes_come_after_the_policies(tmp_path: Path) -> None:
    plan = planned(tmp_path, POOLS + "aks-dra:namespaces: {ml: {allow: [t4]}}")
    policies = {entry.key for entry in plan.objects if entry.key.startswith("policy-")}
    assert len(policies) == 6
    classes = [entry for entry in plan.objects if entry.kind == "DeviceClass"]
    assert {entry.manifest["metadata"]["name"] for entry in classes} == {"t4", "h100-nvl", "aks-dra-legacy-requests"}
    assert all(policies <= set(entry.after) for entry in classes)


def test_a_class_that_somebody_else_makes(tmp_path: Path) -> None:
    """It is known to claims and lists, it is not registered, and of another driver it is everybody's."""
    body = (
        "aks-dra:deviceClasses:\n"
        "  npu: {driver: npu.example.com, create: false}\n"
        "  theirs: {require: {memory: '>=20Gi'}, create: false}\n"
        "aks-dra:claims: {ml: {a: {deviceClass: theirs}, b: {deviceClass: npu}}, no: {b: {deviceClass: npu}}}\n"
        "aks-dra:namespaces: {ml: {allow: [t4, theirs]}}"
    )
    plan = planned(tmp_path, POOLS + body)
    assert [f.code for f in plan.findings if f.code[:3] in ("TEN", "CLM", "CLS")] == []
    assert "deviceclass-t4" in objects(plan, "deviceclass-")
    assert not {"deviceclass-npu", "deviceclass-theirs"} & set(objects(plan, "deviceclass-"))
    made_by = {match.device_class: match.made_by for match in plan.matches if match.origin == "user"}
    assert made_by == {"npu": "elsewhere", "theirs": "elsewhere"}
    others = variables(objects(plan, "policy-claims")["policy-claims"])["others"]
    assert "'npu'" in others
    assert "'theirs'" not in others
    assert not {"npu", "theirs"} & set(previous_of(plan).classes)
    assert set(known_classes(plan)) > {"npu", "theirs"}  # what a simulation has


def test_pods_for_the_device_plugin_are_not_governed(tmp_path: Path) -> None:
    pools = (
        "aks-dra:pools: {t4: {vmSize: Standard_NC4as_T4_v3}, old: {vmSize: Standard_NC4as_T4_v3, "
        "allocation: devicePlugin}}\n"
    )
    plan = planned(tmp_path, pools + "aks-dra:namespaces: {ml: {allow: [t4]}}")
    assert "'nvidia.com/gpu'" not in variables(objects(plan, "policy-pods")["policy-pods"])["classes"]


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
    plan = planned(tmp_path, body)
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
