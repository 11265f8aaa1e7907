"""Labels, taints and tags of pools: what AKS refuses, what the package sets itself, what Azure has retired."""

from __future__ import annotations

import re
from collections.abc import Iterator

from aks_dra.planning import names
from aks_dra.planning.checks.context import Context, finding
from aks_dra.planning.checks.names import OUTPUT_TEXT
from aks_dra.planning.model import Finding

SOURCE = "AKS: reserved label prefixes (learn.microsoft.com/azure/aks/use-labels); tried"
KEY = re.compile(r"([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?")
VALUE = re.compile(r"([A-Za-z0-9]([-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?)?")
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
ALLOWED_KUBERNETES = ("kubelet.kubernetes.io", "node.kubernetes.io")


def pool_labels(context: Context) -> Iterator[Finding]:
    for _, path, pool in context.pools():
        for key, value in pool.labels.items():
            where = f"{path}.labels.{key}"
            domain = key.rpartition("/")[0]
            kubernetes = domain in ("kubernetes.io", "k8s.io") or domain.endswith((".kubernetes.io", ".k8s.io"))
            if not KEY.fullmatch(key) or not VALUE.fullmatch(value):
                bad = any(text in value for text in OUTPUT_TEXT)
                yield finding(
                    "LAB001",
                    "error",
                    where,
                    value,
                    "this is the text of a Pulumi Output, not its value" if bad else "not a valid Kubernetes label",
                    "labels must be plain text"
                    if bad
                    else "keys and values have at most 63 letters, digits, '-', '_' and '.'",
                    "Kubernetes: labels and selectors",
                )
            elif domain == "kubernetes.azure.com" and (key, value) != names.SPOT_LABEL:
                yield finding(
                    "LAB002",
                    "error",
                    where,
                    value,
                    "AKS keeps the prefix kubernetes.azure.com/ for itself",
                    "use a prefix of your own",
                    SOURCE,
                )
            elif kubernetes and not key.startswith(ALLOWED_KUBERNETES):
                yield finding(
                    "LAB002",
                    "error",
                    where,
                    value,
                    "AKS refuses keys in the kubernetes.io and k8s.io "
                    "namespaces unless they begin with kubelet.kubernetes.io or node.kubernetes.io",
                    f"write node.kubernetes.io/{key.rpartition('/')[2]}",
                    SOURCE,
                )
            elif key in names.OWN_LABELS or (key == names.LABEL_PLUGIN_CONFIG and pool.allocation == "devicePlugin"):
                yield finding(
                    "LAB003",
                    "error",
                    where,
                    value,
                    "the package sets this label from the pool's settings",
                    "remove it; allocation, driver and sharing say what it says",
                    "aks-dra",
                )
            elif key == names.LABEL_MIG_CONFIG and pool.sharing.mode == "mig":
                yield finding(
                    "LAB003",
                    "error",
                    where,
                    value,
                    "the package sets this label from sharing.layout",
                    "remove it",
                    "aks-dra",
                )
            elif key.startswith("nvidia.com/gpu.deploy.") and key != "nvidia.com/gpu.deploy.operands":
                yield finding(
                    "LAB004",
                    "warning",
                    where,
                    value,
                    "the operator strips this label from new nodes and "
                    "sets it to true afterwards, so presetting it has no effect",
                    "remove it",
                    "NVIDIA/gpu-operator#2288; operator v26.7.0",
                )
            elif key.startswith("feature.node.kubernetes.io/"):
                yield finding(
                    "LAB005",
                    "warning",
                    where,
                    value,
                    "whether AKS accepts node feature labels on a pool is unverified",
                    "let node feature discovery set it",
                    SOURCE,
                )


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


def retired_tags(context: Context) -> Iterator[Finding]:
    for _, path, pool in context.pools():
        for key, value in {**context.settings.tags, **pool.tags}.items():
            if key.lower().replace("-", "").replace("_", "") == "skipgpudriverinstall":
                yield finding(
                    "LAB007",
                    "error",
                    f"{path}.tags.{key}",
                    value,
                    "Azure retired this tag for new pools on 2025-08-14",
                    "remove it and set gpu.driver: operator, which keeps Azure's driver off",
                    "Azure/AKS#4925",
                )


CHECKS = (pool_labels, pool_taints, retired_tags)
