"""Which namespaces may use which device class, and how much of it: admission policies and quotas.

Nobody may be kept from a DeviceClass by RBAC: a claim names it in plain text, and a claim that names NVIDIA's own
`gpu.nvidia.com` reaches every GPU of the cluster. So admission policies look at the names, in claims, in templates
(`exactly` and every alternative of `firstAvailable`) and, for extended resources, in pods. What a namespace may use is
an annotation of the namespace, so that a new tenant changes no policy.

Every class is refused that is neither in the namespace's list nor known as another driver's, whether or not it exists:
a claim that names a class before it comes would get its devices on the day it does. So the policies do not name what
they refuse, and stay as they are when a class is added.

The scheduler's own claims for extended resources are checked like any other. Nothing tells them from a user's
claim but their author, whose name on AKS is not known, and an annotation that anybody may write. The policy on pods
asks for the very class that the scheduler will name, so what passes it passes here too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from aks_dra import names
from aks_dra.kube.asks import IMPLICIT
from aks_dra.kube.devices import GPU_DRIVER
from aks_dra.model.classes import CHART_CLASSES, COMPUTE_DOMAIN_CLASSES, PlannedClass
from aks_dra.model.plan import PlannedObject, Tenancy
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


ALLOWED = (
    f"has(namespaceObject.metadata.annotations) && '{names.ALLOWED_CLASSES}' in namespaceObject.metadata.annotations"
    f" ? namespaceObject.metadata.annotations['{names.ALLOWED_CLASSES}'].split(',').map(name, name.trim()) : []"
)
# Requests that look at devices without taking them are another right, and another validation.
NAMED = (
    "variables.requests.map(request, (has(request.exactly)"
    " && !(has(request.exactly.adminAccess) && request.exactly.adminAccess) ? [request.exactly.deviceClassName] : [])"
    " + (has(request.firstAvailable) ? request.firstAvailable.map(choice, choice.deviceClassName) : []))"
)
REFUSED = (
    "variables.named.map(names, names.filter(name, !(name in variables.others) && !(name in variables.allowed)))"
    ".filter(names, size(names) > 0).map(names, names.join(', '))"
)
ADMIN = (
    "variables.requests.filter(request, has(request.exactly) && has(request.exactly.adminAccess)"
    " && request.exactly.adminAccess && !(request.exactly.deviceClassName in variables.others))"
)
# Kubernetes itself refuses extended resources of ephemeral containers and of the pod as a whole.
ASKING = (
    "(object.spec.containers + (has(object.spec.initContainers) ? object.spec.initContainers : []))"
    ".filter(container, has(container.resources)).map(container, container.resources)"
)
# A request is mostly its limit once more, by default.
RESOURCES = (
    "variables.asking.map(part, (has(part.limits) ? part.limits.map(name, name) : [])"
    " + (has(part.requests) ? part.requests.map(name, !(has(part.limits) && name in part.limits), name) : []))"
)
CLASS_OF = (
    f"(name.startsWith('{IMPLICIT}') ? name.substring({len(IMPLICIT)})"
    " : name in variables.classes ? variables.classes[name] : '')"
)
REFUSED_RESOURCES = (
    "variables.resources.map(names, names.filter(name, "
    f"!({CLASS_OF} in variables.others) && !({CLASS_OF} in variables.allowed))"
    f".map(name, name + ' of device class ' + {CLASS_OF}))"
    ".filter(names, size(names) > 0).map(names, names.join(', '))"
)
MAY_USE = (
    "' (it may use ' + (size(variables.allowed) == 0 ? 'none' : variables.allowed.join(', '))"
    f" + '; annotation {names.ALLOWED_CLASSES} of the namespace)'"
)


def governs(settings: Settings) -> bool:
    """Whether classes are handed out by namespace at all: as soon as one namespace has a list, be it empty."""
    return any(entry.allow is not None for entry in settings.namespaces.values())


def may_use(settings: Settings, namespace: str, device_class: str) -> bool:
    """Whether no policy keeps a namespace from a class."""
    if not governs(settings) or namespace in exempt_namespaces(settings) or device_class in other_classes(settings):
        return True
    entry = settings.namespaces.get(namespace)
    return entry is not None and device_class in (entry.allow or ())


def other_classes(settings: Settings) -> tuple[str, ...]:
    """Classes of other drivers, which every namespace may use: the stack file's, and the DRA chart's channels."""
    declared = {name for name, entry in settings.device_classes.items() if entry.driver != GPU_DRIVER}
    return tuple(sorted({*declared, *COMPUTE_DOMAIN_CLASSES}))


def governed_classes(settings: Settings, planned: Iterable[str]) -> tuple[str, ...]:
    """The classes that a list may name: the planned ones, the stack file's and the chart's, without other drivers'."""
    known = {*planned, *settings.device_classes, *(entry.name for entry in CHART_CLASSES)}
    return tuple(sorted(known - set(other_classes(settings))))


