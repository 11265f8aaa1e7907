"""Who asks for which feature gate of the DRA driver.

A gate holds for the whole cluster while sharing is chosen pool by pool, class by class and claim by claim, so two of
them can ask for what the driver refuses to start with. Every ask keeps its place in the stack file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from aks_dra.kube.devices import GPU_DRIVER
from aks_dra.settings import Settings

GATE_OF_MODE = {"timeSlicing": "TimeSlicingSettings", "mps": "MPSSupport", "dynamicMig": "DynamicMIG"}
GATE_OF_STRATEGY = {"TimeSlicing": "TimeSlicingSettings", "MPS": "MPSSupport"}


@dataclass(frozen=True)
class GateAsk:
    """Something in the stack file that works only with a gate."""

    gate: str
    path: str
    what: str  # for people: "pool t4 (mode timeSlicing)"


def gate_asks(settings: Settings) -> tuple[GateAsk, ...]:
    """Every ask, in the order pools, classes, claims; `gpu.featureGates` is no ask."""
    return tuple(_asks(settings))


def _asks(settings: Settings) -> Iterator[GateAsk]:
    for name, pool in sorted(settings.pools.items()):
        gate = GATE_OF_MODE.get(pool.sharing.mode)
        if gate and pool.allocation == "dra":
            path = f"aks-dra:pools.{name}.sharing.mode"
            yield GateAsk(gate, path, f"pool {name} (mode {pool.sharing.mode})")
    for name, entry in sorted(settings.device_classes.items()):
        path = f"aks-dra:deviceClasses.{name}"
        if entry.sharing and (gate := GATE_OF_MODE.get(entry.sharing.mode)):
            yield GateAsk(gate, f"{path}.sharing.mode", f"class {name} (mode {entry.sharing.mode})")
        for number, config in enumerate(entry.config):
            yield from _by_parameters(f"{path}.config.{number}", f"class {name}", config.driver, config.parameters)
    for namespace, claims in sorted(settings.claims.items()):
        for name, claim in sorted(claims.items()):
            path, what = f"aks-dra:claims.{namespace}.{name}", f"claim {namespace}/{name}"
            if claim.sharing and (gate := GATE_OF_MODE.get(claim.sharing.mode)):
                yield GateAsk(gate, f"{path}.sharing.mode", f"{what} (mode {claim.sharing.mode})")
            for number, given in enumerate(claim.config):
                yield from _by_parameters(f"{path}.config.{number}", what, given.driver, given.parameters)
            yield from _raw(f"{path}.raw", what, claim.raw)


def _raw(path: str, what: str, raw: Mapping[str, Any]) -> Iterator[GateAsk]:
    """A claim as Kubernetes writes it: a manifest, a spec, or a template's spec of a spec."""
    held: Any = raw
    while isinstance(held, Mapping) and "devices" not in held:
        held, path = held.get("spec"), f"{path}.spec"
    configs = _mapping(_mapping(held).get("devices")).get("config")
    for number, entry in enumerate(configs if isinstance(configs, list | tuple) else ()):
        opaque = _mapping(_mapping(entry).get("opaque"))
        where = f"{path}.devices.config.{number}.opaque"
        yield from _by_parameters(where, what, str(opaque.get("driver", "")), _mapping(opaque.get("parameters")))


def _by_parameters(path: str, what: str, driver: str, parameters: Mapping[str, Any]) -> Iterator[GateAsk]:
    strategy = _mapping(parameters.get("sharing")).get("strategy")
    gate = GATE_OF_STRATEGY.get(strategy) if isinstance(strategy, str) else None
    if driver == GPU_DRIVER and gate:
        yield GateAsk(gate, f"{path}.parameters.sharing.strategy", f"{what} (strategy {strategy})")


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def feature_gates(settings: Settings) -> dict[str, bool]:
    """The gates that pools, classes and claims imply, and those that the user asks for."""
    implied = {ask.gate: True for ask in gate_asks(settings)}
    return dict(sorted((implied | dict(settings.gpu.feature_gates)).items()))
