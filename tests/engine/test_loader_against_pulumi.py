"""The loader against Pulumi itself: each trap is written as a stack file, and both say what they read.

`pulumi config --json` gives the text that a program would get; where it refuses the file, the loader must have an
error too. The traps in `STRICTER` are the ones where the loader says more than Pulumi, on purpose. One program is
run by the engine, to see that the two ways into the loader end in the same.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from aks_dra.stackfile.entries import UNKNOWN
from aks_dra.stackfile.loader import Loaded, load_config_values, load_stack_file
from local.engine.launchers import write_launchers
from local.tools.build import TOOLS, build

PROJECT = "name: aks-dra\nruntime: python\nstackConfigDir: stacks\n"

TRAPS = {
    "words that YAML 1.1 takes for booleans": "v: {a: on, b: off, c: yes, d: No, e: y, f: N}",
    "booleans": "v: {a: true, b: True, c: FALSE, d: tRUE, e: falsE}",
    "nothing": "v: {a: ~, b: null, c: Null, d: nUll, e: , f: '', g: '~'}",
    "nothing at the top": "v:\n  w: ~\n  x: ''",
    "integers": "v: {a: 5, b: +5, c: -5, d: 1_000, e: 0x1F, f: 0b101, g: -0b101, h: 0X1f, i: 00}",
    "octals": "v: {a: 017, b: 0o17, c: -0o17, d: 08, e: 09.5, f: 0777, g: 0o8}",
    "integers at the top": "v: 017\n  w: 0x10\n  x: 1_0\n  y: 18446744073709551615\n  z: -0",
    "floats": "v: {a: 1.40, b: 2.0, c: .5, d: 5., e: 1e3, f: 1e6, g: 1.5e7, h: 1e21, i: 1e-7, j: -0.0, k: 1.34}",
    "floats at the top": "v: 1.40\n  w: 2.0\n  x: 1e6\n  y: 1e21\n  z: 1e-9",
    "not quite floats": "v: {a: ., b: 1e, c: ._5, d: .5_0, e: 1.2.3, f: 1e400, g: 0x, h: '-', i: 1e+, j: 1:30}",
    "integers beyond 64 bits": (
        "v: {a: 9223372036854775807, b: 9223372036854775808, c: 18446744073709551616, d: -9223372036854775809}"
    ),
    "infinity": "v: {a: .inf}",
    "not a number": "v: .nan",
    "dates": "v: {a: 2024-01-01, b: 2024-1-2T10:20:30.50Z, c: 2024-01-01 1:2:3, d: 2024-13-01, e: '2024-01-01'}",
    "quotes": r"""v: {a: "1.36", b: '1.36', c: "a\tb", d: "\u00e9\x41", e: 'it''s', f: "a\\b"}""",
    "tags": "v: {a: !!str 1.36, b: !!float 3, c: !!int '5', d: ! 12, e: !own x, f: !!binary aGk=, g: !!null ''}",
    "tags that do not fit": "v: {a: !!int 5.5, b: !!bool yes}",
    "keys that are no text": "v: {1: a, 2.0: b, 1.40: c, true: d, 0x10: e, 2024-01-01: f}",
    "a key that is nothing": "v: {~: a}",
    "a key that is a list": "v: {[a]: b}",
    "a key twice": "v: {a: 1, a: 2}",
    "a key twice at the top": "v: 1\n  v: 2",
    "a key twice, once in quotes": "v: {1: a, '1': b}",
    "anchors": "v: &x {a: 1, b: [1, 2]}\n  w: *x\n  x: [*x, *x]",
    "merge keys": (
        "v: &x {a: 1, b: 1}\n  w: &y {b: 2, c: 2}\n  x: {<<: *x, b: 5}\n  y: {<<: [*x, *y], d: 1}\n  z: {a: ~, <<: *x}"
    ),
    "a merge key in quotes": "v: {'<<': {a: 1}, b: 2}",
    "a merge of what is no map": "v: {<<: 1}",
    "an alias without an anchor": "v: *x",
    "a value inside itself": "v: &x {a: *x}",
    "block texts": "v: |\n    a\n     b\n\n  w: >-\n    a\n    b\n\n    c\n  x: |+\n    a\n\n  y: |2\n     a",
    "a text that begins with an empty line": 'v: "\\nx"\n  w: {a: "\\n\\n y", b: "\\n y \\nz"}',
    "a tab for indentation": "v:\n\t  a: 1",
    "tabs between tokens": "v:\t1\n  w: [a\t,\tb]\t# c\n  x: a\tb",
    "a control character": "v: 'a\x07'",
    "flow maps": "v: {a: b, c: [d, {e: f}], g: {h: }, }\n  w: {a:b}\n  x: [a:b, c: d]\n  y: {a}",
    "comments and hashes": "v: a#b # c\n  w: 'a #b'\n  # d\n  x: {a: b # e\n    }",
    "plain text over lines": "v: a\n    b\n\n    c\n  w: [a\n    b, c]",
    "colons": "v: a:b\n  w: http://x/y:z\n  x: 'a: b'",
    "a colon too many": "v: a: b",
    "an open bracket": "v: [1, 2",
    "an open quote": "v: 'a",
    "reserved characters": "v: @a",
    "a question mark in a flow map": "v: {a: http://x/?y}",
    "question marks": "v: a?b\n  w: {a: 'b?', ? c : d}",
    "signs inside of numbers": "v: {a: 0o-5, b: 0b-1, c: 0b-2, d: 0o+7, e: -0o-5, f: 0x-5}",
    "secrets": "v: {a: {secure: v1:x}, b: {secure: 1}, c: {secure: x, d: 1}, d: [{secure: y}]}\n  w: {secure: v1:x}",
    "json text": 'v: \'{"a": {"b": [1, 2.50, null, true]}}\'',
    "the old form of a key": "aks-dra:config:v: 1\n  other:config:w: 2",
    "keys of other namespaces": "azure-native:location: swedencentral\n  other:x: {a: 1}\n  other:y: ~",
    "a key with too many colons": "a:b:c: 1",
}
WHOLE = {
    "a list for config": "config: [a]\n",
    "no config": "encryptionsalt: v1:x\n",
    "nothing in the file": "# nothing\n",
    "a list as the file": "- a\n",
    "a text as the file": "config\n",
    "a mark at the beginning": "\ufeffconfig:\n  v: 1\n",
    "an old YAML version": "%YAML 1.1\n---\nconfig:\n  v: on\n",
    "a new YAML version": "%YAML 1.2\n---\nconfig:\n  v: on\n",
    "an end of the document": "config:\n  v: 1\n...\nthis: {is not read\n",
    "a second document": "config:\n  v: 1\n---\nconfig:\n  v: 2\n",
    "Windows line ends": "config:\r\n  v: a\r\n  w: |\r\n    b\r\n    c\r\n",
    "a list as the salt": "encryptionsalt: [1]\nconfig: {v: 1}\n",
}
STRICTER = {
    "a top-level key that Pulumi ignores": "confg:\n  v: 1\n",
    "a line break that only YAML 1.1 knows": "config:\n  v: 'a\u2028b'\n",
    "json text with a key twice": 'config:\n  v: \'{"a": 1, "a": 2}\'\n',
    "a key in the config that is nothing": "config:\n  ~: 1\n",
    "a depth of 60": "config:\n  v: " + "[" * 60 + "]" * 60 + "\n",
}
FILES = {**{name: f"config:\n  {text}\n" for name, text in TRAPS.items()}, **WHOLE}


class Pulumi:
    """A project with one stack on a backend of its own."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.program = str(build(TOOLS["pulumi"]))
        self.file = root / "stacks" / "Pulumi.dev.yaml"
        for folder in (root / "stacks", root / "state", root / "bin"):
            folder.mkdir()
        write_launchers(root / "bin")
        self.environment = {
            "HOME": str(root),
            "PATH": f"{root / 'bin'}:{os.environ['PATH']}",
            "PULUMI_HOME": str(root / "home"),
            "PULUMI_BACKEND_URL": f"file://{root / 'state'}",
            "PULUMI_CONFIG_PASSPHRASE": "words",
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "LANG": "C.UTF-8",
            "TZ": "UTC",
        }
        self.write("config: {}\n")
        done = self.run("stack", "init", "dev")
        assert done.returncode == 0, done.stderr
        found = re.search(r"encryptionsalt: \S+", self.file.read_text())
        assert found is not None
        self.salt = found.group()

    def write(self, text: str, project: str = PROJECT) -> None:
        (self.root / "Pulumi.yaml").write_text(project)
        self.file.write_bytes(text.encode())

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.program, *arguments, "--non-interactive"],
            cwd=self.root,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    def config(self) -> dict[str, Any] | None:
        """What Pulumi reads, a secret as None; None when it refuses the file."""
        done = self.run("config", "--json", "-s", "dev")
        if done.returncode != 0:
            return None
        return {key: None if entry["secret"] else entry["value"] for key, entry in json.loads(done.stdout).items()}


