"""Tests that share a stack or a control plane run in one process of `make test`, and each process begins with one."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from tests import conftest

ROOT = Path(__file__).resolve().parents[2]

PROJECT = """
[tool.pytest.ini_options]
testpaths = ["tests"]
addopts = ["--import-mode=importlib"]
markers = ["unit", "engine", "cluster"]
"""

# Each test says where it ran. A pause, or the first process would be through before the second has begun.
TESTS = """
import os, pathlib, time
import pytest

@pytest.mark.parametrize("number", range(4))
def test_it(number):
    time.sleep(0.02)
    with open({said!r}, "a") as file:
        print({group!r}, os.environ["PYTEST_XDIST_WORKER"], file=file)
"""

FILES = {
    "tests/cel/test_cel.py": "cel/test_cel",
    "tests/topics/cluster/test_cel.py": "topics/cluster/test_cel",
    "tests/cluster/test_one.py": "cluster",
    "tests/cluster/test_two.py": "cluster",
    "tests/end_to_end/test_one.py": "end_to_end",
    "tests/end_to_end/test_two.py": "end_to_end",
    "tests/engine/test_one.py": "engine/test_one",
}


def options() -> list[str]:
    """How `make test` runs them."""
    found = re.search(r"^IN_PARALLEL := (.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert found
    return found[1].split()


def test_a_group_runs_in_one_process(tmp_path: Path) -> None:
    said = tmp_path / "said"
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    for name, group in FILES.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(TESTS.format(group=group, said=str(said)))
    shutil.copy(conftest.__file__, tmp_path / "tests")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options()]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    lines = [line.split() for line in said.read_text().splitlines()]
    assert len(lines) == 4 * len(FILES)
    processes: dict[str, set[str]] = defaultdict(set)
    for group, process in lines:
        processes[group].add(process)
    assert {group: len(where) for group, where in processes.items()} == dict.fromkeys(FILES.values(), 1)
    assert processes["end_to_end"] != processes["cluster"], "neither waits for the other"
    assert {group for group, _ in lines[:8]} == {"end_to_end", "cluster"}, "the longest begin"


def test_every_folder_with_something_for_a_whole_session_is_a_group() -> None:
    text = 'scope="session"'
    tests = ROOT / "tests"
    found = {
        path.relative_to(tests).parts[0]
        for path in tests.rglob("*.py")
        if path != Path(__file__) and text in path.read_text(encoding="utf-8")
    }
    assert found == set(conftest.SHARED)
