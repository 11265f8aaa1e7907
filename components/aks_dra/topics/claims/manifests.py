"""Claims and templates as manifests.

`shareAcross: pods` is one ResourceClaim by name; `containers` is a ResourceClaimTemplate, a claim for each pod. Config
from `sharing` names each request, and of ranked alternatives each one (`gpu/t4`), since the driver compares exact
names; it is of the kind of that alternative's devices. What the API server fills in (allocationMode, count) is written
out, so that a second preview finds no difference.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

from aks_dra.kube.claim_shape import Ask, ClaimShape, Request
from aks_dra.kube.devices import GPU_DRIVER
from aks_dra.model.classes import DeviceType
from aks_dra.settings import ClaimSettings
from aks_dra.topics.claims.raw import raw_shape
from aks_dra.topics.claims.written import written_shape
from aks_dra.topics.classes.classes import sharing_config

TypeOf = Callable[[Ask], DeviceType]
"""What kind of device an ask is for."""


def claim_shape(namespace: str, name: str, claim: ClaimSettings) -> ClaimShape:
    """The shape of a claim, however it is written."""
    return raw_shape(namespace, name, claim)[0] if claim.raw else written_shape(namespace, name, claim)


def claim_manifest(shape: ClaimShape, type_of: TypeOf) -> dict[str, Any]:
    """The whole object."""
    if shape.manifest is not None:
        return _completed(shape)
    spec: dict[str, Any] = {"devices": _devices(shape, type_of)}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": shape.kind,
        "metadata": {"name": shape.name, "namespace": shape.namespace},
        "spec": spec if shape.kind == "ResourceClaim" else {"spec": spec},
    }


def _devices(shape: ClaimShape, type_of: TypeOf) -> dict[str, Any]:
    devices: dict[str, Any] = {"requests": [_request(request) for request in shape.requests]}
    constraints = []
    for constraint in shape.constraints:
        held: dict[str, Any] = {"requests": list(constraint.requests)} if constraint.requests else {}
        for key, attribute in (("matchAttribute", constraint.match), ("distinctAttribute", constraint.distinct)):
            if attribute is not None:
                held[key] = attribute
        constraints.append(held)
    if constraints:
        devices["constraints"] = constraints
    if configs := [*_sharing_configs(shape, type_of), *_own_configs(shape)]:
        devices["config"] = configs
    return devices


def _request(request: Request) -> dict[str, Any]:
    if request.ranked:
        return {
            "name": request.name,
            "firstAvailable": [{"name": ask.name, **_ask(ask)} for ask in request.asks],
        }
    exactly = _ask(request.asks[0])
    if request.admin_access:
        exactly["adminAccess"] = True
    return {"name": request.name, "exactly": exactly}


def _ask(ask: Ask) -> dict[str, Any]:
    asks: dict[str, Any] = {"deviceClassName": ask.device_class}
    asks |= {"allocationMode": "All"} if ask.every else {"allocationMode": "ExactCount", "count": ask.count}
    if ask.cel:
        asks["selectors"] = [{"cel": {"expression": text}} for text in ask.cel]
    if ask.tolerations:
        asks["tolerations"] = [dict(item) for item in ask.tolerations]
    if ask.capacity:
        asks["capacity"] = {"requests": dict(ask.capacity)}
    return asks


def _sharing_configs(shape: ClaimShape, type_of: TypeOf) -> Iterator[dict[str, Any]]:
    for ask in shape.asks:
        if parameters := sharing_config(shape.sharing, type_of(ask)):
            yield {"requests": [ask.reference], "opaque": {"driver": GPU_DRIVER, "parameters": parameters}}


def _own_configs(shape: ClaimShape) -> Iterator[dict[str, Any]]:
    for config in shape.configs:
        opaque = {"driver": config.driver, "parameters": dict(config.parameters)}
        yield ({"requests": list(config.requests)} if config.requests else {}) | {"opaque": opaque}


def _completed(shape: ClaimShape) -> dict[str, Any]:
    """A raw claim with what the API server would fill in."""
    manifest = copy.deepcopy(dict(shape.manifest or {}))
    spec = manifest["spec"] if shape.kind == "ResourceClaim" else manifest["spec"]["spec"]
    devices = spec.get("devices")
    for request in devices.get("requests") or () if isinstance(devices, dict) else ():
        if not isinstance(request, dict):
            continue
        subrequests = request.get("firstAvailable")
        for held in (request.get("exactly"), *(subrequests if isinstance(subrequests, list) else ())):
            if isinstance(held, dict):
                held.setdefault("allocationMode", "ExactCount")
                if held["allocationMode"] == "ExactCount":
                    held.setdefault("count", 1)
    return manifest
