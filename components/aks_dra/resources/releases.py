"""The three Helm releases: NVIDIA's operator, DRA driver and device plugin.

`helm.v3.Release` and not a rendered chart: rendering asks the API server during preview, when there may be
none. Each part brings the ConfigMaps that its values name, since its pods do not start without them.
"""

from __future__ import annotations

from collections.abc import Mapping

import pulumi

from aks_dra.model.plan import Plan, PlannedObject, PlannedRelease
from aks_dra.resources.args import Args, plan_of
from aks_dra.resources.part import Part
from aks_dra.trees import nulls

# Release names are fixed: Helm finds a release by its name, and another name is another installation.
OPERATOR = "gpu-operator"
DRA_DRIVER = "dra-driver-nvidia-gpu"
DEVICE_PLUGIN = "nvidia-device-plugin"


class _ReleasePart(Part):
    """The releases whose name begins with `RELEASE`, and what only they need."""

    RELEASE = ""
    SETTING = ""

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
        refuse_nulls(plan)
        releases = releases_named(plan, self.RELEASE)
        objects = objects_before(plan, releases, set(after or {}))
        super().__init__(
            name,
            plan,
            opts,
            releases=releases,
            objects=objects,
            after=after,
            cluster=cluster,
            before_classes=before_classes,
        )


class GpuOperator(_ReleasePart):
    """NVIDIA's GPU Operator: the driver, the container toolkit and MIG, as far as `gpu.driver` leaves them to it."""

    RELEASE = OPERATOR
    SETTING = "operator"


class DraDriver(_ReleasePart):
    """NVIDIA's DRA driver, which publishes the GPUs. Nothing is registered where the operator brings it."""

    RELEASE = DRA_DRIVER
    SETTING = "draDriver"


class DevicePlugin(_ReleasePart):
    """NVIDIA's device plugin for the pools that still use it; nothing is registered without such a pool."""

    RELEASE = DEVICE_PLUGIN
    SETTING = "devicePlugin"


PARTS: tuple[type[_ReleasePart], ...] = (GpuOperator, DraDriver, DevicePlugin)


def releases_named(plan: Plan, prefix: str) -> tuple[PlannedRelease, ...]:
    """The plan's releases whose name begins with `prefix`."""
    return tuple(release for release in plan.releases if release.name.startswith(prefix))


def objects_before(plan: Plan, releases: tuple[PlannedRelease, ...], done: set[str]) -> tuple[PlannedObject, ...]:
    """The objects that these releases need and that nobody has registered yet."""
    keys = {key for release in releases for key in release.depends_on} - done
    return tuple(planned for planned in plan.objects if planned.key in keys)


def refuse_nulls(plan: Plan) -> None:
    """Refuses chart values that are null: the engine drops them on the way, so a chart's default would stay."""
    problems = [
        f"  aks-dra:gpu.charts.{part.SETTING}.values.{path}"
        for part in PARTS
        for release in releases_named(plan, part.RELEASE)
        for path in nulls(release.values)
    ]
    if problems:
        head = "A chart's default cannot be taken away by null; write the value it shall have (nothing was registered):"
        raise pulumi.RunError("\n".join([head, *problems]))
