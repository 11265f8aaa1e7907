"""Plans from a stack's settings written as YAML, for tests."""

from __future__ import annotations

import textwrap
from pathlib import Path

from aks_dra.findings.finding import Finding
from aks_dra.model.plan import Plan
from aks_dra.stack_plan import plan_file

HEAD = """\
config:
  azure-native:location: swedencentral
"""
ACCESS = "  aks-dra:cluster: {access: {azureRbac: true}}\n"


def stack(folder: Path, body: str, *, access: bool = True) -> Path:
    """A stack file in a project of its own. `body` is the config's part for aks-dra, indented by two."""
    (folder / "stacks").mkdir(exist_ok=True)
    (folder / "Pulumi.yaml").write_text("name: aks-dra\nruntime: python\nstackConfigDir: stacks\n")
    file = folder / "stacks" / "Pulumi.test.yaml"
    text = textwrap.indent(textwrap.dedent(body).strip("\n"), "  ") + "\n"
    file.write_text(HEAD + (ACCESS if access else "") + text)
    return file


def planned(folder: Path, body: str, *, access: bool = True, today: str = "") -> Plan:
    plan, findings = plan_file(stack(folder, body, access=access), today)
    assert plan is not None, findings
    return plan


def found(folder: Path, body: str, *, access: bool = True, today: str = "") -> list[Finding]:
    return list(plan_file(stack(folder, body, access=access), today)[1])
