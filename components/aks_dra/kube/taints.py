"""Taints and the tolerations that bear them."""

from __future__ import annotations


def toleration(taint: str) -> dict[str, str]:
    """The toleration for a taint written key=value:Effect or key:Effect."""
    key_value, _, effect = taint.rpartition(":")
    key, equals, value = key_value.partition("=")
    if not equals:
        return {"key": key, "operator": "Exists", "effect": effect}
    return {"key": key, "operator": "Equal", "value": value, "effect": effect}
