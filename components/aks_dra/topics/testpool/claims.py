"""All claims of a stack, with the one that the test pool brings."""

from __future__ import annotations

from aks_dra import names
from aks_dra.model.plan import (
    PlannedPool,
)
from aks_dra.settings import ClaimSettings, Settings


def all_claims(settings: Settings, pools: list[PlannedPool]) -> dict[tuple[str, str], ClaimSettings]:
    """Claims by namespace and name; the test pool brings one for its own devices."""
    claims = {
        (namespace, name): claim
        for namespace, entries in sorted(settings.claims.items())
        for name, claim in sorted(entries.items())
    }
    test = settings.test_pool
    if test.enabled:
        pool = next((pool for pool in pools if pool.name == test.name), None)
        if pool and pool.device_classes:
            claim = ClaimSettings(device_class=pool.device_classes[0])
            claims.setdefault((test.namespace, names.TEST_CLAIM), claim)
    return claims
