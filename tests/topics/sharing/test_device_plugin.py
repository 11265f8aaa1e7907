"""Sharing under the device plugin: one config for each pool, with what the pool asks for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aks_dra.model.plan import Plan
from tests.stacks import DRA, OPERATOR, PLUGIN, check, errors, only, planned, pool, values

T4 = "Standard_NC4as_T4_v3"
A100, A100X2 = "Standard_NC24ads_A100_v4", "Standard_NC48ads_A100_v4"


def one(size: str, sharing: str, allocation: str = "dra") -> str:
    return f"aks-dra:pools: {{p: {{vmSize: {size}, allocation: {allocation}, sharing: {sharing}}}}}\n"


def configs(plan: Plan, name: str = "aks-dra-device-plugin") -> dict[str, Any]:
    (config_map,) = [o.manifest for o in plan.objects if o.manifest["metadata"]["name"] == name]
    assert config_map["metadata"]["namespace"] == "gpu-operator"
    return {key: json.loads(text) for key, text in config_map["data"].items()}


def test_the_right_key_is_written_where_the_plugin_reads_it(tmp_path: Path) -> None:
    plan = planned(tmp_path, one(T4, "{mode: timeSlicing, replicas: 4, rename: true}", "devicePlugin"))
    assert configs(plan)["p"]["sharing"] == {
        "timeSlicing": {"renameByDefault": True, "resources": [{"name": "nvidia.com/gpu", "replicas": 4}]}
    }
    assert pool(plan, "p").extended_resources == {"nvidia.com/gpu.shared": 4}


FLEET = f"""
aks-dra:pools:
  plain: {{vmSize: {T4}, allocation: devicePlugin}}
  slices: {{vmSize: {T4}, allocation: devicePlugin, sharing: {{mode: timeSlicing, replicas: 4}}}}
  mps: {{vmSize: {T4}, allocation: devicePlugin, sharing: {{mode: mps, replicas: 3}}}}
  mixed: {{vmSize: {A100}, allocation: devicePlugin, sharing: {{mode: mig, layout: all-balanced}}}}
  even: {{vmSize: {A100}, allocation: devicePlugin, sharing: {{mode: mig, layout: all-1g.10gb}}}}
  dra: {{vmSize: {T4}}}
"""


def test_every_pools_config_label_and_the_default_are_keys_of_the_map_that_both_readers_name(tmp_path: Path) -> None:
    plan = planned(tmp_path, FLEET)
    found = configs(plan)
    wanted = {p.labels["nvidia.com/device-plugin.config"] for p in plan.pools if p.allocation == "devicePlugin"}
    assert set(found) == {*wanted, "default"}
    named = {"name": "aks-dra-device-plugin", "default": "default"}
    assert values(plan, PLUGIN)["config"] == named
    assert values(plan, OPERATOR)["devicePlugin"]["config"] == named
    assert "nvidia.com/device-plugin.config" not in pool(plan, "dra").labels
    assert found["mps"]["sharing"] == {"mps": {"resources": [{"name": "nvidia.com/gpu", "replicas": 3}]}}
    assert {name: config["flags"]["migStrategy"] for name, config in found.items()} == {
        "default": "none", "plain": "none", "slices": "none", "mps": "none", "mixed": "mixed", "even": "single",
    }  # fmt: skip


@pytest.mark.parametrize("mode", ["timeSlicing", "mps"])
@pytest.mark.parametrize("replicas", [1, 0, -1])
def test_fewer_than_two_replicas_are_refused_with_the_way_to_share_nothing(
    tmp_path: Path, mode: str, replicas: int
) -> None:
    body = one(T4, f"{{mode: {mode}, replicas: {replicas}}}", "devicePlugin")
    assert errors(tmp_path, body) == [("SHA007", "aks-dra:pools.p.sharing.replicas")]
    assert only(tmp_path, body, "SHA007").remedy == "write 2 or more, or mode: exclusive for no sharing"


def test_a_pool_that_shares_nothing_has_no_sharing_block(tmp_path: Path) -> None:
    found = configs(planned(tmp_path, FLEET))
    assert [name for name, config in found.items() if "sharing" not in config] == ["default", "even", "mixed", "plain"]


@pytest.mark.parametrize("interval", ["short", "SHORT", "10ms", "medium", "long", "default"])
def test_an_interval_is_one_of_four_words(tmp_path: Path, interval: str) -> None:
    found = check(tmp_path, one(T4, f"{{mode: timeSlicing, interval: {interval}}}"))
    assert [(f.code, f.path) for f in found] == [("SET002", "aks-dra:pools.p.sharing.interval")]
    assert all(word in found[0].remedy for word in ("Default", "Short", "Medium", "Long"))
    right = planned(tmp_path, one(T4, "{mode: timeSlicing, interval: Short}"))
    assert values(right, DRA)["featureGates"] == {"TimeSlicingSettings": True}
    assert right.findings == ()


def test_replicas_are_the_device_plugins_notion(tmp_path: Path) -> None:
    assert errors(tmp_path, one(T4, "{mode: timeSlicing, replicas: 4}")) == [
        ("SHA001", "aks-dra:pools.p.sharing.replicas")
    ]
