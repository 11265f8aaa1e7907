"""The Helm releases and every value that the package gives them.

From who owns the driver follow: the pools' gpuProfile.driver, the operator's driver.enabled, toolkit.enabled and
runtimeClass, and the DRA driver's root. From how pools are allocated follow the node selectors: the operator's own
device plugin is off, since its per-node switches do not survive its reconciles; device-plugin pools get NVIDIA's
device-plugin chart, one release for each driver owner, because a release has one driver root.

Helm merges maps and replaces lists, so lists are given in full, the chart's defaults included.
"""

from __future__ import annotations

from typing import Any

from aks_dra import names
from aks_dra.context.gates import feature_gates
from aks_dra.facts import Facts
from aks_dra.kube.taints import toleration
from aks_dra.model.plan import PlannedPool, PlannedRelease
from aks_dra.settings import ChartSettings, Settings
from aks_dra.topics.charts.gpu_cluster import gpu_cluster_values
from aks_dra.topics.charts.overrides import reconciled
from aks_dra.topics.charts.stack_values import with_stack_settings
from aks_dra.trees import merge_values, value_at

CHART_GPU_TOLERATION = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
CONTROL_PLANE_TOLERATIONS = (
    {"key": "node-role.kubernetes.io/control-plane", "operator": "Equal", "value": "", "effect": "NoSchedule"},
)
DRIVER_ROOT = {"operator": "/run/nvidia/driver", "aks": "/"}
# Where the charts' values name a ConfigMap.
CONFIG_MAPS = {
    "gpu-operator": ("migManager.config.name", "devicePlugin.config.name"),
    "nvidia-device-plugin": ("config.name",),
}
RUNTIME_CLASS = {"operator": "nvidia", "aks": "nvidia-container-runtime"}


def chart_location(facts: Facts, settings: Settings, chart: str, own: ChartSettings) -> tuple[str, str, str]:
    """(chart, version, repository): the shape that helm.v3.Release needs for OCI, a repository or a folder."""
    row = facts.charts[chart]
    version = own.version or row.default_version
    source = own.source or settings.gpu.charts.source
    if source is None:
        return (row.oci, version, "") if row.oci else (chart, version, row.repo)
    if version in row.versions:
        chart = row.versions[version].chart_name  # the DRA driver's chart had another name before 0.4.0
    if source.startswith("oci://"):
        return f"{source.rstrip('/')}/{chart}", version, ""
    if source.startswith(("https://", "http://")):
        return chart, version, source
    return f"{source.rstrip('/')}/{chart}.tgz", "", ""  # a packed chart carries its version


def tolerations(pools: list[PlannedPool], *defaults: dict[str, str]) -> list[dict[str, str]]:
    """The chart's default tolerations and one for every taint of the pools, each once.

    Those of the test pool and of spot are always there: DaemonSets do not roll on every node when it comes or goes.
    """
    result = [*defaults, *(toleration(taint) for taint in (names.TEST_POOL_TAINT, names.SPOT_TAINT))]
    for pool in pools:
        for taint in pool.taints:
            if (wanted := toleration(taint)) not in result:
                result.append(wanted)
    return result


