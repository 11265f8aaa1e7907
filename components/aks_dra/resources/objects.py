"""Namespaces, device classes and claims: the Kubernetes objects of a plan, one part per purpose.

Claims come after the classes that they name, and classes after the driver's release; Pulumi deletes in the
opposite order, so that the driver is still there to take prepared devices back.
"""

from __future__ import annotations

from collections.abc import Mapping

import pulumi

from aks_dra.planning.model import Plan, PlannedObject
from aks_dra.resources.args import Args, plan_of
from aks_dra.resources.part import Part
from aks_dra.resources.releases import objects_before

DEVICE_CLASS = "DeviceClass"


class Namespaces(Part):
    """The namespaces that the settings create. They outlive the stack unless the settings say otherwise.

    `cluster` is the resource whose deletion takes the namespaces along, where this program made it.
    """

    def __init__(
        self,
        name: str,
        args: Args,
        opts: pulumi.ResourceOptions | None = None,
        *,
        cluster: pulumi.Resource | None = None,
    ) -> None:
        plan = plan_of(args)
        super().__init__(name, plan, opts, objects=plan.namespaces, cluster=cluster)


class DeviceClasses(Part):
    """A device class for every kind of device that the pools publish, and those of the settings."""

    def __init__(
        self,
        name: str,
        args: Args,
        opts: pulumi.ResourceOptions | None = None,
        *,
        after: Mapping[str, pulumi.Resource] | None = None,
        cluster: pulumi.Resource | None = None,
    ) -> None:
        plan = plan_of(args)
        super().__init__(name, plan, opts, objects=device_classes(plan), after=after, cluster=cluster)


class Claims(Part):
    """Claims, claim templates, quotas and all else that workloads' namespaces get."""

    def __init__(
        self,
        name: str,
        args: Args,
        opts: pulumi.ResourceOptions | None = None,
        *,
        after: Mapping[str, pulumi.Resource] | None = None,
        cluster: pulumi.Resource | None = None,
    ) -> None:
        plan = plan_of(args)
        super().__init__(name, plan, opts, objects=claims(plan), after=after, cluster=cluster)


def device_classes(plan: Plan) -> tuple[PlannedObject, ...]:
    """The plan's device classes."""
    return tuple(planned for planned in plan.objects if planned.kind == DEVICE_CLASS)


def claims(plan: Plan) -> tuple[PlannedObject, ...]:
    """All objects but device classes and what belongs to a release."""
    elsewhere = {planned.key for planned in (*device_classes(plan), *objects_before(plan, plan.releases, set()))}
    return tuple(planned for planned in plan.objects if planned.key not in elsewhere)
