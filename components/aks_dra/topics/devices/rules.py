"""Devices that the stack file describes: in a form that a ResourceSlice can have, on pools that exist."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from aks_dra.context.context import Context
from aks_dra.findings.build import did_you_mean, finding
from aks_dra.findings.finding import Finding
from aks_dra.kube import quantity, semver
from aks_dra.kube.devices import GPU_DRIVER
from aks_dra.kube.labels import ATTRIBUTE_DOMAIN
from aks_dra.settings.pools_of import all_pools
from aks_dra.topics.devices.other_drivers import FORMS, attribute, is_qualified

SLICES = "Kubernetes: resource.k8s.io/v1, ResourceSlice"
KEY = re.compile(r"[a-z0-9]([-a-z0-9]{0,48}[a-z0-9])?")
OWN = "compute-domain.nvidia.com"


def described(context: Context) -> Iterator[Finding]:
    limit = context.facts.limit
    pools = all_pools(context.settings)
    for key, entry in context.settings.devices.items():
        path = f"aks-dra:devices.{key}"
        if not KEY.fullmatch(key):
            rule = "the key becomes part of the devices' names: lowercase letters, digits and '-', at most 50"
            yield finding("DEV009", "error", path, key, rule, "rename it", SLICES)
        if entry.driver in (GPU_DRIVER, OWN):
            rule = "the package works out what NVIDIA's driver publishes from the pools"
            yield finding("DEV001", "error", f"{path}.driver", entry.driver, rule, "remove these devices", SLICES)
        elif not ATTRIBUTE_DOMAIN.fullmatch(entry.driver):
            rule = "a driver's name is a domain name of at most 63 characters"
            yield finding("DEV001", "error", f"{path}.driver", entry.driver, rule, "e.g. fpga.example.com", SLICES)
        if not entry.pools:
            yield finding("DEV002", "error", f"{path}.pools", "", "devices are on pools", "name a pool", SLICES)
        for index, pool in enumerate(entry.pools):
            if pool not in pools:
                remedy = did_you_mean(pool, pools) if pools else "add the pool under pools"
                yield finding(
                    "DEV002", "error", f"{path}.pools.{index}", pool, "there is no such pool", remedy, "aks-dra: pools"
                )
        most = limit("devices_per_slice")
        if not 1 <= entry.per_node <= most:
            rule = f"a node has 1 to {most} devices of a kind"
            yield finding("DEV003", "error", f"{path}.perNode", entry.per_node, rule, "write such a number", SLICES)
        if len(entry.attributes) + len(entry.capacity) > limit("attributes_and_capacity_per_device"):
            rule = f"a device has at most {limit('attributes_and_capacity_per_device')} attributes and capacities"
            yield finding("DEV004", "error", path, len(entry.attributes), rule, "remove some", SLICES)
        for part, names in (("attributes", entry.attributes), ("capacity", entry.capacity)):
            for name in names:
                if not is_qualified(name):
                    rule = "a name has letters, digits and _, at most 32, and may have a domain and / before it"
                    yield finding("DEV005", "error", f"{path}.{part}.{name}", name, rule, "rename it", SLICES)
        for name, value in entry.attributes.items():
            if attribute(value) is None:
                rule = f"an attribute is {FORMS}"
                remedy = f'write "{value}"' if isinstance(value, float) else _as_version(value) or "write one of these"
                yield finding("DEV006", "error", f"{path}.attributes.{name}", value, rule, remedy, SLICES)
            elif isinstance(value, str) and len(value) > limit("attribute_value_length"):
                rule = f"a text has at most {limit('attribute_value_length')} characters"
                yield finding("DEV006", "error", f"{path}.attributes.{name}", value, rule, "shorten it", SLICES)
        for name, amount in entry.capacity.items():
            if not quantity.is_quantity(amount):
                rule = "capacity is a Kubernetes quantity"
                yield finding("DEV007", "error", f"{path}.capacity.{name}", amount, rule, "write e.g. 8Gi", SLICES)
        if entry.allow_multiple_allocations and context.lacks("claim_capacity"):
            row = context.facts.kubernetes.needs["claim_capacity"]
            yield finding(
                "DEV008",
                "error",
                f"{path}.allowMultipleAllocations",
                "true",
                f"below Kubernetes {row.minimum} the API server drops this of a slice, and a device goes to one claim",
                f"set cluster.kubernetesVersion to {row.minimum} or newer, or remove it",
                row.source,
            )


def _as_version(value: object) -> str:
    """How a version is written that has too few numbers, or no quotes."""
    text = str(value.get("version", "")) if isinstance(value, Mapping) else ""
    exact = semver.parse(text, normalize=True).text() if semver.is_semver(text, normalize=True) else ""
    return f'a version has three numbers: write {{version: "{exact}"}}' if exact else ""


RULES = (described,)
