"""Names that Azure and Kubernetes put rules on. A name is never cut or lowercased for the user."""

from __future__ import annotations

import re
from collections.abc import Iterator

from aks_dra.context.context import Context
from aks_dra.findings.build import finding
from aks_dra.findings.finding import Finding
from aks_dra.kube.labels import LABEL, SUBDOMAIN

DNS = "Kubernetes: object names (RFC 1123)"


# As Python, and the languages that a hosted component is called from, write it.
OUTPUT_TEXT = (
    "Calling __str__ on an Output", "<pulumi.output.Output", "Output[T]",
    "Calling [toString] on an [Output", "Calling [ToString] on an [Output",
)  # fmt: skip


def pool_names(context: Context) -> Iterator[Finding]:
    rule = context.facts.name_rules["linux_pool"]
    entries = [(name, path) for name, path, _ in context.pools()]
    system = context.settings.cluster.system_pool.name
    entries.append((system, "aks-dra:cluster.systemPool.name"))
    for name, path in entries:
        if not rule.allows(name) and not any(text in name for text in OUTPUT_TEXT):
            proposal = re.sub(r"[^a-z0-9]", "", name.lower()).lstrip("0123456789")[: rule.longest]
            yield finding(
                "NAM001",
                "error",
                path,
                name,
                f"a Linux node pool's name has {rule.what}",
                f"for example {proposal}" if proposal else "choose another name",
                rule.source,
            )
    test = context.settings.test_pool
    for path in ("aks-dra:pools." + system,) if system in context.settings.pools else ():
        yield finding(
            "NAM002",
            "error",
            path,
            system,
            "the system pool has this name already",
            "rename one of the two",
            rule.source,
        )
    if test.enabled and test.name in context.settings.pools:
        yield finding(
            "NAM002",
            "error",
            "aks-dra:testPool.name",
            test.name,
            "a pool has this name already",
            "give the test pool another name",
            rule.source,
        )


def object_names(context: Context) -> Iterator[Finding]:
    settings = context.settings
    for name in settings.device_classes:
        if not SUBDOMAIN.fullmatch(name):
            yield _dns("aks-dra:deviceClasses." + name, name, "a device class's name")
    namespaces = dict.fromkeys([*settings.claims, *settings.namespaces])
    for name in namespaces:
        if not LABEL.fullmatch(name):
            where = "claims" if name in settings.claims else "namespaces"
            yield _dns(f"aks-dra:{where}.{name}", name, "a namespace's name")
    for namespace, claims in settings.claims.items():
        for name in claims:
            if not SUBDOMAIN.fullmatch(name):
                yield _dns(f"aks-dra:claims.{namespace}.{name}", name, "a claim's name")


def _dns(path: str, value: str, what: str) -> Finding:
    return finding(
        "NAM003",
        "error",
        path,
        value,
        f"{what} has lowercase letters, digits and '-' (classes and claims "
        "also '.'), and begins and ends with a letter or digit",
        "rename it",
        DNS,
    )


def class_names_taken(context: Context) -> Iterator[Finding]:
    package = {entry.name for entry in context.classes if entry.origin == "package"}
    for name in context.settings.device_classes:
        chart = name.endswith(".nvidia.com")
        if name in package or chart:
            owner = (
                "NVIDIA's DRA chart owns the class names that end in .nvidia.com"
                if chart
                else ("this package makes a class of this name for the devices of a pool")
            )
            yield finding(
                "NAM005",
                "error",
                "aks-dra:deviceClasses." + name,
                name,
                owner,
                "rename the class",
                "NVIDIA DRA driver, chart templates",
            )


RULES = (pool_names, object_names, class_names_taken)
