"""From a manifest to the typed class of pulumi_kubernetes, by its kind.

Typed classes give the engine the object's schema; a generic object would need the API server during preview.
"""

from __future__ import annotations

import importlib
from typing import Any

import pulumi

from aks_dra.model.plan import PlannedObject
from aks_dra.resources.azure_inputs import snake

MODULES = {
    ("v1", "ConfigMap"): "core.v1",
    ("v1", "LimitRange"): "core.v1",
    ("v1", "Namespace"): "core.v1",
    ("v1", "ResourceQuota"): "core.v1",
    ("v1", "ServiceAccount"): "core.v1",
    ("batch/v1", "Job"): "batch.v1",
    ("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy"): "admissionregistration.v1",
    ("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding"): "admissionregistration.v1",
    ("rbac.authorization.k8s.io/v1", "ClusterRole"): "rbac.v1",
    ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding"): "rbac.v1",
    ("rbac.authorization.k8s.io/v1", "Role"): "rbac.v1",
    ("rbac.authorization.k8s.io/v1", "RoleBinding"): "rbac.v1",
    ("resource.k8s.io/v1", "DeviceClass"): "resource.v1",
    ("resource.k8s.io/v1", "ResourceClaim"): "resource.v1",
    ("resource.k8s.io/v1", "ResourceClaimTemplate"): "resource.v1",
}

# Kubernetes refuses every change of these specs ("field is immutable"), and the provider does not know it: without this
# an edited claim ends the update. The name is fixed, so the old object goes first.
FIXED_SPEC = ("ResourceClaim", "ResourceClaimTemplate")


def register(name: str, planned: PlannedObject, opts: pulumi.ResourceOptions) -> pulumi.Resource:
    """Registers one planned object under the logical name `name`."""
    manifest = dict(planned.manifest)
    kind = (str(manifest.pop("apiVersion")), str(manifest.pop("kind")))
    if kind not in MODULES:
        raise pulumi.RunError(f"{planned.key}: no typed class is known for {kind[0]} {kind[1]}")
    module: Any = importlib.import_module(f"pulumi_kubernetes.{MODULES[kind]}")
    arguments = {snake(field): value for field, value in manifest.items()}
    if kind[1] in FIXED_SPEC:
        opts.replace_on_changes = ["spec"]
        opts.delete_before_replace = True
    resource: pulumi.Resource = getattr(module, kind[1] + "Patch" * planned.patch)(name, **arguments, opts=opts)
    return resource
