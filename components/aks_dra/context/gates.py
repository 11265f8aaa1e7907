"""Who asks for which feature gate of the DRA driver.

A gate holds for the whole cluster while sharing is chosen pool by pool, class by class and claim by claim, so two of
them can ask for what the driver refuses to start with. Every ask keeps its place in the stack file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from aks_dra.kube.claims import Config, read_claim
from aks_dra.kube.devices import GPU_DRIVER
from aks_dra.settings import Settings
from aks_dra.trees import mapping

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
            written = Config((), config.driver, config.parameters, f"{path}.config.{number}")
            yield from _by_parameters(written, f"class {name}")
    for namespace, claims in sorted(settings.claims.items()):
        for name, claim in sorted(claims.items()):
            path, what = f"aks-dra:claims.{namespace}.{name}", f"claim {namespace}/{name}"
            if claim.sharing and (gate := GATE_OF_MODE.get(claim.sharing.mode)):
                yield GateAsk(gate, f"{path}.sharing.mode", f"{what} (mode {claim.sharing.mode})")
            for number, given in enumerate(claim.config):
                written = Config((), given.driver, given.parameters, f"{path}.config.{number}")
                yield from _by_parameters(written, what)
            yield from _raw(f"{path}.raw", what, claim.raw)


def _raw(path: str, what: str, raw: Mapping[str, Any]) -> Iterator[GateAsk]:
    """A claim as Kubernetes writes it: a manifest, a spec, or a template's spec of a spec."""
    held: Any = raw
    while isinstance(held, Mapping) and "devices" not in held:
        held, path = held.get("spec"), f"{path}.spec"
    for config in read_claim(held, path).configs:
        yield from _by_parameters(config, what)


def _by_parameters(config: Config, what: str) -> Iterator[GateAsk]:
    strategy = mapping(config.parameters.get("sharing")).get("strategy")
    gate = GATE_OF_STRATEGY.get(strategy) if isinstance(strategy, str) else None
    if config.driver == GPU_DRIVER and gate:
        yield GateAsk(gate, f"{config.parameters_path}.sharing.strategy", f"{what} (strategy {strategy})")


def feature_gates(settings: Settings) -> dict[str, bool]:
    """The gates that pools, classes and claims imply, and those that the user asks for."""
    implied = {ask.gate: True for ask in gate_asks(settings)}
    return dict(sorted((implied | dict(settings.gpu.feature_gates)).items()))
