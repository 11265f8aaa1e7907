"""Which interpreter runs a program, and how its requirements get there.

The rule is the ordinary host's: `virtualenv` among the runtime's options is relative to the project's root; without
it the interpreter that runs this host runs the program too.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

LIST_DISTRIBUTIONS = """
import importlib.metadata, json
print(json.dumps(sorted({d.metadata["Name"]: d.version for d in importlib.metadata.distributions()}.items())))
"""


class NoInterpreter(Exception):
    """The virtual environment that the project names is not there."""


def virtual_environment(root: str, options: dict[str, Any]) -> Path | None:
    name = options.get("virtualenv")
    return None if not name else (Path(root) / str(name)).absolute()


def interpreter(root: str, options: dict[str, Any]) -> str:
    environment = virtual_environment(root, options)
    if environment is None:
        return sys.executable
    for name in ("bin/python", "Scripts/python.exe"):
        if (environment / name).exists():
            return str(environment / name)
    raise NoInterpreter(
        f"the virtual environment {environment} named by Pulumi.yaml (runtime.options.virtualenv) does not exist; "
        "run `pulumi install` or `make up`"
    )


def ask(python: str, program: str) -> Any:
    done = subprocess.run([python, "-c", program], capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL)
    return json.loads(done.stdout)


def distributions(python: str) -> list[tuple[str, str]]:
    return [(name, version) for name, version in ask(python, LIST_DISTRIBUTIONS)]


def install(directory: str, root: str, options: dict[str, Any]) -> Iterator[bytes]:
    """Makes the virtual environment and installs requirements.txt into it; yields the output as it comes."""
    requirements = Path(directory) / "requirements.txt"
    environment = virtual_environment(root, options)
    uv = shutil.which("uv")
    if environment is not None and not environment.exists():
        make = [uv, "venv", str(environment)] if uv else [sys.executable, "-m", "venv", str(environment)]
        yield from run(make, directory)
    if not requirements.exists():
        return
    python = interpreter(root, options)
    arguments = ["install", "-r", str(requirements)]
    yield from run([uv, "pip", *arguments, "--python", python] if uv else [python, "-m", "pip", *arguments], directory)


def run(command: list[str], directory: str) -> Iterator[bytes]:
    started = subprocess.Popen(
        command,
        cwd=directory,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        env=os.environ.copy(),
    )
    assert started.stdout is not None
    yield from started.stdout
    if started.wait() != 0:
        raise RuntimeError(f"`{' '.join(command)}` failed with exit code {started.returncode}")
