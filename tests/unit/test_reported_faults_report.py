"""Faults of the report that users met: what a plan counts, where a finding points to, what it says to write."""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from aks_dra.cli import app
from aks_dra.facts.reader import SCALARS, TABLES
from aks_dra.reference.settings_doc import document
from aks_dra.report.document import as_document
from aks_dra.report.markdown import as_markdown
from aks_dra.report.tables import changed, class_rows, created
from aks_dra.report.text import print_plan
from aks_dra.resources.dra_cluster import DraCluster
from aks_dra.stack_plan import plan_file
from tests.resources.stand_in import kubelogin, run  # noqa: F401
from tests.stacks import cluster, only, planned

ROOT = Path(__file__).resolve().parents[2]
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


def test_findings_point_to_the_pool_that_is_meant(tmp_path: Path) -> None:
    scaled = "aks-dra:testPool: {enabled: true, nodes: {min: 1, max: 2}}"
    for body, path in (
        (scaled, "aks-dra:testPool.nodes"),
        (f"aks-dra:pools: {{d: {{vmSize: {T4}}}}}\n{scaled}", "aks-dra:testPool.nodes"),
        (f"aks-dra:pools: {{d: {{vmSize: {T4}, nodes: {{min: 1, max: 2}}}}}}\n{scaled}", "aks-dra:pools"),
    ):
        finding = only(tmp_path, body, "AUT002")
        assert finding.path == path
        assert finding.line > 1
    off = "aks-dra:testPool: {enabled: true, nodes: {count: 0}}"
    assert only(tmp_path, off, "ALL002").path == "aks-dra:testPool.nodes"
    assert only(tmp_path, cluster("1.35") + off, "ALL006").path == "aks-dra:testPool"


def test_a_fragment_is_told_to_stand_below_config(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.yaml").write_text("name: gpus\nruntime: python\n")
    file = tmp_path / "Pulumi.dev.yaml"
    file.write_text("aks-dra:pools: {}\nconfg: {}\n")
    first, second = plan_file(file)[1][:2]
    assert first.code == second.code == "LOAD017"
    assert first.remedy.startswith("put it under config:")
    assert second.remedy.startswith("did you mean 'config'?")


def test_a_base_file_is_said_to_be_one(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.yaml").write_text("name: gpus\nruntime: python\nstackConfigDir: stacks\n")
    stacks = tmp_path / "stacks"
    stacks.mkdir()
    (stacks / "common.yaml").write_text("config: {}\n")
    for name, base in (("dev", "[other.yaml, ./common.yaml]"), ("prod", "common.yaml"), ("x", "[]"), ("bad", "{")):
        (stacks / f"Pulumi.{name}.yaml").write_text(f"config:\n  aks-dra:base: {base}\n")

    def remedy(name: str) -> str:
        (stacks / name).touch()
        (finding,) = [entry for entry in plan_file(stacks / name)[1] if entry.code == "LOAD024"]
        return finding.remedy

    assert remedy("common.yaml").startswith("check Pulumi.dev.yaml or Pulumi.prod.yaml instead, which build on it")
    assert remedy("other.yaml") == "check Pulumi.dev.yaml instead, which builds on it: it is a base file"
    assert remedy("alone.yaml") == "name it Pulumi.<stack>.yaml"


def test_facts_are_printed_by_the_names_of_facts_files() -> None:
    tool = CliRunner()
    for name in (*TABLES, *SCALARS):
        if name not in ("source", "verified"):
            assert tool.invoke(app, ["facts", name]).exit_code == 0, name
    assert "e.g. gpu or size;" in " ".join(tool.invoke(app, ["facts", "--help"]).output.replace("│", " ").split())
    wrong = tool.invoke(app, ["facts", "vm_size"])
    assert wrong.exit_code == 2
    assert "did you mean size?" in " ".join(wrong.output.replace("│", " ").split())
    assert json.loads(tool.invoke(app, ["facts", "default", "--format", "json"]).output)


def test_every_setting_is_described() -> None:
    rows = [line for line in document().splitlines() if line.startswith("| `")]
    assert [row for row in rows if row.endswith("|  |")] == []
    assert "| `kubernetesVersion` | text | `1.36` |" in document()


@pytest.mark.parametrize("page", ["sharing", "tenants", "test-pool"])
def test_pages_with_fragments_say_where_they_stand(page: str) -> None:
    text = (ROOT / "docs" / f"{page}.md").read_text()
    assert text.index("stand below `config:`") < text.index("```yaml")
