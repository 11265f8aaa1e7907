"""The claim or template that a pod may have meant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from aks_dra.findings.build import nearest
from aks_dra.simulate.necessary import Obstacle

Key = tuple[str, str]


def with_hint(obstacle: Obstacle, claims: Mapping[Key, Any], templates: Mapping[Key, Any]) -> Obstacle:
    """A missing claim with the nearest name that there is, the same name in another namespace first."""
    if obstacle.code not in ("template-missing", "claim-missing"):
        return obstacle
    known = templates if obstacle.code == "template-missing" else claims
    namespace, _, name = obstacle.about.partition("/")
    same = [f"{space}/{other}" for space, other in known if other == name]
    own = [other for space, other in known if space == namespace]
    close = nearest(name, own)
    return replace(obstacle, hint=next(iter(same), f"{namespace}/{close}" if close else ""))
