"""Settings of what workloads ask for: `aks-dra:deviceClasses`, `aks-dra:claims`, `aks-dra:namespaces`."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from aks_dra.settings.base import Bool, Int, LabelValue, Model, Str
from aks_dra.settings.pools import Sharing


class DeviceClassSettings(Model):
    """A device class: an intent (`require`), hand-written CEL, or both. Without `driver` it is NVIDIA's."""

    require: dict[Str, Any] = Field({}, description='intent, e.g. {memory: ">=20Gi", computeCapability: ">=8.0"}')
    cel: tuple[Str, ...] = Field((), description="CEL expressions; all of them must hold")
    driver: Str = Field("gpu.nvidia.com", description="the DRA driver whose devices are meant")
    sharing: Sharing | None = Field(None, description="timeSlicing or mps: config for every claim of the class")
    extended_resource_name: Str | None = Field(
        None, description="pods that ask for this resource are served from the class (Kubernetes 1.36 and later)"
    )
    labels: dict[Str, LabelValue] = {}


class ClaimAlternative(Model):
    """One alternative of `firstAvailable`."""

    device_class: Str
    count: Int = 1
    cel: tuple[Str, ...] = ()


class ClaimSettings(Model):
    """A claim: one device class, or ranked alternatives. The key in the map is its name.

    `shareAcross: containers` writes a ResourceClaimTemplate (a device for each pod, shared by its containers),
    `pods` one ResourceClaim that every pod naming it shares.
    """

    device_class: Str | None = None
    count: Int = Field(1, description="devices for one claim; at most 32 in all")
    cel: tuple[Str, ...] = Field((), description="further conditions on the device")
    first_available: tuple[ClaimAlternative, ...] = Field((), description="ranked alternatives, at most 8")
    share_across: Literal["containers", "pods"] = "containers"
    sharing: Sharing | None = Field(None, description="timeSlicing or mps for this claim; overrides the class")
    admin_access: Bool = Field(False, description="look at devices without reserving them; needs the namespace's label")


class NamespaceSettings(Model):
    """A namespace that claims live in."""

    create: Bool = True
    quota: dict[Str, Int] = Field({}, description="device class to how many claims of it may exist")
    admin_access: Bool = False
    labels: dict[Str, LabelValue] = {}
