"""Versions of Kubernetes."""

from __future__ import annotations

from aks_dra.facts import minor as minor_of


def minor(version: str) -> tuple[int, int]:
    """(1, 36) of "1.36" or "1.36.2"; (0, 0) when it is no version, which has a finding of its own."""
    try:
        return minor_of(version)
    except ValueError:
        return (0, 0)
