"""The operator runs the DRA driver: the chart's values, what follows from them, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from local.charts.pack import pack
from local.stack.stackfile import StackError, StackFile, refuse_unless_local
from tests.stacks import check, planned
from tests.tools.helm import render

OPERATOR = "aks-dra:gpu: {draStack: operator%s}\n"
H100 = "aks-dra:pools: {h100: {vmSize: Standard_NC40ads_H100_v5%s}}"


def test_values_with_a_driver_of_the_operators(tmp_path: Path) -> None:
    plan = planned(tmp_path, OPERATOR % ", driverVersion: '590.48.01'" + H100 % ", taints: ['sku=gpu:NoSchedule']")
    assert plan.findings == ()
    (release,) = plan.releases
    assert (release.key, release.chart, release.version) == ("gpu-operator", "gpu-operator", "v26.7.0")
    values = dict(release.values)
    taint = {"key": "sku", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"}
    assert taint in values.pop("daemonsets")["tolerations"]
    assert taint in values.pop("node-feature-discovery")["worker"]["tolerations"]
    values.pop("dcgmExporter")
    assert values == {
        "nfd": {"enabled": True},
        "clusterPolicy": {"deployCR": False},
        "gpuCluster": {"deployCR": True},
        "driver": {"enabled": True, "nvidiaDriverCRD": {"enabled": True}, "version": "590.48.01"},
        "draDriver": {"computeDomains": {"enabled": False}},
    }


def test_values_with_a_driver_of_azures_and_gates(tmp_path: Path) -> None:
    plan = planned(tmp_path, OPERATOR % ", driver: aks" + H100 % ", sharing: {mode: dynamicMig}")
    assert plan.findings == ()
    values = plan.releases[0].values
    assert values["driver"] == {"enabled": False, "nvidiaDriverCRD": {"enabled": False}}
    assert values["draDriver"] == {"computeDomains": {"enabled": False}, "featureGates": {"DynamicMIG": True}}


def test_the_chart_takes_the_values(tmp_path: Path) -> None:
    charts = pack(tmp_path / "charts")
    for driver in ("operator", "aks"):
        plan = planned(tmp_path, OPERATOR % f", driver: {driver}" + H100 % "")
        made = render(charts["gpu-operator"], plan.releases[0].values)
        assert made.error == ""
        kinds = {kind for kind, _ in made.names()}
        assert "GPUCluster" in kinds
        assert "ClusterPolicy" not in kinds
        assert ("NVIDIADriver" in kinds) is (driver == "operator")


def test_objects_wait_for_the_operator(tmp_path: Path) -> None:
    """Its classes come with it; gpu.nvidia.com has no extended resource there, so the package's class has it alone."""
    plan = planned(tmp_path, OPERATOR % "" + H100 % "" + "\naks-dra:claims: {ml: {one: {deviceClass: h100-nvl}}}")
    assert {entry.after for entry in plan.objects} == {("gpu-operator",)}
    (legacy,) = [entry for entry in plan.objects if entry.key == "deviceclass-aks-dra-legacy-requests"]
    assert legacy.replace_with == ("gpu-operator",)
    assert legacy.manifest["spec"]["extendedResourceName"] == "nvidia.com/gpu"
    assert legacy.manifest["spec"]["selectors"][0]["cel"]["expression"] != "false"
    assert [entry.manifest["metadata"]["name"] for entry in plan.namespaces] == ["gpu-operator", "ml"]


@pytest.mark.parametrize(
    ("gpu", "pool", "code", "path"),
    [
        ("", ", allocation: devicePlugin", "GPC001", "aks-dra:pools.h100.allocation"),
        ("", ", sharing: {mode: mig, layout: all-1g.12gb}", "GPC002", "aks-dra:pools.h100.sharing.mode"),
        (", charts: {draDriver: {version: 0.5.0}}", "", "GPC003", "aks-dra:gpu.charts.draDriver"),
        (", charts: {devicePlugin: {version: 0.20.0}}", "", "GPC003", "aks-dra:gpu.charts.devicePlugin"),
        (", charts: {operator: {version: v26.3.0}}", "", "GPC004", "aks-dra:gpu.charts.operator.version"),
        (", driverVersion: '570.211.01'", "", "GPC005", "aks-dra:gpu.driverVersion"),
    ],
)
def test_refused(tmp_path: Path, gpu: str, pool: str, code: str, path: str) -> None:
    findings = [f for f in check(tmp_path, OPERATOR % gpu + H100 % pool) if f.severity == "error"]
    assert (code, path) in {(f.code, f.path) for f in findings}, findings
    assert not [f for f in check(tmp_path, "aks-dra:gpu: {}\n" + H100 % pool) if f.code == code]


def test_partitions_of_azures_are_taken(tmp_path: Path) -> None:
    body = OPERATOR % ", driver: aks" + H100 % ", sharing: {mode: mig, layout: all-1g.12gb}"
    plan = planned(tmp_path, body)
    assert plan.findings == ()
    assert plan.pools[0].inputs["gpuInstanceProfile"] == "MIG1g"


def test_an_a10s_driver_is_too_old_and_both_numbers_are_said(tmp_path: Path) -> None:
    pool = "aks-dra:pools: {a10: {vmSize: Standard_NV36ads_A10_v5}}"
    (finding,) = check(tmp_path, OPERATOR % ", driver: aks" + pool)
    assert (finding.code, finding.severity, finding.path) == ("GPC006", "warning", "aks-dra:pools.a10.vmSize")
    assert "580" in finding.message
    assert "570.211.01" in finding.message


def test_it_is_not_simulated(tmp_path: Path) -> None:
    zero = "00000000-0000-0000-0000-000000000000"
    file = StackFile("local", tmp_path / "Pulumi.local.yaml", "aks-dra", zero, "1.36")
    refuse_unless_local(file)
    with pytest.raises(StackError, match="GPUCluster is not simulated"):
        refuse_unless_local(replace(file, dra_stack="operator"))
