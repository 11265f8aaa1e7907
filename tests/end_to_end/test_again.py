"""The same command twice: nothing to do the second time."""

from __future__ import annotations

from tests.end_to_end.conftest import Stack


def test_second_up_changes_nothing(stack: Stack) -> None:
    up = stack.run("up")
    assert up.returncode == 0, up.stdout + up.stderr
    assert "no change" in up.stdout
