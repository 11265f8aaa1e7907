"""The plans of all stacks and of all examples of findings are what was recorded: moving code changes none of them."""

from __future__ import annotations

from tests.tools.record_plans import differences, recorded, recording


def test_every_plan_is_what_was_recorded() -> None:
    assert list(differences(recorded(), recording())) == [], "if it is meant: python -m tests.tools.record_plans"
