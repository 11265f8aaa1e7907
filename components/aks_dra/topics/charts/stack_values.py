"""Chart values that settings of the whole GPU stack come to: mirror, pull secrets, tolerations, modules, metrics.

Which values name an image or a pull secret is read from the charts' own tables, so a chart with one more operand needs
no code. The operator takes pull secrets as names, the other charts as objects; NFD, a chart inside the operator's, is
not in the operator's table, and rules.toml has what it needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

from aks_dra.facts import Facts
from aks_dra.kube.taints import toleration
from aks_dra.settings import Settings
from aks_dra.topics.charts.values import chart_rules
from aks_dra.trees import put_at, value_at

OPERATOR = "gpu-operator"
# Where the pods that run on GPU nodes get their tolerations from.
TOLERATIONS: Mapping[str, tuple[str, ...]] = {
    OPERATOR: ("daemonsets.tolerations", "node-feature-discovery.worker.tolerations"),
    "dra-driver-nvidia-gpu": ("kubeletPlugin.tolerations",),
    "nvidia-device-plugin": ("tolerations",),
}


def with_stack_settings(facts: Facts, settings: Settings, chart: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """The package's values of one chart, and on top what the settings of the whole stack say."""
    whole: dict[str, Any] = deepcopy(dict(values))
    for path, value in _values(facts, settings, chart, whole):
        put_at(whole, path, value)
    for path in TOLERATIONS[chart]:
        for taint in settings.gpu.tolerations:
            held = value_at(whole, path)
            if isinstance(held, list) and (wanted := toleration(taint)) not in held:
                held.append(wanted)
    return whole


def mirrored(settings: Settings, image: str) -> str:
    """An image by its name in the mirror, which keeps the path and leaves out the host."""
    registry = settings.gpu.images.registry
    return f"{registry}/{image.partition('/')[2]}" if registry else image


def _values(facts: Facts, settings: Settings, chart: str, ours: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    gpu = settings.gpu
    table = facts.chart_values(chart)
    inner: Mapping[str, str] = chart_rules(chart).get("images", {})
    if gpu.images.registry:
        named = {path: str(row.default) for path, row in table.items() if path.endswith("repository") and row.default}
        for path, image in {**named, **inner}.items():
            yield path, mirrored(settings, image)
    if gpu.images.pull_secrets:
        secrets = list(gpu.images.pull_secrets)
        named_secrets: list[str] = chart_rules(chart).get("pull_secrets", [])
        for path in [*(path for path in table if path.endswith("imagePullSecrets")), *named_secrets]:
            plain = chart == OPERATOR and not path.startswith("node-feature-discovery.")
            yield path, secrets if plain else [{"name": secret} for secret in secrets]
    if chart == OPERATOR:
        if gpu.kernel_modules != "auto" and value_at(ours, "driver.enabled"):
            yield "driver.kernelModuleType", gpu.kernel_modules
        yield "dcgmExporter.enabled", gpu.dcgm_exporter.enabled
        if gpu.dcgm_exporter.enabled:
            # On by default in the chart; without Prometheus Operator's definitions the exporter would never be ready.
            yield "dcgmExporter.serviceMonitor.enabled", gpu.dcgm_exporter.service_monitor
