"""Labels, taints and tags of pools that something in the cluster, or AKS, acts on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.stacks import check, errors, only, warnings


def test_a_device_plugin_config_that_is_not_there_is_refused_on_a_dra_pool_too(tmp_path: Path) -> None:
    body = "aks-dra:pools: {p: {vmSize: Standard_NC4as_T4_v3, labels: {nvidia.com/device-plugin.config: %s}}, %s}"
    path = "aks-dra:pools.p.labels.nvidia.com/device-plugin.config"
    others = "dp: {vmSize: Standard_NC4as_T4_v3, allocation: devicePlugin}"
    assert errors(tmp_path, body % ("foo", others)) == [("LAB010", path)]
    message = only(tmp_path, body % ("foo", others), "LAB010").message
    assert message == "the device plugin's ConfigMap has no such key; it has default, dp"
    assert check(tmp_path, body % ("dp", others)) == []
    assert check(tmp_path, body % ("default", others)) == []
    alone = [(f.severity, f.code, f.message) for f in check(tmp_path, body % ("foo", ""))]
    assert alone == [("warning", "LAB010", "nothing reads this, since no pool is a devicePlugin pool")]


def test_the_spot_label_and_taint_on_a_pool_that_is_not_spot_are_a_warning(tmp_path: Path) -> None:
    body = (
        "aks-dra:pools: {p: {vmSize: Standard_NC4as_T4_v3, labels: {kubernetes.azure.com/scalesetpriority: spot}, "
        "taints: ['kubernetes.azure.com/scalesetpriority=spot:NoSchedule'], spot: %s}}"
    )
    assert check(tmp_path, body % "true") == []
    assert errors(tmp_path, body % "false") == []
    assert warnings(tmp_path, body % "false") == [
        ("LAB011", "aks-dra:pools.p.labels.kubernetes.azure.com/scalesetpriority"),
        ("LAB011", "aks-dra:pools.p.taints.0"),
    ]


@pytest.mark.parametrize("key", ["EnableManagedGPUExperience", "enablemanagedgpuexperience"])
@pytest.mark.parametrize("allocation", ["dra", "devicePlugin"])
def test_the_tag_by_which_aks_runs_a_device_plugin_itself_is_refused(tmp_path: Path, key: str, allocation: str) -> None:
    pool = "aks-dra:pools: {p: {vmSize: Standard_NC4as_T4_v3, allocation: %s, tags: {%s: %s}}}"
    assert errors(tmp_path, pool % (allocation, key, "'true'")) == [("LAB012", f"aks-dra:pools.p.tags.{key}")]
    assert check(tmp_path, pool % (allocation, key, "'false'")) == []
    shared = f"aks-dra:tags: {{{key}: 'true'}}\naks-dra:pools: {{p: {{vmSize: Standard_NC4as_T4_v3}}}}"
    assert errors(tmp_path, shared) == [("LAB012", f"aks-dra:tags.{key}")]


def test_nodes_without_the_operators_operands_have_no_driver_of_its(tmp_path: Path) -> None:
    body = (
        "aks-dra:pools: {p: {vmSize: Standard_NC4as_T4_v3, driver: %s, labels: {nvidia.com/gpu.deploy.operands: '%s'}}}"
    )
    path = "aks-dra:pools.p.labels.nvidia.com/gpu.deploy.operands"
    assert warnings(tmp_path, body % ("operator", "false")) == [("LAB013", path)]
    assert errors(tmp_path, body % ("operator", "false")) == []
    assert check(tmp_path, body % ("operator", "true")) == []
    assert check(tmp_path, body % ("aks", "false")) == []


T4 = "Standard_NC4as_T4_v3"


@pytest.mark.parametrize("allocation", ["dra", "devicePlugin"])
def test_a_label_that_names_another_config_is_refused(tmp_path: Path, allocation: str) -> None:
    label = "nvidia.com/device-plugin.config"
    body = f"aks-dra:pools: {{p: {{vmSize: {T4}, allocation: {allocation}, labels: {{{label}: x}}}}}}"
    found = errors(tmp_path, body)
    assert found == (
        [("LAB003", "aks-dra:pools.p.labels.nvidia.com/device-plugin.config")] if allocation != "dra" else []
    )


POOL = "aks-dra:pools: {t4: {vmSize: Standard_NC4as_T4_v3}}\n"
TAGS = [
    "SkipGPUDriverInstall", "skipgpudriverinstall", "SKIPGPUDRIVERINSTALL", "SkipGpuDriverInstall",
    "Skip-GPU-Driver-Install", "skip_gpu_driver_install", "skip gpu driver install",
    "Skip.GPU.Driver.Install", "skipGPU-driver_Install", "SkipGPU-DriverInstall",
]  # fmt: skip


@pytest.mark.parametrize("tag", TAGS)
@pytest.mark.parametrize("value", ["'true'", "'false'", "''"])
def test_the_retired_tag_is_refused_however_it_is_written(tmp_path: Path, tag: str, value: str) -> None:
    body = f'aks-dra:pools: {{t4: {{vmSize: Standard_NC4as_T4_v3, tags: {{"{tag}": {value}}}}}}}'
    assert errors(tmp_path, body) == [("LAB007", f"aks-dra:pools.t4.tags.{tag}")]
    finding = only(tmp_path, body, "LAB007")
    assert "set gpu.driver: operator" in finding.remedy
    assert "gpuProfile.driver" in finding.message


def test_the_retired_tag_is_found_where_it_was_written(tmp_path: Path) -> None:
    assert errors(tmp_path, POOL + "aks-dra:tags: {SkipGPUDriverInstall: 'true'}") == [
        ("LAB007", "aks-dra:tags.SkipGPUDriverInstall")
    ]
    raw = "aks-dra:pools: {t4: {vmSize: Standard_NC4as_T4_v3, azureInputs: {tags: {SkipGPUDriverInstall: 'true'}}}}"
    assert ("LAB007", "aks-dra:pools.t4.azureInputs.tags.SkipGPUDriverInstall") in errors(tmp_path, raw)
    assert errors(tmp_path, POOL + "aks-dra:tags: {SkipGPUDriverInstallation: 'true'}") == []
