"""Kubernetes' own things: quantities, versions, devices, claims and manifests. No settings, no plan."""
