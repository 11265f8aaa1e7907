"""A planned device class, and the classes that NVIDIA's chart brings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from aks_dra.kube.devices import GPU_DRIVER


@dataclass(frozen=True)
class PlannedClass:
    """One DeviceClass before it is a manifest."""

    name: str
    origin: Literal["package", "chart", "user"]
    selectors: tuple[str, ...]
    configs: tuple[tuple[str, Mapping[str, Any]], ...] = ()  # driver, parameters
    extended_resource_name: str = ""
    labels: Mapping[str, str] | None = None
    driver: str = GPU_DRIVER
    profile: str = ""  # MIG profile that a class of the package is for
    unread: bool = False  # a condition cannot be read: it matches nothing, and nobody knows what it was to match
    create: bool = True  # False: somebody else makes it

    def manifest(self) -> dict[str, Any]:
        spec: dict[str, Any] = {"selectors": [{"cel": {"expression": text}} for text in self.selectors]}
        if self.configs:
            spec["config"] = [{"opaque": {"driver": d, "parameters": dict(held)}} for d, held in self.configs]
        if self.extended_resource_name:
            spec["extendedResourceName"] = self.extended_resource_name
        metadata: dict[str, Any] = {"name": self.name}
        if self.labels:
            metadata["labels"] = dict(self.labels)
        return {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": metadata, "spec": spec}


CHART_CLASSES = (
    PlannedClass(
        "gpu.nvidia.com",
        "chart",
        ("device.driver == 'gpu.nvidia.com' && device.attributes['gpu.nvidia.com'].type == 'gpu'",),
    ),
    PlannedClass(
        "mig.nvidia.com",
        "chart",
        ("device.driver == 'gpu.nvidia.com' && device.attributes['gpu.nvidia.com'].type == 'mig'",),
    ),
    PlannedClass(
        "vfio.gpu.nvidia.com",
        "chart",
        ("device.driver == 'gpu.nvidia.com' && device.attributes['gpu.nvidia.com'].type == 'vfio'",),
    ),
)
"""What NVIDIA's DRA chart installs; it owns these names."""

COMPUTE_DOMAIN_CLASSES = ("compute-domain-daemon.nvidia.com", "compute-domain-default-channel.nvidia.com")
"""What it installs where compute domains are on."""

DeviceType = Literal["gpu", "mig", "other"]
"""Whole GPUs, MIG devices, or what is neither or both."""
