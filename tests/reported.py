"""What the tests of reported faults ask of a plan: its errors, its warnings, the values of one release."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aks_dra.findings.finding import Finding
from aks_dra.model.plan import Plan, PlannedPool, PlannedRelease
from tests.stacks import found, planned

OPERATOR, DRA = "gpu-operator", "dra-driver-nvidia-gpu"
PLUGIN, PLUGIN_AKS = "nvidia-device-plugin", "nvidia-device-plugin-aks"


def cluster(version: str) -> str:
    return f'aks-dra:cluster: {{kubernetesVersion: "{version}", access: {{azureRbac: true}}}}\n'


def findings(folder: Path, body: str) -> list[Finding]:
    return found(folder, body, access="aks-dra:cluster:" not in body)


def errors(folder: Path, body: str) -> list[tuple[str, str]]:
    return [(f.code, f.path) for f in findings(folder, body) if f.severity == "error"]


def warnings(folder: Path, body: str) -> list[tuple[str, str]]:
    return [(f.code, f.path) for f in findings(folder, body) if f.severity == "warning"]


def only(folder: Path, body: str, code: str) -> Finding:
    """The one finding of this code."""
    (finding,) = [finding for finding in findings(folder, body) if finding.code == code]
    return finding


def values(plan: Plan, name: str) -> Mapping[str, Any]:
    (wanted,) = [entry for entry in plan.releases if entry.name == name]
    return wanted.values


def release(folder: Path, body: str, name: str = OPERATOR) -> PlannedRelease:
    (wanted,) = [entry for entry in planned(folder, body).releases if entry.name == name]
    return wanted


def pool(plan: Plan, name: str) -> PlannedPool:
    (wanted,) = [planned for planned in plan.pools if planned.name == name]
    return wanted
