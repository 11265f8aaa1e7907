"""Labels, taints and tags of pools: what AKS refuses, what the package sets itself, what Azure has retired."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from aks_dra import names
from aks_dra.context.context import Context
from aks_dra.findings.build import finding
from aks_dra.findings.finding import Finding
from aks_dra.kube.labels import EFFECTS, KEY, VALUE
from aks_dra.topics.pools.name_rules import OUTPUT_TEXT

MANAGED_TAG = "enablemanagedgpuexperience"


def pool_labels(context: Context) -> Iterator[Finding]:
    for _, path, pool in context.pools():
        for key, value in pool.labels.items():
            where = f"{path}.labels.{key}"
            if not KEY.fullmatch(key) or not VALUE.fullmatch(value):
                yield _not_a_label(where, value)
            elif key == names.LABEL_PLUGIN_CONFIG and pool.allocation == "devicePlugin":
                yield _set_by_package(where, value, "the pool's name and sharing")
            elif key == names.LABEL_MIG_CONFIG and pool.sharing.mode == "mig":
                yield _set_by_package(where, value, "sharing.layout")
            else:
                yield from _by_rule(context, where, key, value)


def _by_rule(context: Context, where: str, key: str, value: str) -> Iterator[Finding]:
    rule = context.facts.label_rule(key)
    if rule is None or rule.verdict == "allow" or (key, value) == names.SPOT_LABEL:
        return
    if rule.verdict == "package":
        yield _set_by_package(where, value, "the pool's settings")
    elif rule.verdict == "warn":
        yield finding("LAB004", "warning", where, value, rule.reason, "remove it", rule.source)
    else:
        remedy = f"write node.kubernetes.io/{key.rpartition('/')[2]}, or use a prefix of your own"
        # A rule that is not verified is a warning: the user may know better.
        yield finding("LAB002", "error" if rule.verified else "warning", where, value, rule.reason, remedy, rule.source)


def _set_by_package(where: str, value: str, origin: str) -> Finding:
    message = f"the package sets this label from {origin}"
    return finding("LAB003", "error", where, value, message, "remove it; the settings say what it says", "aks-dra")


def _not_a_label(where: str, value: str) -> Finding:
    if any(text in value for text in OUTPUT_TEXT):
        message, remedy = "this is the text of a Pulumi Output, not its value", "labels must be plain text"
    else:
        message = "not a valid Kubernetes label"
        remedy = "keys and values have at most 63 letters, digits, '-', '_' and '.'"
    return finding("LAB001", "error", where, value, message, remedy, "Kubernetes: labels and selectors")


def _key_and_effect(taint: str) -> tuple[str, str]:
    key_value, _, effect = taint.rpartition(":")
    return key_value.partition("=")[0], effect


def pool_taints(context: Context) -> Iterator[Finding]:
    for _, path, pool in context.pools():
        for index, taint in enumerate(pool.taints):
            key_value, colon, effect = taint.rpartition(":")
            key, _, value = key_value.partition("=")
            if not colon or effect not in EFFECTS or not KEY.fullmatch(key) or not VALUE.fullmatch(value):
                yield finding(
                    "LAB006",
                    "error",
                    f"{path}.taints.{index}",
                    taint,
                    "a taint is key=value:Effect, with the effect NoSchedule, PreferNoSchedule or NoExecute",
                    "for example sku=gpu:NoSchedule",
                    "Kubernetes: taints and tolerations",
                )
            elif key.startswith("kubernetes.azure.com/") and taint != names.SPOT_TAINT:
                message = "kubernetes.azure.com is reserved for AKS; the taint of spot pools is set by the package"
                remedy = "use a key of your own, or spot: true"
                yield finding(
                    "LAB008", "error", f"{path}.taints.{index}", taint, message, remedy, "AKS: taints of a pool"
                )
            elif (key, effect) in (seen := [_key_and_effect(other) for other in pool.taints[:index]]):
                message = f"taint {seen.index((key, effect))} has this key and effect already"
                remedy = "remove one of the two"
                yield finding("LAB009", "error", f"{path}.taints.{index}", taint, message, remedy, "Kubernetes: taints")


def retired_tags(context: Context) -> Iterator[Finding]:
    settings = context.settings
    places: list[tuple[str, Mapping[str, Any]]] = [
        ("aks-dra:tags", settings.tags),
        ("aks-dra:cluster.tags", settings.cluster.tags),
    ]
    for _, path, pool in context.pools():
        places.append((f"{path}.tags", pool.tags))
        if isinstance(raw := pool.azure_inputs.get("tags"), Mapping):
            places.append((f"{path}.azureInputs.tags", raw))
    for where, tags in places:
        for key, value in tags.items():
            # Azure's tag names do not mind case, and people write it with hyphens, underscores and blanks.
            if re.sub(r"[\W_]", "", key.lower()) == "skipgpudriverinstall":
                yield finding(
                    "LAB007",
                    "error",
                    f"{where}.{key}",
                    value,
                    "Azure retired this tag for new pools on 2025-08-14; the pool's gpuProfile.driver says it now",
                    "remove it and set gpu.driver: operator, which keeps Azure's driver off",
                    "Azure/AKS#4925",
                )
            if re.sub(r"[\W_]", "", key.lower()) == MANAGED_TAG and str(value).lower() != "false":
                yield finding(
                    "LAB012",
                    "error",
                    f"{where}.{key}",
                    value,
                    "with this tag AKS runs a device plugin and a DCGM exporter of its own on the nodes, beside "
                    "those of this package: the same GPUs are handed out twice",
                    "remove it",
                    "AKS: managed GPU nodes; Azure/AgentBaker: EnableManagedGPUExperience",
                )


RULES = (pool_labels, pool_taints, retired_tags)
