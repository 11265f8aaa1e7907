"""The namespaces of a plan, with what they are allowed: the label for admin access and the list of device classes.

Created ones outlive the stack, since others put things into them. Of one that exists already only the package's labels
and its annotation are written, and taken away again with the stack.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from aks_dra import names
from aks_dra.model.plan import PlannedObject
from aks_dra.settings import NamespaceSettings, Settings
from aks_dra.settings.testpool_of import admin_namespace, smoke_namespaces
from aks_dra.topics.tenants.policies import namespace_annotations


def plan_namespaces(
    settings: Settings, claims: Iterable[tuple[str, str]], with_gpus: bool
) -> tuple[PlannedObject, ...]:
    """One object for each namespace that something of the plan lives in; `claims` are (namespace, name)."""
    wanted = {namespace for namespace, _ in claims} | set(settings.namespaces)
    if with_gpus:
        wanted |= {names.OPERATOR_NAMESPACE} | smoke_namespaces(settings)
        wanted |= {names.DRA_NAMESPACE} if settings.gpu.dra_stack == "chart" else set()
    tests_admin_access = admin_namespace(settings) if admin_namespace(settings) in smoke_namespaces(settings) else ""
    objects = []
    for name in sorted(wanted):
        entry = settings.namespaces.get(name) or NamespaceSettings()
        labels = dict(entry.labels)
        if entry.admin_access or name == tests_admin_access:
            labels |= [names.ADMIN_ACCESS_LABEL]
        annotations = namespace_annotations(entry.allow)
        metadata: dict[str, Any] = {"name": name}
        if labels:
            metadata["labels"] = dict(sorted(labels.items()))
        if annotations:
            metadata["annotations"] = annotations
        manifest = {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
        if entry.create:
            objects.append(PlannedObject(f"namespace-{name}", manifest, retain=True))
        elif labels or annotations:
            objects.append(PlannedObject(f"namespace-{name}", manifest, patch=True))
    return tuple(objects)
