"""Workloads on the road from the device plugin to DRA: carried unchanged, or the claim to write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from aks_dra.kube.reading import WorkloadError
from aks_dra.migrate.document import document
from tests.migrate.roads import A100, DEPLOYMENT, POOLS, T4, made


def test_a_workload_with_a_whole_gpu_is_carried_unchanged(tmp_path: Path) -> None:
    found = made(tmp_path, POOLS % ("1.36", T4, ""), DEPLOYMENT.replace("RESOURCE", "nvidia.com/gpu"))
    [advice] = found.advice
    assert (advice.kind, advice.title, advice.files) == ("unchanged", "Deployment ml/web", {})
    add, move, shrink, remove = (yaml.safe_load(step.text)["config"].get("aks-dra:gpu") for step in found.steps)
    assert (add, move, shrink, remove) == (None, {"legacyRequests": "dra"}, {"legacyRequests": "dra"}, None)
    assert found.by_mapping
    assert "CHG017" in {finding.code for finding in found.steps[1].findings}


CLAIMS = [
    ("1.35", T4, "", "nvidia.com/gpu", {}, "t4", {"deviceClass": "t4"}, "below Kubernetes 1.36"),
    ("1.36", T4, "", "nvidia.com/gpu", {"claims": True}, "t4", {"deviceClass": "t4"}, "what was asked for"),
    (
        "1.36", T4, ", sharing: {mode: timeSlicing, replicas: 4}", "nvidia.com/gpu", {}, "web-gpu",
        {"deviceClass": "t4-timesliced", "shareAcross": "pods"}, "one of 4 shares of a GPU",
    ),
    (
        "1.36", T4, ", sharing: {mode: timeSlicing, replicas: 4, rename: true}", "nvidia.com/gpu.shared", {}, "web-gpu",
        {"deviceClass": "t4-timesliced", "shareAcross": "pods"}, "nvidia.com/gpu.shared is a name of the device plugin",
    ),
    (
        "1.36", A100, ", sharing: {mode: mig, layout: all-1g.10gb}", "nvidia.com/gpu", {}, "a100-80gb-1g.10gb",
        {"deviceClass": "a100-80gb-1g.10gb"}, "is a MIG partition there",
    ),
    (
        "1.36", A100, ", sharing: {mode: mig, layout: all-balanced}", "nvidia.com/mig-2g.20gb", {}, "a100-80gb-2g.20gb",
        {"deviceClass": "a100-80gb-2g.20gb"}, "nvidia.com/mig-2g.20gb is a name of the device plugin alone",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("version", "size", "sharing", "resource", "options", "name", "claim", "reason"), CLAIMS)
def test_a_workload_that_needs_a_claim(
    tmp_path: Path, version: str, size: str, sharing: str, resource: str, options: dict[str, Any], name: str,
    claim: dict[str, Any], reason: str,
) -> None:  # fmt: skip
    found = made(tmp_path, POOLS % (version, size, sharing), DEPLOYMENT.replace("RESOURCE", resource), **options)
    [advice] = found.advice
    assert advice.kind == "claim"
    assert reason in advice.text
    assert yaml.safe_load(found.steps[1].text)["config"]["aks-dra:claims"] == {"ml": {name: claim}}
    key = "resourceClaimName" if "shareAcross" in claim else "resourceClaimTemplateName"
    reference = {"name": "gpu", key: name}
    assert advice.patch == {"spec": {"template": {"spec": {
        "containers": [{"name": "main", "resources": {
            "limits": {resource: None}, "claims": [{"name": "gpu"}], "requests": {resource: None},
        }}],
        "resourceClaims": [reference],
    }}}}  # fmt: skip
    spec = advice.manifest["spec"]["template"]["spec"] if advice.manifest else {}
    assert spec["resourceClaims"] == [reference]
    assert spec["containers"][0]["resources"] == {"limits": {"memory": "1Gi"}, "claims": [{"name": "gpu"}]}


def test_two_containers_get_two_devices_and_what_is_fixed_is_written_whole(tmp_path: Path) -> None:
    pod = """
apiVersion: v1
kind: Pod
metadata: {name: two}
spec:
  nodeSelector: {kubernetes.azure.com/agentpool: old}
  containers:
  - {name: one, image: x, resources: {limits: {nvidia.com/gpu: 1}}}
  - {name: other, image: x, resources: {limits: {nvidia.com/gpu: 2}}}
