"""The pieces of selectors for NVIDIA's devices that never raise: first the driver, then the key, then the value."""

from __future__ import annotations

from aks_dra.kube.devices import GPU_DRIVER

ATTRIBUTES = f"device.attributes['{GPU_DRIVER}']"
CAPACITY = f"device.capacity['{GPU_DRIVER}']"
IS_NVIDIA = f"device.driver == '{GPU_DRIVER}'"


def has_attribute(name: str) -> str:
    return f"'{name}' in {ATTRIBUTES}"


def has_capacity(name: str) -> str:
    return f"'{name}' in {CAPACITY}"


def guarded(guard: str, *tests: str) -> str:
    """A selector of its own: NVIDIA's device, the guard, the tests."""
    return " && ".join([IS_NVIDIA, guard, *tests])


def any_of(tests: list[str]) -> str:
    return tests[0] if len(tests) == 1 else f"({' || '.join(tests)})"
