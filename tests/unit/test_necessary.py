"""What is said of workloads without a scheduler, and in which words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aks_dra.simulate.command import read_workloads, without_cluster
from aks_dra.simulate.model import PodResult
from aks_dra.simulate.show import as_document
from tests.unit.planning_help import planned

pytestmark = pytest.mark.unit


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
