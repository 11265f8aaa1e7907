"""Questions to the settings about the test pool."""

from __future__ import annotations

from aks_dra import names
from aks_dra.settings import Settings


def smoke_test_runs(settings: Settings) -> bool:
    return settings.test_pool.enabled and settings.test_pool.smoke_test.enabled


def admin_namespace(settings: Settings) -> str:
    return settings.test_pool.namespace + names.ADMIN_SUFFIX


def smoke_namespaces(settings: Settings) -> set[str]:
    """Namespaces that the test pool and its smoke test need."""
    if not settings.test_pool.enabled:
        return set()
    return {settings.test_pool.namespace} | ({admin_namespace(settings)} if smoke_test_runs(settings) else set())