"""
    found = made(tmp_path, POOLS % ("1.36", "Standard_NC64as_T4_v3", ""), pod)
    [advice] = found.advice
    assert advice.patch is None
    assert advice.manifest is not None
    assert list(advice.files) == ["default-pod-two.manifest.yaml"]
    assert advice.claims == {"t4": {"deviceClass": "t4"}, "t4-x2": {"deviceClass": "t4", "count": 2}}
    assert advice.manifest["spec"] == {
        "nodeSelector": {"kubernetes.azure.com/agentpool": "old2"},
        "containers": [
            {"name": "one", "image": "x", "resources": {"claims": [{"name": "gpu"}]}},
            {"name": "other", "image": "x", "resources": {"claims": [{"name": "gpu-2"}]}},
        ],
        "resourceClaims": [
            {"name": "gpu", "resourceClaimTemplateName": "t4"},
            {"name": "gpu-2", "resourceClaimTemplateName": "t4-x2"},
        ],
    }


def test_workloads_of_other_pools_and_without_gpus_are_left_alone(tmp_path: Path) -> None:
    pinned = DEPLOYMENT.replace("RESOURCE", "nvidia.com/gpu").replace(
        "    spec:\n", "    spec:\n      nodeSelector: {kubernetes.azure.com/agentpool: elsewhere}\n"
    )
    plain = DEPLOYMENT.replace("RESOURCE", "cpu")
    foreign = DEPLOYMENT.replace("RESOURCE", "nvidia.com/mig-1g.10gb")
    odd = "apiVersion: v1\nkind: Pod\nmetadata: {name: odd}\n"
    odd += "spec: {containers: [3, {resources: [x]}, {resources: {limits: 1}}]}"
    found = made(tmp_path, POOLS % ("1.36", T4, ""), "---\n".join([pinned, plain, foreign, odd]))
    assert [(a.kind, a.text) for a in found.advice] == [
        ("stays", "is not touched: it is pinned to pool elsewhere"),
        ("stays", "is not touched: old has no nvidia.com/mig-1g.10gb"),
    ]
    assert found.steps[1].changed is False


def test_a_claim_that_the_pod_has_keeps_its_name(tmp_path: Path) -> None:
    has = DEPLOYMENT.replace("RESOURCE", "nvidia.com/gpu").replace(
        "    spec:\n", "    spec:\n      resourceClaims: [{name: gpu, resourceClaimName: nic}]\n"
    )
    [advice] = made(tmp_path, POOLS % ("1.36", T4, ""), has, claims=True).advice
    assert advice.manifest is not None
    assert advice.manifest["spec"]["template"]["spec"]["resourceClaims"] == [
        {"name": "gpu", "resourceClaimName": "nic"},
        {"name": "gpu-moved", "resourceClaimTemplateName": "t4"},
    ]


def test_workloads_of_one_name_do_not_come_to_share_a_gpu(tmp_path: Path) -> None:
    one = DEPLOYMENT.replace("RESOURCE", "nvidia.com/gpu")
    found = made(
        tmp_path,
        POOLS % ("1.36", T4, ", sharing: {mode: timeSlicing, replicas: 4}"),
        one + "---" + one.replace("Deployment", "StatefulSet"),
    )
    assert [list(advice.claims) for advice in found.advice] == [["web-gpu"], ["web-gpu-moved"]]


JOB = """
apiVersion: batch/v1
kind: Job
metadata: {generateName: train-}
spec: {template: {spec: {restartPolicy: Never, containers: [{CONTAINER resources: {limits: {nvidia.com/gpu: 1}}}]}}}
---
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: big}
"""


def test_a_generated_name_is_no_name_to_delete_and_unknown_kinds_are_named(tmp_path: Path) -> None:
    found = made(tmp_path, POOLS % ("1.36", T4, ""), JOB.replace("CONTAINER", "name: c,"), claims=True)
    assert [advice.title for advice in found.advice] == ["Job default/train"]
    said = "PyTorchJob big (w.yaml, document 2) is not looked at: which pods it makes is not known here"
    assert found.notes[1:] == (said,)
    text = document(found, Path("out"))
    assert "# delete job train-… when it is done: kubectl get jobs -n default shows its whole name\n" in text
    assert "kubectl create -n default -f out/workloads/default-job-train.manifest.yaml\n" in text
    assert "kubectl delete job" not in text


@pytest.mark.parametrize(
    "damage",
    [
        ("requests: {nvidia.com/gpu: 1}", "requests: [1]"),
        ("    spec:\n", "    spec:\n      resourceClaims: 3\n"),
        ("      containers:", "      initContainers: text\n      containers:"),
        ("requests: {nvidia.com/gpu: 1}", "claims: 7"),
        ("memory: 1Gi", "7: 1Gi"),
    ],
)
def test_damage_beside_what_changes_ends_in_no_traceback(tmp_path: Path, damage: tuple[str, str]) -> None:
    text = DEPLOYMENT.replace("RESOURCE", "nvidia.com/gpu").replace(*damage)
    assert text != DEPLOYMENT.replace("RESOURCE", "nvidia.com/gpu")
    [advice] = made(tmp_path, POOLS % ("1.36", T4, ""), text, claims=True).advice
    assert advice.manifest is not None
    spec = advice.manifest["spec"]["template"]["spec"]
    assert spec["resourceClaims"] == [{"name": "gpu", "resourceClaimTemplateName": "t4"}]


def test_a_container_without_a_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        WorkloadError, match=r"w\.yaml, document 1: Job train: it and each of its containers need a name"
    ):
        made(tmp_path, POOLS % ("1.36", T4, ""), JOB.replace("CONTAINER", ""), claims=True)
