"""Namespaces, device classes and claims: the Kubernetes objects of a plan, one part per purpose.

Claims come after the classes that they name, and classes after the driver's release; Pulumi deletes in the
opposite order, so that the driver is still there to take prepared devices back. The policies that say who may name a
class come with the namespaces, before any release or class: a class that is there before its policy is free to all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pulumi

from aks_dra.model.plan import Plan, PlannedObject
from aks_dra.resources.args import Args, plan_of
from aks_dra.resources.part import DEVICE_CLASS, PACKAGE, Part
from aks_dra.resources.releases import objects_before

POLICIES = ("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding")


class Namespaces(Part):
    """The namespaces that the settings create, and the policies on what they may use.

    Namespaces outlive the stack unless the settings say otherwise. `cluster` is the resource whose deletion takes them
    along, where this program made it. `policies_were_in` is the name of the Claims part beside this one, which had the
    policies once: without it the engine would write them anew and then delete them under the same names.
    """

    def __init__(
        self,
        name: str,
        args: Args,
        opts: pulumi.ResourceOptions | None = None,
        *,
        cluster: pulumi.Resource | None = None,
        policies_were_in: str = "",
    ) -> None:
        plan = plan_of(args)
        self._old_part = policies_were_in
        self._parent = opts.parent if opts else None
        first = tuple(planned.key for planned in plan.namespaces)
        # Their lists first: a policy without them refuses everybody.
        bound = [replace(planned, after=(*planned.after, *first)) for planned in policies(plan)]
        super().__init__(name, plan, opts, objects=(*plan.namespaces, *bound), cluster=cluster)

    def _object(self, planned: PlannedObject, opts: pulumi.ResourceOptions) -> pulumi.Resource:
        if planned.kind in POLICIES and self._old_part:
            old = pulumi.create_urn(self._old_part, f"{PACKAGE}:{Claims.__name__}", self._parent)
            opts.aliases = [pulumi.Alias(name=f"{self._old_part}-{planned.key}", parent=old)]
        return super()._object(planned, opts)


class DeviceClasses(Part):
    """A device class for every kind of device that the pools publish, and those of the settings.

    `before_classes` is the hook of an `EarlyClaims`: what names a class before it comes is reported.
    """

    def __init__(
        self,
        name: str,
        args: Args,
        opts: pulumi.ResourceOptions | None = None,
        *,
        after: Mapping[str, pulumi.Resource] | None = None,
        cluster: pulumi.Resource | None = None,
        before_classes: pulumi.ResourceHook | None = None,
    ) -> None:
        plan = plan_of(args)
        super().__init__(
            name,
            plan,
            opts,
            objects=device_classes(plan),
            after=after,
            cluster=cluster,
            before_classes=before_classes,
        )


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


def policies(plan: Plan) -> tuple[PlannedObject, ...]:
    """The plan's admission policies and their bindings."""
    return tuple(planned for planned in plan.objects if planned.kind in POLICIES)


def claims(plan: Plan) -> tuple[PlannedObject, ...]:
    """All objects but device classes, policies and what belongs to a release."""
    others = (*device_classes(plan), *policies(plan), *objects_before(plan, plan.releases, set()))
    elsewhere = {planned.key for planned in others}
    return tuple(planned for planned in plan.objects if planned.key not in elsewhere)
