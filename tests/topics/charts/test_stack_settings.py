"""Settings of the whole GPU stack in the values of the charts: mirror, pull secrets, tolerations, modules, metrics."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.stacks import check, planned

POOLS = """
aks-dra:pools:
  t4: {vmSize: Standard_NC4as_T4_v3, taints: ["sku=gpu:NoSchedule"]}
  old: {vmSize: Standard_NC4as_T4_v3, allocation: devicePlugin, taints: ["team=ml:NoExecute"]}
"""
DEFAULT = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
SKU = {"key": "sku", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"}
TEAM = {"key": "team", "operator": "Equal", "value": "ml", "effect": "NoExecute"}
EXTRA = {"key": "extra", "operator": "Exists", "effect": "NoSchedule"}


def values(tmp_path: Path, gpu: str = "{}", pools: str = POOLS) -> dict[str, Mapping[str, Any]]:
    """The values of every release; there may be no finding."""
    plan = planned(tmp_path, f"aks-dra:gpu: {gpu}\n{pools}")
    assert [finding for finding in plan.findings if finding.severity == "error"] == []
    return {release.key: release.values for release in plan.releases}


def at(values: Mapping[str, Any], path: str) -> Any:
    found: Any = values
    for key in path.split("."):
        found = found[key]
    return found


OPERATOR, DRA, PLUGIN = "gpu-operator", "dra-driver-nvidia-gpu", "nvidia-device-plugin"
OPERANDS = [
    (OPERATOR, "daemonsets.tolerations"),
    (OPERATOR, "node-feature-discovery.worker.tolerations"),
    (DRA, "kubeletPlugin.tolerations"),
    (PLUGIN, "tolerations"),
]


@pytest.mark.parametrize(("release", "path"), OPERANDS)
def test_operands_tolerate_what_their_pools_bear_and_keep_the_charts_defaults(
    tmp_path: Path, release: str, path: str
) -> None:
    held = at(values(tmp_path)[release], path)
    assert DEFAULT in held
    assert (SKU in held, TEAM in held) == (release != PLUGIN, release != DRA)


@pytest.mark.parametrize(("release", "path"), OPERANDS)
def test_a_toleration_of_the_settings_is_added_to_every_operand(tmp_path: Path, release: str, path: str) -> None:
    before = at(values(tmp_path)[release], path)
    after = at(values(tmp_path, '{tolerations: ["extra:NoSchedule"]}')[release], path)
    assert after == [*before, EXTRA]


@pytest.mark.parametrize(
    ("chart", "given", "release", "path"),
    [
        ("operator", "daemonsets: {tolerations: [%s]}", OPERATOR, "daemonsets.tolerations"),
        ("operator", "node-feature-discovery: {worker: {tolerations: [%s]}}", OPERATOR,
         "node-feature-discovery.worker.tolerations"),
        ("draDriver", "kubeletPlugin: {tolerations: [%s]}", DRA, "kubeletPlugin.tolerations"),
        ("devicePlugin", "tolerations: [%s]", PLUGIN, "tolerations"),
    ],
)  # fmt: skip
def test_a_toleration_in_chart_values_is_added_and_takes_none_away(
    tmp_path: Path, chart: str, given: str, release: str, path: str
) -> None:
    before = at(values(tmp_path)[release], path)
    extra = given % json.dumps(EXTRA)
    after = at(values(tmp_path, f"{{charts: {{{chart}: {{values: {{{extra}}}}}}}}}")[release], path)
    assert after == [*before, EXTRA]


def test_the_toolkit_reads_its_configuration_from_the_file_unless_a_user_says_otherwise(tmp_path: Path) -> None:
    assert values(tmp_path)[OPERATOR]["toolkit"]["env"] == [{"name": "RUNTIME_CONFIG_SOURCE", "value": "file"}]
    own = [{"name": "RUNTIME_CONFIG_SOURCE", "value": "file=/etc/containerd/x.toml"}, {"name": "A", "value": "b"}]
    given = f"{{charts: {{operator: {{values: {{toolkit: {{env: {json.dumps(own)}}}}}}}}}}}"
    assert sorted(values(tmp_path, given)[OPERATOR]["toolkit"]["env"], key=lambda entry: str(entry["name"])) == sorted(
        own, key=lambda entry: entry["name"]
    )
    assert "env" not in values(tmp_path, "{driver: aks}")[OPERATOR]["toolkit"]


def images(values: Any) -> Iterator[str]:
    """Everything that names a registry."""
    if isinstance(values, Mapping):
        for key, inner in values.items():
            if key == "repository" and isinstance(inner, str):
                yield inner
            else:
                yield from images(inner)


def test_a_mirror_takes_the_place_of_every_host_and_keeps_the_path(tmp_path: Path) -> None:
    found = values(tmp_path, "{images: {registry: example.azurecr.io/mirror}}")
    hosts = {image.split("/")[0] for release in found.values() for image in images(release)}
    assert hosts == {"example.azurecr.io"}
    operator = found[OPERATOR]
    assert operator["operator"]["repository"] == "example.azurecr.io/mirror/nvidia"
    assert operator["toolkit"]["repository"] == "example.azurecr.io/mirror/nvidia/k8s"
    assert operator["driver"]["manager"]["repository"] == "example.azurecr.io/mirror/nvidia/cloud-native"
    nfd = operator["node-feature-discovery"]["image"]["repository"]
    assert nfd == "example.azurecr.io/mirror/nfd/node-feature-discovery"
    assert found[DRA]["image"]["repository"] == "example.azurecr.io/mirror/dra-driver-nvidia/dra-driver-nvidia-gpu"
    assert found[PLUGIN]["image"]["repository"] == "example.azurecr.io/mirror/nvidia/k8s-device-plugin"
    assert list(images(values(tmp_path))) == []


def test_pull_secrets_have_the_shape_that_each_chart_takes(tmp_path: Path) -> None:
    found = values(tmp_path, "{images: {pullSecrets: [mirror]}}")
    for operand in ("operator", "driver", "toolkit", "validator", "gfd", "migManager", "dcgmExporter"):
        assert found[OPERATOR][operand]["imagePullSecrets"] == ["mirror"], operand
    assert found[OPERATOR]["node-feature-discovery"]["imagePullSecrets"] == [{"name": "mirror"}]
    assert found[DRA]["imagePullSecrets"] == [{"name": "mirror"}]
    assert found[PLUGIN]["imagePullSecrets"] == [{"name": "mirror"}]


def test_the_exporter_asks_for_no_service_monitor_unless_told(tmp_path: Path) -> None:
    off = {"enabled": True, "serviceMonitor": {"enabled": False}}
    assert values(tmp_path)[OPERATOR]["dcgmExporter"] == off
    on = values(tmp_path, "{dcgmExporter: {serviceMonitor: true}}")[OPERATOR]["dcgmExporter"]
    assert on == {"enabled": True, "serviceMonitor": {"enabled": True}}
    assert values(tmp_path, "{dcgmExporter: {enabled: false}}")[OPERATOR]["dcgmExporter"] == {"enabled": False}


def test_the_driver_of_the_operator_has_the_version_and_modules_asked_for(tmp_path: Path) -> None:
    driver = values(tmp_path, '{driverVersion: "580.95.05", kernelModules: open}')[OPERATOR]["driver"]
    assert driver["version"] == "580.95.05"
    assert driver["kernelModuleType"] == "open"
    assert "kernelModuleType" not in values(tmp_path)[OPERATOR]["driver"]


@pytest.mark.parametrize(
    ("gpu", "code", "path", "remedy"),
    [
        ("{images: {registry: 'https://Example.azurecr.io/'}}", "IMG001", "images.registry",
         "write example.azurecr.io"),
        ("{images: {registry: 'a b'}}", "IMG001", "images.registry", "for example example.azurecr.io/mirror"),
        ("{images: {pullSecrets: [Mirror]}}", "IMG002", "images.pullSecrets.0", "write the Secret's name"),
        ("{tolerations: ['team=ml']}", "IMG003", "tolerations.0", "for example team=ml:NoExecute"),
        ("{driver: aks, kernelModules: open}", "DRV008", "kernelModules",
         "set gpu.driver: operator, or remove kernelModules"),
        ("{charts: {operator: {values: {dcgmExporter: {serviceMonitor: {enabled: true}}}}}}", "CHT005",
         "charts.operator.values.dcgmExporter.serviceMonitor.enabled",
         "remove it here and change the setting that it follows from"),
        ("{images: {registry: a.example}, charts: {operator: {values: {driver: {repository: b.example}}}}}", "CHT005",
         "charts.operator.values.driver.repository", "remove it here and change the setting that it follows from"),
    ],
)  # fmt: skip
def test_settings_of_the_stack_that_cannot_work(tmp_path: Path, gpu: str, code: str, path: str, remedy: str) -> None:
    lines = [
        (f.code, f.path, f.remedy) for f in check(tmp_path, f"aks-dra:gpu: {gpu}\n{POOLS}") if f.severity == "error"
    ]
    assert lines == [(code, f"aks-dra:gpu.{path}", remedy)]


def test_blackwell_takes_no_proprietary_modules(tmp_path: Path) -> None:
    body = "aks-dra:gpu: {kernelModules: proprietary}\naks-dra:pools: {gb: {vmSize: Standard_ND128isr_NDR_GB200_v6}}"
    (line,) = (f for f in check(tmp_path, body) if f.code == "DRV009")
    assert line.message == "Blackwell GPUs (pool gb) run with the open kernel modules only"
