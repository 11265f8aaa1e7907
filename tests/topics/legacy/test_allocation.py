"""DRA and the device plugin in one cluster: who serves a node, and who serves nvidia.com/gpu."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.stacks import DRA, OPERATOR, PLUGIN, check, cluster, errors, only, planned, values, warnings

T4, A100, H100 = "Standard_NC4as_T4_v3", "Standard_NC24ads_A100_v4", "Standard_NC40ads_H100_v5"


def test_no_node_is_served_by_both_whatever_the_operator_sets_on_it(tmp_path: Path) -> None:
    body = f"aks-dra:pools: {{t4: {{vmSize: {T4}, allocation: devicePlugin}}, h100: {{vmSize: {H100}}}}}"
    plan = planned(tmp_path, body)
    assert values(plan, OPERATOR)["devicePlugin"]["enabled"] is False
    # What the operator sets on nodes by itself, at worst.
    operators = {f"nvidia.com/gpu.deploy.{name}": "true" for name in ("client", "device-plugin", "driver", "operands")}
    selectors = {
        "devicePlugin": values(plan, PLUGIN)["nodeSelector"],
        "dra": values(plan, DRA)["kubeletPlugin"]["nodeSelector"],
    }
    for planned_pool in plan.pools:
        node: dict[str, Any] = {**planned_pool.labels, **operators}
        served = [name for name, selector in selectors.items() if selector.items() <= node.items()]
        assert served == [planned_pool.allocation]
        bare = {key: value for key, value in node.items() if key not in operators}
        reached = [name for name, selector in selectors.items() if selector.items() <= bare.items()]
        assert set(reached) <= {planned_pool.allocation}


POOL = "aks-dra:pools: {t4: {vmSize: Standard_NC4as_T4_v3}}\n"
LEGACY = "aks-dra:pools: {t4: {vmSize: Standard_NC4as_T4_v3, allocation: devicePlugin}}\n"


@pytest.mark.parametrize("version", ["1.34", "1.35", "1.34.2"])
def test_below_1_36_dra_cannot_serve_pods_that_ask_for_nvidia_com_gpu(tmp_path: Path, version: str) -> None:
    asked = cluster(version) + POOL + "aks-dra:gpu: {legacyRequests: dra}"
    assert errors(tmp_path, asked) == [("ALL001", "aks-dra:gpu.legacyRequests")]
    assert warnings(tmp_path, cluster(version) + POOL) == [("ALL006", "aks-dra:pools")]
    assert check(tmp_path, cluster(version) + LEGACY) == []


@pytest.mark.parametrize(("version", "expected"), [("1.36", ["ALL007"]), ("1.36.2", ["ALL007"]), ("1.37", [])])
def test_from_1_36_it_can_and_while_that_is_beta_it_is_said(tmp_path: Path, version: str, expected: list[str]) -> None:
    body = cluster(version) + POOL + "aks-dra:gpu: {legacyRequests: dra}"
    assert [(f.severity, f.code) for f in check(tmp_path, body)] == [("warning", code) for code in expected]
    if expected:
        assert "DRAExtendedResource" in only(tmp_path, body, "ALL007").message


T4_SIZE = "Standard_NC4as_T4_v3"


@pytest.mark.parametrize(
    ("gpu", "of_pool", "allocation", "warned"),
    [
        ("legacyRequests: dra", "1.35", "dra", True), ("extendedResources: true", "1.35.6", "dra", True),
        ("legacyRequests: dra", "1.37", "dra", False), ("legacyRequests: dra", "1.35", "devicePlugin", False),
        ("legacyRequests: devicePlugin", "1.35", "dra", False),
    ],
)  # fmt: skip
def test_nodes_that_do_not_read_the_claim_of_an_extended_resource_are_said(
    tmp_path: Path, gpu: str, of_pool: str, allocation: str, warned: bool
) -> None:
    pool = f"vmSize: Standard_NC40ads_H100_v5, allocation: {allocation}, kubernetesVersion: '{of_pool}'"
    body = cluster("1.37") + (
        f"aks-dra:gpu: {{{gpu}}}\n"
        f"aks-dra:pools: {{p: {{{pool}, sharing: {{mode: mig, layout: all-1g.12gb}}}}, t4: {{vmSize: {T4_SIZE}}}}}\n"
    )
    expected = [("EXT007", "aks-dra:pools.p.kubernetesVersion")] if warned else []
    assert [found for found in warnings(tmp_path, body) if found[0] == "EXT007"] == expected
    assert errors(tmp_path, body) == []
