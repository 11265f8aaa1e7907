"""The local stack with other settings, for one test; afterwards it is as it was."""

from __future__ import annotations

import dataclasses
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from local.stack import stackfile
from local.stack.engine import QUIET, Engine, Outcome
from local.stack.engine_env import programs
from local.state import CHECKOUT
from tests.end_to_end.conftest import Stack, eventually

TEST_POOL = "aks-dra:testPool: {enabled: true, smokeTest: {timeoutSeconds: 120}}"
CLASSES = "  aks-dra:deviceClasses:\n"


@dataclasses.dataclass
class Variant:
    """`pulumi up` of the local stack with another setting of its test pool, and settings added to it."""

    stack: Stack
    folder: Path

    def up(self, test_pool: str = TEST_POOL, *, more: str = "", classes: str = "") -> tuple[Outcome, str]:
        """What it came to, and all that the engine said. `more` is indented by two, as below `config:`.

        `classes` are further lines below `aks-dra:deviceClasses`, indented by four.
        """
        engine = self.engine(test_pool, more=more, classes=classes)
        outcome = engine.update("up")
        return outcome, engine.log.read_text()

    def preview(self, *, more: str = "", classes: str = "") -> tuple[int, str]:
        """Exit code and output of a preview."""
        engine = self.engine(more=more, classes=classes)
        command = ["preview", "-s", "local", "--config-file", str(engine.config_file()), *QUIET]
        run = subprocess.run(
            [engine.cli, *command],
            cwd=engine.checkout, env=engine.environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        return run.returncode, run.stdout + run.stderr

    def engine(self, test_pool: str = TEST_POOL, *, more: str = "", classes: str = "") -> Engine:
        file = stackfile.read(CHECKOUT, "local")
        text = file.path.read_text()
        for old, new in ((TEST_POOL, test_pool), (CLASSES, CLASSES + classes)):
            assert text.count(old) == 1
            text = text.replace(old, new)
        path = self.folder / "Pulumi.local.yaml"
        path.write_text(text.rstrip("\n") + "\n" + more)
        return Engine(self.stack.state, CHECKOUT, dataclasses.replace(file, path=path), programs(self.stack.state))


def changes(outcome: Outcome) -> dict[str, int]:
    """What was done, without the engine's own sum."""
    return {what: count for what, count in outcome.counts.items() if what not in ("unchanged", "changes")}


@contextmanager
def variants(stack: Stack, folder: Path) -> Iterator[Variant]:
    found = Variant(stack, folder)
    try:
        yield found
    finally:
        stack.clean()
        eventually("the test pool's GPU is free", lambda: not stack.get("resourceclaims", "", "gpu-test")["items"])
        outcome, log = found.up()
    assert outcome.code == 0, log
