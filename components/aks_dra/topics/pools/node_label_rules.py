"""Labels of a pool that something in the cluster acts on: MIG manager, device plugin, what looks for spot nodes.

A pool's settings say what its nodes are, and classes, claims and node selectors follow from them. A label that says
something else is obeyed all the same, and the plan is wrong from then on.
"""

from __future__ import annotations

from collections.abc import Iterator

from aks_dra import names
from aks_dra.context.context import Context
from aks_dra.findings.build import finding
from aks_dra.findings.finding import Finding
from aks_dra.settings.pools_of import driver_owner

WHOLE = "all-disabled"


MANAGER = "GPU Operator: MIG manager, label nvidia.com/mig.config"


def plugin_config(context: Context) -> Iterator[Finding]:
    """The operator's GFD reads this label on every GPU node, and waits for a key that is not there."""
    keys = [name for name, _, pool in context.pools() if pool.allocation == "devicePlugin"]
    listed = ", ".join([names.DEFAULT_CONFIG_KEY, *keys])
    for _, path, pool in context.pools():
        value = pool.labels.get(names.LABEL_PLUGIN_CONFIG)
        if value is None or pool.allocation == "devicePlugin" or (keys and value in (*keys, names.DEFAULT_CONFIG_KEY)):
            continue
        yield finding(
            "LAB010",
            # Without a device-plugin pool there is no ConfigMap, and GFD does not read the label.
            "error" if keys else "warning",
            f"{path}.labels.{names.LABEL_PLUGIN_CONFIG}",
            value,
            f"the device plugin's ConfigMap has no such key; it has {listed}"
            if keys
            else "nothing reads this, since no pool is a devicePlugin pool",
            "remove it, or set allocation: devicePlugin, which makes a config for the pool",
            "NVIDIA device plugin and GFD: nvidia.com/device-plugin.config",
        )


def spot(context: Context) -> Iterator[Finding]:
    key, value = names.SPOT_LABEL
    message = "the pool is not spot, and pods that look for spot nodes would be put on it"
    remedy = "set spot: true, or remove it"
    for _, path, pool in context.pools():
        if pool.spot:
            continue
        if pool.labels.get(key) == value:
            yield finding("LAB011", "warning", f"{path}.labels.{key}", value, message, remedy, "AKS docs: spot pools")
        for index, taint in enumerate(pool.taints):
            if taint == names.SPOT_TAINT:
                yield finding(
                    "LAB011", "warning", f"{path}.taints.{index}", taint, message, remedy, "AKS docs: spot pools"
                )


def operands(context: Context) -> Iterator[Finding]:
    """This label survives the operator's reconcile, and takes the driver that the pool's devices come from."""
    key = "nvidia.com/gpu.deploy.operands"
    for _, path, pool in context.pools():
        if pool.labels.get(key) == "false" and driver_owner(context.settings, pool) == "operator":
            yield finding(
                "LAB013",
                "warning",
                f"{path}.labels.{key}",
                "false",
                "the operator runs nothing on these nodes then, its driver included, and no device appears",
                "remove it, or acknowledge this where you install the driver yourself",
                "NVIDIA/gpu-operator v26.7.0 controllers/state_manager.go",
            )


RULES = (plugin_config, spot, operands)
