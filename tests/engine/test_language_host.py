"""Our Python language host under the real engine: configuration in, outputs out, and each way a program can end."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.engine.tiny_project import Tiny, make


@pytest.fixture
def tiny(tmp_path: Path) -> Tiny:
    return make(tmp_path, word="hello", azure_native__location="x")


PROGRAM = """
import pulumi
import neighbour
config = pulumi.Config()
print("a line of the program")
pulumi.export("word", config.require("word"))
pulumi.export("token", config.require_secret("token"))
pulumi.export("names", [pulumi.get_project(), pulumi.get_stack(), pulumi.get_organization()])
pulumi.export("late", pulumi.Output.from_input(1).apply(lambda _: __import__("later").VALUE))
pulumi.export("preview", pulumi.runtime.is_dry_run())
"""


def test_a_program_runs(tiny: Tiny) -> None:
    tiny.program(PROGRAM)
    (tiny.folder / "neighbour.py").write_text("")
    (tiny.folder / "later.py").write_text("VALUE = 5\n")
    tiny.run("config", "set", "--secret", "token", "s3cret", "--stack", "dev")
    text = tiny.run("up", "--yes", "--skip-preview", "--stack", "dev")
    assert "a line of the program" in text
    assert "s3cret" not in text
    assert tiny.outputs() == {
        "word": "hello",
        "token": "[secret]",
        "names": ["tiny", "dev", "organization"],
        "late": 5,
        "preview": False,
    }
    assert "1 unchanged" in tiny.run("preview", "--expect-no-changes", "--stack", "dev")
    tiny.run("destroy", "--yes", "--skip-preview", "--stack", "dev")


ENDINGS = {
    "an exception, from the program's own first line": (
        "def f():\n    raise ValueError('bad thing')\nf()\n",
        ["error: Program failed with an unhandled exception:", "in f", "ValueError: bad thing"],
        ["runpy", "run_in_stack"],
    ),
    "an exception in an apply": (
        "import pulumi\npulumi.Output.from_input(1).apply(lambda x: x / 0)\n",
        ["ZeroDivisionError: division by zero"],
        [],
    ),
    "a RunError, without a traceback": (
        "import pulumi\nraise pulumi.RunError('two findings')\n",
        ["error: two findings"],
        ["Traceback", "unhandled"],
    ),
    "a syntax error": ("import\n", ["SyntaxError: invalid syntax"], ["run_in_stack"]),
    "an exit code": (
        "import sys\nsys.exit(3)\n",
        ["error: an unhandled error occurred: Program exited with non-zero exit code: 3"],
        ["Traceback"],
    ),
    "a crash": (
        "import os\nos.kill(os.getpid(), 9)\n",
        ["error: an unhandled error occurred: Program was ended by signal 9"],
        [],
    ),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_program_ends_badly(tiny: Tiny, ending: str) -> None:
    program, shown, hidden = ENDINGS[ending]
    tiny.program(program)
    text = tiny.run("preview", "--stack", "dev", code=1)
    for part in shown:
        assert part in text
    for part in hidden:
        assert part not in text


def test_a_missing_virtual_environment_is_named(tiny: Tiny) -> None:
    (tiny.folder / "Pulumi.yaml").write_text("name: tiny\nruntime: {name: python, options: {virtualenv: nowhere}}\n")
    text = tiny.run("preview", "--stack", "dev", code=1)
    assert f"the virtual environment {tiny.folder / 'nowhere'} named by Pulumi.yaml" in text
    assert "run `pulumi install` or `make up`" in text


def test_the_host_tells_of_itself(tiny: Tiny) -> None:
    assert "This project is written in python: executable=" in tiny.run("about", "--stack", "dev")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_plugins_end_quietly(tiny: Tiny, number: signal.Signals) -> None:
    for name in ("pulumi-language-python", "pulumi-resource-azure-native"):
        plugin = subprocess.Popen(
            [tiny.root / "bin" / name],
            env=tiny.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert plugin.stdout is not None
        assert int(plugin.stdout.readline()) > 0
        begun = time.monotonic()
        plugin.send_signal(number)
        assert plugin.communicate(timeout=20) == ("", "")
        assert plugin.returncode == 0
        assert time.monotonic() - begun < 10