def operator_values(settings: Settings, pools: list[PlannedPool]) -> dict[str, Any]:
    owned = [pool for pool in pools if pool.driver_owner == "operator"]
    partitioned = [pool for pool in pools if pool.mig_owner == "operator"]
    legacy = [pool for pool in pools if pool.allocation == "devicePlugin"]
    owner = "operator" if owned else "aks"
    common: dict[str, Any] = {
        "nfd": {"enabled": not settings.gpu.existing_nfd},
        "node-feature-discovery": {
            "worker": {"tolerations": tolerations(pools, *CONTROL_PLANE_TOLERATIONS, CHART_GPU_TOLERATION)}
        },
        "daemonsets": {"tolerations": tolerations(pools, CHART_GPU_TOLERATION)},
    }
    if settings.gpu.dra_stack == "operator":
        return gpu_cluster_values(settings, common, pools, feature_gates(settings))
    values: dict[str, Any] = {
        **common,
        "operator": {"runtimeClass": RUNTIME_CLASS[owner]},
        "driver": {"enabled": bool(owned)},
        "toolkit": {"enabled": bool(owned)},
        "devicePlugin": {"enabled": False},
        "migManager": {"enabled": bool(partitioned)},
        "mig": {"strategy": "single"},
    }
    if owned:
        if settings.gpu.driver_version:
            values["driver"]["version"] = settings.gpu.driver_version
        # Without it the toolkit writes a drop-in that AKS's containerd on Ubuntu 24.04 refuses to start with.
        values["toolkit"]["env"] = [{"name": "RUNTIME_CONFIG_SOURCE", "value": "file"}]
    if partitioned:
        # A100s need a reboot to change MIG mode in a virtual machine.
        values["migManager"]["env"] = [{"name": "WITH_REBOOT", "value": "true"}]
        if any(pool.mig_layout.startswith("aks-dra-") for pool in partitioned):
            values["migManager"]["config"] = {"name": names.MIG_LAYOUTS_CONFIG_MAP, "default": "all-disabled"}
    if legacy:
        # GFD reads the plugin's config although the operator's own plugin is off. A strategy for the whole cluster
        # would reach it as MIG_STRATEGY, and an environment variable wins over a pool's config.
        values["mig"] = {"strategy": ""}
        values["devicePlugin"]["config"] = {
            "name": names.DEVICE_PLUGIN_CONFIG_MAP,
            "default": names.DEFAULT_CONFIG_KEY,
        }
    return values


def dra_values(settings: Settings, pools: list[PlannedPool]) -> dict[str, Any]:
    served = [pool for pool in pools if pool.allocation == "dra"]
    owner = served[0].driver_owner if served else settings.gpu.driver
    selector = {names.LABEL_ALLOCATION: "dra"}
    if owner == "operator":
        selector[names.LABEL_CLIENT] = "true"
    values: dict[str, Any] = {
        "nvidiaDriverRoot": DRIVER_ROOT[owner],
        # True means here what it says: no node of a DRA pool runs a device plugin.
        "gpuResourcesEnabledOverride": True,
        "resourceApiVersion": "resource.k8s.io/v1",
        "resources": {"gpus": {"enabled": True}, "computeDomains": {"enabled": False}},
        "kubeletPlugin": {
            "nodeSelector": selector,
            "tolerations": tolerations(served, CHART_GPU_TOLERATION),
            "affinity": _required_terms(
                {"key": names.LABEL_MIG_OWNER, "operator": "NotIn", "values": ["operator"]},
                {"key": names.LABEL_MIG_STATE, "operator": "In", "values": ["success"]},
            ),
        },
    }
    if gates := feature_gates(settings):
        values["featureGates"] = gates
    return values


def controller_values(facts: Facts, settings: Settings) -> dict[str, Any]:
    """Old charts require a control-plane node for the controller, which AKS does not show: it goes to a system pool."""
    row = facts.charts["dra-driver-nvidia-gpu"]
    version = row.versions.get(settings.gpu.charts.dra_driver.version or row.default_version)
    if version is None or "preferredControllerAffinity" in version.features:
        return {}
    system = {"key": "kubernetes.azure.com/mode", "operator": "In", "values": ["system"]}
    return {"controller": {"affinity": _required_terms(system)}}


def device_plugin_values(owner: str, pools: list[PlannedPool]) -> dict[str, Any]:
    selector = {names.LABEL_ALLOCATION: "device-plugin", names.LABEL_DRIVER_OWNER: owner}
    if owner == "operator":
        selector[names.LABEL_CLIENT] = "true"
    values: dict[str, Any] = {
        "config": {"name": names.DEVICE_PLUGIN_CONFIG_MAP, "default": names.DEFAULT_CONFIG_KEY},
        "gfd": {"enabled": False},
        "nfd": {"enabled": False},
        "nvidiaDriverRoot": DRIVER_ROOT[owner],
        "nodeSelector": selector,
        "tolerations": tolerations(pools, {"key": "CriticalAddonsOnly", "operator": "Exists"}, CHART_GPU_TOLERATION),
        "affinity": _required_terms(
            {"key": names.LABEL_ALLOCATION, "operator": "In", "values": ["device-plugin"]},
        ),
    }
    if owner == "operator":
        values["runtimeClassName"] = RUNTIME_CLASS["operator"]
    return values


