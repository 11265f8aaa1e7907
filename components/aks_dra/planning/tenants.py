"""Which namespaces may use which device class, and how much of it: admission policies and quotas.

Nobody may be kept from a DeviceClass by RBAC: a claim names it in plain text, and a claim that names NVIDIA's own
`gpu.nvidia.com` reaches every GPU of the cluster. So admission policies look at the names, in claims, in templates
(`exactly` and every alternative of `firstAvailable`) and, for extended resources, in pods. What a namespace may use is
an annotation of the namespace, so that a new tenant changes no policy.

The scheduler's own claims for extended resources are checked like any other. Nothing tells them from a user's
claim but their author, whose name on AKS is not known, and an annotation that anybody may write. The policy on pods
asks for the very class that the scheduler will name, so what passes it passes here too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from aks_dra.planning import names
from aks_dra.planning.classes import CHART_CLASSES, PlannedClass
from aks_dra.planning.devices import GPU_DRIVER
from aks_dra.planning.model import PlannedObject
from aks_dra.settings import Settings

SYSTEM_NAMESPACES = (
    "aks-command",
    "aks-istio-system",
    "app-routing-system",
    "calico-system",
    "gatekeeper-system",
    "kube-node-lease",
    "kube-public",
    "kube-system",
    "tigera-operator",
)
"""Namespaces of Kubernetes and of AKS's own add-ons: no policy looks at them."""

IMPLICIT_RESOURCE = "deviceclass.resource.kubernetes.io/"
POLICY = "aks-dra-device-classes"

ALLOWED = (
    f"has(namespaceObject.metadata.annotations) && '{names.ALLOWED_CLASSES}' in namespaceObject.metadata.annotations"
    f" ? namespaceObject.metadata.annotations['{names.ALLOWED_CLASSES}'].split(',').map(name, name.trim()) : []"
)
# Requests that look at devices without taking them are another right, and another validation.
REFUSED = (
    "variables.governed.filter(name, !(name in variables.allowed) && variables.requests.exists(request,"
    " (has(request.exactly) && request.exactly.deviceClassName == name"
    " && !(has(request.exactly.adminAccess) && request.exactly.adminAccess))"
    " || (has(request.firstAvailable) && request.firstAvailable.exists(choice, choice.deviceClassName == name))))"
)
ADMIN = (
    "variables.requests.filter(request, has(request.exactly) && has(request.exactly.adminAccess)"
    " && request.exactly.adminAccess && request.exactly.deviceClassName in variables.governed)"
)
CONTAINERS = "object.spec.containers + (has(object.spec.initContainers) ? object.spec.initContainers : [])"
REFUSED_RESOURCES = (
    "variables.resources.filter(name, !(variables.resources[name] in variables.allowed)"
    " && variables.containers.exists(container, has(container.resources)"
    " && ((has(container.resources.limits) && name in container.resources.limits)"
    " || (has(container.resources.requests) && name in container.resources.requests))))"
)
MAY_USE = (
    "' (it may use ' + (size(variables.allowed) == 0 ? 'none' : variables.allowed.join(', '))"
    f" + '; annotation {names.ALLOWED_CLASSES} of the namespace)'"
)


def governs(settings: Settings) -> bool:
    """Whether classes are handed out by namespace at all: as soon as one namespace has a list, be it empty."""
    return any(entry.allow is not None for entry in settings.namespaces.values())


def may_use(settings: Settings, namespace: str, device_class: str) -> bool:
    """Whether no policy keeps a namespace from a governed class."""
    if not governs(settings) or namespace in exempt_namespaces(settings):
        return True
    entry = settings.namespaces.get(namespace)
    return entry is not None and device_class in (entry.allow or ())


def governed_classes(settings: Settings, planned: Iterable[str]) -> tuple[str, ...]:
    """The planned classes and the chart's, without those of other drivers."""
    others = {name for name, entry in settings.device_classes.items() if entry.driver != GPU_DRIVER}
    return tuple(sorted(({*planned} | {entry.name for entry in CHART_CLASSES}) - others))


def exempt_namespaces(settings: Settings) -> tuple[str, ...]:
    """Where no policy looks: the system's namespaces, the operator's, the driver's and the test pool's."""
    found = {*SYSTEM_NAMESPACES, names.OPERATOR_NAMESPACE, names.DRA_NAMESPACE}
    if settings.test_pool.enabled:
        found |= {settings.test_pool.namespace, settings.test_pool.namespace + names.ADMIN_SUFFIX}
    return tuple(sorted(found))


def governed_resources(governed: Iterable[str], classes: Iterable[PlannedClass]) -> dict[str, str]:
    """Extended resource to the class that serves it. A class whose selector is `false` serves nobody."""
    resources = {IMPLICIT_RESOURCE + name: name for name in governed}
    for entry in classes:
        if entry.extended_resource_name and entry.name in set(governed) and entry.selectors != ("false",):
            resources[entry.extended_resource_name] = entry.name
    return dict(sorted(resources.items()))


