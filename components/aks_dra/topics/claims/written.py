"""From a claim's settings to the model of claims."""

from __future__ import annotations

import re

from aks_dra.kube.claims import Ask, Claim, ClaimKind, Config, Constraint, Request
from aks_dra.settings import ClaimAlternative, ClaimRequest, ClaimSettings

# The request of a claim that is written without naming one.
REQUEST = "gpu"


def written_claim(namespace: str, name: str, claim: ClaimSettings) -> Claim:
    """A claim from the settings; what is contradictory in it is kept for the checks to see."""
    path = f"aks-dra:claims.{namespace}.{name}"
    if claim.requests:
        requests = tuple(
            _request(key, f"{path}.requests.{key}", entry) for key, entry in sorted(claim.requests.items())
        )
    else:
        requests = (_request(REQUEST, path, claim),)
    constraints = tuple(
        Constraint(entry.requests, entry.match_attribute, entry.distinct_attribute, f"{path}.constraints.{i}")
        for i, entry in enumerate(claim.constraints)
    )
    configs = tuple(
        Config(entry.requests, entry.driver, entry.parameters, f"{path}.config.{i}")
        for i, entry in enumerate(claim.config)
    )
    kind: ClaimKind = "ResourceClaim" if claim.share_across == "pods" else "ResourceClaimTemplate"
    return Claim(requests, constraints, configs, namespace, name, kind, path)


def _request(name: str, path: str, entry: ClaimRequest | ClaimSettings) -> Request:
    if not entry.first_available:
        return Request(name, (_ask(name, path, entry),), admin_access=entry.admin_access, holder=path)
    names = alternative_names(entry.first_available)
    asks = tuple(
        _ask(f"{name}/{own}", f"{path}.firstAvailable.{i}", alternative)
        for i, (own, alternative) in enumerate(zip(names, entry.first_available, strict=True))
    )
    return Request(name, asks, ranked=True, admin_access=entry.admin_access, holder=path)


def _ask(reference: str, path: str, entry: ClaimAlternative | ClaimRequest | ClaimSettings) -> Ask:
    return Ask(
        reference,
        entry.device_class or "",
        entry.count,
        entry.all,
        entry.cel,
        tuple(
            item.model_dump(by_alias=True, exclude_none=True, exclude_defaults=True) | {"operator": item.operator}
            for item in entry.tolerations
        ),
        dict(sorted(entry.capacity.items())),
        path,
        "count" in entry.model_fields_set,
    )


def alternative_names(alternatives: tuple[ClaimAlternative, ...]) -> list[str]:
    """A DNS label for each alternative: its own, or its class, with a number where one comes twice."""
    names: list[str] = []
    given = {alternative.name for alternative in alternatives}
    for alternative in alternatives:
        if alternative.name:
            names.append(alternative.name)
            continue
        base = re.sub(r"[^a-z0-9-]", "-", alternative.device_class.lower()).strip("-")[:58].strip("-") or "device"
        name, number = base, 2
        while name in names or name in given:
            name, number = f"{base}-{number}", number + 1
        names.append(name)
    return names
