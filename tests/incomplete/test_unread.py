"""One setting that cannot be read hides no other mistake, and makes none up."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from aks_dra.cli import app
from aks_dra.plan import plan
from aks_dra.reference import findings_doc
from aks_dra.settings import Settings
from aks_dra.settings.parse import read_values
from aks_dra.settings.shape import model_at
from aks_dra.stack_plan import plan_file

EXAMPLES = findings_doc.examples()
Keys = set[tuple[str, str]]

STACK = """
config:
  azure-native:location: swedencentral
  aks-dra:cluster: {access: {azureRbac: true}}
  aks-dra:pools:
    a100: {vmSize: Standard_NC24ads_A100_v4, taints: [nonsense]}
    T4: {vmSize: Standard_NC4as_T4_v3}
    typo: {vmSize: Standard_NC4as_T4_v33}
  aks-dra:deviceClasses:
    big: {require: {memory: ">=1000Gi"}}
    a100s: {require: {product: "A100*"}}
  aks-dra:claims:
    ml: {one: {deviceClass: a100-80gb}, many: {deviceClass: a100-80gb, count: 9}, none: {deviceClass: nosuch}}
  aks-dra:devices: {FPGA: {driver: fpga.example.com, pools: [a100]}}
  aks-dra:tags: {SkipGPUDriverInstall: "true"}