def package_values(settings: Settings, facts: Facts, pools: list[PlannedPool], chart: str) -> list[dict[str, Any]]:
    """The package's own values of every release of a chart, also of one that these pools do not need."""
    legacy = [pool for pool in pools if pool.allocation == "devicePlugin"]
    owners = sorted({pool.driver_owner for pool in legacy}) or [settings.gpu.driver]
    found = {
        "gpu-operator": lambda: [operator_values(settings, pools)],
        "dra-driver-nvidia-gpu": lambda: [dra_values(settings, pools) | controller_values(facts, settings)],
        "nvidia-device-plugin": lambda: [
            device_plugin_values(owner, [pool for pool in legacy if pool.driver_owner == owner]) for owner in owners
        ],
    }[chart]()
    return [with_stack_settings(facts, settings, chart, values) for values in found]


def dra_release(settings: Settings) -> str:
    """The release that brings the DRA driver: its classes are there once that is."""
    return names.OPERATOR_RELEASE if settings.gpu.dra_stack == "operator" else names.DRA_RELEASE


def _required_terms(*expressions: dict[str, Any]) -> dict[str, Any]:
    """A node affinity that any one of the expressions satisfies."""
    terms = [{"matchExpressions": [expression]} for expression in expressions]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


def plan_releases(settings: Settings, facts: Facts, pools: list[PlannedPool]) -> tuple[PlannedRelease, ...]:
    if not pools:
        return ()
    charts = settings.gpu.charts
    releases = [
        _release(
            settings,
            facts,
            "gpu-operator",
            names.OPERATOR_RELEASE,
            names.OPERATOR_NAMESPACE,
            charts.operator,
            operator_values(settings, pools),
            (),
        )
    ]
    if settings.gpu.dra_stack == "operator":
        return tuple(releases)
    legacy = [pool for pool in pools if pool.allocation == "devicePlugin"]
    for owner in sorted({pool.driver_owner for pool in legacy}):
        served = [pool for pool in legacy if pool.driver_owner == owner]
        releases.append(
            _release(
                settings,
                facts,
                "nvidia-device-plugin",
                names.DEVICE_PLUGIN_RELEASE[owner],
                names.OPERATOR_NAMESPACE,
                charts.device_plugin,
                device_plugin_values(owner, served),
                (names.OPERATOR_RELEASE,),
            )
        )
    if any(pool.allocation == "dra" for pool in pools):
        releases.append(
            _release(
                settings,
                facts,
                "dra-driver-nvidia-gpu",
                names.DRA_RELEASE,
                names.DRA_NAMESPACE,
                charts.dra_driver,
                dra_values(settings, pools) | controller_values(facts, settings),
                (names.OPERATOR_RELEASE,),
            )
        )
    return tuple(releases)


def _release(
    settings: Settings,
    facts: Facts,
    chart: str,
    name: str,
    namespace: str,
    own: ChartSettings,
    values: dict[str, Any],
    after: tuple[str, ...],
) -> PlannedRelease:
    location, version, repository = chart_location(facts, settings, chart, own)
    whole = with_stack_settings(facts, settings, chart, values)
    merged, _ = merge_values(*reconciled(chart, whole, own.values))
    # Pods do not start without the ConfigMaps that the values name.
    named = (value_at(merged, path) for path in CONFIG_MAPS.get(chart, ()))
    after += tuple(names.CONFIG_MAP_KEYS[name] for name in named if name in names.CONFIG_MAP_KEYS)
    return PlannedRelease(name, name, namespace, location, version, repository, merged, own.timeout_seconds, after)