def namespace_annotations(allow: tuple[str, ...] | None) -> dict[str, str]:
    return {} if allow is None else {names.ALLOWED_CLASSES: ",".join(sorted(set(allow)))}


def quota_manifest(namespace: str, quota: Mapping[str, int], extended_resources: bool) -> dict[str, Any]:
    """A quota on device classes. The second key of a class counts pods' extended resources before they are scheduled,
    so that a pod too many is refused and does not stay Pending."""
    hard = {f"{name}.deviceclass.resource.k8s.io/devices": str(count) for name, count in quota.items()}
    if extended_resources:
        hard |= {f"requests.{IMPLICIT_RESOURCE}{name}": str(count) for name, count in quota.items()}
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "aks-dra-device-classes", "namespace": namespace},
        "spec": {"hard": dict(sorted(hard.items()))},
    }


def tenant_objects(settings: Settings, classes: Iterable[PlannedClass]) -> list[PlannedObject]:
    """Three policies and their bindings; none while no namespace has a list."""
    if not governs(settings):
        return []
    planned = list(classes)
    governed = governed_classes(settings, (entry.name for entry in planned))
    exempt = exempt_namespaces(settings)
    admin = sorted(name for name, entry in settings.namespaces.items() if entry.admin_access)
    resources = governed_resources(governed, planned)
    claims = ("resource.k8s.io", "v1")
    return [
        *_policy("claims", (*claims, "resourceclaims"), exempt, *_on_requests("object.spec", governed, admin)),
        *_policy(
            "templates", (*claims, "resourceclaimtemplates"), exempt, *_on_requests("object.spec.spec", governed, admin)
        ),
        *_policy("pods", ("", "v1", "pods"), exempt, *_on_pods(resources)),
    ]


def _on_requests(spec: str, governed: tuple[str, ...], admin: list[str]) -> tuple[dict[str, str], list[dict[str, str]]]:
    """Variables and validations for the requests of a claim or a template."""
    variables = {
        "governed": cel_list(governed),
        "allowed": ALLOWED,
        "requests": f"has({spec}.devices.requests) ? {spec}.devices.requests : []",
        "refused": REFUSED,
        "admin": ADMIN,
    }
    use = "'namespace ' + request.namespace + ' may not use device class ' + variables.refused.join(', ') + " + MAY_USE
    look = "'namespace ' + request.namespace + ' may not ask for admin access to device class ' + " + (
        "variables.admin.map(request, request.exactly.deviceClassName).join(', ')"
    )
    return variables, [
        {"expression": "size(variables.refused) == 0", "messageExpression": use, "reason": "Forbidden"},
        {
            "expression": f"size(variables.admin) == 0 || request.namespace in {cel_list(admin)}",
            "messageExpression": look,
            "reason": "Forbidden",
        },
    ]


def _on_pods(resources: Mapping[str, str]) -> tuple[dict[str, str], list[dict[str, str]]]:
    """The same for the extended resources of a pod's containers. Ephemeral containers may not have any."""
    entries = ", ".join(f"{cel_text(name)}: {cel_text(served)}" for name, served in resources.items())
    variables = {
        "resources": "{" + entries + "}",
        "allowed": ALLOWED,
        "containers": CONTAINERS,
        "refused": REFUSED_RESOURCES,
    }
    text = "'namespace ' + request.namespace + ' may not use ' + " + (
        "variables.refused.map(name, name + ' of device class ' + variables.resources[name]).join(', ') + " + MAY_USE
    )
    return variables, [{"expression": "size(variables.refused) == 0", "messageExpression": text, "reason": "Forbidden"}]


def _policy(
    topic: str,
    resource: tuple[str, str, str],
    exempt: tuple[str, ...],
    variables: Mapping[str, str],
    validations: list[dict[str, str]],
) -> list[PlannedObject]:
    """A policy and its binding. Only creation is looked at: specs cannot change, and most updates are the system's."""
    group, version, plural = resource
    outside = {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": list(exempt)}
    name = f"{POLICY}-{topic}"
    policy = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {
                "matchPolicy": "Equivalent",
                "namespaceSelector": {"matchExpressions": [outside]},
                "resourceRules": [
                    {
                        "apiGroups": [group],
                        "apiVersions": [version],
                        "operations": ["CREATE"],
                        "resources": [plural],
                        "scope": "Namespaced",
                    }
                ],
            },
            "variables": [{"name": key, "expression": text} for key, text in variables.items()],
            "validations": validations,
        },
    }
    binding = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": name},
        "spec": {"policyName": name, "validationActions": ["Deny"]},
    }
    return [
        PlannedObject(f"policy-{topic}", policy),
        PlannedObject(f"policy-binding-{topic}", binding, after=(f"policy-{topic}",)),
    ]


def cel_list(texts: Iterable[str]) -> str:
    return "[" + ", ".join(cel_text(text) for text in texts) + "]"


def cel_text(text: str) -> str:
    """A CEL string literal. Names hold neither quotes nor backslashes; one that does is refused elsewhere, by name."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
