"""What the loader gives for stack files good and bad; that it agrees with Pulumi itself is tested on the engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aks_dra.stackfile import jsontext, source, yaml12
from aks_dra.stackfile.entries import UNKNOWN
from aks_dra.stackfile.loader import load_config_values, load_stack_file
from aks_dra.stackfile.source import file_lines
from tests.stackfile.loading import EXAMPLE, Load, codes, loader_in, value
from tests.stacks import write


@pytest.fixture
def load(tmp_path: Path) -> Load:
    return loader_in(tmp_path)


def test_a_stack_file_becomes_config_with_lines_and_texts(load: Load) -> None:
    loaded = load(EXAMPLE)
    assert loaded.problems == ()
    assert (loaded.project, loaded.stack) == ("aks-dra", "dev")
    assert dict(loaded.config) == {
        "azure-native:location": "swedencentral",
        "aks-dra:cluster": {"kubernetesVersion": "1.36"},
        "aks-dra:pools": {
            "t4": {"vmSize": "Standard_NC4as_T4_v3", "nodes": {"count": 2}},
            "t4b": {"taints": ["a", "b"], "vmSize": "Standard_NC4as_T4_v3", "nodes": {"count": 2}},
        },
    }
    lines = {path: position.line for path, position in loaded.positions.items()}
    assert lines["aks-dra:pools",] == 6
    assert lines["aks-dra:pools", "t4b"] == 10
    assert lines["aks-dra:pools", "t4b", "vmSize"] == 8  # where the anchor's map sets it
    assert lines["aks-dra:pools", "t4b", "taints", 1] == 12
    assert loaded.texts["aks-dra:cluster", "kubernetesVersion"] == "1.36"
    shown = file_lines(loaded.positions["aks-dra:cluster", "kubernetesVersion"])
    assert shown == ["  4 |   aks-dra:cluster:", '> 5 |     kubernetesVersion: "1.36"', "  6 |   aks-dra:pools:"]


def test_a_version_as_a_number_keeps_the_text_that_was_written(load: Load) -> None:
    loaded = load("config:\n  aks-dra:cluster: {kubernetesVersion: 1.40}\n")
    assert value(loaded, "aks-dra:cluster") == {"kubernetesVersion": 1.4}
    assert loaded.texts["aks-dra:cluster", "kubernetesVersion"] == "1.40"


SCALARS: list[tuple[str, Any]] = [
    ("on", "on"), ("yes", "yes"), ("No", "No"), ("y", "y"), ("true", True), ("True", True), ("tRUE", "tRUE"),
    ("FALSE", False), ("~", None), ("", None), ("null", None), ("Null", None), ("nUll", "nUll"), ("'~'", "~"),
    ("017", 15), ("0o17", 15), ("-0o17", -15), ("08", 8), ("0x1F", 31), ("0b101", 5), ("1_000", 1000), ("+5", 5),
    ("2.0", 2), ("1e3", 1000), ("1e21", 1e21), ("-0.0", 0), (".5", 0.5), ("5.", 5), ("1.", 1), ("1e-7", 1e-7),
    (".5_0", 0.5), ("._5", "._5"), ("0o8", "0o8"), ("0x", "0x"), ("1e400", "1e400"), ("1:30", "1:30"),
    ("1.2.3", "1.2.3"), ("9223372036854775808", 9223372036854776000), ("18446744073709551616", 18446744073709552000),
    ("!!str 1.36", "1.36"), ("!!float 3", 3), ("! 12", 12), ("!own x", "x"), ("!!binary aGk=", "hi"),
    ('"\\u00e9"', "é"), ("2024-01-01", "2024-01-01 00:00:00 +0000 UTC"),
    ("2024-13-01", "2024-13-01"), ('"2024-01-01"', "2024-01-01"),
    ("{1: a, true: b}", {"1": "a", "true": "b"}), ("|-\n      a\n       b", "a\n b"), (">-\n      a\n      b", "a b"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), SCALARS)
def test_scalars_mean_what_they_mean_to_pulumi(load: Load, text: str, expected: Any) -> None:
    loaded = load(f"config:\n  aks-dra:v:\n    a: {text}\n")
    given_value = value(loaded)["a"]
    assert (type(given_value), given_value) == (type(expected), expected)
    assert all(problem.severity == "warning" for problem in loaded.problems)


TRAPS: list[tuple[str, list[tuple[str, int]]]] = [
    ("config:\n  a: 1\n  a: 2\n", [("LOAD008", 3)]),
    ("config:\n  a: {x: 1, x: 2}\n  b: {y: 1, 'y': 2}\n", [("LOAD008", 2), ("LOAD008", 3)]),
    ("config:\n\ta: 1\n", [("LOAD005", 2)]),
    ("config:\n  a: [1\n", [("LOAD005", 3)]),
    ("config:\n  a: @x\n", [("LOAD005", 2)]),
    ("config:\n  a: *x\n", [("LOAD009", 2)]),
    ("config:\n  a: &x\n    b: *x\n", [("LOAD009", 3)]),
    ("config:\n  a: {<<: 1}\n", [("LOAD010", 2)]),
    ("config:\n  a: .inf\n  b: !!int x\n", [("LOAD011", 2), ("LOAD011", 3)]),
    ("config:\n  a: {[b]: 1}\n", [("LOAD012", 2)]),
    ("config:\n  1: x\n", [("LOAD012", 2)]),
    ("config:\n  a: {1.40: x}\n", [("LOAD013", 2)]),
    ("config:\n  a: 2024-01-01\n", [("LOAD014", 2)]),
    ("config:\n  a: 017\n", [("LOAD015", 2)]),
    ("config: {}\n---\nconfig: {a: 1}\n", [("LOAD016", 2)]),
    ("confg: {}\nenviroment: []\n", [("LOAD017", 1), ("LOAD017", 2)]),
    ("- a\n", [("LOAD017", 1)]),
    ("config: [a]\n", [("LOAD018", 1)]),
    ("config:\n  a:b:c: 1\n", [("LOAD019", 2)]),
    ("config:\n  pools: {}\n  aks-dra:pools: {}\n", [("LOAD020", 3)]),
    ("config:\n  aks-dra:pools: '{\"a\": }'\n", [("LOAD021", 2)]),
    ('config:\n  aks-dra:pools: \'{"a": 1, "a": 2}\'\n', [("LOAD021", 2)]),
    ("config:\n  a: 'x\x07'\n", [("LOAD004", 2)]),
    ("config:\n  a: x\u2028y\n", [("LOAD004", 2)]),
    ("%YAML 1.2\n---\nconfig: {}\n", [("LOAD005", 1)]),
    ("config:\n  aks-dra:pools: {" + ", ".join(f"p{n}: {{}}" for n in range(201)) + "}\n", [("LOAD022", 2)]),
    ("config:\n  a: " + "[" * 60 + "]" * 60 + "\n", [("LOAD006", 2)]),
    ("config:\n  a: '" + "x" * source.MAX_BYTES + "'\n", [("LOAD002", 1)]),
    ("config:\n  aks-dra:pools: '" + "[" * 60 + "]" * 60 + "'\n", [("LOAD021", 2)]),
]


@pytest.mark.parametrize(("text", "expected"), TRAPS)
def test_what_is_wrong_is_named_with_its_line(load: Load, text: str, expected: list[tuple[str, int]]) -> None:
    loaded = load(text)
    found = [(problem.code, problem.position.line) for problem in loaded.problems if problem.position is not None]
    assert found == expected
    for problem in loaded.problems:
        assert problem.message
        assert problem.remedy
        assert problem.severity == source.RULES[problem.code][0]


def test_bytes_that_are_no_text_are_a_problem(load: Load) -> None:
    assert codes(load(b"config:\n  a: \xff\xfe\n")) == ["LOAD003"]
    assert value(load("\ufeffconfig:\n  v: 1\n")) == 1
    assert value(load("config:\n  v: 1\n".encode("utf-16"))) == 1


def test_aliases_of_aliases_end_in_a_finding_at_once(load: Load) -> None:
    lines = ["config:", "  a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"  a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    assert codes(load("\n".join(lines))) == ["LOAD007"]
    merges = ["config:", "  a0: &a0 {}"]
    merges += [f"  a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}" for n in range(1, 12)]
    assert codes(load("\n".join(merges))) == ["LOAD007"]
    chain = ["config:", "  a0: &a0 {x: 1}", *(f"  a{n}: &a{n} {{<<: *a{n - 1}}}" for n in range(1, 3000))]
    assert codes(load("\n".join(chain))) == ["LOAD006"]


def test_merge_keys_fill_in_and_the_first_of_several_wins(load: Load) -> None:
    loaded = load(
        "config:\n  a: &a {x: 1, y: 1}\n  b: &b {y: 2, z: 2, <<: {w: 3}}\n  v: {<<: [*a, *b], x: 0}\n"
        "  w: {<<: *b, z: ~}\n"
    )
    assert value(loaded) == {"x": 0, "y": 1, "z": 2, "w": 3}
    assert value(loaded, "aks-dra:w") == {"y": 2, "z": None, "w": 3}


def test_secrets_are_unknown_where_they_stand(load: Load) -> None:
    loaded = load(
        "encryptionsalt: v1:x\nsecretsprovider: p\nencryptedkey: k\nconfig:\n"
        "  v: {a: {secure: v1:abc}, b: [{secure: v1:abc}], c: {secure: 1}, d: {secure: x, e: 1}}\n"
        "  w: {secure: v1:abc}\n"
    )
    assert loaded.problems == ()
    assert value(loaded) == {"a": UNKNOWN, "b": [UNKNOWN], "c": {"secure": 1}, "d": {"secure": "x", "e": 1}}
    assert loaded.unknown == {("aks-dra:v", "a"), ("aks-dra:v", "b", 0), ("aks-dra:w",)}
    with pytest.raises(TypeError):
        bool(UNKNOWN)


def test_environments_are_named_and_their_values_unknown(load: Load) -> None:
    loaded = load(
        "environment:\n  imports: [shared/dev]\n  values:\n    pulumiConfig:\n      aks-dra:v: {a: 1, b: 2}\n"
        "      tags: {fn::open::x: {}}\nconfig:\n  v: {a: 5}\n"
    )
    assert [(problem.code, problem.severity, problem.value) for problem in loaded.problems] == [
        ("LOAD023", "warning", "shared/dev")
    ]
    assert value(loaded) == {"a": 5, "b": UNKNOWN}
    assert value(loaded, "aks-dra:tags") is UNKNOWN
    assert codes(load("environment: [a, b]\n")) == ["LOAD023"]


def test_objects_may_be_json_text(load: Load) -> None:
    loaded = load('config:\n  aks-dra:pools: \'{"t4": {"nodes": {"count": 2}}}\'\n')
    assert value(loaded, "aks-dra:pools") == {"t4": {"nodes": {"count": 2}}}
    assert loaded.positions["aks-dra:pools", "t4", "nodes"].line == 2
    assert jsontext.loads("[1, 2.5]") == [1, 2.5]


def test_a_large_file_within_the_limits_is_read_fast(load: Load) -> None:
    pool = "{{vmSize: Standard_NC24ads_A100_v4, nodes: {{count: 2}}, allocation: dra, labels: {{a: b{0}, c: d}}}}"
    text = "config:\n  aks-dra:pools:\n" + "".join(f"    p{n}: {pool.format(n)}\n" for n in range(200))
    loaded = load(text)
    assert loaded.problems == ()
    assert len(value(loaded, "aks-dra:pools")) == 200


@pytest.mark.parametrize(
    "unit",
    [
        "[",
        "{",
        "- ",
        "? ",
        "- - ",
        "a: ",
        "[a, ",
        "{a: ",
        "'",
        '"',
        "!",
        "&a ",
        "*a ",
        "#\n",
        "\n",
        " ",
        "a ",
        "|\n ",
        "[{a: ",
    ],
)
def test_a_mebibyte_of_anything_ends_soon(load: Load, unit: str) -> None:
    load("config:\n  v: " + unit * ((source.MAX_BYTES - 20) // len(unit)))
    load("config:\n  v:\n" + f"   {unit}\n" * ((source.MAX_BYTES - 20) // (len(unit) + 4)))


def test_every_float_of_go_is_written_as_go_writes_it() -> None:
    texts = ["1e+06", "123456", "1.5e+07", "1e-05", "0.0001", "1.34", "1e+21", "-2.5", "1.234567e+06"]
    assert [yaml12.float_text(float(text)) for text in texts] == texts


def same_twice(folder: Path, raw: bytes) -> None:
    file = write(folder, raw)
    first, second = load_stack_file(file), load_stack_file(file)
    assert first == second
    assert repr(first) == repr(second)
    for problem in first.problems:
        assert problem.remedy
        assert problem.position is not None
        file_lines(problem.position)


words = st.sampled_from([
    "config:", "\n", "  ", " ", "- ", ": ", "a", "b", "&x ", "*x", "<<: ", "{", "}", "[", "]", ", ", "'", '"', "|\n",
    ">\n", "aks-dra:base", "aks-dra:pools", "secure", "1.40", "~", "!!int ", "!x ", "? ", "# c", "---\n", "\t",
    "environment:", "Pulumi.dev.yaml", "017", "2024-01-01", "\x00", "\u2028", "é", "{a: 1}", "%YAML 1.2\n", "@", "..",
])  # fmt: skip
quick = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@quick
@given(raw=st.one_of(st.binary(max_size=200), st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace"))))
def test_no_bytes_raise(tmp_path: Path, raw: bytes) -> None:
    same_twice(tmp_path, raw)


@quick
@given(parts=st.lists(words, max_size=40))
def test_no_yaml_raises(tmp_path: Path, parts: list[str]) -> None:
    same_twice(tmp_path, ("config:\n  " + "".join(parts)).encode())


@pytest.mark.nightly
@settings(quick, max_examples=20_000)
@given(parts=st.lists(words, max_size=80))
def test_no_yaml_raises_in_a_long_run(tmp_path: Path, parts: list[str]) -> None:
    same_twice(tmp_path, ("config:\n  " + "".join(parts)).encode())


@quick
@given(text=st.text(max_size=60), key=st.sampled_from(["aks-dra:pools", "aks-dra:base", "x:y", "bad", "a:b:c"]))
def test_no_run_time_text_raises(tmp_path: Path, text: str, key: str) -> None:
    first = load_config_values({key: text}, (), "aks-dra", "dev", tmp_path)
    assert first == load_config_values({key: text}, (), "aks-dra", "dev", tmp_path)
