"""A pod with a shared claim and one from a template: a warning on the versions whose scheduler fails on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aks_dra.facts import load_facts
from aks_dra.kube.mixed_claims import mixed_claims
from aks_dra.simulate.command import read_workloads, without_cluster
from tests.stacks import planned

SHARED, OWN = {"name": "a", "resourceClaimName": "one"}, {"name": "b", "resourceClaimTemplateName": "each"}


@pytest.mark.parametrize(
    ("claims", "version", "warned"),
    [
        ([SHARED, OWN], (1, 34), True),
        ([SHARED, OWN], (1, 35), True),
        ([SHARED, OWN], (1, 36), True),
        ([SHARED, OWN], (1, 37), False),
        ([SHARED, SHARED], (1, 36), False),
        ([OWN, OWN], (1, 36), False),
        ([], (1, 36), False),
    ],
)
def test_which_pods_are_warned_of(claims: list[Any], version: tuple[int, int], warned: bool) -> None:
    found = mixed_claims(load_facts(), version, [("Job ml/x", {"resourceClaims": claims})] * 2)
    assert bool(found) is warned
    assert len(found) <= 1
    assert all("Job ml/x" in text and "1.37 or newer" in text for text in found)


POD = """
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: ml}
spec:
  containers: [{name: c, image: example.invalid/none}]
  resourceClaims:
  - {name: a, resourceClaimName: one}
  - {name: b, resourceClaimTemplateName: each}
"""


def test_a_simulation_says_so(tmp_path: Path) -> None:
    body = """
        aks-dra:pools: {t4: {vmSize: Standard_NC4as_T4_v3}}
        aks-dra:claims: {ml: {one: {deviceClass: t4, shareAcross: pods}, each: {deviceClass: t4}}}
    """
    (tmp_path / "pod.yaml").write_text(POD)
    report = without_cluster(planned(tmp_path, body), read_workloads([tmp_path / "pod.yaml"]), "not asked")
    assert [note for note in report.notes if note.startswith("warning: Pod ml/p:")]
