"""Raw Azure inputs: names and types that Azure takes, nothing that a setting says, nothing against the package."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from aks_dra.context.context import Context
from aks_dra.facts.arm import CLUSTER, MAINTENANCE, POOL
from aks_dra.findings.build import did_you_mean, finding
from aks_dra.findings.finding import Finding
from aks_dra.settings import fields
from aks_dra.settings.fields import Field, only_settings
from aks_dra.topics.cluster.arm_inputs import problems
from aks_dra.topics.cluster.inputs import own_inputs
from aks_dra.trees import merge_values

RULE = "aks-dra: raw inputs are for what has no setting (docs/settings.md)"
MAINTENANCE_NAMES = ("default", "aksManagedAutoUpgradeSchedule", "aksManagedNodeOSUpgradeSchedule")


def raw_inputs(context: Context) -> Iterator[Finding]:
    cluster, planned = context.settings.cluster, context.plan.cluster
    path = "aks-dra:cluster.azureInputs"
    if not planned.existing:
        ours = own_inputs(context.settings, planned.name, planned.kubernetes_version)
        yield from _raw(path, CLUSTER, "aks-dra:cluster", cluster.azure_inputs, ours, fields.CLUSTER)
    for name, where, pool in context.pools():
        if pool.azure_inputs:
            plain = _without_raw(context, name)
            yield from _raw(f"{where}.azureInputs", POOL, where, pool.azure_inputs, plain, fields.POOL)


def _without_raw(context: Context, name: str) -> Mapping[str, Any]:
    """What the package sets of a pool: the plan's inputs keep the package's side wherever the two differ."""
    for pool in context.plan.pools:
        if pool.name == name:
            return pool.inputs
    return {}


def _raw(
    path: str, kind: str, owner: str, given: Mapping[str, Any], ours: Mapping[str, Any], table: Iterable[Field]
) -> Iterator[Finding]:
    """Only some properties are refused whole: other things follow from them (checks, tolerations, role assignments).

    Elsewhere a raw input may stand beside a setting, and only a contradiction is refused.
    """
    settings = only_settings(table)
    yield from _problems(path, kind, given)
    for key in given:
        if key in settings:
            remedy = f"write {settings[key]} in {owner}"
            yield finding("AZR003", "error", f"{path}.{key}", given[key], "there is a setting for this", remedy, RULE)
    plain = {key: value for key, value in given.items() if key not in settings}
    for conflict in merge_values(ours, plain)[1]:
        yield finding(
            "ACC004",
            "error",
            f"{path}.{conflict.path}",
            conflict.theirs,
            f"the package sets {conflict.path} to {conflict.ours!r}, and this says {conflict.theirs!r}",
            f"remove it here, and change the setting in {owner} that it follows from",
            RULE,
        )


def _problems(path: str, kind: str, given: Mapping[str, Any]) -> Iterator[Finding]:
    """What Azure's API of this kind does not take."""
    for problem in problems(kind, given):
        yield finding(
            "AZR001" if problem.kind in ("unknown", "not-in-provider") else "AZR002",
            "error",
            f"{path}.{problem.path}",
            problem.value,
            problem.message,
            problem.remedy,
            problem.source,
        )


def maintenance(context: Context) -> Iterator[Finding]:
    for name, given in context.settings.cluster.maintenance.items():
        path = f"aks-dra:cluster.maintenance.{name}"
        if name not in MAINTENANCE_NAMES:
            yield finding(
                "AZR004",
                "error",
                path,
                name,
                "AKS has no maintenance configuration of this name",
                did_you_mean(name, MAINTENANCE_NAMES),
                "AKS: planned maintenance",
            )
        yield from _problems(path, MAINTENANCE, given)
        if not given:
            message = "an empty maintenance configuration says nothing"
            remedy = "add maintenanceWindow with schedule, durationHours and startTime, or remove it"
            yield finding("AZR005", "error", path, "{}", message, remedy, "AKS: planned maintenance")


RULES = (raw_inputs, maintenance)