@pytest.fixture(scope="module")
def pulumi(tmp_path_factory: pytest.TempPathFactory) -> Pulumi:
    return Pulumi(tmp_path_factory.mktemp("project"))


def with_unknown(part: Any) -> bool:
    if isinstance(part, dict | list):
        return any(map(with_unknown, part.values() if isinstance(part, dict) else part))
    return part is UNKNOWN


def as_pulumi_says_it(loaded: Loaded, key: str, theirs: str | None) -> tuple[Any, Any]:
    """The loader's value for a key, and Pulumi's, as json.loads would give it to `require_object`."""
    ours = loaded.config.get(key, "")  # a key of this package that is null or empty counts as not set
    if with_unknown(ours):
        return None, theirs
    if theirs is None or isinstance(ours, str):
        return ours, theirs
    return ours, json.loads(theirs)


def compare(pulumi: Pulumi) -> None:
    theirs = pulumi.config()
    loaded = load_stack_file(pulumi.file)
    errors = [problem for problem in loaded.problems if problem.severity == "error"]
    if theirs is None:
        assert errors
        return
    assert errors == []
    assert set(loaded.config) <= set(theirs)
    for key, text in theirs.items():
        ours, expected = as_pulumi_says_it(loaded, key, text)
        assert (type(ours), ours) == (type(expected), expected), key


