"""The stand-in charts on the real API server: every object is accepted as it is, and a release notices new content.

The release goes through the real engine and provider: a packed chart, its version left out, as the package has it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from local.charts import pack as packer
from local.tools.build import TOOLS, build
from tests.cluster.conftest import TestCluster
from tests.engine import tiny_project
from tests.tools.helm import render

DRA, OPERATOR, PLUGIN = "dra-driver-nvidia-gpu", "gpu-operator", "nvidia-device-plugin"
OVERRIDE = {"gpuResourcesEnabledOverride": True}
VARIANTS: list[tuple[str, dict[str, Any]]] = [
    (OPERATOR, {}),
    (OPERATOR, {"devicePlugin": {"config": {"create": True, "name": "c", "data": {"a": "version: v1"}}}}),
    (OPERATOR, {"clusterPolicy": {"deployCR": False}, "gpuCluster": {"deployCR": True}, "driver": {"enabled": False}}),
    (DRA, OVERRIDE),
    (DRA, {**OVERRIDE, "featureGates": {"MPSSupport": True}, "kubeletPlugin": {"affinity": None}}),
    (PLUGIN, {}),
    (PLUGIN, {"config": {"map": {"default": "version: v1"}}, "nvidiaDriverRoot": "/", "runtimeClassName": "nvidia"}),
]


def kubectl(cluster: TestCluster, *arguments: str, stdin: str = "") -> str:
    command = [str(build(TOOLS["kubernetes"])), "kubectl", f"--kubeconfig={cluster.kubeconfig}", *arguments]
    run = subprocess.run(command, input=stdin, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.mark.parametrize(("chart", "values"), VARIANTS)
def test_the_api_server_accepts_every_object_and_knows_every_field(
    cluster: TestCluster, tmp_path: Path, chart: str, values: dict[str, Any]
) -> None:
    rendered = render(packer.pack(tmp_path)[chart], values, namespace=cluster.namespace)
    assert rendered.error == ""
    for crd in rendered.crds:
        cluster.apply(crd)
        name = crd["metadata"]["name"]
        kubectl(cluster, "wait", "--for=condition=Established", f"customresourcedefinition/{name}", "--timeout=30s")
    for manifest in rendered.manifests:
        asked = ("--dry-run=server", "--validate=strict", "-n", cluster.namespace)
        kubectl(cluster, "create", *asked, "-f", "-", stdin=json.dumps(manifest))


PROGRAM = """\
import json
import pulumi
import pulumi_kubernetes as kubernetes

config = pulumi.Config()
provider = kubernetes.Provider("cluster", kubeconfig=open(config.require("kubeconfig")).read())
kubernetes.helm.v3.Release(
    "plugin",
    name="nvidia-device-plugin",
    namespace=config.require("namespace"),
    chart=config.require("chart"),
    values=json.loads(config.require("values")),
    opts=pulumi.ResourceOptions(provider=provider),
)
"""


def test_a_release_upgrades_when_the_content_changes_and_only_then(
    cluster: TestCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(packer.HERE, tmp_path / "sources")
    monkeypatch.setattr(packer, "HERE", tmp_path / "sources")
    chart = packer.pack(tmp_path / "charts")[PLUGIN]
    values = {"nodeSelector": {"test": cluster.namespace}}
    project = tiny_project.make(
        tmp_path,
        kubeconfig=str(cluster.kubeconfig),
        namespace=cluster.namespace,
        chart=str(chart),
        values=json.dumps(values),
    )
    os.symlink(build(TOOLS["kubernetes-provider"]), tmp_path / "bin" / "pulumi-resource-kubernetes")
    project.program(PROGRAM)

    def label() -> str:
        found = json.loads(kubectl(cluster, "get", "daemonset", PLUGIN, "-n", cluster.namespace, "-o", "json"))
        assert found["spec"]["template"]["spec"]["nodeSelector"] == values["nodeSelector"]
        return str(found["metadata"]["labels"]["helm.sh/chart"])

    try:
        project.run("up", "--yes", "--skip-preview", "--stack", "dev")
        first = label()
        assert first.startswith("nvidia-device-plugin-0.20.0_local.")
        packer.pack(tmp_path / "charts")
        project.run("preview", "--expect-no-changes", "--stack", "dev")

        notes = tmp_path / "sources" / PLUGIN / "templates" / "NOTES.txt"
        notes.write_text(notes.read_text() + "One line more.\n")
        packer.pack(tmp_path / "charts")
        assert "1 to update" in project.run("preview", "--stack", "dev")
        project.run("up", "--yes", "--skip-preview", "--stack", "dev")
        assert label() != first

        # A refusal of the schema is told with the chart's words, and changes nothing.
        project.run("config", "set", "values", '{"nodeSelecter": {}}', "--stack", "dev")
        text = project.run("up", "--yes", "--skip-preview", "--stack", "dev", code=1)
        assert "additional properties 'nodeSelecter' not allowed" in text
        label()
    finally:
        project.run("destroy", "--yes", "--skip-preview", "--stack", "dev")