def exempt_namespaces(settings: Settings) -> tuple[str, ...]:
    """Where no policy looks: the system's namespaces, the operator's, the driver's and the test pool's."""
    found = {*SYSTEM_NAMESPACES, names.OPERATOR_NAMESPACE, names.DRA_NAMESPACE}
    if settings.test_pool.enabled:
        found |= {settings.test_pool.namespace, settings.test_pool.namespace + names.ADMIN_SUFFIX}
    return tuple(sorted(found))


def served_resources(settings: Settings, classes: Iterable[PlannedClass]) -> dict[str, str]:
    """Extended resource to the GPU class that serves it. A class whose selector is `false` serves nobody."""
    others = set(other_classes(settings))
    found = {
        entry.extended_resource_name: entry.name
        for entry in classes
        if entry.extended_resource_name and entry.name not in others and entry.selectors != ("false",)
    }
    return dict(sorted(found.items()))


def tenancy(settings: Settings, classes: Iterable[PlannedClass]) -> Tenancy:
    """What the policies go by, for those who compare a cluster with it."""
    lists = {name: tuple(entry.allow) for name, entry in settings.namespaces.items() if entry.allow is not None}
    return Tenancy(governs(settings), exempt_namespaces(settings), lists, served_resources(settings, classes))


def namespace_annotations(allow: tuple[str, ...] | None) -> dict[str, str]:
    return {} if allow is None else {names.ALLOWED_CLASSES: ",".join(sorted(set(allow)))}


def quota_manifest(namespace: str, quota: Mapping[str, int], extended_resources: bool) -> dict[str, Any]:
    """A quota on device classes. The second key of a class counts pods' extended resources before they are scheduled,
    so that a pod too many is refused and does not stay Pending."""
    hard = {f"{name}.deviceclass.resource.k8s.io/devices": str(count) for name, count in quota.items()}
    if extended_resources:
        hard |= {f"requests.{IMPLICIT}{name}": str(count) for name, count in quota.items()}
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
    others, exempt = other_classes(settings), exempt_namespaces(settings)
    admin = sorted(name for name, entry in settings.namespaces.items() if entry.admin_access)
    claims = ("resource.k8s.io", "v1")
    return [
        *_policy("claims", (*claims, "resourceclaims"), exempt, *_on_requests("object.spec", others, admin)),
        *_policy(
            "templates", (*claims, "resourceclaimtemplates"), exempt, *_on_requests("object.spec.spec", others, admin)
        ),
        *_policy("pods", ("", "v1", "pods"), exempt, *_on_pods(others, served_resources(settings, classes))),
    ]


def _on_requests(spec: str, others: tuple[str, ...], admin: list[str]) -> tuple[dict[str, str], list[dict[str, str]]]:
    """Variables and validations for the requests of a claim or a template."""
    listed = f"{spec}.devices.requests"
    variables = {
        "others": cel_list(others),
        "allowed": ALLOWED,
        # a claim without requests has null there
        "requests": f"has({listed}) && dyn({listed}) != null ? {listed} : []",
        "named": NAMED,
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


def _on_pods(others: tuple[str, ...], resources: Mapping[str, str]) -> tuple[dict[str, str], list[dict[str, str]]]:
    """The same for a pod's extended resources.

    Resources that no class of a GPU serves count as those of a class without a name, which is nobody's to refuse.
    """
    entries = ", ".join(f"{cel_text(name)}: {cel_text(served)}" for name, served in resources.items())
    variables = {
        "others": cel_list(("", *others)),
        "classes": "{" + entries + "}",
        "allowed": ALLOWED,
        "asking": ASKING,
        "resources": RESOURCES,
        "refused": REFUSED_RESOURCES,
    }
    text = "'namespace ' + request.namespace + ' may not use ' + variables.refused.join(', ') + " + MAY_USE
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
    name = f"{names.CLASS_POLICY}-{topic}"
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
