"""Faults that people met with Pulumi itself: Outputs as names, checks that preview skips, types that are guessed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pulumi
import pytest

from aks_dra.resources import DraCluster, DraClusterArgs
from aks_dra.stack_plan import plan_loaded
from aks_dra.stackfile.loader import load_config_values
from tests.resources.stand_in import Azure, Engine, failing, kubelogin, run  # noqa: F401
from tests.stacks import check, errors, only, planned

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


def test_the_text_of_an_output_is_found_in_a_stack_file_too(tmp_path: Path) -> None:
    body = (
        f"aks-dra:pools: {{t4: {{vmSize: {T4}, labels: {{team: 'Calling __str__ on an Output[T] is not supported'}}}}}}"
    )
    assert errors(tmp_path, body) == [("LAB001", "aks-dra:pools.t4.labels.team")]
    assert "text of a Pulumi Output" in only(tmp_path, body, "LAB001").message


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


# What the command line and YAML make of a value


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("1.34", "is a number"), ("1.40", "becomes the number 1.4"), ("1.3e1", "becomes the number 13"),
        ("1", "is a number"), ("2.0", "becomes the number 2"), ("0x10", "becomes the number 16"),
    ],
)  # fmt: skip
def test_a_version_that_is_a_number_is_refused_as_it_was_written(tmp_path: Path, written: str, read: str) -> None:
    body = f"aks-dra:cluster: {{kubernetesVersion: {written}, access: {{azureRbac: true}}}}"
    assert errors(tmp_path, body) == [("SET002", "aks-dra:cluster.kubernetesVersion")]
    finding = only(tmp_path, body, "SET002")
    assert finding.remedy == f'write "{written}"'
    assert finding.message == f"a version is text: unquoted, {written} {read}"
    assert errors(tmp_path, body.replace(written, '"1.34"')) == []


@pytest.mark.parametrize("key", ["cluster: {kubernetesVersion: 1.36, access: {azureRbac: true}}", "gpu: {driverVersion: 580.1}",
                                 "gpu: {charts: {draDriver: {version: 0.5}}}"])  # fmt: skip
def test_every_version_has_that_rule(tmp_path: Path, key: str) -> None:
    found = [f for f in check(tmp_path, f"aks-dra:{key}") if f.severity == "error"]
    assert [f.code for f in found] == ["SET002"]
    assert 'write "' in found[0].remedy


@pytest.mark.parametrize(
    ("written", "remedy"),
    [
        ('"true"', "write true"),
        ('"false"', "write false"),
        ("yes", "write true"),
        ("off", "write false"),
        ('"no"', "write false"),
    ],
)
def test_a_truth_value_that_is_text_is_refused_with_what_to_write(tmp_path: Path, written: str, remedy: str) -> None:
    body = f"aks-dra:testPool: {{enabled: {written}}}"
    assert errors(tmp_path, body) == [("SET002", "aks-dra:testPool.enabled")]
    assert only(tmp_path, body, "SET002").remedy == remedy


POOLS = {"t4": {"vmSize": T4, "nodes": {"count": 2}}}


def test_an_object_may_be_json_text(tmp_path: Path) -> None:
    plan = planned(tmp_path, f"aks-dra:pools: '{json.dumps(POOLS)}'")
    assert plan.pools == planned(tmp_path, f"aks-dra:pools: {json.dumps(POOLS)}").pools
    assert [pool.name for pool in plan.pools] == ["t4"]


def test_what_a_program_is_handed_is_json_text(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.yaml").write_text("name: gpus\nruntime: python\n")
    config = {
        "aks-dra:pools": json.dumps(POOLS),
        "aks-dra:cluster": '{"access": {"azureRbac": true}, "kubernetesVersion": "1.36"}',
        "azure-native:location": "swedencentral",
    }
    plan, found = plan_loaded(load_config_values(config, (), "gpus", "dev", tmp_path), tmp_path)
    assert found == ()
    assert plan is not None
    assert [pool.nodes for pool in plan.pools] == ["2"]
    guessed = config | {"aks-dra:cluster": '{"access": {"azureRbac": true}, "kubernetesVersion": 1.4}'}
    plan, found = plan_loaded(load_config_values(guessed, (), "gpus", "dev", tmp_path), tmp_path)
    assert [(f.code, f.path) for f in found] == [("SET002", "aks-dra:cluster.kubernetesVersion")]


LABELS = [
    "aks-dra:pools: {t4: {vmSize: Standard_NC4as_T4_v3, labels: {tier: %s}}}",
    "aks-dra:pools: {t4: {vmSize: Standard_NC4as_T4_v3, tags: {tier: %s}}}",
    "aks-dra:tags: {tier: %s}",
    "aks-dra:namespaces: {ml: {labels: {tier: %s}}}",
    "aks-dra:deviceClasses: {any: {require: {type: gpu}, labels: {tier: %s}}}",
]  # fmt: skip


@pytest.mark.parametrize("place", LABELS, ids=[place.split(":")[1] + str(index) for index, place in enumerate(LABELS)])
@pytest.mark.parametrize(
    ("written", "quoted"),
    [("true", '"true"'), ("false", '"false"'), ("1", '"1"'), ("1.40", '"1.40"'), ("0x1F", '"0x1F"')],
)
def test_a_label_that_is_no_text_is_refused_with_the_quoted_form(
    tmp_path: Path, place: str, written: str, quoted: str
) -> None:
    found = [f for f in check(tmp_path, place % written) if f.severity == "error"]
    assert [f.code for f in found] == ["SET002"]
    assert found[0].path.endswith(".tier")
    assert found[0].remedy == f"write {quoted}"
    assert [f for f in check(tmp_path, place % quoted) if f.severity == "error"] == []


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
