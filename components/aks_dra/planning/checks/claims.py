"""Claims: classes that exist, counts that can be met, limits of the API."""

from __future__ import annotations

from collections.abc import Iterator

from aks_dra.planning.checks.context import Context, did_you_mean, finding
from aks_dra.planning.classes import CHART_CLASSES
from aks_dra.planning.model import Finding

LIMITS = "Kubernetes: resource.k8s.io/v1; tried"


def shape(context: Context) -> Iterator[Finding]:
    limits = context.facts.limits
    for namespace, claims in context.settings.claims.items():
        for name, claim in claims.items():
            path = f"aks-dra:claims.{namespace}.{name}"
            if (claim.device_class is None) == (not claim.first_available):
                yield finding(
                    "CLM001",
                    "error",
                    path,
                    name,
                    "a claim names deviceClass or firstAvailable, one of the two",
                    "write deviceClass: NAME, or firstAvailable: [{deviceClass: NAME}, …]",
                    LIMITS,
                )
            if len(claim.first_available) > limits["first_available"].value:
                yield finding(
                    "CLM002",
                    "error",
                    f"{path}.firstAvailable",
                    len(claim.first_available),
                    "at most 8 alternatives",
                    "remove the last ones",
                    LIMITS,
                )
            if claim.first_available and (claim.count != 1 or claim.cel or claim.admin_access):
                yield finding(
                    "CLM003",
                    "error",
                    path,
                    name,
                    "count, cel and adminAccess of a ranked claim belong to its alternatives (adminAccess to none)",
                    "move them",
                    LIMITS,
                )
            if claim.admin_access:
                entry = context.settings.namespaces.get(namespace)
                if entry is None or not entry.admin_access:
                    yield finding(
                        "CLM004",
                        "error",
                        f"{path}.adminAccess",
                        "true",
                        f"namespace {namespace} is not labelled for admin access",
                        f"set aks-dra:namespaces.{namespace}.adminAccess: true",
                        LIMITS,
                    )
            asks = [(f"{path}.deviceClass", f"{path}.count", claim.device_class, claim.count, "error")]
            asks += [
                (
                    f"{path}.firstAvailable.{i}.deviceClass",
                    f"{path}.firstAvailable.{i}.count",
                    a.device_class,
                    a.count,
                    "warning",
                )
                for i, a in enumerate(claim.first_available)
            ]
            for class_path, count_path, device_class, count, severity in asks:
                if device_class is None:
                    continue
                yield from _class_exists(context, class_path, device_class)
                if not count >= 1:
                    yield finding(
                        "CLM005", "error", count_path, count, "a claim asks for at least one device", "write 1", LIMITS
                    )
                elif count > limits["devices_per_claim"].value:
                    yield finding(
                        "CLM006",
                        "error" if severity == "error" else "warning",
                        count_path,
                        count,
                        "a claim holds at most 32 devices in all",
                        "write 32 or less, or use several claims",
                        LIMITS,
                    )


def _class_exists(context: Context, path: str, name: str) -> Iterator[Finding]:
    known = {entry.name for entry in context.classes}
    if any(pool.allocation == "dra" for pool in context.plan.pools):
        known |= {entry.name for entry in CHART_CLASSES}
    if name not in known and known:
        yield finding(
            "CLM007",
            "error",
            path,
            name,
            "no such device class: neither the package, the DRA chart nor the stack file makes it",
            did_you_mean(name, known),
            "aks-dra plan lists the classes",
        )


def enough_devices(context: Context) -> Iterator[Finding]:
    matches = {match.device_class: match for match in context.plan.matches}
    for namespace, claims in context.settings.claims.items():
        for name, claim in claims.items():
            entry = matches.get(claim.device_class or "")
            if entry is None or entry.undecided or claim.first_available:
                continue
            path = f"aks-dra:claims.{namespace}.{name}"
            # A claim is allocated on one node, so the largest node decides.
            largest = max(entry.pools.values(), default=0)
            if not entry.pools and entry.origin != "user":
                yield finding(
                    "CLM008",
                    "error",
                    f"{path}.deviceClass",
                    claim.device_class,
                    "no DRA pool publishes a device of this class, so the claim's pods would stay Pending",
                    "name a class that `aks-dra plan` shows with a pool",
                    "aks-dra: matching",
                )
            elif entry.pools and claim.count > largest:
                yield finding(
                    "CLM009",
                    "error",
                    f"{path}.count",
                    claim.count,
                    f"no node has more than {largest} devices of "
                    f"class {claim.device_class}, and a claim is allocated on one node",
                    f"write {largest} or less, or take a larger VM size",
                    "Kubernetes: node-local devices",
                )


def quota_classes(context: Context) -> Iterator[Finding]:
    for namespace, entry in context.settings.namespaces.items():
        for name in entry.quota:
            yield from _class_exists(context, f"aks-dra:namespaces.{namespace}.quota.{name}", name)


CHECKS = (shape, enough_devices, quota_classes)
