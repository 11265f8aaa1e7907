"""What lies under and over a stack file: base files, the project's config, and the values of a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aks_dra.stackfile.entries import UNKNOWN
from aks_dra.stackfile.loader import Loaded, load_config_values, load_stack_file
from tests.stackfile.loading import EXAMPLE, Load, codes, loader_in, value
from tests.stacks import PROJECT


@pytest.fixture
def load(tmp_path: Path) -> Load:
    return loader_in(tmp_path)


def test_base_files_are_merged_key_by_key(load: Load) -> None:
    loaded = load(
        "config:\n  aks-dra:base: [one.yaml, two.yaml]\n  aks-dra:pools: {b: {n: 9}, c: ~}\n  aks-dra:testPool:\n",
        one="config:\n  pools: {a: {n: 1, t: [1, 2]}, b: {n: 2, m: 2}, c: {n: 3}}\n  testPool: {enabled: true}\n",
        two="config:\n  aks-dra:base: [three.yaml]\n  aks-dra:pools: {a: {t: [3], n: ~}}\n",
        three="config:\n  aks-dra:tags: {x: y}\n  aks-dra:pools: {a: {n: 7, k: 8}}\n",
    )
    assert loaded.problems == ()
    assert value(loaded, "aks-dra:pools") == {"a": {"t": [3], "k": 8}, "b": {"n": 9, "m": 2}}
    assert value(loaded, "aks-dra:tags") == {"x": "y"}
    assert "aks-dra:testPool" not in loaded.config
    assert Path(loaded.positions["aks-dra:tags", "x"].file).name == "three.yaml"
    assert Path(loaded.positions["aks-dra:pools", "b", "n"].file).name == "Pulumi.dev.yaml"
    assert [Path(file).name for file in loaded.files] == [
        "Pulumi.dev.yaml", "Pulumi.yaml", "one.yaml", "two.yaml", "three.yaml",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("base", "content", "expected"),
    [
        ("[gone.yaml]", "", ["LOAD041"]),
        ("[../../../etc/hosts]", "", ["LOAD042"]),
        ("[/etc/hosts]", "", ["LOAD042"]),
        ("[one.yaml]", "config:\n  aks-dra:base: one.yaml\n", ["LOAD043"]),
        ("[1]", "", ["LOAD040"]),
        ("{a: b}", "", ["LOAD040"]),
        ("one.yaml", "config:\n  azure-native:subscriptionId: x\n", ["LOAD044"]),
        ("one.yaml", "config:\n  aks-dra:v: {a: [{secure: v1:x}]}\n", ["LOAD044"]),
        ("one.yaml", "encryptionsalt: x\n", ["LOAD017"]),
        ("one.yaml", "- x\n", ["LOAD017"]),
        ("one.yaml", "a: [\n", ["LOAD005"]),
        ("one.yaml", "", []),
    ],
)
def test_base_files_that_cannot_be_used(load: Load, base: str, content: str, expected: list[str]) -> None:
    assert codes(load(f"config:\n  aks-dra:base: {base}\n", one=content)) == expected


def test_the_projects_config_is_applied(load: Load) -> None:
    project = PROJECT + (
        "config:\n  azure-native:location: {value: westeurope}\n  short: hi\n  cluster.kubernetesVersion: '136'\n"
        "  n: {type: integer, default: 3}\n  aks-dra:gpu: {default: {driver: aks}}\n  tags: {default: {a: b}}\n"
    )
    loaded = load("config:\n  aks-dra:cluster: {x: 1}\n  gpu: {draStack: chart}\n", project)
    assert loaded.problems == ()
    assert dict(loaded.config) == {
        "aks-dra:cluster": {"x": 1, "kubernetesVersion": 136},
        "aks-dra:gpu": {"draStack": "chart"},
        "aks-dra:n": 3,
        "aks-dra:short": "hi",
        "aks-dra:tags": {"a": "b"},
        "azure-native:location": "westeurope",
    }
    assert Path(loaded.positions["aks-dra:short",].file).name == "Pulumi.yaml"
    clash = load("config:\n  base: one.yaml\n", project, one="config:\n  gpu: {driver: operator}\n")
    assert codes(clash) == ["LOAD045"]
    assert value(clash, "aks-dra:gpu") == {"driver": "aks"}


@pytest.mark.parametrize(
    ("config", "code"),
    [
        ("needed: {type: string}", "LOAD032"),
        ("given: {type: integer}", "LOAD032"),
        ("x: {type: tuple}", "LOAD031"),
        ("x: {pools: {}}", "LOAD031"),
        ("x: {type: array, default: [1]}", "LOAD031"),
        ("x: {type: string, default: 1}", "LOAD031"),
        ("x: {default: 1, value: 2}", "LOAD031"),
        ("azure-native:x: {default: 1}", "LOAD031"),
        ("x: 1.5", "LOAD031"),
        ("a:b:c: 1", "LOAD031"),
        ("given: {type: string, secret: true}", "LOAD032"),
    ],
)
def test_a_projects_config_that_pulumi_refuses(load: Load, config: str, code: str) -> None:
    assert codes(load("config:\n  given: text\n", f"{PROJECT}config:\n  {config}\n")) == [code]


def test_a_project_that_is_missing_or_broken(tmp_path: Path, load: Load) -> None:
    assert codes(load("config: {}\n", "runtime: python\nstackConfigDir: stacks\n")) == ["LOAD030"]
    assert codes(load("config: {}\n", "- x\n")) == ["LOAD030"]
    assert codes(load("config: {}\n", "name: [\n")) == ["LOAD005"]
    assert load("config:\n  v: 1\n", "name: other\nruntime: python\nconfig: stacks\n").config == {"other:v": 1}
    assert codes(load_stack_file(tmp_path / "stacks" / "Pulumi.gone.yaml")) == ["LOAD001"]
    assert codes(load_stack_file(tmp_path, tmp_path / "Pulumi.yaml")) == ["LOAD001", "LOAD024"]
    stray = tmp_path / "Pulumi.stray.yaml"
    stray.write_text("config: {}\n")
    (tmp_path / "Pulumi.yaml").write_text("name: aks-dra\nruntime: python\n")
    assert codes(load_stack_file(stray, tmp_path / "Pulumi.yaml")) == []
    (tmp_path / "Pulumi.yaml").write_text(PROJECT)
    assert codes(load_stack_file(stray)) == ["LOAD024"]
    stray.rename(tmp_path / "stacks" / "odd.yaml")
    assert codes(load_stack_file(tmp_path / "stacks" / "odd.yaml")) == ["LOAD024"]


def texts_of(loaded: Loaded) -> dict[str, str]:
    """The config as Pulumi would hand it to a program: every unknown decrypted."""

    def opened(part: Any) -> Any:
        if part is UNKNOWN:
            return "opened"
        if isinstance(part, dict):
            return {key: opened(child) for key, child in part.items()}
        return [opened(child) for child in part] if isinstance(part, list) else part

    values = {key: opened(part) for key, part in loaded.config.items()}
    return {key: part if isinstance(part, str) else json.dumps(part) for key, part in values.items()}


def test_a_run_sees_what_the_file_says(tmp_path: Path, load: Load) -> None:
    from_file = load(
        EXAMPLE + '  name: "123"\n  base: one.yaml\n  s: {a: 1, b: {secure: v1:x}}\n  t: {secure: v1:x}\n',
        one="config:\n  gpu: {driver: aks}\n  cluster: {kubernetesVersion: '1.30', x: 2}\n",
    )
    without_base = load(EXAMPLE + '  name: "123"\n  s: {a: 1, b: {secure: v1:x}}\n  t: {secure: v1:x}\n')
    texts = texts_of(without_base) | {"aks-dra:base": "one.yaml"}
    load(
        EXAMPLE + '  name: "123"\n  base: one.yaml\n  s: {a: 1, b: {secure: v1:x}}\n  t: {secure: v1:x}\n',
        one="config:\n  gpu: {driver: aks}\n  cluster: {kubernetesVersion: '1.30', x: 2}\n",
    )
    at_run = load_config_values(texts, {"aks-dra:s", "aks-dra:t"}, "aks-dra", "dev", tmp_path)
    assert at_run.problems == from_file.problems == ()
    assert dict(at_run.config) == dict(from_file.config)
    assert at_run.positions == from_file.positions
    assert at_run.texts == from_file.texts
    assert at_run.unknown == from_file.unknown
    assert at_run.files == from_file.files


def test_a_run_wins_over_the_file_and_hides_secrets_without_one(tmp_path: Path, load: Load) -> None:
    load(EXAMPLE)
    cluster = '{"kubernetesVersion": "1.35", "x": 1}'
    changed = {"aks-dra:cluster": cluster, "aks-dra:v": '{"a": "s"}', "aks-dra:n": "1.40"}
    at_run = load_config_values(changed, {"aks-dra:v"}, "aks-dra", "dev", tmp_path)
    assert dict(at_run.config) == {
        "aks-dra:cluster": {"kubernetesVersion": "1.35", "x": 1},
        "aks-dra:n": 1.4,
        "aks-dra:v": UNKNOWN,
    }
    assert at_run.positions["aks-dra:cluster", "kubernetesVersion"].line == 5
    assert at_run.texts["aks-dra:n",] == "1.40"
    elsewhere = load_config_values({"aks-dra:v": '{"a": 1}', "x:y": "5"}, (), "aks-dra", "other", tmp_path / "none")
    assert dict(elsewhere.config) == {"aks-dra:v": {"a": 1}, "x:y": "5"}
    broken = load_config_values({"aks-dra:v": '{"a": '}, (), "aks-dra", "other", tmp_path)
    assert codes(broken) == ["LOAD021"]
