"""Config that claims and classes carry for a driver: whom it is for, whether it fits their devices, how it is spelt."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from aks_dra.context.context import Context
from aks_dra.findings.build import did_you_mean, finding
from aks_dra.findings.finding import Finding
from aks_dra.kube.claims import Claim, Config
from aks_dra.kube.devices import GPU_DRIVER, Device
from aks_dra.topics.claims.constraint_rules import unknown_requests
from aks_dra.topics.sharing.driver_configs import DEVICE_TYPES, SOURCE, config_problems

API = "Kubernetes: resource.k8s.io/v1, config; tried"
EXACT_NAMES = "NVIDIA DRA driver: a config's requests are compared with the names of results, exactly"


def of_claims(context: Context) -> Iterator[Finding]:
    most = context.facts.limit("configs_per_claim")
    for claim in context.claims:
        if len(claim.configs) > most:
            where = claim.configs[0].holder.rpartition(".")[0]
            yield finding("CFG001", "error", where, len(claim.configs), f"at most {most} configs", "remove some", API)
        for config in claim.configs:
            yield from unknown_requests("CFG002", claim, f"{config.holder}.requests", config.requests)
            yield from _whole_of_ranked(claim, config)
            yield from _parameters(context, config.parameters_path, config.driver, config.parameters)
            asked = {
                ask.reference: context.matcher.devices_of(context.claim_matches.matched(ask))
                for ask in claim.selected(config.requests)
            }
            mixed = len({kind for devices in asked.values() for kind in _types(devices)}) > 1
            yield from _read_by_nobody(config, [*asked.values()])
            for reference, devices in asked.items():
                # Without names it is for all requests, and each driver takes what is its own.
                yield from _fits(config, devices, reference, bool(config.requests), mixed)


def _whole_of_ranked(claim: Claim, config: Config) -> Iterator[Finding]:
    for index, reference in enumerate(config.requests):
        request = next((entry for entry in claim.requests if entry.name == reference and entry.ranked), None)
        if request is not None and config.driver == GPU_DRIVER:
            names = ", ".join(ask.reference for ask in request.asks)
            yield finding(
                "CFG003",
                "warning",
                f"{config.holder}.requests.{index}",
                reference,
                f"what is allocated is called {request.asks[0].reference if request.asks else reference} or the like, "
                "and the driver does not take this name for it: the config would not be applied",
                f"write requests: [{names}], a config for each where their devices differ",
                EXACT_NAMES,
            )


def _parameters(context: Context, path: str, driver: str, parameters: Mapping[str, Any]) -> Iterator[Finding]:
    most = context.facts.limit("opaque_parameters_bytes")
    size = len(json.dumps(parameters, separators=(",", ":"), default=str).encode())
    if size > most:
        yield finding("CFG004", "error", path, f"{size} bytes", f"parameters have at most {most} bytes", "shorten", API)
    longest = context.facts.limit("driver_name_length")
    if not driver or len(driver) > longest:
        rule = f"a config names its driver, with at most {longest} characters"
        yield finding("CFG005", "error", path.rpartition(".")[0], driver, rule, f"write driver: {GPU_DRIVER}", API)
    if driver == GPU_DRIVER:
        for problem in config_problems(parameters):
            where = f"{path}.{problem.path}" if problem.path else path
            yield finding("CFG006", problem.severity, where, problem.value, problem.message, problem.remedy, SOURCE)


def _read_by_nobody(config: Config, asked: list[tuple[Device, ...]]) -> Iterator[Finding]:
    """A config for all requests whose driver has none of the devices: a misspelt name is passed over in silence."""
    drivers = sorted({device.driver for devices in asked for device in devices})
    if config.requests or not all(asked) or not drivers or not config.driver or config.driver in drivers:
        return
    yield finding(
        "CFG010",
        "warning",
        config.driver_path,
        config.driver,
        f"the devices are of driver {', '.join(drivers)}, so nobody reads this config",
        did_you_mean(config.driver, drivers),
        API,
    )


def _fits(
    config: Config, devices: tuple[Device, ...], reference: str, named: bool, mixed: bool = False
) -> Iterator[Finding]:
    kind = str(config.parameters.get("kind", ""))
    types = _types(devices)
    if named and devices and all(device.driver != config.driver for device in devices):
        yield finding(
            "CFG007",
            "error",
            f"{config.holder}.requests",
            config.driver,
            f"the devices of request {reference} are of another driver, {devices[0].driver}",
            "name the requests that are for this driver's devices",
            API,
        )
    elif config.driver == GPU_DRIVER and kind in DEVICE_TYPES and (wrong := types - {DEVICE_TYPES[kind]}):
        yield finding(
            "CFG008",
            "error",
            f"{config.parameters_path}.kind",
            kind,
            f"request {reference} can get devices of type {', '.join(sorted(wrong))}, and the driver refuses to apply "
            f"{kind} to them",
            f"write a config for each: requests: [{reference}], and so on" if mixed else _right_kind(types, kind),
            SOURCE,
        )


def _types(devices: Iterable[Device]) -> set[str]:
    return {str(held) for d in devices if (held := d.qualified_attributes().get(GPU_DRIVER, {}).get("type"))}


def _right_kind(types: set[str], kind: str) -> str:
    kinds = [name for name, of in DEVICE_TYPES.items() if of in types]
    if len(types) == 1 and kinds:
        return f"write kind: {kinds[0]}"
    return f"ask for {DEVICE_TYPES[kind]} devices only, or give each request a config of its own"


def of_classes(context: Context) -> Iterator[Finding]:
    most = context.facts.limit("configs_per_class")
    planned = {entry.name: entry for entry in context.classes}
    for name, entry in context.settings.device_classes.items():
        path = f"aks-dra:deviceClasses.{name}"
        if len(entry.config) > most:
            yield finding(
                "CFG001", "error", f"{path}.config", len(entry.config), f"at most {most} configs", "remove some", API
            )
        devices = context.matcher.devices_of(context.matcher.matched(planned[name].selectors))
        for index, held in enumerate(entry.config):
            config = Config((), held.driver, held.parameters, f"{path}.config.{index}")
            yield from _parameters(context, config.parameters_path, held.driver, held.parameters)
            yield from _read_by_nobody(config, [devices])
            yield from _fits(config, devices, f"of class {name}", False)


def sharing(context: Context) -> Iterator[Finding]:
    """`sharing` becomes a config for each request; what is no whole GPU and no MIG device gets none."""
    for name, entry in context.settings.device_classes.items():
        if entry.sharing is not None:
            planned = next(held for held in context.classes if held.name == name)
            devices = context.matcher.devices_of(context.matcher.matched(planned.selectors))
            path = f"aks-dra:deviceClasses.{name}.sharing"
            yield from _shared(path, entry.sharing.mode, [(name, devices)], False)
    for claim in context.claims:
        sharing = context.sharing_of(claim)
        if sharing is not None:
            asked = [
                (ask.reference, context.matcher.devices_of(context.claim_matches.matched(ask))) for ask in claim.asks
            ]
            yield from _shared(f"{claim.path}.sharing", sharing.mode, asked, len(asked) > 1)


def _shared(path: str, mode: str, asked: list[tuple[str, tuple[Device, ...]]], several: bool) -> Iterator[Finding]:
    if mode not in ("timeSlicing", "mps"):
        return
    served = 0
    skipped: list[tuple[str, str]] = []
    for reference, devices in asked:
        types = _types(devices)
        if not devices or types == {"gpu"} or (types == {"mig"} and mode == "mps"):
            served += 1
        elif types == {"mig"}:
            skipped.append((reference, "a MIG device cannot be time-sliced"))
        elif {"gpu", "mig"} <= types:
            skipped.append((reference, "it matches whole GPUs and MIG devices, and no config fits both"))
        else:
            skipped.append((reference, "timeSlicing and mps are for NVIDIA's GPUs and MIG devices"))
    for reference, reason in skipped:
        some = several and served > 0
        yield finding(
            "CFG009",
            "warning" if some else "error",
            path,
            mode,
            f"{reference} gets no config for {mode}: {reason}",
            "acknowledge this, or make a claim of its own" if some else "remove sharing, or name another class",
            SOURCE,
        )


RULES = (of_claims, of_classes, sharing)
