"""What a user writes, as frozen models. Nothing here imports Pulumi."""

from aks_dra.settings.azure import Existing, Identity, LogAnalytics, Monitoring, Network
from aks_dra.settings.base import Model
from aks_dra.settings.cluster import Access, ClusterSettings, Nodes, SystemPool
from aks_dra.settings.described import DescribedDevices
from aks_dra.settings.devices import (
    ClaimAlternative,
    ClaimConfig,
    ClaimConstraint,
    ClaimRequest,
    ClaimSettings,
    DeviceClassSettings,
    NamespaceSettings,
    OpaqueConfig,
    Toleration,
)
from aks_dra.settings.gpu import Charts, ChartSettings, GpuSettings
from aks_dra.settings.pools import MigGroup, Pool, Sharing, SmokeTestSettings, Spot, TestPool
from aks_dra.settings.stack import Acknowledgement, Settings

__all__ = [
    "Access", "Acknowledgement", "ChartSettings", "Charts", "ClaimAlternative", "ClaimConfig", "ClaimConstraint",
    "ClaimRequest", "ClaimSettings", "ClusterSettings", "DescribedDevices", "DeviceClassSettings", "Existing",
    "GpuSettings", "Identity", "LogAnalytics", "MigGroup", "Model", "Monitoring", "NamespaceSettings", "Network",
    "Nodes",
    "OpaqueConfig", "Pool", "Settings", "Sharing", "SmokeTestSettings", "Spot", "SystemPool", "TestPool", "Toleration",
]  # fmt: skip
