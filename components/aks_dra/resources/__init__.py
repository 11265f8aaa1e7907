"""Pulumi components: they register what a plan says and decide nothing.

`DraCluster` is all of it; every other class here is a part of it that works alone, also on a cluster that
exists. All of them take the same settings, plan before they register, and stop on the plan's errors.
"""

from aks_dra.resources.aks_cluster import AksCluster
from aks_dra.resources.args import Args, DraClusterArgs, plan_of
from aks_dra.resources.dra_cluster import DraCluster
from aks_dra.resources.early_claims import EarlyClaims
from aks_dra.resources.gpu_pool import GpuPool
from aks_dra.resources.objects import Claims, DeviceClasses, Namespaces
from aks_dra.resources.releases import DevicePlugin, DraDriver, GpuOperator
from aks_dra.resources.smoke_test import SmokeTest

__all__ = [
    "AksCluster", "Args", "Claims", "DeviceClasses", "DevicePlugin", "DraCluster", "DraClusterArgs", "DraDriver",
    "EarlyClaims", "GpuOperator", "GpuPool", "Namespaces", "SmokeTest", "plan_of",
]  # fmt: skip
