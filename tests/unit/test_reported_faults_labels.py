"""Faults that people met with labels and tags of pools that something in the cluster acts on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.stacks import check, cluster, errors, only, warnings

A100 = "Standard_NC24ads_A100_v4"
MIG = "aks-dra:pools.p.labels.nvidia.com/mig.config"
H100_MIG = "h: {vmSize: Standard_NC40ads_H100_v5, sharing: {mode: mig, layout: all-1g.12gb}}"


def labelled(value: str, size: str = A100, others: str = "", more: str = "") -> str:
    rest = f", {others}" if others else ""
    return f"aks-dra:pools: {{p: {{vmSize: {size}, labels: {{nvidia.com/mig.config: {value}}}{more}}}{rest}}}\n"


@pytest.mark.parametrize("allocation", ["dra", "devicePlugin"])
@pytest.mark.parametrize(
    ("size", "value", "right"),
    [
        (A100, "all-1g.5gb", "all-1g.10gb"), ("Standard_ND96amsr_A100_v4", "all-3g.20gb", "all-3g.40gb"),
        ("Standard_ND96asr_v4", "all-3g.40gb", "all-3g.20gb"), ("Standard_NC40ads_H100_v5", "all-1g.10gb", "all-1g.12gb"),
        ("Standard_ND96isr_H200_v5", "all-7g.80gb", "all-7g.141gb"),
    ],
)  # fmt: skip
def test_a_layout_of_another_gpu_is_refused_as_a_label_as_well_as_in_the_settings(
    tmp_path: Path, size: str, value: str, right: str, allocation: str
) -> None:
    body = labelled(value, size, more=f", allocation: {allocation}")
    assert errors(tmp_path, body) == [("MIG019", MIG)]
    assert only(tmp_path, body, "MIG019").remedy == f"did you mean {right}?"
    body = (
        f"aks-dra:pools: {{p: {{vmSize: {size}, allocation: {allocation}, sharing: {{mode: mig, layout: {value}}}}}}}"
    )
    assert errors(tmp_path, body) == [("MIG004", "aks-dra:pools.p.sharing.layout")]
    assert only(tmp_path, body, "MIG004").remedy == f"did you mean {right}?"
    assert errors(tmp_path, body.replace(value, right)) == []


@pytest.mark.parametrize(
    ("layout", "remedy"),
    [
        ("1g.10gb", "did you mean all-1g.10gb?"), ("ALL-1G.10GB", "did you mean all-1g.10gb?"),
        ("all-1g.10gb+me", "did you mean all-1g.10gb.me?"), ("all-balance", "did you mean all-balanced?"),
        ("all-disabled", "write mode: exclusive, which leaves the GPUs whole"),
    ],
)  # fmt: skip
def test_a_layout_that_is_misspelt_is_shown_as_it_is_written(tmp_path: Path, layout: str, remedy: str) -> None:
    body = f"aks-dra:pools: {{p: {{vmSize: {A100}, sharing: {{mode: mig, layout: {layout}}}}}}}"
    assert only(tmp_path, body, "MIG004").remedy == remedy


def test_a_layout_label_on_whole_gpus_is_read_by_nobody_or_makes_the_plan_wrong(tmp_path: Path) -> None:
    assert [(f.severity, f.code, f.path) for f in check(tmp_path, labelled("all-1g.10gb"))] == [
        ("warning", "MIG020", MIG)
    ]
    remedy = only(tmp_path, labelled("all-1g.10gb"), "MIG020").remedy
    assert remedy == "set sharing: {mode: mig, layout: all-1g.10gb} instead"
    body = labelled("all-1g.10gb", others=H100_MIG)
    assert errors(tmp_path, body) == [("MIG019", MIG)]
    assert only(tmp_path, body, "MIG019").remedy == remedy
    for harmless in (labelled("all-disabled"), labelled("all-1g.10gb", "Standard_NC4as_T4_v3")):
        assert check(tmp_path, harmless) == []


def test_a_layout_label_beside_dynamic_mig_is_refused(tmp_path: Path) -> None:
    body = cluster("1.36") + labelled("all-1g.12gb", "Standard_NC40ads_H100_v5", more=", sharing: {mode: dynamicMig}")
    assert errors(tmp_path, body) == [("MIG019", MIG)]
    assert only(tmp_path, body, "MIG019").remedy == "remove it"


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
