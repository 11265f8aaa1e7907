"""Settings of devices that are not NVIDIA's: `aks-dra:devices`.

The package installs no driver for them. Described here, classes and claims for them are matched, checked and tried as
those for GPUs are.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field

from aks_dra.settings.base import Bool, Int, Model, Str


class DescribedDevices(Model):
    """Devices that another DRA driver publishes on nodes of the named pools. The key in the map is part of their name.

    An attribute is text, a whole number, true or false, `{version: "1.2.3"}`, or `{knownOnNode: true}` where only
    the node knows it.
    """

    driver: Str = Field(description="name of the driver, e.g. fpga.example.com")
    pools: tuple[Str, ...] = Field(description="pools whose nodes have them")
    per_node: Int = Field(1, description="how many a node has")
    attributes: dict[Str, Any] = Field({}, description="by name, or domain/name where it is not the driver's own")
    capacity: dict[Str, Str] = Field({}, description="name to quantity, e.g. {memory: 8Gi}")
    allow_multiple_allocations: Bool = Field(
        False, description="several claims may share one device by its capacity (Kubernetes 1.36 and later)"
    )
