"""How a device reaches its container: by the Container Device Interface, whatever hands the devices out.

Without it the runtime falls back to the image's environment, and a container sees every GPU of the node.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from aks_dra import names
from aks_dra.context.context import Context
from aks_dra.findings.build import finding
from aks_dra.findings.finding import Finding

SOURCE = "NVIDIA DRA driver docs, prerequisites: CDI enabled in the container runtime"


def enabled(context: Context) -> Iterator[Finding]:
    if not any(pool.allocation == "dra" for pool in context.plan.pools):
        return
    for release in context.plan.releases:
        cdi = release.values.get("cdi")
        if release.key == names.OPERATOR_RELEASE and isinstance(cdi, Mapping) and cdi.get("enabled") is False:
            yield finding(
                "CDI001",
                "error",
                "aks-dra:gpu.charts.operator.values.cdi.enabled",
                "false",
                "DRA gives devices to containers by CDI: without it two pods that hold one GPU each may see both",
                "remove it, the chart's default is true",
                SOURCE,
            )


RULES = (enabled,)
