"""Feature gates of the DRA driver, as its kubelet plugin reads them when it starts.

An unknown gate, two that exclude each other, or one without what it needs end the plugin at once. The tables say which;
the version comes from the plugin's image.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from local import facts
from local.nodes.snapshot import Object, environment

CONTAINER = "gpus"


@functools.cache
def charts() -> Mapping[str, Mapping[str, Any]]:
    return facts.table("charts")


def given(pod: Object) -> dict[str, bool]:
    """FEATURE_GATES of the plugin's container: `A=true,B=false,`."""
    text = environment(pod, CONTAINER).get("FEATURE_GATES", "")
    pairs = (entry.partition("=") for entry in text.split(",") if entry.strip())
    return {name.strip(): value.strip().lower() == "true" for name, _, value in pairs}


def version(pod: Object) -> str:
    """The driver's version by its image's tag, "" where the tag says none."""
    image = next((str(item.get("image", "")) for item in pod["spec"]["containers"] if item["name"] == CONTAINER), "")
    tag = image.rpartition(":")[2].removeprefix("v") if ":" in image else ""
    return tag if tag[:1].isdigit() else ""


def refusal(pod: Object) -> str:
    """Why the plugin does not start with its gates; "" when it does."""
    known, asked = charts()["gate"], given(pod)
    for name in asked:
        if name not in known:
            return f"unrecognized feature gate: {name}"
    on = {name for name, row in known.items() if asked.get(name, row["default"])}
    for name in sorted(on):
        for other in known[name]["excludes"]:
            if other in on:
                return f"feature gate {name} is currently mutually exclusive with {other}"
        for other in known[name]["needs"]:
            if other not in on:
                return f"feature gate {name} requires {other}"
    return ""


def dynamic_mig(pod: Object) -> bool:
    return given(pod).get("DynamicMIG", False)


def publishes_nothing_without_mig(pod: Object) -> bool:
    """Versions whose DynamicMIG writes invalid slices on nodes whose GPUs have no MIG."""
    faults = charts()["fault"].values()
    return any(
        row["setting"] == "featureGates.DynamicMIG" and row["without_mig"] and version(pod) in row["versions"]
        for row in faults
    )
