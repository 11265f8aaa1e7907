"""What would be installed, a user's chart values included, where the package and a chart's own rules disagree.

A chart that refuses its values does so in the middle of `up`, and one that does not leaves a cluster without
devices. The rules below are the charts' own (their templates fail on them) or follow from what else is installed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from aks_dra import names
from aks_dra.context.context import Context
from aks_dra.findings.build import finding
from aks_dra.findings.finding import Finding
from aks_dra.topics.charts.releases import DRIVER_ROOT
from aks_dra.trees import value_at

OPERATOR, DRA = "aks-dra:gpu.charts.operator.values", "aks-dra:gpu.charts.draDriver.values"
PLUGIN = "aks-dra:gpu.charts.devicePlugin.values"
PAIRS = (
    "gpu.driver: operator goes with gpuProfile.driver None, driver.enabled true, toolkit.enabled true and "
    "nvidiaDriverRoot /run/nvidia/driver; gpu.driver: aks with gpuProfile.driver Install, false, false and /"
)
"""Both consistent sets of what follows from the driver's owner."""

ORIGINS: Mapping[str, str] = {
    "config": "the device-plugin pools' sharing",
    "devicePlugin": "the pools' allocation (device-plugin pools are served by the chart nvidia-device-plugin)",
    "driver.enabled": PAIRS,
    "driver.version": "gpu.driverVersion",
    "featureGates": "gpu.featureGates and the pools' sharing",
    "gpuResourcesEnabledOverride": "a pool with allocation: dra, whose nodes run no device plugin",
    "mig.strategy": "the pools' sharing.strategy",
    "migManager": "the pools' sharing (mode: mig) and gpu.driver",
    "nfd.enabled": "gpu.existingNfd",
    "nvidiaDriverRoot": PAIRS,
    "operator.runtimeClass": PAIRS,
    "resourceApiVersion": "the Kubernetes versions that serve DRA",
    "resources.gpus.enabled": "a pool with allocation: dra, whose GPUs it publishes",
    "toolkit.enabled": PAIRS,
}


def origin(path: str) -> str:
    """The setting from which the package's value at this path of a chart follows, or ""."""
    found = [key for key in ORIGINS if path == key or path.startswith(key + ".")]
    return ORIGINS[max(found, key=len)] if found else ""


def shown(value: object) -> str:
    """A value as it is written in a stack file."""
    return value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False, default=str)


def _given(context: Context, chart: str) -> Mapping[str, Any]:
    charts = context.settings.gpu.charts
    return {OPERATOR: charts.operator, DRA: charts.dra_driver, PLUGIN: charts.device_plugin}[chart].values


def driver_values(context: Context) -> Iterator[Finding]:
    given = _given(context, OPERATOR)
    owners = {pool.driver_owner for pool in context.plan.pools}
    version = value_at(given, "driver.version")
    if version is not None and owners == {"aks"}:
        yield finding(
            "DRV004",
            "error",
            f"{OPERATOR}.driver.version",
            version,
            "Azure's image has the driver already, so this version would never be installed; " + PAIRS,
            "set gpu.driver: operator, or remove driver.version",
            "NVIDIA GPU Operator: pre-installed drivers",
        )
    folder = value_at(given, "hostPaths.driverInstallDir")
    if folder is not None and folder != DRIVER_ROOT["operator"] and "operator" in owners:
        yield finding(
            "DRV005",
            "error",
            f"{OPERATOR}.hostPaths.driverInstallDir",
            folder,
            f"the DRA driver looks for the driver in {DRIVER_ROOT['operator']}, and would publish no device",
            "remove it",
            "NVIDIA DRA driver chart: nvidiaDriverRoot",
        )


def compute_domains(context: Context) -> Iterator[Finding]:
    by_operator = context.settings.gpu.dra_stack == "operator"
    chart, path = (OPERATOR, "draDriver.computeDomains") if by_operator else (DRA, "resources.computeDomains")
    if value_at(_given(context, chart), f"{path}.enabled") is not True:
        return
    sizes = [context.facts.vm_size(pool.vm_size) for pool in context.plan.pools]
    # Of Azure's sizes only the Grace ones, which are arm64, have NVLink between nodes.
    single = sorted({size.gpu for size in sizes if size and size.arch != "arm64"})
    if single:
        products = ", ".join(context.facts.gpus[gpu].product_name for gpu in single)
        yield finding(
            "CHT013",
            "warning",
            f"{chart}.{path}.enabled",
            "true",
            "compute domains need NVLink between nodes, which these GPUs do not have on Azure "
            f"({products}); on an H200 without it the plugin crashed",
            "remove it, or acknowledge this",
            "NVIDIA DRA driver: ComputeDomains",
        )