@pytest.mark.parametrize("name", FILES)
def test_what_pulumi_reads_the_loader_reads(pulumi: Pulumi, name: str) -> None:
    pulumi.write(FILES[name])
    compare(pulumi)


@pytest.mark.parametrize("name", STRICTER)
def test_where_pulumi_is_silent_the_loader_is_not(pulumi: Pulumi, name: str) -> None:
    pulumi.write(STRICTER[name])
    theirs, loaded = pulumi.config(), load_stack_file(pulumi.file)
    assert theirs is not None
    assert loaded.problems[0].severity == "error"


PROJECTS = {
    "a short default": "  v: hi\n  w: 017\n  x: true\n  y: [1, 2.0, on]\n",
    "a value of another namespace": "  azure-native:location: westeurope\n  other:x: {value: {a: 1.40}}\n",
    "a default that is a map": "  v: {default: {a: on, b: 2.0}}\n",
    "a typed default": "  v: {type: integer, default: 3}\n  w: {type: boolean, default: true}\n",
    "a path into what the stack sets": "  set.b.c: deep\n  set.a: 5\n  set.n: '12'\n  list[0].x: 1\n",
    "a key that the stack sets": "  set: {default: {z: 1}}\n  given: {type: string}\n",
    "a value of the project's own": "  v: {value: {a: 1}}\n",
    "the old place of stackConfigDir": "",
    "a map without default": "  v: {a: 1}\n",
    "a float without default": "  v: 1.5\n",
    "a default for another namespace": "  other:x: {default: 1}\n",
    "a type for another namespace": "  other:x: {type: string, value: a}\n",
    "a default of another type": "  v: {type: string, default: 1}\n",
    "an array without items": "  v: {type: array, default: [a]}\n",
    "a default and a value": "  v: {default: 1, value: 2}\n",
    "a type that is none": "  v: {type: tuple}\n",
    "a key that is none": "  a:b:c: 1\n",
    "nothing": "  v: ~\n",
}


