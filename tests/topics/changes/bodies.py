"""What the tests of changes share: stacks, and all that is found between two of them."""

from __future__ import annotations

from pathlib import Path

from aks_dra.context.previous import previous_of
from aks_dra.findings.finding import Finding
from aks_dra.model.plan import Plan
from aks_dra.stack_plan import plan_file
from tests.stacks import planned, stack

TRAIN = "aks-dra:pools: {train: {vmSize: Standard_NC24ads_A100_v4%s}, t4inf: {vmSize: Standard_NC4as_T4_v3}}"
T4 = "aks-dra:pools: {t4: {vmSize: Standard_NC4as_T4_v3%s}}"
A100 = "aks-dra:pools: {a100: {vmSize: Standard_NC24ads_A100_v4%s}}"
CLUSTER = 'aks-dra:cluster: {access: {azureRbac: true}, kubernetesVersion: "1.36"%s}\n'


def both(folder: Path, before: str, after: str, today: str = "") -> tuple[Plan, Plan]:
    """The plan before, and the one after with the findings of the change."""
    access = "aks-dra:cluster" not in before
    earlier = planned(folder, before, access=access)
    later, findings = plan_file(stack(folder, after, access=access), today, previous=previous_of(earlier))
    assert later is not None, findings
    return earlier, later


def changes(folder: Path, before: str, after: str, today: str = "") -> list[Finding]:
    return [finding for finding in both(folder, before, after, today)[1].findings if finding.code.startswith("CHG")]


def summary(found: list[Finding]) -> list[tuple[str, str, str]]:
    return [(finding.code, finding.severity, finding.path) for finding in found]
