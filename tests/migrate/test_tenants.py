"""Lists and quotas of namespaces on the road from the device plugin to DRA."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from aks_dra.migrate.document import document
from aks_dra.migrate.steps import Road
from tests.migrate.roads import DEPLOYMENT, POOLS, T4, made

GPU = DEPLOYMENT.replace("RESOURCE", "nvidia.com/gpu")


def moved(folder: Path, spaces: str, workloads: str = GPU, **options: Any) -> Road:
    pools = POOLS % ("1.36", T4, "") + f"  t4: {{vmSize: {T4}}}\n"
    return made(folder, pools + f"aks-dra:namespaces: {{{spaces}}}\n", workloads, **options)


def allow(found: Road, namespace: str = "ml") -> Any:
    return yaml.safe_load(found.steps[1].text)["config"]["aks-dra:namespaces"][namespace].get("allow")


def test_what_a_list_would_refuse_gets_a_claim_and_the_list_grows_in_sight(tmp_path: Path) -> None:
    found = moved(tmp_path, "ml: {allow: [a100-80gb]}")
    [advice] = found.advice
    assert advice.text == (
        "needs a claim: namespace ml may not use class aks-dra-legacy-requests, by which DRA serves nvidia.com/gpu; "
        "with it in aks-dra:namespaces.ml.allow the workload is carried unchanged"
    )
    assert not found.by_mapping
    assert allow(found) == ["a100-80gb", "t4"]
    note = (
        "`aks-dra:namespaces.ml.allow` grows by `t4`, for Deployment ml/web: everybody in the namespace may use the "
        "class from then on, without a quota"
    )
    assert [step.notes for step in found.steps] == [(), (note,), (), ()]
    before, _, after = document(found, Path("out")).partition("## 2. ")
    assert "widens" not in before
    assert f"This widens what may be used where:\n\n- {note}\n" in after
    assert "CHG031" in {finding.code for finding in found.steps[3].findings}


@pytest.mark.parametrize(
    "spaces", ["ml: {allow: [aks-dra-legacy-requests]}", "ml: {quota: {t4: 1}}", "kube-system: {}"]
)
def test_what_no_list_refuses_is_carried_unchanged(tmp_path: Path, spaces: str) -> None:
    found = moved(tmp_path, spaces)
    assert [advice.kind for advice in found.advice] == ["unchanged"]
    assert all(not step.notes for step in found.steps)


def test_lists_grow_by_all_classes_and_begin_where_there_was_none(tmp_path: Path) -> None:
    other = GPU.replace("namespace: ml", "namespace: web")
    found = moved(tmp_path, "ml: {allow: []}, x: {}", GPU + "---" + other, claims=True)
    assert (allow(found), allow(found, "web"), allow(found, "x")) == (["t4"], ["t4"], None)
    assert len(found.steps[1].notes) == 2


QUOTAS = [
    ("ml: {quota: {t4: 2}}", 5, {"claims": True}, "t4 in namespace ml leaves room for 2 of the 5 pods", "t4: 5"),
    ("ml: {quota: {t4: 5}}", 5, {"claims": True}, "", ""),
    ("ml: {quota: {t4: 2}}", 5, {}, "", ""),
    (
        "ml: {allow: [t4, aks-dra-legacy-requests], quota: {aks-dra-legacy-requests: 3}}", 5, {},
        "aks-dra-legacy-requests in namespace ml leaves room for 3 of the 5 pods", "aks-dra-legacy-requests: 5",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("spaces", "replicas", "options", "text", "remedy"), QUOTAS)
def test_a_quota_without_room_for_all_pods_is_said(
    tmp_path: Path, spaces: str, replicas: int, options: dict[str, Any], text: str, remedy: str
) -> None:
    found = moved(tmp_path, spaces, GPU.replace("replicas: 2", f"replicas: {replicas}"), **options)
    said = [note for note in found.notes if note.startswith("quota: ")]
    assert len(said) == bool(text)
    assert all(text in note and f"set aks-dra:namespaces.ml.quota.{remedy}, or run fewer" in note for note in said)
    assert all(f"- {note}\n" in document(found, Path("out")) for note in said)


def test_workloads_share_a_quota(tmp_path: Path) -> None:
    second = GPU.replace("Deployment", "StatefulSet")
    found = moved(tmp_path, "ml: {quota: {t4: 3}}", GPU + "---" + second, claims=True)
    assert found.notes[-1] == (
        "quota: 3 of t4 in namespace ml leaves room for 1 of the 2 pods of StatefulSet ml/web (1 each, beside 2 of what "
        "else is counted); the others never run: set aks-dra:namespaces.ml.quota.t4: 4, or run fewer"
    )
