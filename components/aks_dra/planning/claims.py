"""Claims and templates from the stack file's intent.

`shareAcross: pods` is one ResourceClaim by name; `containers` is a ResourceClaimTemplate, a claim for each pod. Config
for ranked alternatives names each one (`gpu/t4`), since the driver compares exact names. What the API server fills
in (allocationMode, count) is written out, so that a second preview finds no difference.
"""

from __future__ import annotations

import re
from typing import Any

from aks_dra.planning.classes import gpu_config
from aks_dra.planning.devices import GPU_DRIVER
from aks_dra.settings import ClaimAlternative, ClaimSettings

REQUEST = "gpu"


def subrequest_names(alternatives: tuple[ClaimAlternative, ...]) -> list[str]:
    """A DNS label for each alternative: its class, with a number where a class comes twice."""
    names: list[str] = []
    for alternative in alternatives:
        base = re.sub(r"[^a-z0-9-]", "-", alternative.device_class.lower()).strip("-")[:58] or "device"
        name, number = base, 2
        while name in names:
            name, number = f"{base}-{number}", number + 1
        names.append(name)
    return names


def devices_spec(claim: ClaimSettings) -> dict[str, Any]:
    """`spec.devices` of a claim."""
    config = gpu_config(claim.sharing)
    if claim.first_available:
        names = subrequest_names(claim.first_available)
        request: dict[str, Any] = {
            "name": REQUEST,
            "firstAvailable": [
                {"name": name, **_asks(alternative.device_class, alternative.count, alternative.cel)}
                for name, alternative in zip(names, claim.first_available, strict=True)
            ],
        }
        scopes = [f"{REQUEST}/{name}" for name in names]
    else:
        exactly = _asks(claim.device_class or "", claim.count, claim.cel)
        if claim.admin_access:
            exactly["adminAccess"] = True
        request = {"name": REQUEST, "exactly": exactly}
        scopes = [REQUEST]
    spec: dict[str, Any] = {"requests": [request]}
    if config:
        spec["config"] = [
            {"requests": [scope], "opaque": {"driver": GPU_DRIVER, "parameters": config}} for scope in scopes
        ]
    return spec


def _asks(device_class: str, count: int, cel: tuple[str, ...]) -> dict[str, Any]:
    asks: dict[str, Any] = {"deviceClassName": device_class, "allocationMode": "ExactCount", "count": count}
    if cel:
        asks["selectors"] = [{"cel": {"expression": text}} for text in cel]
    return asks


def claim_manifest(namespace: str, name: str, claim: ClaimSettings) -> dict[str, Any]:
    shared = claim.share_across == "pods"
    spec: dict[str, Any] = {"devices": devices_spec(claim)}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim" if shared else "ResourceClaimTemplate",
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec if shared else {"spec": spec},
    }
