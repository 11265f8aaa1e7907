"""Device classes: intents that can be written, classes that match something."""

from __future__ import annotations

from collections.abc import Iterator

from aks_dra.context.context import Context
from aks_dra.context.linted import mentioned
from aks_dra.findings.build import finding
from aks_dra.findings.finding import Finding
from aks_dra.kube import quantity
from aks_dra.kube.devices import GPU_DRIVER
from aks_dra.matching.nearest import nearest_miss
from aks_dra.topics.classes.intents import near_miss, problems
from aks_dra.topics.classes.selector_rules import class_has_errors

CEL = "Kubernetes: CEL in device selectors (k8s.io/dynamic-resource-allocation/cel)"
DRIVER_NAMES = "Kubernetes: driver names, resource.k8s.io/v1"


def intents(context: Context) -> Iterator[Finding]:
    for name, entry in context.settings.device_classes.items():
        path = f"aks-dra:deviceClasses.{name}"
        for problem in problems(entry.require):
            yield finding(
                "CLS001",
                "error",
                f"{path}.require.{problem.key}",
                problem.value,
                problem.rule,
                problem.remedy,
                "aks-dra: require",
            )
        if not entry.require and not entry.cel and entry.driver == GPU_DRIVER:
            yield finding(
                "CLS002",
                "error",
                path,
                name,
                "a class needs a condition",
                "add require or cel",
                "aks-dra: deviceClasses",
            )
        if entry.require and entry.driver != GPU_DRIVER:
            yield finding(
                "CLS003",
                "error",
                f"{path}.require",
                entry.driver,
                "require is about NVIDIA's devices",
                "write cel for another driver's devices",
                "aks-dra: deviceClasses",
            )
        longest = context.facts.limit("driver_name_length")
        if not entry.driver or len(entry.driver) > longest or "'" in entry.driver or "\\" in entry.driver:
            rule = f"a driver's name is a domain name of at most {longest} characters"
            yield finding(
                "CLS007", "error", f"{path}.driver", entry.driver, rule, "e.g. fpga.example.com", DRIVER_NAMES
            )
        most = context.facts.limit("selectors")
        if len(entry.require) + len(entry.cel) + 1 > most:
            rule = f"a class has at most {most} selectors"
            yield finding("CLS008", "error", f"{path}.cel", len(entry.cel), rule, "join some with &&", CEL)


def match_something(context: Context) -> Iterator[Finding]:
    """A class whose driver publishes devices here, and that matches none of them."""
    dra = any(pool.allocation == "dra" for pool in context.plan.pools)
    matches = {match.device_class: match for match in context.plan.matches if match.origin == "user"}
    drivers = {device.driver for device in context.matcher.devices} | ({GPU_DRIVER} if dra else set())
    for name, entry in context.settings.device_classes.items():
        match = matches.get(name)
        if match is None or entry.driver not in drivers or match.pools or match.undecided:
            continue
        if class_has_errors(context, name) or mentioned(context, "pcieRoot", entry.cel):
            continue  # said of the selector
        pool = "DRA pool" if entry.driver == GPU_DRIVER else "pool"
        yield finding(
            "CLS005",
            "error",
            f"aks-dra:deviceClasses.{name}",
            " && ".join(entry.cel) or str(dict(entry.require)),
            f"this class matches no device of any {pool}, so its pods would stay Pending for ever"
            + nearest_miss(match.selectors, context.matcher.devices, context.cel_minor),
            "loosen the condition, or add a pool whose devices meet it (see `aks-dra plan`)",
            CEL,
        )


def near_misses(context: Context) -> Iterator[Finding]:
    for name, entry in context.settings.device_classes.items():
        for missed in near_miss(entry.require, context.matcher.devices):
            product = missed.device.attributes.get("productName", missed.device.name)
            yield finding(
                "CLS006",
                "warning",
                f"aks-dra:deviceClasses.{name}.require.memory",
                entry.require["memory"],
                f"{product} reports {missed.reported}, a little less than its nominal memory, and is left out",
                f'write ">={_whole_gi(missed.reported)}" to have it as well, or acknowledge this',
                "memory that real nodes published",
            )


def _whole_gi(reported: str) -> str:
    """81559Mi → 79Gi."""
    return f"{int(quantity.parse(reported) / 2**30)}Gi"


RULES = (intents, match_something, near_misses)
