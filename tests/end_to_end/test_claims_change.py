"""An edited claim reaches the cluster: its spec is fixed there, so the engine has to make it anew."""

from __future__ import annotations

from pathlib import Path

from tests.end_to_end.conftest import Stack
from tests.end_to_end.variants import variants

# The stack file ends with the claims of ml.
CLAIMS = """\
      edited: {deviceClass: %s}
      edited-shared: {deviceClass: %s, shareAcross: pods}
"""


def test_a_template_and_a_named_claim_are_edited(stack: Stack, tmp_path: Path) -> None:
    with variants(stack, tmp_path) as variant:
        outcome, log = variant.up(more=CLAIMS % ("t4", "t4"))
        assert outcome.code == 0, log
        outcome, log = variant.up(more=CLAIMS % ("gpu-20gi", "gpu-20gi"))
        assert outcome.code == 0, log
        assert outcome.counts["replaced"] == 2, log
        template = stack.get("resourceclaimtemplate", "edited", "ml")["spec"]["spec"]
        named = stack.get("resourceclaim", "edited-shared", "ml")["spec"]
        for spec in (template, named):
            (request,) = spec["devices"]["requests"]
            assert request["exactly"]["deviceClassName"] == "gpu-20gi"
        outcome, log = variant.up()  # without them again: what the other tests find is as it was
        assert outcome.code == 0, log
