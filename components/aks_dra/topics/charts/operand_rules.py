"""Chart values that take away what another part waits for, or overrule what the pools say.

The charts accept them all. What shows is a node that stays without partitions, a daemon that runs nowhere, or a pod
that finds no node.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from aks_dra.context.context import Context
from aks_dra.findings.build import finding
from aks_dra.findings.finding import Finding
from aks_dra.topics.charts.installed_rules import DRA, OPERATOR, PLUGIN
from aks_dra.topics.devices.published import mig_strategy
from aks_dra.trees import value_at

WHOLE = "all-disabled"
MIG_CONFIG = f"{OPERATOR}.migManager.config"
GENERATED = "mig-parted: a map of one's own replaces the generated one on every node"
CONTROL_PLANE = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")


def feature_discovery(context: Context) -> Iterator[Finding]:
    """Labels of the operator's GFD are node selectors of others."""
    if value_at(context.settings.gpu.charts.operator.values, "gfd.enabled") is not False:
        return
    waiting = [
        f"the MIG manager runs only where GFD has written nvidia.com/mig.capable (pool {pool.name})"
        for pool in context.plan.pools
        if pool.mig_owner == "operator"
    ]
    waiting += [
        f"the MPS daemon runs only where GFD has written nvidia.com/mps.capable (pool {name})"
        for name, _, pool in context.pools()
        if pool.allocation == "devicePlugin" and pool.sharing.mode == "mps"
    ]
    if waiting:
        yield finding(
            "CHT020",
            "error",
            f"{OPERATOR}.gfd.enabled",
            "false",
            "; ".join(waiting),
            "remove it",
            "GPU Operator: node selectors of the MIG manager and the MPS control daemon",
        )


def mig_layouts(context: Context) -> Iterator[Finding]:
    config = value_at(context.settings.gpu.charts.operator.values, "migManager.config")
    wanted = [pool.mig_layout for pool in context.plan.pools if pool.mig_owner == "operator"]
    if not isinstance(config, Mapping) or not wanted:
        return
    default = config.get("default")
    if isinstance(default, str) and default != WHOLE:
        yield finding(
            "CHT021",
            "error",
            f"{MIG_CONFIG}.default",
            default,
            "MIG-capable nodes without a layout of their own would be partitioned so, and the plan counts whole GPUs",
            f"write {WHOLE}, and give the pools that are meant sharing: {{mode: mig, layout: …}}",
            "GPU Operator: migManager.config.default",
        )
    if any(layout.startswith("aks-dra-") for layout in wanted):
        return  # the package's own map is named then, and another name is a conflict
    needed = sorted({WHOLE, *wanted})
    layouts = _layouts(config.get("data"))
    if layouts is not None:
        missing = [layout for layout in needed if layout not in layouts]
        if missing:
            message = f"the map lacks {', '.join(missing)}, and pools need {', '.join(needed)}"
            remedy = "add them, or remove the map and write layouts as sharing.layout of the pools"
            yield finding("CHT022", "error", f"{MIG_CONFIG}.data", ", ".join(layouts), message, remedy, GENERATED)
    elif config.get("name"):
        message = f"this map must hold {', '.join(needed)}, which nothing here can see"
        remedy = "remove it and write layouts as sharing.layout of the pools, or acknowledge this"
        yield finding("CHT022", "warning", f"{MIG_CONFIG}.name", config["name"], message, remedy, GENERATED)


def _layouts(data: Any) -> list[str] | None:
    """The names of the layouts in a map written into the values, or None where none can be read."""
    text = data.get("config.yaml") if isinstance(data, Mapping) else None
    if not isinstance(text, str):
        return None
    try:
        whole = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError):
        return None
    layouts = whole.get("mig-configs") if isinstance(whole, Mapping) else None
    return [str(name) for name in layouts] if isinstance(layouts, Mapping) else None


def plugin_strategy(context: Context) -> Iterator[Finding]:
    given = context.settings.gpu.charts.device_plugin.values.get("migStrategy")
    pools = {name: mig_strategy(pool.sharing) for name, _, pool in context.pools() if pool.allocation == "devicePlugin"}
    others = [f"{name}: {strategy}" for name, strategy in pools.items() if strategy != given]
    if isinstance(given, str) and given and others:
        yield finding(
            "CHT023",
            "error",
            f"{PLUGIN}.migStrategy",
            given,
            f"the chart's value wins over the pools' own strategies ({', '.join(others)})",
            "remove it, and set sharing.strategy of the pools",
            "NVIDIA device plugin: precedence of MIG_STRATEGY over the config file",
        )


def control_plane(context: Context) -> Iterator[Finding]:
    charts = context.settings.gpu.charts
    for chart, own in ((OPERATOR, charts.operator), (DRA, charts.dra_driver), (PLUGIN, charts.device_plugin)):
        for path, key in _required(own.values, ""):
            yield finding(
                "CHT024",
                "error",
                f"{chart}{path}",
                key,
                "AKS shows no control-plane nodes, so what needs one is never scheduled",
                "write kubernetes.azure.com/mode: system, the label of system pools, or remove it",
                "AKS: the control plane is Azure's; DRA chart before 0.4.0",
            )


def _required(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Where a node must carry a control-plane label, in selectors and in required node affinity."""
    if isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            yield from _required(inner, f"{path}.{index}")
    if not isinstance(value, Mapping):
        return
    for key, inner in value.items():
        where = f"{path}.{key}"
        if str(key).lower() == "nodeselector" and isinstance(inner, Mapping):
            yield from ((f"{where}.{label}", label) for label in inner if label in CONTROL_PLANE)
        elif key == "requiredDuringSchedulingIgnoredDuringExecution" and isinstance(inner, Mapping):
            yield from _only_terms(inner.get("nodeSelectorTerms"), f"{where}.nodeSelectorTerms")
        else:
            yield from _required(inner, where)


def _only_terms(terms: Any, path: str) -> Iterator[tuple[str, str]]:
    """Any one of the terms is enough, so all of them have to ask for it."""
    if not isinstance(terms, list | tuple) or not terms:
        return
    asked = [_asks(term) for term in terms]
    if all(asked):
        yield from ((f"{path}.{index}", key) for index, key in enumerate(asked))


def _asks(term: Any) -> str:
    expressions = term.get("matchExpressions") if isinstance(term, Mapping) else None
    for entry in expressions if isinstance(expressions, list | tuple) else ():
        if isinstance(entry, Mapping) and entry.get("operator") in ("In", "Exists"):
            key = str(entry.get("key"))
            if key in CONTROL_PLANE:
                return key
    return ""


def cluster_policy(context: Context) -> Iterator[Finding]:
    off = value_at(context.settings.gpu.charts.operator.values, "clusterPolicy.deployCR") is False
    if off and context.settings.gpu.dra_stack == "chart":
        yield finding(
            "CHT025",
            "error",
            f"{OPERATOR}.clusterPolicy.deployCR",
            "false",
            "without a ClusterPolicy the operator runs nothing: no driver, no toolkit, no label that others select on",
            "remove it; with gpu.draStack: operator the package makes a GPUCluster instead",
            "GPU Operator: ClusterPolicy",
        )


RULES = (cluster_policy, feature_discovery, mig_layouts, plugin_strategy, control_plane)
