"""DRA and the device plugin in one cluster."""

from __future__ import annotations

from collections.abc import Iterator

from aks_dra.planning.checks.context import Context, finding
from aks_dra.planning.model import Finding


def legacy_on_dra(context: Context) -> Iterator[Finding]:
    gpu = context.settings.gpu
    if gpu.legacy_requests == "dra" and context.lacks("extended_resource_name"):
        yield finding(
            "ALL001",
            "error",
            "aks-dra:gpu.legacyRequests",
            "dra",
            "below Kubernetes 1.36 the API server drops extendedResourceName, so DRA never serves nvidia.com/gpu",
            "set cluster.kubernetesVersion to 1.36 or newer, or legacyRequests: devicePlugin",
            "Kubernetes: feature gate DRAExtendedResource; tried",
        )


def no_slices_yet(context: Context) -> Iterator[Finding]:
    pools = context.plan.pools
    if pools and all(pool.first_nodes == 0 for pool in pools):
        yield finding(
            "ALL002",
            "warning",
            "aks-dra:pools",
            "0 nodes",
            "no GPU pool starts with a node, so nothing is published after `pulumi up`",
            "give a pool a node, or acknowledge this",
            "Helm counts a DaemonSet that selects no node as ready",
        )


def extended_names(context: Context) -> Iterator[Finding]:
    seen: dict[str, str] = {}
    for name, entry in context.settings.device_classes.items():
        resource = entry.extended_resource_name
        if not resource:
            continue
        path = f"aks-dra:deviceClasses.{name}.extendedResourceName"
        if context.lacks("extended_resource_name"):
            yield finding(
                "ALL003",
                "error",
                path,
                resource,
                "below Kubernetes 1.36 the API server drops this field silently",
                "set cluster.kubernetesVersion to 1.36 or newer",
                "Kubernetes: DRAExtendedResource; tried",
            )
        if "+" in resource:
            yield finding(
                "ALL004",
                "error",
                path,
                resource,
                "a resource name has no '+'",
                f"write {resource.replace('+', '.')}",
                "Kubernetes: 422; tried",
            )
        if resource in seen:
            yield finding(
                "ALL005",
                "error",
                path,
                resource,
                f"class {seen[resource]} has this resource name, and only the newest class of a name counts",
                "give it to one class only",
                "KEP-5004",
            )
        seen[resource] = name


CHECKS = (legacy_on_dra, no_slices_yet, extended_names)
