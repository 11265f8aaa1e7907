"""Chart sources, versions, values and the DRA driver's feature gates, against the charts' own tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from aks_dra.planning.chart_values import check_values, merge_values
from aks_dra.planning.checks.context import Context, did_you_mean, finding
from aks_dra.planning.model import Finding, Severity
from aks_dra.planning.overrides import reconciled
from aks_dra.planning.releases import device_plugin_values, dra_values, feature_gates, operator_values
from aks_dra.settings import ChartSettings

EXACT = re.compile(r"v?\d+\.\d+\.\d+([-+].+)?")


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
                    "a chart's version is exact: three numbers",
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
        if own.source and own.source.startswith("oci://") and own.source.rstrip("/").endswith("/" + chart):
            yield finding(
                "CHT003",
                "error",
                f"{path}.source",
                own.source,
                "the source is the folder of charts; the chart's name is added to it",
                f"write {own.source.rstrip('/')[: -len(chart) - 1]}",
                "Helm: OCI registries",
            )


def known_faults(context: Context) -> Iterator[Finding]:
    """Versions of which something is known to fail with the values that would be installed."""
    releases = {release.key: release.values for release in context.plan.releases}
    without_mig = any(not context.facts.gpus[pool.gpu].mig for pool in context.plan.pools if pool.gpu)
    for path, chart, own in _charts(context):
        version = own.version or context.facts.charts[chart].default_version
        installed = releases.get(context.facts.charts[chart].release, own.values)
        for fault in context.facts.faults_of(chart, version):
            given = _at(installed, fault.setting)
            applies = str(given).lower() == fault.value.lower() if fault.value else given is None
            if fault.setting == "upgrade-from" or not applies or (fault.without_mig and not without_mig):
                continue
            severity: Severity = fault.severity if fault.verified else "warning"
            where = f"{path}.values.{fault.setting}" if fault.value else f"{path}.version"
            yield finding(
                "CHT011", severity, where, version, f"in {chart} {version} {fault.effect}", fault.remedy, fault.source
            )


def _at(values: Mapping[str, Any], dotted: str) -> Any:
    found: Any = values
    for key in dotted.split(".") if dotted else ():
        found = found.get(key) if isinstance(found, Mapping) else None
    return None if found is values else found


def values(context: Context) -> Iterator[Finding]:
    pools = list(context.plan.pools)
    legacy = [pool for pool in pools if pool.allocation == "devicePlugin"]
    ours = {
        "gpu-operator": operator_values(context.settings, pools),
        "dra-driver-nvidia-gpu": dra_values(context.settings, pools),
        "nvidia-device-plugin": device_plugin_values(legacy[0].driver_owner if legacy else "operator", legacy),
    }
    for path, chart, own in _charts(context):
        table = {name: vars(row) for name, row in context.facts.chart_values(chart).items()}
        for where in _nulls(own.values):
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
        _, conflicts = merge_values(*reconciled(chart, ours[chart], own.values))
        for conflict in conflicts:
            yield finding(
                "CHT005",
                "error",
                f"{path}.values.{conflict.path}",
                conflict.theirs,
                f"the package sets {conflict.path} to {conflict.ours!r} from the stack's settings",
                "remove it here and change the setting that it follows from",
                "aks-dra: planning/releases",
            )


def _nulls(values: Mapping[str, Any], above: str = "") -> Iterator[str]:
    for key, value in values.items():
        if value is None:
            yield above + key
        elif isinstance(value, Mapping):
            yield from _nulls(value, f"{above}{key}.")


def gates(context: Context) -> Iterator[Finding]:
    known = context.facts.gates
    path = "aks-dra:gpu.featureGates"
    asked = feature_gates(context.settings)
    for name in context.settings.gpu.feature_gates:
        if name not in known:
            yield finding(
                "CHT006",
                "error",
                f"{path}.{name}",
                name,
                "the DRA driver has no such gate",
                did_you_mean(name, known),
                "NVIDIA DRA driver: feature gates",
            )
    on = {name for name, value in asked.items() if value and name in known}
    for name in sorted(on):
        for other in known[name].excludes:
            if other in on and name < other:
                yield finding(
                    "CHT007",
                    "error",
                    f"{path}.{name}",
                    name,
                    f"{name} and {other} exclude each other",
                    "switch one of them off",
                    known[name].source,
                )
        need = known[name].kubernetes_need
        if need and context.lacks(need):
            minimum = context.facts.kubernetes.needs[need].minimum
            yield finding(
                "CHT012",
                "error",
                f"{path}.{name}",
                "true",
                f"{name} needs a Kubernetes feature that AKS has from {minimum} on",
                f"set cluster.kubernetesVersion to {minimum} or newer",
                context.facts.kubernetes.needs[need].source,
            )
        for other in known[name].needs:
            if other not in on and not (known[other].default and asked.get(other, True)):
                yield finding(
                    "CHT008",
                    "error",
                    f"{path}.{name}",
                    name,
                    f"{name} needs {other}",
                    f"add {other}: true",
                    known[name].source,
                )
    implied = {"TimeSlicingSettings": "timeSlicing", "MPSSupport": "mps"}
    for name, mode in implied.items():
        used = feature_gates(
            context.settings.model_copy(update={"gpu": context.settings.gpu.model_copy(update={"feature_gates": {}})})
        ).get(name)
        if used and context.settings.gpu.feature_gates.get(name) is False:
            yield finding(
                "CHT009",
                "error",
                f"{path}.{name}",
                "false",
                f"sharing mode {mode} under DRA needs this gate",
                f"remove it, or no longer share by {mode}",
                known[name].source,
            )


CHECKS = (sources_and_versions, known_faults, values, gates)
