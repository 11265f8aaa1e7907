"""What YAML and the command line make of a value: numbers, truth values and JSON text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aks_dra.stack_plan import plan_loaded
from aks_dra.stackfile.loader import load_config_values
from tests.stacks import check, errors, only, planned

T4 = "Standard_NC4as_T4_v3"


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
