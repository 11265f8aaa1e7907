"""The AKS cluster: its Azure inputs, identity, network, access and versions."""
