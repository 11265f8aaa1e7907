"""Settings of what workloads ask for: `aks-dra:deviceClasses`, `aks-dra:claims`, `aks-dra:namespaces`."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from aks_dra.settings.base import Bool, Int, LabelValue, Model, Str
from aks_dra.settings.pools import Sharing


class OpaqueConfig(Model):
    """Parameters for a DRA driver, as the driver reads them."""

    driver: Str = Field("gpu.nvidia.com", description="the driver that reads them")
    parameters: dict[str, Any] = Field(description="e.g. {apiVersion: …, kind: GpuConfig, sharing: {strategy: MPS}}")


class DeviceClassSettings(Model):
    """A device class: an intent (`require`), hand-written CEL, or both. Without `driver` it is NVIDIA's."""

    require: dict[Str, Any] = Field({}, description='intent, e.g. {memory: ">=20Gi", computeCapability: ">=8.0"}')
    cel: tuple[Str, ...] = Field((), description="CEL expressions; all of them must hold")
    driver: Str = Field("gpu.nvidia.com", description="the DRA driver whose devices are meant")
    sharing: Sharing | None = Field(None, description="timeSlicing or mps: config for every claim of the class")
    config: tuple[OpaqueConfig, ...] = Field((), description="parameters for the driver, for every claim of the class")
    extended_resource_name: Str | None = Field(
        None, description="pods that ask for this resource are served from the class (Kubernetes 1.36 and later)"
    )
    labels: dict[Str, LabelValue] = Field({}, description="labels of the class")
    create: Bool = Field(
        True, description="false: somebody else makes the class; claims and lists may name it, nothing is registered"
    )


class Toleration(Model):
    """Devices with this taint may be allocated (Kubernetes 1.36 and later)."""

    key: Str = Field("", description="key of the taint; without one, operator Exists tolerates every taint")
    operator: Literal["Exists", "Equal"] = Field("Equal", description="Equal: key and value; Exists: any value")
    value: Str = Field("", description="value of the taint, with operator Equal")
    effect: Literal["NoSchedule", "NoExecute"] | None = Field(None, description="default: both")
    toleration_seconds: Int | None = Field(None, description="with NoExecute: how long a pod stays")


class ClaimAlternative(Model):
    """One alternative of `firstAvailable`."""

    device_class: Str = Field(description="name of the device class")
    name: Str | None = Field(None, description="for constraints and config (`request/name`); default: the class's name")
    count: Int = Field(1, description="devices; at most 32 in one claim")
    all: Bool = Field(False, description="every device of the class on the node, instead of a count")
    cel: tuple[Str, ...] = Field((), description="further conditions on the device")
    tolerations: tuple[Toleration, ...] = Field((), description="taints of devices that are put up with")
    capacity: dict[Str, Str] = Field({}, description="how much of a shared device, e.g. {memory: 10Gi}")


class ClaimRequest(Model):
    """One request of a claim: a device class, or ranked alternatives. The key in the map is its name."""

    device_class: Str | None = Field(None, description="name of the device class, unless firstAvailable is set")
    count: Int = Field(1, description="devices; at most 32 in one claim")
    all: Bool = Field(False, description="every device of the class on the node, instead of a count")
    cel: tuple[Str, ...] = Field((), description="further conditions on the device")
    tolerations: tuple[Toleration, ...] = Field((), description="taints of devices that are put up with")
    capacity: dict[Str, Str] = Field({}, description="how much of a shared device, e.g. {memory: 10Gi}")
    first_available: tuple[ClaimAlternative, ...] = Field((), description="ranked alternatives, at most 8")
    admin_access: Bool = Field(False, description="look at devices without reserving them; needs the namespace's label")


class ClaimConstraint(Model):
    """What the devices of several requests have in common, or in what each differs."""

    requests: tuple[Str, ...] = Field((), description="names of requests, or request/alternative; default: all")
    match_attribute: Str | None = Field(None, description="the same value, e.g. gpu.nvidia.com/parentUUID")
    distinct_attribute: Str | None = Field(None, description="a value for each (Kubernetes 1.36 and later)")


class ClaimConfig(Model):
    """Parameters for a DRA driver, for some requests of a claim."""

    driver: Str = Field("gpu.nvidia.com", description="the driver that reads them")
    parameters: dict[str, Any] = Field(description="e.g. {apiVersion: …, kind: GpuConfig, sharing: {strategy: MPS}}")
    requests: tuple[Str, ...] = Field((), description="names of requests, or request/alternative; default: all")


class ClaimSettings(Model):
    """A claim: one device class, ranked alternatives, or several requests. The key in the map is its name.

    `shareAcross: containers` writes a ResourceClaimTemplate (a device for each pod, shared by its containers),
    `pods` one ResourceClaim that every pod naming it shares.
    """

    device_class: Str | None = Field(
        None, description="name of the device class, unless firstAvailable, requests or raw is set"
    )
    count: Int = Field(1, description="devices for one claim; at most 32 in all")
    all: Bool = Field(False, description="every device of the class on the node, instead of a count")
    cel: tuple[Str, ...] = Field((), description="further conditions on the device")
    tolerations: tuple[Toleration, ...] = Field((), description="taints of devices that are put up with")
    capacity: dict[Str, Str] = Field({}, description="how much of a shared device, e.g. {memory: 10Gi}")
    first_available: tuple[ClaimAlternative, ...] = Field((), description="ranked alternatives, at most 8")
    admin_access: Bool = Field(False, description="look at devices without reserving them; needs the namespace's label")
    requests: dict[Str, ClaimRequest] = Field({}, description="several requests by name, instead of the keys above")
    constraints: tuple[ClaimConstraint, ...] = Field((), description="what the devices have in common, or differ in")
    sharing: Sharing | None = Field(None, description="timeSlicing or mps for this claim; overrides the class")
    config: tuple[ClaimConfig, ...] = Field((), description="parameters for drivers; override those of the class")
    share_across: Literal["containers", "pods"] = Field(
        "containers", description="containers: a device for each pod; pods: one device for all pods that name the claim"
    )
    raw: dict[Str, Any] = Field(
        {}, description="the whole claim as Kubernetes writes it (a manifest, or its spec), instead of all keys above"
    )

    @property
    def own_sharing(self) -> Sharing | None:
        """What becomes config of the claim; a raw one says everything itself."""
        return None if self.raw else self.sharing


class NamespaceSettings(Model):
    """A namespace that claims live in."""

    create: Bool = Field(True, description="false: it exists already, and only gets labels and annotations")
    quota: dict[Str, Int] = Field({}, description="device class to how many of its devices claims may ask for in all")
    allow: tuple[Str, ...] | None = Field(
        None,
        description="device classes that claims and pods may use; as soon as one namespace has a list, all others "
        "but the system's may use none",
    )
    admin_access: Bool = Field(False, description="claims may look at devices without reserving them")
    labels: dict[Str, LabelValue] = Field({}, description="further labels of the namespace")
