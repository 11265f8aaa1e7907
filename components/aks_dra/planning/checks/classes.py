"""Device classes: intents that can be written, selectors that match something."""

from __future__ import annotations

from collections.abc import Iterator

from aks_dra.planning.cel.lint import lint
from aks_dra.planning.checks.context import Context, finding
from aks_dra.planning.devices import GPU_DRIVER
from aks_dra.planning.intents import near_miss, problems
from aks_dra.planning.model import Finding

CEL = "Kubernetes: CEL in device selectors (k8s.io/dynamic-resource-allocation/cel)"


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
        if not entry.require and not entry.cel:
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


def selectors(context: Context) -> Iterator[Finding]:
    matches = {match.device_class: match for match in context.plan.matches if match.origin == "user"}
    dra = any(pool.allocation == "dra" for pool in context.plan.pools)
    for name, entry in context.settings.device_classes.items():
        path = f"aks-dra:deviceClasses.{name}"
        errors = False
        for index, text in enumerate(entry.cel):
            if entry.driver != GPU_DRIVER:
                continue  # its devices are not known here
            for problem in lint(text, context.matcher.devices, context.minor if context.minor > (0, 0) else (1, 36)):
                if problem.kind == "matches_nothing":
                    continue  # said of the whole class below
                errors = errors or problem.severity == "error"
                yield finding(
                    "CLS004", problem.severity, f"{path}.cel.{index}", text, problem.text, problem.remedy, CEL
                )
        match = matches.get(name)
        if match and dra and entry.driver == GPU_DRIVER and not errors and not match.pools and not match.undecided:
            yield finding(
                "CLS005",
                "error",
                path,
                " && ".join(entry.cel) or str(dict(entry.require)),
                "this class matches no device of any DRA pool, so its pods would stay Pending for ever",
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
                f"a {product} reports {missed.reported}, a little less than its nominal memory, and is left out",
                f"write less than {missed.asked}, or acknowledge this",
                "memory that real nodes published",
            )


CHECKS = (intents, selectors, near_misses)