@pytest.mark.parametrize("name", PROJECTS)
def test_the_projects_config_is_laid_under_the_stacks(pulumi: Pulumi, name: str) -> None:
    project = f"{PROJECT}config:\n{PROJECTS[name]}"
    if not PROJECTS[name]:
        project = PROJECT.replace("stackConfigDir", "config")
    pulumi.write("config:\n  set: {a: 1}\n  given: text\n", project)
    compare(pulumi)


@pytest.mark.parametrize(
    ("declared", "refused"),
    [
        ("needed: {type: string}", True),
        ("given: {type: integer}", True),
        ("number: {type: string}", False),
        ("number: {type: integer}", False),
        ("set: {type: object}", False),
        ("list: {type: array, items: {type: integer}}", False),
        ("list: {type: array, items: {type: boolean}}", True),
        ("given: {type: string, secret: true}", True),
        ("set.a: {type: string}", False),
        ("set.b: {type: string}", True),
    ],
)
def test_what_the_project_declares_is_checked_as_at_a_preview(pulumi: Pulumi, declared: str, refused: bool) -> None:
    stack = f"{pulumi.salt}\nconfig:\n  given: text\n  number: 5\n  set: {{a: x}}\n  list: [1, 2]\n"
    pulumi.write(stack, f"{PROJECT}config:\n  {declared}\n")
    (pulumi.root / "__main__.py").write_text("")
    done = pulumi.run("preview", "-s", "dev")
    assert (done.returncode != 0) == refused, done.stdout + done.stderr
    codes = [problem.code for problem in load_stack_file(pulumi.file).problems]
    assert codes == (["LOAD032"] if refused else [])


PROGRAM = """\
import json, pathlib, pulumi
from pulumi.runtime import config
keys = {**config.get_config_env(), **config.CONFIG.get()}
secret = [key for key in keys if config.is_config_secret(key)]
objects = {"aks-dra:" + name: pulumi.Config("aks-dra").require_object(name) for name in ("pools", "cluster")}
pathlib.Path("seen.json").write_text(json.dumps([keys, secret, objects]))
"""


def test_a_program_gets_what_the_file_says(pulumi: Pulumi) -> None:
    text = (
        f"{pulumi.salt}\nconfig:\n  azure-native:location: swedencentral\n  base: common.yaml\n"
        "  aks-dra:pools:\n    t4: &t4 {vmSize: Standard_NC4as_T4_v3, nodes: {count: 2}, on: yes}\n"
        "    other: {<<: *t4}\n"
        '  aks-dra:cluster: {kubernetesVersion: 1.40, tiers: [2.0, 017]}\n  name: "123"\n  testPool: ~\n'
    )
    pulumi.write(text, f"{PROJECT}config:\n  tags: {{default: {{a: b}}}}\n")
    (pulumi.root / "stacks" / "common.yaml").write_text("config:\n  cluster: {name: x}\n  testPool: {enabled: true}\n")
    (pulumi.root / "__main__.py").write_text(PROGRAM)
    secret = pulumi.run("config", "set", "-s", "dev", "--secret", "--path", "aks-dra:cluster.password", "hidden")
    assert secret.returncode == 0, secret.stderr
    done = pulumi.run("preview", "-s", "dev")
    assert done.returncode == 0, done.stdout + done.stderr
    keys, secrets, objects = json.loads((pulumi.root / "seen.json").read_text())
    from_file = load_stack_file(pulumi.file)
    at_run = load_config_values(keys, secrets, "aks-dra", "dev", pulumi.root)
    assert from_file.problems == at_run.problems == ()
    assert secrets == ["aks-dra:cluster"]
    assert from_file.config["aks-dra:pools"] == objects["aks-dra:pools"]
    assert from_file.config["aks-dra:cluster"] == {**objects["aks-dra:cluster"], "password": UNKNOWN, "name": "x"}
    assert "aks-dra:testPool" not in from_file.config
    assert dict(at_run.config) == dict(from_file.config)
    assert at_run.unknown == from_file.unknown == {("aks-dra:cluster", "password")}
    assert at_run.positions == from_file.positions
    assert at_run.texts == from_file.texts
    assert at_run.files == from_file.files
    assert from_file.texts["aks-dra:cluster", "kubernetesVersion"] == "1.4"  # `config set` rewrote the file
