"""Extended resources of device classes: names that Kubernetes takes, each of one class, from 1.36 on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from aks_dra import names
from aks_dra.context.context import Context
from aks_dra.findings.build import did_you_mean, finding
from aks_dra.findings.finding import Finding
from aks_dra.kube.asks import IMPLICIT
from aks_dra.kube.versions import minor
from aks_dra.topics.legacy.extended import package_names

KEP = "KEP-5004: DRA for extended resources; tried on 1.36 and 1.37"
REFUSED = "Kubernetes: DeviceClass extendedResourceName, 422; tried"
SETTING = "aks-dra:gpu.extendedResources"
DOMAIN = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
NAME = re.compile(rf"{DOMAIN}/[A-Za-z0-9]([-A-Za-z0-9_.]{{0,61}}[A-Za-z0-9])?")


def _given(context: Context) -> list[tuple[str, str, str]]:
    """(path, class, resource) of every name that a class carries."""
    settings = context.settings
    found = [
        (f"aks-dra:deviceClasses.{name}.extendedResourceName", name, entry.extended_resource_name)
        for name, entry in sorted(settings.device_classes.items())
        if entry.extended_resource_name is not None
    ]
    by_key = isinstance(settings.gpu.extended_resources, Mapping)
    found += [
        (f"{SETTING}.{name}" if by_key else SETTING, name, resource)
        for name, resource in package_names(settings, context.classes).items()
    ]
    return found


def spelling(context: Context) -> Iterator[Finding]:
    asked = bool(context.settings.gpu.extended_resources)
    minimum = context.facts.kubernetes.needs["extended_resource_name"].minimum
    places = [(path, resource) for path, _, resource in _given(context) if path.startswith("aks-dra:deviceClasses")]
    for path, resource in [*places, *([(SETTING, "")] if asked else [])]:
        if context.lacks("extended_resource_name"):
            yield finding(
                "ALL003",
                "error",
                path,
                resource or context.settings.gpu.extended_resources,
                f"below Kubernetes {minimum} the API server drops extendedResourceName silently",
                f"set cluster.kubernetesVersion to {minimum} or newer",
                "Kubernetes: DRAExtendedResource; tried",
            )
    for path, _, resource in _given(context):
        if "+" in resource:
            right = f"write {resource.replace('+', '.')}"
            yield finding("ALL004", "error", path, resource, "a resource name has no '+'", right, REFUSED)
        elif wrong := _wrong(resource):
            yield finding("EXT001", "error", path, resource, *wrong, REFUSED)


def _wrong(resource: str) -> tuple[str, str] | None:
    domain, _, own = resource.partition("/")
    if resource.startswith(IMPLICIT):
        return "every class has its name of this form without being given it", f"remove it: pods ask for {IMPLICIT}…"
    if not NAME.fullmatch(resource):
        return "an extended resource is named domain/name, the name of at most 63 letters, digits, '-', '_', '.'", (
            f"for example example.com/{re.sub('[^A-Za-z0-9_.-]', '-', own or domain).strip('-_.') or 'gpu'}"
        )
    if domain == "kubernetes.io" or domain.endswith(".kubernetes.io"):
        return "the domain kubernetes.io is Kubernetes' own", f"write example.com/{own}"
    if resource.startswith("requests."):
        return (
            "a name does not begin with requests.: quotas put it there",
            f"write {resource.removeprefix('requests.')}",
        )
    if len(domain) > 253 - len("requests."):
        return "the domain is too long for a quota's key", "choose a shorter one"
    return None


def one_class_each(context: Context) -> Iterator[Finding]:
    seen: dict[str, str] = {}
    for path, name, resource in _given(context):
        if resource == names.LEGACY_RESOURCE and not path.startswith("aks-dra:deviceClasses"):
            yield finding(
                "EXT002",
                "error",
                path,
                resource,
                "one class of the package's own decides who serves nvidia.com/gpu",
                "set gpu.legacyRequests, or give the name to a class under deviceClasses",
                "aks-dra: topics/classes",
            )
        elif resource in seen:
            yield finding(
                "ALL005",
                "error",
                path,
                resource,
                f"class {seen[resource]} has this resource name too, and only the newest class of a name counts",
                "give it to one class only"
                + (", by name: gpu.extendedResources: {CLASS: NAME}" if path == SETTING else ""),
                KEP,
            )
        seen.setdefault(resource, name)


def package_classes(context: Context) -> Iterator[Finding]:
    asked = context.settings.gpu.extended_resources
    known = {entry.name for entry in context.classes if entry.origin == "package"}
    for name in asked if isinstance(asked, Mapping) else ():
        if name in known:
            continue
        user = name in context.settings.device_classes
        yield finding(
            "EXT003",
            "error",
            f"{SETTING}.{name}",
            name,
            "this is a class of the stack file" if user else "the package makes no class of this name here",
            f"set deviceClasses.{name}.extendedResourceName"
            if user
            else (did_you_mean(name, known) if known else "add a pool whose devices it is for"),
            "aks-dra plan lists the classes",
        )
    if asked is True and not package_names(context.settings, context.classes):
        yield finding(
            "EXT004",
            "warning",
            SETTING,
            "true",
            "no pool has MIG devices under DRA, so no class gets a resource name",
            "remove it, or add such a pool; who serves nvidia.com/gpu is decided by gpu.legacyRequests",
            "aks-dra: gpu.extendedResources",
        )


def either_kind_of_node(context: Context) -> Iterator[Finding]:
    """A node that has the resource from its device plugin serves a pod by that, any other by DRA."""
    places = [(path, resource) for path, _, resource in _given(context) if resource != names.LEGACY_RESOURCE]
    serving = any(pool.allocation == "dra" for pool in context.plan.pools)
    by_dra = context.settings.gpu.legacy_requests == "dra"
    for path, name, resource in _given(context):
        if resource == names.LEGACY_RESOURCE and not by_dra and _advertising(context, resource):
            yield finding(
                "EXT005",
                "error",
                path,
                resource,
                f"gpu.legacyRequests: devicePlugin keeps {resource} to the device-plugin pools, and class {name} would "
                "take it to DRA",
                "remove it, or set gpu.legacyRequests: dra",
                "aks-dra: topics/classes",
            )
    if by_dra and serving and context.minor >= context.facts.since("extended_resource_name"):
        places.append(("aks-dra:gpu.legacyRequests", names.LEGACY_RESOURCE))
    for path, resource in places:
        if pools := _advertising(context, resource):
            yield finding(
                "EXT006",
                "warning",
                path,
                resource,
                f"device-plugin pool {', '.join(pools)} advertises {resource} too, so a pod that asks for it may land "
                "on either kind of node, and what it gets may differ",
                "pin such pods to a pool by its label (`aks-dra plan --format json`: pod), or give the class another "
                "name",
                KEP,
            )


def _advertising(context: Context, resource: str) -> list[str]:
    return [pool.name for pool in context.plan.pools if resource in pool.extended_resources]


def older_nodes(context: Context) -> Iterator[Finding]:
    """The scheduler makes the claim of such a pod, and a kubelet with the gate off does not read it."""
    need = context.facts.kubernetes.needs["extended_resource_name"]
    asked = sorted({resource for _, _, resource in _given(context)})
    if context.settings.gpu.legacy_requests == "dra":
        asked.append(names.LEGACY_RESOURCE)
    if not asked or context.lacks("extended_resource_name"):
        return
    for name, path, pool in context.pools():
        if pool.allocation == "dra" and (0, 0) < minor(pool.kubernetes_version or "") < minor(need.minimum):
            yield finding(
                "EXT007",
                "warning",
                f"{path}.kubernetesVersion",
                pool.kubernetes_version,
                f"nodes below Kubernetes {need.minimum} do not prepare devices for pods that ask for {asked[0]} "
                "(inferred from the kubelet's code), and the scheduler does not know",
                f"upgrade the pool to {need.minimum} or later, or keep such pods off pool {name}",
                "Kubernetes: kubelet, feature gate DRAExtendedResource",
            )


RULES = (spelling, one_class_each, package_classes, either_kind_of_node, older_nodes)
