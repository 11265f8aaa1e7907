"""What is said of workloads without a scheduler, and in which words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aks_dra.simulate.command import read_workloads, without_cluster
from aks_dra.simulate.model import PodResult, Reason
from aks_dra.simulate.show import as_document
from tests.stacks import planned


def answers(tmp_path: Path, fleet: str, workload: str) -> list[PodResult]:
    file = tmp_path / "w.yaml"
    file.write_text(workload)
    return list(without_cluster(planned(tmp_path, fleet), read_workloads([file]), "told so").pods)


CLAIMED = """
apiVersion: v1
kind: Pod
metadata: {{name: p}}
spec:
  containers: [{{name: main, resources: {{claims: [{{name: g}}]}}}}]
  resourceClaims: [{{name: g, resourceClaimTemplateName: c}}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {{name: c}}
spec: {{spec: {{devices: {{requests: [{{name: g, exactly: {{{0}}}}}]}}}}}}
"""
TWO = """
aks-dra:pools:
  t4: {vmSize: Standard_NC4as_T4_v3, nodes: {count: 5}}
  a100: {vmSize: Standard_NC24ads_A100_v4}
"""


def test_many_nodes_do_not_make_one_large_node(tmp_path: Path) -> None:
    (found,) = answers(tmp_path, TWO, CLAIMED.format("deviceClassName: t4, count: 2"))
    assert (found.status, [reason.text for reason in found.reasons]) == (
        "cannot",
        ["pool t4: one node has 1 devices for t4, 2 are asked for on one node"],
    )


def test_all_requests_of_a_pod_must_be_met_on_one_node(tmp_path: Path) -> None:
    both = "deviceClassName: t4}}, {name: h, exactly: {deviceClassName: a100-80gb"
    (found,) = answers(tmp_path, TWO, CLAIMED.format(both))
    assert (found.status, found.possible) == ("cannot", ())
    (one,) = answers(tmp_path, TWO, CLAIMED.format("deviceClassName: a100-80gb"))
    assert (one.status, one.possible) == ("may", ("a100",))


def test_no_class_matches_and_the_nearest_device_says_why(tmp_path: Path) -> None:
    memory = "\"device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('90Gi')) >= 0\""
    asked = f"deviceClassName: gpu.nvidia.com, selectors: [{{cel: {{expression: {memory}}}}}]"
    (found,) = answers(tmp_path, TWO, CLAIMED.format(asked))
    assert [reason.text for reason in found.reasons] == [
        "pool a100: NVIDIA A100 80GB PCIe 81920Mi is not gpu.nvidia.com with its selectors: "
        "memory >= 90Gi: it has memory 81920Mi",
        "pool t4: Tesla T4 16384Mi is not gpu.nvidia.com with its selectors: memory >= 90Gi: it has memory 16384Mi",
    ]


def test_a_class_of_the_workload_is_the_newest_of_its_resource_name(tmp_path: Path) -> None:
    pod = (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n"
        "  - {name: main, resources: {limits: {%s: 1}}}\n"
    )
    never = (
        "---\napiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: never}\n"
        "spec: {extendedResourceName: nvidia.com/gpu, selectors: [{cel: {expression: 'false'}}]}\n"
    )
    (served,) = answers(tmp_path, TWO, pod % "nvidia.com/gpu")
    assert (served.status, served.possible) == ("may", ("a100", "t4"))
    (shadowed,) = answers(tmp_path, TWO, pod % "nvidia.com/gpu" + never)
    assert shadowed.status == "cannot"
    (implicit,) = answers(tmp_path, TWO, pod % "deviceclass.resource.kubernetes.io/t4")
    assert implicit.possible == ("t4",)


def test_what_is_answered_is_plain_data(tmp_path: Path) -> None:
    workload = tmp_path / "w.yaml"
    workload.write_text(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: ml}\nspec:\n"
        "  containers: [{name: main, resources: {claims: [{name: g}]}}]\n"
        "  resourceClaims: [{name: g, resourceClaimTemplateName: one-t4}]\n"
    )
    claims = "aks-dra:claims: {ml: {one-t4: {deviceClass: t4}}}\n"
    report = without_cluster(planned(tmp_path, TWO + claims), read_workloads([workload]), "told so")
    (pod,) = as_document(report)["pods"]
    expected: dict[str, Any] = {
        "workload": "Pod ml/a",
        "namespace": "ml",
        "name": "a",
        "status": "may",
        "pool": None,
        "node": None,
        "devices": [],
        "extendedResources": {},
        "possiblePools": ["t4"],
        "reasons": [],
        "scheduler": None,
        "notes": [],
    }
    assert pod == expected


MIXED = """
aks-dra:pools:
  t4: {vmSize: Standard_NC4as_T4_v3}
  a100: {vmSize: Standard_NC24ads_A100_v4, sharing: {mode: mig, layout: all-1g.10gb}}
"""


def selecting(device_class: str, expression: str) -> str:
    return CLAIMED.format(f'deviceClassName: {device_class}, selectors: [{{cel: {{expression: "{expression}"}}}}]')


def test_a_selector_that_cannot_be_read_is_a_refusal_and_no_mismatch(tmp_path: Path) -> None:
    text = "device.capacity['gpu.nvidia.com'].memory > 5"
    (found,) = answers(tmp_path, MIXED, selecting("gpu.nvidia.com", text))
    assert (found.status, found.reasons) == (
        "cannot",
        (
            Reason(
                "refused",
                "the API server refuses a selector of claim g, request g: a capacity is compared without quantity(): "
                "found no matching overload for '_>_' applied to '(kubernetes.Quantity, int)' (line 1, column 42)",
                "write device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('5Gi')) > 0",
            ),
        ),
    )


@pytest.mark.parametrize(
    ("expression", "remedy"),
    [
        (
            "device.capacity['gpu.nvidia.com'].multiprocessors.isGreaterThan(quantity('1'))",
            "test first that it is there: 'multiprocessors' in device.capacity['gpu.nvidia.com'] &&",
        ),
        ("device.capacity['gpu.nvidia.com'].memmory.isGreaterThan(quantity('1'))", "did you mean memory?"),
        (
            "device.attributes['resource.kubernetes.io'].numaNode == 0",
            "test first that it is there: 'numaNode' in device.attributes['resource.kubernetes.io'] &&",
        ),
    ],
)
def test_what_raises_is_said_once_with_what_to_write(tmp_path: Path, expression: str, remedy: str) -> None:
    (found,) = answers(tmp_path, MIXED, selecting("gpu.nvidia.com", expression))
    (reason,) = found.reasons
    assert (found.status, reason.code, reason.remedy, found.notes) == ("cannot", "raises", remedy, ())
    assert reason.text.startswith("a selector of the request for gpu.nvidia.com raises an error on Tesla T4 16384Mi")


@pytest.mark.parametrize(
    ("more", "status", "said"),
    [
        ("", "may", 'admin access needs the label resource.kubernetes.io/admin-access: "true" on namespace default'),
        ("aks-dra:namespaces: {default: {create: false}}", "may", "admin access needs the label"),
        ("aks-dra:namespaces: {default: {}}", "cannot", "namespace default is not labelled for it"),
        ("aks-dra:namespaces: {default: {adminAccess: true}}", "may", ""),
    ],
)
def test_admin_access_needs_the_label_of_the_namespace(tmp_path: Path, more: str, status: str, said: str) -> None:
    (found,) = answers(tmp_path, MIXED + more, CLAIMED.format("deviceClassName: t4, adminAccess: true"))
    texts = [*(reason.text for reason in found.reasons), *found.notes]
    assert (found.status, len(texts)) == (status, 1 if said else 0)
    assert all(said in text for text in texts)


FOUR = """
aks-dra:pools:
  t4: {vmSize: Standard_NC64as_T4_v3}
  a100: {vmSize: Standard_NC48ads_A100_v4, sharing: {mode: mig, layout: all-3g.40gb}}
"""
UNLIKE = "pool t4: no 2 of its devices that match have the same gpu.nvidia.com/uuid, as matchAttribute wants"


@pytest.mark.parametrize(
    ("device_class", "count", "attribute", "reason"),
    [
        ("t4", 2, "gpu.nvidia.com/uuid", UNLIKE),
        ("t4", 1, "gpu.nvidia.com/uuid", ""),
        ("t4", 4, "gpu.nvidia.com/driverVersion", ""),
        ("mig.nvidia.com", 2, "gpu.nvidia.com/parentUUID", ""),
        ("mig.nvidia.com", 3, "gpu.nvidia.com/parentUUID",
         "pool a100: no 3 of its devices that match have the same gpu.nvidia.com/parentUUID, as matchAttribute wants"),
    ],
)  # fmt: skip
def test_devices_that_cannot_be_alike(
    tmp_path: Path, device_class: str, count: int, attribute: str, reason: str
) -> None:
    asked = CLAIMED.format(f"deviceClassName: {device_class}, count: {count}")
    (found,) = answers(
        tmp_path, FOUR, asked.replace("}]}}}\n", "}], constraints: [{matchAttribute: " + attribute + "}]}}}\n")
    )
    assert [(item.code, item.text) for item in found.reasons if item.text.startswith(reason or "pool")] == (
        [("attribute-unlike", reason)] if reason else []
    )
    assert found.status == ("cannot" if reason else "may")


@pytest.mark.parametrize(
    ("fleet", "capacity", "status", "said"),
    [
        (FOUR, "{memory: 16Gi}", "may", []),
        (FOUR, "{memory: 20Gi}", "cannot",
         ["pool t4: Tesla T4 16384Mi has not the 20Gi of memory that are asked for: it has 16384Mi"]),
        (FOUR, "{vram: 1Gi}", "cannot",
         ["pool t4: Tesla T4 16384Mi has not the 1Gi of vram that are asked for: it has no capacity of this name"]),
        ('aks-dra:cluster: {kubernetesVersion: "1.35", access: {azureRbac: true}}' + FOUR, "{memory: 20Gi}", "may", []),
    ],
)  # fmt: skip
def test_capacity_that_no_device_has(tmp_path: Path, fleet: str, capacity: str, status: str, said: list[str]) -> None:
    asked = CLAIMED.format(f"deviceClassName: t4, capacity: {{requests: {capacity}}}")
    file = tmp_path / "w.yaml"
    file.write_text(asked)
    plan = planned(tmp_path, fleet)
    (found,) = without_cluster(plan, read_workloads([file]), "told so").pods
    assert (found.status, [item.text for item in found.reasons]) == (status, said)
