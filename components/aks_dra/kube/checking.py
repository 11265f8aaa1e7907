"""The shape of manifests as far as this package reads them, and mistakes that deserve a better text than the server's.

Everything else is left to the API server, whose words are then in the report.
"""

from __future__ import annotations

from typing import Any

from aks_dra.findings.build import nearest
from aks_dra.kube import quantity
from aks_dra.kube.asks import IMPLICIT, is_extended
from aks_dra.kube.claim_forms import OF_EXACTLY
from aks_dra.kube.labels import SUBDOMAIN
from aks_dra.kube.reading import Manifest, WorkloadError

SAYS: dict[type, str] = {dict: "a map", list: "a list", str: "a text"}


def check_object(manifest: Manifest, version: str) -> None:
    """apiVersion, names, and what claims and classes consist of."""
    where, kind = manifest.where, manifest.kind
    if manifest.api_version != version:
        raise WorkloadError(f"{where}: {kind} of {manifest.api_version} is not served; write apiVersion: {version}")
    generated = kind in ("Pod", "Job") and manifest.metadata.get("generateName")
    if not manifest.name and not generated:
        raise WorkloadError(f"{where}: {kind} without metadata.name")
    for key in ("name", "generateName", "namespace"):
        text = manifest.metadata.get(key)
        if text is not None and not (isinstance(text, str) and SUBDOMAIN.fullmatch(text.rstrip("-"))):
            raise WorkloadError(f"{where}: {kind}: metadata.{key} {text!r} is no name of Kubernetes")
    title = f"{kind} {manifest.name}"
    _typed(where, f"{title}: labels", manifest.metadata.get("labels") or {}, dict)
    if kind in ("ResourceClaim", "ResourceClaimTemplate"):
        field = "spec.spec" if kind == "ResourceClaimTemplate" else "spec"
        inner = manifest.spec.get("spec") if kind == "ResourceClaimTemplate" else manifest.spec
        if not isinstance(inner, dict) or not isinstance(inner.get("devices"), dict):
            raise WorkloadError(f"{where}: {title} has no {field}.devices")
        check_claim(where, title, inner["devices"])
    if kind == "DeviceClass":
        _selectors(where, title, _typed(where, f"{title}: spec", manifest.content.get("spec") or {}, dict))


def check_claim(where: str, title: str, devices: dict[str, Any]) -> None:
    """Requests and constraints of a claim."""
    for entry in _each(where, f"{title}: devices.requests", devices.get("requests")):
        if not entry.get("name"):
            raise WorkloadError(f"{where}: {title}: every request needs a name")
        request = f"{title}: request {entry['name']}"
        loose = sorted(set(OF_EXACTLY) & set(entry))
        if loose:
            raise WorkloadError(
                f"{where}: {request} has {', '.join(loose)} beside its name, as before "
                f"resource.k8s.io/v1; write {{name: {entry['name']}, exactly: "
                f"{{deviceClassName: {entry.get('deviceClassName', 'CLASS')}, …}}}}"
            )
        if bool(entry.get("exactly")) == bool(entry.get("firstAvailable")):
            raise WorkloadError(f"{where}: {request} needs exactly or firstAvailable, one of the two")
        ranked = _each(where, f"{request}: firstAvailable", entry.get("firstAvailable"))
        if not all(item.get("name") for item in ranked):
            raise WorkloadError(f"{where}: {request}: every alternative needs a name")
        for item in ranked or [_typed(where, f"{request}: exactly", entry["exactly"], dict)]:
            _class_named(f"{where}: {request}", item)
            count = item.get("count", 1)
            if not isinstance(count, int) or isinstance(count, bool) or count < 1:
                raise WorkloadError(f"{where}: {request}: count is a whole number of 1 or more, this is {count!r}")
            if item.get("allocationMode") == "All" and "count" in item:
                raise WorkloadError(f"{where}: {request}: allocationMode All takes every device, so remove count")
            _selectors(where, request, item)
    for entry in _each(where, f"{title}: devices.constraints", devices.get("constraints")):
        _typed(where, f"{title}: requests of a constraint", entry.get("requests") or [], list)


def _class_named(title: str, item: dict[str, Any]) -> None:
    name = item.get("deviceClassName")
    if isinstance(name, str) and name:
        return
    if name is not None:
        raise WorkloadError(f"{title}: deviceClassName is the name of a device class, this is {name!r:.80}")
    others = [str(key) for key in item if key not in {*OF_EXACTLY, "name"}]
    close = next((key for key in others if nearest(key, ["deviceClassName"])), "")
    raise WorkloadError(f"{title} has no deviceClassName" + (f"; {close} is no such field" if close else ""))


