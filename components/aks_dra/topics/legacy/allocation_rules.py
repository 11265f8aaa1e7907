"""DRA and the device plugin in one cluster."""

from __future__ import annotations

from collections.abc import Iterator

from aks_dra.context.context import POOLS, Context
from aks_dra.findings.build import finding
from aks_dra.findings.finding import Finding
from aks_dra.kube.versions import minor


def legacy_on_dra(context: Context) -> Iterator[Finding]:
    gpu = context.settings.gpu
    minimum = context.facts.kubernetes.needs["extended_resource_name"].minimum
    if gpu.legacy_requests == "dra" and context.lacks("extended_resource_name"):
        yield finding(
            "ALL001",
            "error",
            "aks-dra:gpu.legacyRequests",
            "dra",
            f"below Kubernetes {minimum} the API server drops extendedResourceName, so DRA never serves nvidia.com/gpu",
            f"set cluster.kubernetesVersion to {minimum} or newer, or legacyRequests: devicePlugin",
            "Kubernetes: feature gate DRAExtendedResource; tried",
        )


def legacy_unserved(context: Context) -> Iterator[Finding]:
    """Before Kubernetes has extended resources DRA serves no nvidia.com/gpu, although the chart's class names it."""
    pools = context.plan.pools
    need = context.facts.kubernetes.needs["extended_resource_name"]
    if pools and all(pool.allocation == "dra" for pool in pools) and context.lacks("extended_resource_name"):
        yield finding(
            "ALL006",
            "warning",
            POOLS if context.settings.pools else pools[0].path,
            context.version,
            "every pool is DRA, so nobody serves pods that ask for nvidia.com/gpu: from Kubernetes "
            f"{need.minimum} on DRA does",
            "give those pods a claim, keep a devicePlugin pool for them, or acknowledge this",
            need.source,
        )


def legacy_in_beta(context: Context) -> Iterator[Finding]:
    gpu = context.settings.gpu
    feature = context.facts.kubernetes.features[context.facts.kubernetes.needs["extended_resource_name"].feature]
    stable = minor(feature.ga) if feature.ga else (99, 0)
    if gpu.legacy_requests == "dra" and minor(feature.default_since) <= context.minor < stable:
        yield finding(
            "ALL007",
            "warning",
            "aks-dra:gpu.legacyRequests",
            "dra",
            f"in Kubernetes {context.version} the gate {feature.gate}, which this rests on, is beta",
            f"acknowledge this, or set cluster.kubernetesVersion to {feature.ga} or newer",
            feature.source,
        )


def no_slices_yet(context: Context) -> Iterator[Finding]:
    pools = context.plan.pools
    if pools and all(pool.first_nodes == 0 for pool in pools):
        yield finding(
            "ALL002",
            "warning",
            context.place([f"{pool.path}.nodes" for pool in pools]),
            "0 nodes",
            "no GPU pool starts with a node, so nothing is published after `pulumi up`",
            "give a pool a node, or acknowledge this",
            "Helm counts a DaemonSet that selects no node as ready",
        )


RULES = (legacy_on_dra, legacy_unserved, legacy_in_beta, no_slices_yet)
