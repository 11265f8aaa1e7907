"""Keys that other tools have for the same thing: Azure's API, Terraform, NVIDIA's configs, Helm, Kubernetes.

Whoever moves a file over to this package writes them first, and the nearest key by spelling is rarely the right one
(`nodeTaints` is nearer to `nodes` than to `taints`). The keys are compared without case, hyphens and underscores.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from aks_dra.settings.cluster import ClusterSettings, SystemPool
from aks_dra.settings.fields import CLUSTER, POOL, called_otherwise
from aks_dra.settings.pools import Pool

_COUNTS = {
    "nodecount": "nodes.count", "autoscalingenabled": "nodes.min and nodes.max", "autoscale": "nodes.min and nodes.max",
}  # fmt: skip
_WRITTEN_BY_PACKAGE = "no apiVersion or kind: the package writes resource.k8s.io/v1"

ELSEWHERE: Mapping[str, Mapping[str, str]] = {
    "Pool": {
        **called_otherwise(POOL, Pool), **_COUNTS, "size": "vmSize",
        "gpuinstance": "sharing.layout", "mig": "sharing: {mode: mig, layout: …}", "replicas": "sharing.replicas",
        "gpuprofile": "driver: operator for None, driver: aks for Install",
        "gpudriver": "driver: operator for none, driver: aks for install",
        "scalesetpriority": "spot: true", "priority": "spot: true",
        "evictionpolicy": "spot.evictionPolicy",
        "upgradesettings": "maxSurge, drainTimeoutMinutes and what else it holds, one by one",
        "mode": "nothing: GPU pools are of mode User, the one system pool is cluster.systemPool",
    },
    "SystemPool": {**called_otherwise(POOL, SystemPool), **_COUNTS},
    "Nodes": {
        "mincount": "min", "maxcount": "max", "initialcount": "initial", "desired": "count",
        "enableautoscaling": "min and max, which switch it on",
    },
    "Sharing": {
        "flags": "rename for renameByDefault and strategy for migStrategy, beside mode", "renamebydefault": "rename",
        "resources": "replicas, and rename: true for nvidia.com/gpu.shared; single resources get no name of their own",
        "migstrategy": "strategy", "timeslicing": "mode: timeSlicing, replicas and rename",
        "mps": "mode: mps and replicas",
        "timeslicingconfig": "interval", "timeslice": "interval", "profile": "layout", "profiles": "layout",
        "defaultactivethreadpercentage": "activeThreadPercentage",
        "defaultpinneddevicememorylimit": "pinnedMemoryLimit",
    },
    "MigGroup": {
        "migdevices": "profiles", "migenabled": "profiles: {} where the GPU stays whole, else nothing",
    },
    "ChartSettings": {
        "chart": "source, the place of the charts; the package knows the chart's name",
        "repo": "source", "repository": "source", "repositoryopts": "source", "repositoryurl": "source",
        "timeout": "timeoutSeconds",
    },
    "ClusterSettings": {
        **called_otherwise(CLUSTER, ClusterSettings),
        "version": "kubernetesVersion", "sku": "tier", "defaultnodepool": "systemPool",
    },
    "GpuSettings": {"version": "driverVersion", "nfd": "existingNfd", "operator": "charts.operator"},
    "DeviceClassSettings": {
        "apiversion": _WRITTEN_BY_PACKAGE, "kind": _WRITTEN_BY_PACKAGE, "selectors": "cel", "spec": "require or cel",
    },
    "ClaimSettings": {
        "apiversion": f"{_WRITTEN_BY_PACKAGE}, or the whole claim under raw", "kind": "shareAcross, or raw",
        "spec": "raw", "devices": "raw", "exactly": "what it holds without exactly, deviceClassName as deviceClass",
        "deviceclassname": "deviceClass", "selectors": "cel", "allocationmode": "all: true for All, else count",
    },
    "ClaimRequest": {
        "exactly": "what it holds without exactly, deviceClassName as deviceClass",
        "deviceclassname": "deviceClass", "selectors": "cel", "allocationmode": "all: true for All, else count",
    },
    "ClaimAlternative": {
        "deviceclassname": "deviceClass", "selectors": "cel", "allocationmode": "all: true for All, else count",
        "adminaccess": "adminAccess in a request without alternatives",
    },
}  # fmt: skip


def written_here(model: str, key: str) -> str:
    """What this package calls a key of another tool, or ""."""
    return ELSEWHERE.get(model, {}).get(re.sub(r"[\W_]", "", key.lower()), "")