"""


def found_in(folder: Path, config: dict[str, Any], today: str = "") -> Keys:
    (folder / "Pulumi.yaml").write_text("name: gpus\nruntime: python\n")
    file = folder / "Pulumi.dev.yaml"
    file.write_text(yaml.safe_dump({"config": config}))
    return {(finding.code, finding.path) for finding in plan_file(file, today)[1]}


def config_of(text: str) -> dict[str, Any]:
    config: dict[str, Any] = yaml.safe_load(text)["config"]
    return config


def at(values: Any, path: tuple[Any, ...]) -> Any:
    for part in path:
        values = values[part]
    return values


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in inner:
        yield from paths(entry, (*path, key))


# What cannot be read, by where it is put; each leaves the rest of the stack as it was.
DAMAGE: dict[str, tuple[tuple[Any, ...], Any, str]] = {
    "unknown key": (("aks-dra:pools", "a100", "zzz"), "red", "SET001"),
    "unknown key of the stack": (("aks-dra:zzz",), {"a": 1}, "SET001"),
    "unknown key, deep": (("aks-dra:cluster", "network"), {"zzz": 1}, "SET001"),
    "wrong type": (("aks-dra:pools", "a100", "labels"), 5, "SET002"),
    "wrong type of an item": (("aks-dra:gpu",), {"images": {"pullSecrets": ["a", {}, "b"]}}, "SET002"),
    "not one of the words": (("aks-dra:cluster", "tier"), "Gold", "SET002"),
    "number for text": (("aks-dra:gpu",), {"driverVersion": 570.1}, "SET002"),
    "required key missing": (("aks-dra:pools", "extra"), {"nodes": {"count": 2}}, "SET002"),
    "required key missing in a list": (("aks-dra:claims", "ml", "more"), {"firstAvailable": [{"count": 1}]}, "SET002"),
    "whole entry": (("aks-dra:pools", "extra"), 5, "SET002"),
    "encrypted": (("aks-dra:pools", "a100", "tags"), {"cost": {"secure": "AAABAOT5"}}, "SET003"),
    "encrypted, whole": (("aks-dra:testPool",), {"secure": "AAABAOT5"}, "SET003"),
    "no JSON": (("aks-dra:namespaces",), '{"ml": ', "LOAD021"),
    "too large a number": (("aks-dra:pools", "a100", "maxPods"), 2**70, "SET002"),
    "short reason": (("aks-dra:acknowledge",), [{"code": "AUT002", "reason": "x"}], "SET002"),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_what_cannot_be_read_is_one_finding_more(tmp_path: Path, kind: str) -> None:
    path, value, code = DAMAGE[kind]
    config = config_of(STACK)
    before = found_in(tmp_path, config)
    assert len(before) >= 8
    holder = at(config, path[:-1])
    holder[path[-1]] = value
    after = found_in(tmp_path, config)
    assert before <= after
    assert {found for found, _ in after - before} == {code}


@pytest.mark.parametrize("seed", range(4))
def test_findings_of_others_stay_beside_a_key_that_cannot_be_read(tmp_path: Path, seed: int) -> None:
    """Random stacks of two examples, with one unknown key at a random place: what was found before, and that key."""
    choose = random.Random(seed)
    plain = [example for example in EXAMPLES.values() if _plain(example)]
    for _ in range(60):
        config = {}
        for example in choose.sample(plain, 2):
            config.update(config_of(example.text()))
        before = found_in(tmp_path, config)
        places = [path for path in paths(config) if isinstance(at(config, path), dict) and _is_model(path)]
        path = choose.choice(places)
        at(config, path)["zzz"] = choose.choice([1, "x", {}, ["y"], None])
        after = found_in(tmp_path, config)
        assert after == before | {("SET001", ".".join(map(str, (*path, "zzz"))))}, (config, path)


@pytest.mark.parametrize("seed", range(4))
def test_nothing_is_made_up_when_a_value_cannot_be_read(tmp_path: Path, seed: int) -> None:
    """A value of a random example becomes one of a wrong type: no finding comes that the value itself did not have."""
    choose = random.Random(1000 + seed)
    plain = [example for example in EXAMPLES.values() if _plain(example)]
    for example in choose.sample(plain, 8):
        whole = config_of(example.text())
        before = found_in(tmp_path, whole, example.today)
        for path in choose.sample(list(_ours(whole)), 2):
            config = copy.deepcopy(whole)
            at(config, path[:-1])[path[-1]] = 5.5
            shown = ".".join(map(str, path))
            after = {
                (code, where)
                for code, where in found_in(tmp_path, config, example.today)
                if where != shown and not where.startswith(f"{shown}.")
            }
            assert {(code, where) for code, where in after - before if code != "SET002"} == set(), (example, path)


def _plain(example: findings_doc.Example) -> bool:
    """Whether the example is a stack file of its own that anybody can read."""
    special = example.whole or example.repeat or example.before or example.snapshot or example.files or example.absent
    return not special and not example.code.startswith(("LOAD", "SET", "FAC", "ACK")) and example.encoding == "utf-8"


def _ours(config: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    return (path for path in paths(config) if str(path[0]).startswith("aks-dra:"))


def _is_model(path: tuple[Any, ...]) -> bool:
    """Whether a map holds keys of ours: in the others any key may stand."""
    if not str(path[0]).startswith("aks-dra:"):
        return False
    own = (str(path[0]).removeprefix("aks-dra:"), *path[1:])
    return model_at(Settings, own) is not None


def test_a_key_of_a_misspelt_setting_is_no_setting_that_lacks(tmp_path: Path) -> None:
    config = config_of(STACK)
    before = found_in(tmp_path, config)
    config["aks-dra:cluster"] = {"acess": {"azureRbac": True}}
    assert found_in(tmp_path, config) == before | {("SET001", "aks-dra:cluster.acess")}


def test_a_pool_that_cannot_be_read_may_serve_any_class(tmp_path: Path) -> None:
    config = config_of(STACK)
    claims = {"a": {"deviceClass": "h100-nvl"}, "b": {"deviceClass": "t4-timesliced"}, "c": {"deviceClass": "nosuch"}}
    config["aks-dra:claims"] = {"ml": claims}
    of_claims = {path for code, path in found_in(tmp_path, config) if code == "CLM007"}
    assert of_claims == {f"aks-dra:claims.ml.{name}.deviceClass" for name in claims}
    config["aks-dra:pools"]["new"] = {"nodes": {"count": 2}}
    of_claims = {path for code, path in found_in(tmp_path, config) if code == "CLM007"}
    assert of_claims == {"aks-dra:claims.ml.c.deviceClass"}


def test_the_plan_says_that_it_is_incomplete(tmp_path: Path) -> None:
    config = config_of(STACK)
    config["aks-dra:pools"]["a100"]["colour"] = "red"
    found_in(tmp_path, config)
    file, run = tmp_path / "Pulumi.dev.yaml", CliRunner()
    path = "aks-dra:pools.a100.colour"
    document = json.loads(run.invoke(app, ["plan", str(file), "--format", "json"]).output)
    assert document["incomplete"] == [path]
    assert [pool["name"] for pool in document["pools"]] == ["T4", "a100", "typo"]
    (checked,) = json.loads(run.invoke(app, ["check", str(file), "--format", "json"]).output)
    assert checked["incomplete"] == [path]
    for command in (["plan"], ["plan", "--format", "markdown"], ["check"]):
        answer = run.invoke(app, [command[0], str(file), *command[1:]])
        assert answer.exit_code == 1
        (line,) = [line for line in answer.output.splitlines() if " is incomplete" in line]
        assert path in line


def test_a_condition_that_cannot_be_read_matches_nothing_that_is_known(tmp_path: Path) -> None:
    config = config_of(STACK)
    config["aks-dra:deviceClasses"] = {"big": {"require": {"memory": ">40GB"}}, "odd": {"cel": ["1 +"]}}
    config["aks-dra:claims"] = {
        "ml": {"one": {"deviceClass": "big", "count": 9}, "two": {"deviceClass": "t4", "cel": ["1 +"]}}
    }
    found_in(tmp_path, config)
    planned, findings = plan_file(tmp_path / "Pulumi.dev.yaml")
    assert planned is not None
    matches = {match.device_class: match for match in planned.matches}
    assert matches["big"].unknown
    assert matches["odd"].unknown
    assert not matches["big"].pools
    assert [ask.unknown for claim in planned.claims for _, asks in claim.requests for ask in asks] == [True] * 2
    assert planned.incomplete == (
        "aks-dra:claims.ml.two.cel.0", "aks-dra:deviceClasses.big.require.memory", "aks-dra:deviceClasses.odd.cel.0",
    )  # fmt: skip
    about = {f.code for f in findings if f.path.startswith(("aks-dra:deviceClasses", "aks-dra:claims"))}
    assert about == {"CLS001", "CLS004", "CLM017"}


def test_a_base_file_that_is_not_there_may_set_anything(tmp_path: Path) -> None:
    config = config_of(STACK)
    before = found_in(tmp_path, config)
    config["aks-dra:base"] = ["nowhere.yaml"]
    del config["aks-dra:cluster"]
    after = found_in(tmp_path, config)
    assert ("LOAD041", "aks-dra:base") in after
    assert not {code for code, _ in after} & {"ACC001", "CLM007"}
    assert ("LAB006", "aks-dra:pools.a100.taints.0") in after & before
    planned, _ = plan_file(tmp_path / "Pulumi.dev.yaml")
    assert planned is not None
    assert planned.incomplete == ("aks-dra:base",)


def test_a_base_that_is_no_json_may_set_anything(tmp_path: Path) -> None:
    config = config_of(STACK)
    config["aks-dra:base"] = '["common.yaml'
    config["aks-dra:claims"] = {"ml": {"one": {"deviceClass": "of-the-base"}}}
    found = found_in(tmp_path, config)
    assert ("LOAD021", "aks-dra:base") in found
    assert "CLM007" not in {code for code, _ in found}
    planned, _ = plan_file(tmp_path / "Pulumi.dev.yaml")
    assert planned is not None
    assert planned.incomplete == ("aks-dra:base",)


@pytest.mark.parametrize(
    ("base", "code"),
    [
        ("config: 5\n", "LOAD018"),
        ("config:\n  <<: 5\n  aks-dra:gpu: {driver: operator}\n", "LOAD010"),
        ("config:\n  aks-dra:pools: {a: {vmSize: x}}\n  aks-dra:pools: {b: {vmSize: y}}\n", "LOAD008"),
        ("aks-dra:gpu: {driver: operator}\n", "LOAD017"),
        ('config:\n  aks-dra:pools: "{bad"\n', "LOAD021"),
    ],
)
def test_a_base_that_is_partly_read_hides_nothing_of_the_stack_file(tmp_path: Path, base: str, code: str) -> None:
    config = {
        "azure-native:location": "swedencentral",
        "aks-dra:cluster": {"access": {"azureRbac": True}},
        "aks-dra:base": ["base.yaml"],
        "aks-dra:pools": {"T4": {"vmSize": "Standard_NC4as_T4_v3"}},
        "aks-dra:claims": {"ml": {"c": {"deviceClass": "of-the-base", "count": 99}}},
    }
    (tmp_path / "base.yaml").write_text(base)
    found = {found for found, _ in found_in(tmp_path, config)}
    assert found >= {code, "NAM001", "CLM006"}
    assert "CLM007" not in found
    planned, _ = plan_file(tmp_path / "Pulumi.dev.yaml")
    assert planned is not None
    assert "aks-dra:base" in planned.incomplete


def test_a_location_that_is_encrypted_is_no_location_that_lacks(tmp_path: Path) -> None:
    config = config_of(STACK)
    before = found_in(tmp_path, config)
    config["azure-native:location"] = {"secure": "AAABAOT5"}
    assert found_in(tmp_path, config) - before == {("SET003", "azure-native:location")}


def test_values_of_a_program_are_read_in_the_same_way(tmp_path: Path) -> None:
    config = config_of(STACK)
    before = found_in(tmp_path, config)
    values = {key.partition(":")[2]: value for key, value in config.items() if key.startswith("aks-dra:")}
    values["pools"]["a100"]["max_pods"] = object()
    values["namespaces"] = "{no JSON"
    reading = read_values(values)
    assert reading.whole is None
    assert reading.settings is not None
    planned = plan(
        reading.settings, project="gpus", stack="dev", location="swedencentral",
        config_findings=reading.findings, unread=reading.unread,
    )  # fmt: skip
    more = {("SET004", "aks-dra:pools.a100.max_pods"), ("LOAD021", "aks-dra:namespaces")}
    assert {(finding.code, finding.path) for finding in planned.findings} == before | more


def test_what_is_no_yaml_is_refused_whole(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.yaml").write_text("name: gpus\nruntime: python\n")
    (tmp_path / "Pulumi.dev.yaml").write_text("config: {\n")
    planned, findings = plan_file(tmp_path / "Pulumi.dev.yaml")
    assert planned is None
    assert [finding.code for finding in findings] == ["LOAD005"]
