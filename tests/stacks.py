"""The stacks of all tests: one way to say what stands below `config:` of a stack file, and to ask what comes of it.

A body is the part for aks-dra, from the left margin. A location, and a way to log in where the body sets no cluster, are
added to it. A test that means the whole file, or files beside it, takes `write`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from aks_dra.context.previous import previous_of
from aks_dra.findings.finding import Finding
from aks_dra.model.plan import Plan, PlannedPool, PlannedRelease
from aks_dra.stack_plan import plan_file

PROJECT = "name: aks-dra\nruntime: python\nstackConfigDir: stacks\n"
LOCATION = "azure-native:location: swedencentral\n"
ACCESS = "aks-dra:cluster: {access: {azureRbac: true}}\n"

# Names of releases.
OPERATOR, DRA = "gpu-operator", "dra-driver-nvidia-gpu"
PLUGIN, PLUGIN_AKS = "nvidia-device-plugin", "nvidia-device-plugin-aks"


def cluster(version: str, more: str = "") -> str:
    """The cluster's setting at a version, with more of it: `, tier: Free`."""
    return f'aks-dra:cluster: {{kubernetesVersion: "{version}", access: {{azureRbac: true}}{more}}}\n'


def text(body: str) -> str:
    """The whole stack file."""
    body = textwrap.dedent(body).strip("\n") + "\n"
    head = LOCATION if "azure-native:" not in body else ""
    head += ACCESS if "aks-dra:cluster:" not in body else ""
    return "config:\n" + textwrap.indent(head + body, "  ")


def write(folder: Path, content: str | bytes, *, project: str = PROJECT, stack: str = "test", **others: str) -> Path:
    """A stack file in a project of its own, and others beside it by name."""
    (folder / "Pulumi.yaml").write_text(project)
    (folder / "stacks").mkdir(exist_ok=True)
    for name, other in others.items():
        (folder / "stacks" / f"{name}.yaml").write_text(other)
    file = folder / "stacks" / f"Pulumi.{stack}.yaml"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file


def stack(folder: Path, body: str) -> Path:
    return write(folder, text(body))


def planned(folder: Path, body: str, today: str = "") -> Plan:
    plan, findings = plan_file(stack(folder, body), today)
    assert plan is not None, findings
    return plan


def check(folder: Path, body: str, today: str = "") -> list[Finding]:
    """All that is found."""
    return list(plan_file(stack(folder, body), today)[1])


def errors(folder: Path, body: str) -> list[tuple[str, str]]:
    return [(f.code, f.path) for f in check(folder, body) if f.severity == "error"]


def warnings(folder: Path, body: str) -> list[tuple[str, str]]:
    return [(f.code, f.path) for f in check(folder, body) if f.severity == "warning"]


def only(folder: Path, body: str, code: str) -> Finding:
    """The one finding of this code."""
    (finding,) = [finding for finding in check(folder, body) if finding.code == code]
    return finding


def both(folder: Path, before: str, after: str, today: str = "") -> tuple[Plan, Plan]:
    """The plan before, and the one after with the findings of the change."""
    earlier = planned(folder, before)
    later, findings = plan_file(stack(folder, after), today, previous=previous_of(earlier))
    assert later is not None, findings
    return earlier, later


def changes(folder: Path, before: str, after: str, today: str = "") -> list[Finding]:
    return [finding for finding in both(folder, before, after, today)[1].findings if finding.code.startswith("CHG")]


def summary(found: Sequence[Finding]) -> list[tuple[str, str, str]]:
    return [(finding.code, finding.severity, finding.path) for finding in found]


def values(plan: Plan, name: str) -> Mapping[str, Any]:
    """The chart values of a release."""
    (wanted,) = [entry for entry in plan.releases if entry.name == name]
    return wanted.values


def release(folder: Path, body: str, name: str = OPERATOR) -> PlannedRelease:
    (wanted,) = [entry for entry in planned(folder, body).releases if entry.name == name]
    return wanted


def pool(plan: Plan, name: str) -> PlannedPool:
    (wanted,) = [planned for planned in plan.pools if planned.name == name]
    return wanted
