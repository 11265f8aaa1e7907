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

from aks_dra.kube.claims import ALL, Ask, Claim, Request
from aks_dra.kube.devices import GPU_DRIVER
from aks_dra.model.classes import DeviceType
from aks_dra.settings import ClaimSettings, Sharing
from aks_dra.topics.claims.raw import raw_claim
from aks_dra.topics.claims.written import written_claim
from aks_dra.topics.classes.classes import sharing_config
from aks_dra.trees import mapping, sequence

TypeOf = Callable[[Ask], DeviceType]
"""What kind of device an ask is for."""


def claim_of(namespace: str, name: str, claim: ClaimSettings) -> Claim:
    """A claim, however it is written."""
    return raw_claim(namespace, name, claim)[0] if claim.raw else written_claim(namespace, name, claim)


def claim_manifest(claim: Claim, type_of: TypeOf, sharing: Sharing | None = None) -> dict[str, Any]:
    """The whole object, with config for what its settings say of sharing."""
    if claim.manifest is not None:
        return _completed(claim)
    spec: dict[str, Any] = {"devices": _devices(claim, type_of, sharing)}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": claim.kind,
        "metadata": {"name": claim.name, "namespace": claim.namespace},
        "spec": spec if claim.kind == "ResourceClaim" else {"spec": spec},
    }


def _devices(claim: Claim, type_of: TypeOf, sharing: Sharing | None) -> dict[str, Any]:
    devices: dict[str, Any] = {"requests": [_request(request) for request in claim.requests]}
    constraints = []
    for constraint in claim.constraints:
        held: dict[str, Any] = {"requests": list(constraint.requests)} if constraint.requests else {}
        for key, attribute in (("matchAttribute", constraint.match), ("distinctAttribute", constraint.distinct)):
            if attribute is not None:
                held[key] = attribute
        constraints.append(held)
    if constraints:
        devices["constraints"] = constraints
    if configs := [*_sharing_configs(claim, type_of, sharing), *_own_configs(claim)]:
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
    asks |= {"allocationMode": ALL} if ask.every else {"allocationMode": "ExactCount", "count": ask.count}
    if ask.cel:
        asks["selectors"] = [{"cel": {"expression": text}} for text in ask.cel]
    if ask.tolerations:
        asks["tolerations"] = [dict(item) for item in ask.tolerations]
    if ask.capacity:
        asks["capacity"] = {"requests": dict(ask.capacity)}
    return asks


def _sharing_configs(claim: Claim, type_of: TypeOf, sharing: Sharing | None) -> Iterator[dict[str, Any]]:
    for ask in claim.asks:
        if parameters := sharing_config(sharing, type_of(ask)):
            yield {"requests": [ask.reference], "opaque": {"driver": GPU_DRIVER, "parameters": parameters}}


def _own_configs(claim: Claim) -> Iterator[dict[str, Any]]:
    for config in claim.configs:
        opaque = {"driver": config.driver, "parameters": dict(config.parameters)}
        yield ({"requests": list(config.requests)} if config.requests else {}) | {"opaque": opaque}


def _completed(claim: Claim) -> dict[str, Any]:
    """A raw claim with what the API server would fill in."""
    manifest = copy.deepcopy(dict(claim.manifest or {}))
    spec = manifest["spec"] if claim.kind == "ResourceClaim" else manifest["spec"]["spec"]
    for request in sequence(mapping(mapping(spec).get("devices")).get("requests")):
        held = mapping(request)
        for asked in (held.get("exactly"), *sequence(held.get("firstAvailable"))):
            if isinstance(asked, dict):
                asked.setdefault("allocationMode", "ExactCount")
                if asked["allocationMode"] == "ExactCount":
                    asked.setdefault("count", 1)
    return manifest
