"""What the report of a plan counts and names: as many objects as the program registers, and the class of nvidia.com/gpu."""

from __future__ import annotations

import io
import re
from collections import Counter
from pathlib import Path

import pytest
from rich.console import Console

from aks_dra.report.document import as_document
from aks_dra.report.markdown import as_markdown
from aks_dra.report.tables import changed, class_rows, created
from aks_dra.report.text import print_plan
from aks_dra.resources.dra_cluster import DraCluster
from tests.resources.stand_in import kubelogin, run  # noqa: F401
from tests.stacks import cluster, planned

T4 = "Standard_NC4as_T4_v3"
PLUGIN = f"aks-dra:pools: {{d: {{vmSize: {T4}}}, p: {{vmSize: {T4}, allocation: devicePlugin}}}}\n"


def counted(lines: list[str]) -> dict[str, int]:
    """The Kubernetes objects of "Would be created"."""
    found = [re.fullmatch(r"(\d+) (\w+)", line) for line in lines]
    return {match[2]: int(match[1]) for match in found if match}


@pytest.mark.parametrize(
    "body",
    [
        PLUGIN + "aks-dra:testPool: {enabled: true}",
        PLUGIN + "aks-dra:namespaces: {old: {create: false, allow: [t4]}, ml: {quota: {t4: 2}}}",
        "aks-dra:testPool: {enabled: true, smokeTest: {enabled: false}}",
    ],
)
def test_the_plan_counts_what_the_program_registers(tmp_path: Path, body: str) -> None:
    plan = planned(tmp_path, body)
    engine, _ = run(lambda: DraCluster("gpus", plan))
    kinds = Counter(
        request.type.rpartition(":")[2]
        for request in engine.requests
        if request.type.startswith("kubernetes:") and "helm.sh" not in request.type
    )
    kinds = Counter({kind: count for kind, count in kinds.items() if not kind.endswith("Patch")})
    assert counted(created(plan)) == kinds
    patched = sum(request.type.endswith("Patch") for request in engine.requests)
    assert len(changed(plan)) == patched == body.count("create: false")


def test_a_namespace_that_exists_is_changed_and_not_created(tmp_path: Path) -> None:
    plan = planned(tmp_path, PLUGIN + "aks-dra:namespaces: {old: {create: false, allow: [t4]}}")
    out = io.StringIO()
    print_plan(Console(file=out, width=100), plan)
    assert "  ~ Namespace old, which exists: labels and annotations\n" in out.getvalue()
    assert "- (changed) Namespace old" in as_markdown(plan)


@pytest.mark.parametrize(
    ("settings", "cell", "by", "pools"),
    [
        ("", "nvidia.com/gpu: device plugin", "devicePlugin", {}),
        ("aks-dra:gpu: {legacyRequests: dra}", "d (1); also as nvidia.com/gpu", "dra", {"d": 1}),
    ],
)
def test_the_class_that_serves_nvidia_com_gpu_is_in_the_table(
    tmp_path: Path, settings: str, cell: str, by: str, pools: dict[str, int]
) -> None:
    plan = planned(tmp_path, PLUGIN + settings)
    row = ("aks-dra-legacy-requests", "package", cell)
    assert row in class_rows(plan)
    assert f"| {' | '.join(row)} |" in as_markdown(plan)
    classes = {entry["name"]: entry for entry in as_document(plan)["deviceClasses"]}
    legacy = classes["aks-dra-legacy-requests"]
    assert (legacy["origin"], legacy["extendedResource"]) == ("package", "nvidia.com/gpu")
    assert (legacy["extendedResourceServedBy"], legacy["devicesPerNode"]) == (by, pools)
    assert classes["t4"]["extendedResourceServedBy"] is None
    made = [row for row in class_rows(plan) if row[1] != "chart"]
    assert counted(created(plan))["DeviceClass"] == len(made)
    assert "aks-dra-legacy-requests" not in str(class_rows(planned(tmp_path, cluster("1.35") + PLUGIN)))
