"""Device classes: intents that can be written, selectors that match something."""

from __future__ import annotations

from collections.abc import Iterator

from aks_dra.planning.checks.context import Context, finding
from aks_dra.planning.devices import GPU_DRIVER
from aks_dra.planning.intents import near_miss, problems
from aks_dra.planning.cel.lint import lint
from aks_dra.planning.model import Finding

CEL = "Kubernetes: CEL in device selectors (k8s.io/dynamic-resource-allocation/cel)"


def intents(context: Context) -> Iterator[Finding]:
    for name, entry in context.settings.device_classes.items():
        path = f"aks-dra:deviceClasses.{name}"
        for problem in problems(entry.require):
            yield finding("CLS001", "error", f"{path}.require.{problem.key}", problem.value, problem.rule, problem.remedy,
                          "aks-dra: require")  # fmt: skip
        if not entry.require and not entry.cel:
            yield finding("CLS002", "error", path, name, "a class needs a condition", "add require or cel",
                          "aks-dra: deviceClasses")  # fmt: skip
        if entry.require and entry.driver != GPU_DRIVER:
            yield finding("CLS003", "error", f"{path}.require", entry.driver, "require is about NVIDIA's devices",
                          "write cel for another driver's devices", "aks-dra: deviceClasses")  # fmt: skip


def selectors(context: Context) -> Iterator[Finding]:
    matches = {match.device_class: match for match in context.plan.matches if match.origin == "user"}
    dra = any(pool.allocation == "dra" for pool in context.plan.pools)
    for name, entry in context.settings.device_classes.items():
        path = f"aks-dra:deviceClasses.{name}"
        errors = False
        for index, text in enumerate(entry.cel):
            if entry.driver != GPU_DRIVER:
                continue  # its devices are not known here
            for problem in lint(text, context.matcher.devices):
                if problem.kind in ("matches_nothing", "matches_everything"):
                    continue  # said of the whole class below
                errors = errors or problem.severity == "error"
                yield finding("CLS004", problem.severity, f"{path}.cel.{index}", text, problem.text, problem.remedy, CEL)  # fmt: skip
        match = matches.get(name)
        if match and dra and entry.driver == GPU_DRIVER and not errors and not match.pools and not match.undecided:
            yield finding("CLS005", "error", path, " && ".join(entry.cel) or str(dict(entry.require)),
                          "this class matches no device of any DRA pool, so its pods would stay Pending for ever",
                          "loosen the condition, or add a pool whose devices meet it (see `aks-dra plan`)", CEL)  # fmt: skip


CHECKS = (intents, selectors)