def chart_refusals(context: Context) -> Iterator[Finding]:
    """What the charts' templates end with `fail` on, of the values that would be installed."""
    operator, dra, plugin = (_given(context, chart) for chart in (OPERATOR, DRA, PLUGIN))
    if value_at(operator, "gpuCluster.deployCR") is True and context.settings.gpu.dra_stack == "chart":
        yield _refusal(
            OPERATOR, "gpuCluster.deployCR", True,
            "the operator's GPUCluster brings a DRA driver of its own, and the package installs NVIDIA's DRA chart",
            "remove it",
        )  # fmt: skip
    if value_at(operator, "cdi.nriPluginEnabled") is True:
        owned = any(pool.driver_owner == "operator" for pool in context.plan.pools)
        if value_at(operator, "cdi.enabled") is False or not owned:
            yield _refusal(
                OPERATOR, "cdi.nriPluginEnabled", True,
                "this needs cdi.enabled true and the operator's toolkit, which it installs with gpu.driver: operator",
                "remove it, or set both",
            )  # fmt: skip
    if value_at(operator, "devicePlugin.config.create") is True:
        yield _refusal(
            OPERATOR, "devicePlugin.config.create", True,
            f"the package makes the ConfigMap {names.DEVICE_PLUGIN_CONFIG_MAP} from the device-plugin pools",
            "remove it, and set the pools' sharing",
        )  # fmt: skip
    if value_at(plugin, "config.map"):
        yield _refusal(
            PLUGIN, "config.map", "config.map",
            f"the chart takes config.name or config.map, and the package names {names.DEVICE_PLUGIN_CONFIG_MAP}",
            "remove it, and set the pools' sharing",
        )  # fmt: skip
    yield from _compute_domain_refusals(context, dra)
    yield from _webhook_refusals(dra)


def _compute_domain_refusals(context: Context, dra: Mapping[str, Any]) -> Iterator[Finding]:
    if value_at(dra, "resources.computeDomains.enabled") is not True:
        return
    mode = value_at(dra, "resources.computeDomains.imex.mode")
    where = "resources.computeDomains.imex.mode"
    if isinstance(mode, str) and mode not in ("", "driverManaged", "hostManaged"):
        yield _refusal(DRA, where, mode, "there is no such mode", "write driverManaged or hostManaged")
    if mode == "hostManaged" and context.settings.gpu.feature_gates.get("HostManagedIMEXDaemon") is not True:
        remedy = "set gpu.featureGates.HostManagedIMEXDaemon: true"
        yield _refusal(DRA, where, mode, "this mode needs the gate HostManagedIMEXDaemon", remedy)
    isolation = value_at(dra, "resources.computeDomains.imex.isolation")
    if isinstance(isolation, str) and isolation not in ("", "domain"):
        where = "resources.computeDomains.imex.isolation"
        yield _refusal(DRA, where, isolation, "only domain is implemented", "write domain")


def _webhook_refusals(dra: Mapping[str, Any]) -> Iterator[Finding]:
    if value_at(dra, "webhook.enabled") is not True:
        return
    mode = value_at(dra, "webhook.tls.mode")
    if isinstance(mode, str) and mode not in ("cert-manager", "secret"):
        yield _refusal(DRA, "webhook.tls.mode", mode, "there is no such mode", "write cert-manager or secret")
    if mode == "secret" and not value_at(dra, "webhook.tls.secret.name"):
        remedy = "add webhook.tls.secret.name"
        yield _refusal(DRA, "webhook.tls.mode", mode, "a mode of secret names the secret", remedy)
    issuer = value_at(dra, "webhook.tls.certManager.issuerType")
    where = "webhook.tls.certManager.issuerType"
    if mode == "secret" or not isinstance(issuer, str):
        return
    if issuer not in ("selfsigned", "clusterissuer", "issuer"):
        yield _refusal(DRA, where, issuer, "there is no such issuer", "write selfsigned, clusterissuer or issuer")
    elif issuer != "selfsigned" and not value_at(dra, "webhook.tls.certManager.issuerName"):
        yield _refusal(DRA, where, issuer, "an issuer has a name", "add webhook.tls.certManager.issuerName")


def _refusal(chart: str, path: str, value: object, message: str, remedy: str) -> Finding:
    return finding(
        "CHT016", "error", f"{chart}.{path}", shown(value), message, remedy, "the chart's templates refuse it"
    )


def found_by_nfd(context: Context) -> Iterator[Finding]:
    tainted = [pool for pool in context.plan.pools if pool.taints]
    if context.settings.gpu.existing_nfd and tainted:
        taints = sorted({taint for pool in tainted for taint in pool.taints})
        yield finding(
            "CHT018",
            "warning",
            "aks-dra:gpu.existingNfd",
            ", ".join(taints),
            "your node feature discovery must tolerate these taints: the operator finds GPU nodes by its labels, and "
            "nothing runs on a node that it has not labelled",
            "add the tolerations to its worker, and acknowledge this",
            "NVIDIA GPU Operator: node feature discovery",
        )


def old_api_versions(context: Context) -> Iterator[Finding]:
    raw = {chart: _given(context, chart) for chart in (OPERATOR, DRA, PLUGIN)}
    since = context.facts.kubernetes.needs["resource_v1"].minimum
    for chart, values in raw.items():
        for path, text in _texts(values, ""):
            if "resource.k8s.io/v1beta" in text or "resource.k8s.io/v1alpha" in text:
                yield finding(
                    "CHT017",
                    "error",
                    f"{chart}{path}",
                    text,
                    f"Kubernetes serves DRA as resource.k8s.io/v1 from {since} on; its beta versions are off",
                    "write resource.k8s.io/v1",
                    "Kubernetes: API versions of resource.k8s.io",
                )


def _texts(value: object, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _texts(inner, f"{path}.{key}")
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            yield from _texts(inner, f"{path}.{index}")


RULES = (driver_values, compute_domains, chart_refusals, found_by_nfd, old_api_versions)
