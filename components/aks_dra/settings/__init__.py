"""What a user writes, as frozen models. Nothing here imports Pulumi."""

from aks_dra.settings.base import Model
from aks_dra.settings.cluster import Access, ClusterSettings, Existing, Network, Nodes, SystemPool
from aks_dra.settings.devices import ClaimAlternative, ClaimSettings, DeviceClassSettings, NamespaceSettings
from aks_dra.settings.gpu import Charts, ChartSettings, GpuSettings
from aks_dra.settings.pools import MigGroup, Pool, Sharing, Spot, TestPool
from aks_dra.settings.stack import Acknowledgement, Settings

__all__ = [
    "Access", "Acknowledgement", "ChartSettings", "Charts", "ClaimAlternative", "ClaimSettings", "ClusterSettings",
    "DeviceClassSettings", "Existing", "GpuSettings", "MigGroup", "Model", "NamespaceSettings", "Network", "Nodes",
    "Pool", "Settings", "Sharing", "Spot", "SystemPool", "TestPool",
]  # fmt: skip
