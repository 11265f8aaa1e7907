"""States that earlier releases left behind, under the program of today: nothing that a user did not change is replaced.

Each recording holds a state and the stack file that it came from. It is imported into a backend of its own, beside a
copy of the simulated Azure, and previewed against the running cluster; nothing is brought up. A renamed component with
an alias is previewed the same way.
"""

from __future__ import annotations

import dataclasses
import gzip
import json
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from local.stack import stackfile
from local.stack.engine import QUIET, Engine
from local.stack.engine_env import programs
from tests.end_to_end.conftest import ROOT, Stack
from tests.tools.record_state import CHARTS, STACKS

RELEASE = "0.1.0"
RECORDINGS = sorted((ROOT / "tests" / "data" / "states").glob("*.json.gz"))
RENAMED = """
import pulumi
from aks_dra import DraCluster
from aks_dra.resources.config import args_from_config
DraCluster("gpu-prod", args_from_config(), pulumi.ResourceOptions(aliases=[pulumi.Alias(name="aks-dra")]))
"""


@dataclasses.dataclass
class Replay:
    engine: Engine

    def steps(self) -> list[tuple[str, str, str]]:
        """Operation, type and name of each step of a preview; smoke tests run anew by rules of their own."""
        command = ["preview", "-s", "local", "--config-file", str(self.engine.config_file()), "--json", "--show-sames"]
        run = subprocess.run(
            [self.engine.cli, *command, *QUIET],
            cwd=self.engine.checkout, env=self.engine.environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert run.returncode == 0, run.stdout[-6000:] + run.stderr[-3000:]
        found = [(step["op"], *step["urn"].split("::")[2:]) for step in json.loads(run.stdout)["steps"]]
        return [(op, kind.rpartition("$")[2], name) for op, kind, name in found if "smoke-test" not in name]


def replay(stack: Stack, folder: Path, recording: Path, program: str = "") -> Replay:
    content: dict[str, Any] = json.loads(gzip.decompress(recording.read_bytes()))
    root, checkout = folder / "state", ROOT
    root.mkdir()
    for part in ("kubernetes", "charts"):
        (root / part).symlink_to(stack.state / part)
    shutil.copytree(stack.state / "azure", root / "azure")
    if program:
        checkout = folder / "checkout"
        checkout.mkdir()
        for name in ("Pulumi.yaml", "stacks", ".venv"):
            (checkout / name).symlink_to(ROOT / name)
        (checkout / "__main__.py").write_text(program)
    file = folder / "Pulumi.local.yaml"
    file.write_text(content["stackFile"])
    engine = Engine(root, checkout, dataclasses.replace(stackfile.read(ROOT, "local"), path=file), programs(root))
    engine.environment["PYTHONPATH"] = f"{ROOT}:{ROOT / 'components'}"
    engine.ensure_stack()
    state = json.loads(json.dumps(content["state"]).replace(CHARTS, str(root / "charts")))
    salt = yaml.safe_load(engine.own_stack_file.read_text())["encryptionsalt"]
    state["deployment"]["secrets_providers"] = {"type": "passphrase", "state": {"salt": salt}}
    engine.put_state(state)
    return Replay(engine)


EARLIER = [path for path in RECORDINGS if not path.name.startswith(f"{RELEASE}-")]


@pytest.mark.parametrize("recording", EARLIER, ids=[path.name.removesuffix(".json.gz") for path in EARLIER])
def test_a_recorded_state_is_updated_and_never_replaced(running_stack: Stack, tmp_path: Path, recording: Path) -> None:
    steps = replay(running_stack, tmp_path, recording).steps()
    assert {op for op, _, _ in steps} <= {"same", "update", "create"}
    kept = Counter(kind for op, kind, _ in steps if op in ("same", "update"))
    assert kept == Counter(kinds_of(recording))


def kinds_of(recording: Path) -> Iterator[str]:
    """The type of every resource in a recorded state, without smoke tests and the engine's own providers."""
    content: dict[str, Any] = json.loads(gzip.decompress(recording.read_bytes()))
    for resource in content["state"]["deployment"]["resources"]:
        name = resource["urn"].rpartition("::")[2]
        if "smoke-test" not in name and not name.startswith("default"):
            yield resource["type"]


@pytest.mark.parametrize("stack", STACKS)
def test_a_state_of_this_release_is_the_same(running_stack: Stack, tmp_path: Path, stack: str) -> None:
    """Moved code registers what it registered before: the same resources with the same inputs."""
    recording = RECORDINGS[0].with_name(f"{RELEASE}-{stack}.json.gz")
    steps = replay(running_stack, tmp_path, recording).steps()
    # The provider's kubeconfig is taken out of the recording, so it is another one; all else is as it was.
    assert {(op, name) for op, _, name in steps if op != "same"} == {("update", "aks-dra-cluster-kubernetes")}


def test_there_is_a_recording_of_each_release() -> None:
    names = {path.name for path in RECORDINGS}
    assert names == {"0.1.0.json.gz", *(f"{RELEASE}-{stack}.json.gz" for stack in STACKS)}


def test_a_renamed_component_with_an_alias_replaces_nothing(running_stack: Stack, tmp_path: Path) -> None:
    steps = replay(running_stack, tmp_path, EARLIER[-1], RENAMED).steps()
    assert {op for op, _, _ in steps} <= {"same", "update"}
    names = [name for _, kind, name in steps if not kind.startswith("pulumi:")]
    assert len(names) > 30  # the whole tree, and nothing of it is made anew
    assert all(name.startswith("gpu-prod") for name in names)
