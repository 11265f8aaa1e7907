"""Chart sources, versions and values, against the charts' own tables."""

from __future__ import annotations

import re
from collections.abc import Iterator

from aks_dra.context.context import Context
from aks_dra.findings.build import finding
from aks_dra.findings.finding import Finding, Severity
from aks_dra.settings import ChartSettings
from aks_dra.topics.charts.installed_rules import origin, shown
from aks_dra.topics.charts.overrides import reconciled
from aks_dra.topics.charts.releases import package_values
from aks_dra.topics.charts.values import check_values
from aks_dra.trees import merge_values, nulls, value_at

NUMBER = r"(0|[1-9][0-9]*)"
EXACT = re.compile(rf"v?{NUMBER}\.{NUMBER}\.{NUMBER}([-+][0-9A-Za-z.+-]+)?", re.ASCII)


def _charts(context: Context) -> list[tuple[str, str, ChartSettings]]:
    charts = context.settings.gpu.charts
    return [
        ("aks-dra:gpu.charts.operator", "gpu-operator", charts.operator),
        ("aks-dra:gpu.charts.draDriver", "dra-driver-nvidia-gpu", charts.dra_driver),
        ("aks-dra:gpu.charts.devicePlugin", "nvidia-device-plugin", charts.device_plugin),
    ]


def sources_and_versions(context: Context) -> Iterator[Finding]:
    for path, chart, own in _charts(context):
        if own.version is not None:
            row = context.facts.charts[chart]
            wants_v = row.default_version.startswith("v")
            if not EXACT.fullmatch(own.version):
                yield finding(
                    "CHT001",
                    "error",
                    f"{path}.version",
                    own.version,
                    "a chart's version is exact: three numbers, without leading zeros",
                    f"for example {row.default_version}",
                    "Helm: chart versions",
                )
            elif own.version.startswith("v") != wants_v:
                fixed = own.version.lstrip("v")
                yield finding(
                    "CHT002",
                    "error",
                    f"{path}.version",
                    own.version,
                    f"versions of {chart} " + ("begin with v" if wants_v else "have no v"),
                    f"write {'v' if wants_v else ''}{fixed}",
                    row.source,
                )


def known_faults(context: Context) -> Iterator[Finding]:
    """Versions of which something is known to fail with the values that would be installed."""
    releases = {release.key: release.values for release in context.plan.releases}
    without_mig = any(not context.facts.gpus[pool.gpu].mig for pool in context.plan.pools if pool.gpu)
    for path, chart, own in _charts(context):
        version = own.version or context.facts.charts[chart].default_version
        installed = releases.get(context.facts.charts[chart].release, own.values)
        for fault in context.facts.faults_of(chart, version):
            given = value_at(installed, fault.setting)
            applies = str(given).lower() == fault.value.lower() if fault.value else given is None
            if fault.setting == "upgrade-from" or not applies or (fault.without_mig and not without_mig):
                continue
            severity: Severity = fault.severity if fault.verified else "warning"
            where = f"{path}.values.{fault.setting}" if fault.value else f"{path}.version"
            yield finding(
                "CHT011", severity, where, version, f"in {chart} {version} {fault.effect}", fault.remedy, fault.source
            )


def values(context: Context) -> Iterator[Finding]:
    pools = list(context.plan.pools)
    for path, chart, own in _charts(context):
        table = {name: vars(row) for name, row in context.facts.chart_values(chart).items()}
        for where in nulls(own.values):
            yield finding(
                "CHT010",
                "error",
                f"{path}.values.{where}",
                "null",
                "a null does not reach Helm through Pulumi's release, so the chart's default would stay",
                "write the value that you want instead, in full",
                "pulumi-kubernetes helm.v3.Release; tried",
            )
        for problem in check_values(chart, own.values, table):
            if problem.value is None:
                continue
            yield finding(
                "CHT004",
                problem.severity,
                f"{path}.values.{problem.path}",
                problem.value,
                problem.rule,
                f"write {problem.suggestion}" if problem.suggestion else "see the chart's values.yaml",
                f"{chart} {context.facts.charts[chart].default_version}: values.yaml",
            )
        conflicts = {
            conflict.path: conflict
            for ours in package_values(context.settings, context.facts, pools, chart)
            for conflict in merge_values(*reconciled(chart, ours, own.values))[1]
        }
        for conflict in conflicts.values():
            yield finding(
                "CHT005",
                "error",
                f"{path}.values.{conflict.path}",
                conflict.theirs,
                f"the package sets {conflict.path} to {shown(conflict.ours)} from "
                + (origin(conflict.path) or "the stack's settings"),
                "remove it here and change the setting that it follows from",
                "aks-dra: topics/charts/releases",
            )


RULES = (sources_and_versions, known_faults, values)
