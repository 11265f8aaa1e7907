"""The stack's program: its settings, one cluster, its outputs."""

import pulumi

from aks_dra import DraCluster
from aks_dra.resources.config import args_from_config

cluster = DraCluster("aks-dra", args_from_config())
for name, value in cluster.outputs().items():
    pulumi.export(name, value)