def check_pod(title: str, template: dict[str, Any]) -> list[str]:
    """The parts of a pod that decide where it goes; what its author may not have meant."""
    metadata = _typed("", f"{title}: metadata", template.get("metadata") or {}, dict)
    for key in ("labels", "annotations"):
        _typed("", f"{title}: {key}", metadata.get(key) or {}, dict)
    spec = template["spec"]
    for key in ("nodeSelector", "affinity", "overhead"):
        _typed("", f"{title}: {key}", spec.get(key) or {}, dict)
    for key in ("tolerations", "volumes", "resourceClaims", "schedulingGates"):
        for entry in _each("", f"{title}: {key}", spec.get(key)):
            if key in ("resourceClaims", "schedulingGates") and not isinstance(entry.get("name"), str):
                raise WorkloadError(f"{title}: every entry of {key} needs a name")
    claims = {entry["name"]: entry for entry in spec.get("resourceClaims") or ()}
    for name, entry in claims.items():
        if bool(entry.get("resourceClaimName")) == bool(entry.get("resourceClaimTemplateName")):
            raise WorkloadError(
                f"{title}: resourceClaims {name} names a claim (resourceClaimName) or a template "
                "(resourceClaimTemplateName), one of the two"
            )
    used: set[str] = set()
    for key in ("containers", "initContainers"):
        for entry in _each("", f"{title}: {key}", spec.get(key)):
            used |= _container(f"{title}: container {entry.get('name')}", entry, set(claims))
    return [
        f"{title}: no container uses claim {name}, so its devices are seen in none" for name in claims.keys() - used
    ]


def _container(title: str, container: dict[str, Any], claims: set[str]) -> set[str]:
    """The names of the claims that it uses."""
    resources = _typed("", f"{title}: resources", container.get("resources") or {}, dict)
    amounts = {part: _typed("", f"{title}: {part}", resources.get(part) or {}, dict) for part in ("requests", "limits")}
    for part, named in amounts.items():
        for name, amount in named.items():
            if not is_extended(str(name)) or str(name).startswith(IMPLICIT):
                continue  # of an implicit name Kubernetes asks less, since its domain is its own
            text = str(amount)
            if not (quantity.is_quantity(text) and quantity.is_integer(quantity.parse(text))):
                raise WorkloadError(f"{title}: {name} is a whole number, this is {amount!r:.80}")
            if part == "requests" and name not in amounts["limits"]:
                raise WorkloadError(f"{title}: {name} is asked for in limits; write it there, too")
    used = {str(entry.get("name")) for entry in _each("", f"{title}: claims", resources.get("claims"))}
    if unknown := sorted(used - claims):
        raise WorkloadError(
            f"{title} uses claim {unknown[0]}, which is not among the pod's resourceClaims ({_listed(claims)})"
        )
    return used


def _listed(names: set[str]) -> str:
    return ", ".join(sorted(names)) or "none"


def check_affinity(title: str, spec: dict[str, Any]) -> None:
    """What is added to when a DaemonSet's pod is pinned to a node."""
    node = _typed("", f"{title}: nodeAffinity", (spec.get("affinity") or {}).get("nodeAffinity") or {}, dict)
    key = "requiredDuringSchedulingIgnoredDuringExecution"
    required = _typed("", f"{title}: {key}", node.get(key) or {}, dict)
    _each("", f"{title}: nodeSelectorTerms", required.get("nodeSelectorTerms"))


def _selectors(where: str, title: str, holder: dict[str, Any]) -> None:
    selectors = holder.get("selectors") or []
    good = isinstance(selectors, list) and all(
        isinstance(one, dict) and isinstance(one.get("cel"), dict) and isinstance(one["cel"].get("expression"), str)
        for one in selectors
    )
    if not good:
        raise WorkloadError(f"{where}: {title}: write a selector as cel: {{expression: …}}")


def _each(where: str, title: str, value: Any) -> list[dict[str, Any]]:
    items = _typed(where, title, value or [], list)
    return [_typed(where, f"{title}[{number}]", item, dict) for number, item in enumerate(items)]


def _typed(where: str, title: str, value: Any, kind: type) -> Any:
    if not isinstance(value, kind):
        raise WorkloadError(f"{where}{': ' if where else ''}{title} is {SAYS[kind]}, this is {value!r:.80}")
    return value
