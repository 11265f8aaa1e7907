"""What a program hands over: Outputs are refused wherever they stand, and errors before anything is registered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pulumi
import pytest

from aks_dra.resources import DraCluster, DraClusterArgs
from tests.resources.hand_made import make_plan, whole_cluster
from tests.resources.stand_in import Azure, Engine, failing, kubelogin, run  # noqa: F401

T4 = "Standard_NC4as_T4_v3"
ACCESS = {"access": {"azureRbac": True}, "location": "swedencentral"}


def unknown() -> pulumi.Output[str]:
    return pulumi.Output.from_input("x")


@pytest.mark.parametrize(
    ("place", "path"),
    [
        (lambda value: {"cluster": {"name": value}}, "cluster.name"),
        (lambda value: {"pools": {"a": {"vmSize": value}}}, "pools.a.vmSize"),
        (lambda value: {"pools": {"a": {"vmSize": T4, "labels": {"team": value}}}}, "pools.a.labels.team"),
        (lambda value: {"pools": {"a": {"vmSize": T4, "taints": ["x:NoSchedule", value]}}}, "pools.a.taints[1]"),
        (lambda value: {"claims": {"ml": {"one": {"deviceClass": value}}}}, "claims.ml.one.deviceClass"),
        (lambda value: {"claims": {value: {}}}, "claims (a key)"),
        (lambda value: {"pools": {value: {"vmSize": T4}}}, "pools (a key)"),
        (lambda value: {"deviceClasses": {"x": {"cel": [value]}}}, "deviceClasses.x.cel[0]"),
        (
            lambda value: {"gpu": {"charts": {"operator": {"values": {"a": {"b": value}}}}}},
            "gpu.charts.operator.values.a.b",
        ),
        (lambda value: {"tags": {"owner": value}}, "tags.owner"),
    ],
)
def test_an_output_and_the_text_of_one_are_refused_wherever_they_stand(place: Any, path: str) -> None:
    text = failing(lambda: DraClusterArgs(place(f"x-{unknown()}")))
    assert f"  {path}: is the text that Pulumi gives for str() of an Output" in text
    if not path.endswith("(a key)"):
        assert f"  {path}: is an Output" in failing(lambda: DraClusterArgs(place(unknown())))


BAD: list[tuple[dict[str, Any], str]] = [
    (
        {"pools": {"a": {"vmSize": "Standard_NC24ads_A100_v4", "sharing": {"mode": "mig", "layout": "all-1g.5gb"}}}},
        "MIG004",
    ),
    ({"pools": {"a": {"vmSize": "Standard_NC24ads_A100_v9"}}}, "SIZ001"),
    ({"pools": {"A": {"vmSize": T4}}}, "NAM001"),
    ({"pools": {"a": {"vmSize": T4}}, "claims": {"ml": {"one": {"deviceClass": "t5"}}}}, "CLM007"),
    ({"gpu": {"charts": {"operator": {"version": "26.7"}}}}, "CHT001"),
]


@pytest.mark.parametrize(("settings", "code"), BAD, ids=[code for _, code in BAD])
def test_in_a_preview_where_nothing_is_known_every_error_is_found_and_nothing_registered(
    settings: dict[str, Any], code: str
) -> None:
    engine = Engine(Azure(True))
    with pytest.raises(pulumi.RunError) as error:
        run(lambda: DraCluster("gpu", {"cluster": ACCESS, **settings}), preview=True, engine=engine)
    assert f"\n{code} aks-dra:" in str(error.value)
    assert engine.names() == []


def test_a_good_preview_registers(tmp_path: Path) -> None:
    engine, _ = run(lambda: DraCluster("gpu", {"cluster": ACCESS, "pools": {"a": {"vmSize": T4}}}), preview=True)
    assert engine.one(":AgentPool").inputs["vmSize"] == T4


def test_a_program_may_hand_over_a_setting_as_json_text() -> None:
    text = json.dumps({"a": {"vmSize": T4, "labels": {"team": "ml"}}})
    assert (
        DraClusterArgs(cluster=ACCESS, pools=text).settings
        == DraClusterArgs(cluster=ACCESS, pools=json.loads(text)).settings
    )
    with pytest.raises(pulumi.RunError, match=r"LOAD021 aks-dra:pools\n  this text is not JSON: Expecting value"):
        DraClusterArgs(cluster=ACCESS, pools='{"a": ')


def test_a_setting_that_contains_itself_is_refused_in_words() -> None:
    pools: dict[str, Any] = {"a": {"vmSize": T4}}
    pools["b"] = pools
    with pytest.raises(pulumi.RunError, match=r"SET004 aks-dra:pools\.b\n  a value contains itself"):
        DraClusterArgs(cluster=ACCESS, pools=pools)


def test_labels_and_taints_are_not_among_what_replaces_a_pool() -> None:
    engine, _ = run(whole_cluster())
    sent = list(engine.named("gpu-pool-a100-agent-pool").raw.replaceOnChanges)
    assert sent
    assert not {"nodeLabels", "nodeTaints"} & set(sent)


def test_pools_come_after_their_cluster() -> None:
    engine, _ = run(whole_cluster(make_plan()))
    for name in ("gpu-pool-a100-agent-pool", "gpu-pool-t4-agent-pool"):
        assert "gpu-cluster-aks" in engine.behind(engine.named(name))


@pytest.mark.parametrize("where", ["pools", "device_classes", "claims", "namespaces"])
def test_an_output_as_a_name_is_refused_before_anything_is_registered(where: str) -> None:
    text = failing(lambda: DraClusterArgs({where: {pulumi.Output.from_input("x"): {}}}))
    assert f"{where} (a key): is an Output. Names and settings are plain values" in text
