"""What is true of the world: GPUs, MIG, VM sizes, Kubernetes on AKS, NVIDIA's charts. See tables.py."""

from aks_dra.facts.fact import Fact
from aks_dra.facts.mig import Placement, fits, place
from aks_dra.facts.reader import FactsError
from aks_dra.facts.rows import (
    Chart,
    ChartFault,
    ChartValue,
    ChartVersion,
    DriverMinimum,
    Feature,
    Gate,
    Gpu,
    KubernetesVersion,
    MigFamily,
    MigProfile,
    Need,
    VmSize,
)
from aks_dra.facts.rows_aks import (
    AksDriver,
    AksFault,
    ClusterField,
    GpuInstanceProfile,
    LabelRule,
    Limit,
    NameRule,
    OsSku,
    PoolField,
)
from aks_dra.facts.tables import Facts, Kubernetes, Row, load_facts, minor

__all__ = [
    "AksDriver", "AksFault", "Chart", "ChartFault", "ChartValue", "ChartVersion", "ClusterField", "DriverMinimum",
    "Fact", "Facts", "FactsError", "Feature", "Gate", "Gpu", "GpuInstanceProfile", "Kubernetes",
    "KubernetesVersion", "LabelRule", "Limit", "MigFamily", "MigProfile", "NameRule", "Need", "OsSku", "Placement",
    "PoolField", "Row", "VmSize", "fits", "load_facts", "minor", "place",
]  # fmt: skip
