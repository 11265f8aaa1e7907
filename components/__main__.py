"""Hosts the components for programs in other languages. `pulumi package add <repository>//components` runs it."""

from pulumi.provider.experimental import component_provider_host

from aks_dra import __version__
from aks_dra.resources.hosted import DraCluster

if __name__ == "__main__":
    component_provider_host(name="aks-dra", components=[DraCluster], version=__version__)
