"""Feature gates of the DRA driver: known, possible on this cluster, not at odds with each other or with what asks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from aks_dra.context.context import Context
from aks_dra.context.gates import feature_gates, gate_asks
from aks_dra.findings.build import did_you_mean, finding
from aks_dra.findings.finding import Finding

PATH = "aks-dra:gpu.featureGates"
GATES = "NVIDIA DRA driver: feature gates"


class Asked:
    """The gates that are on, and for each who asks: a place in the stack file and a name for people."""

    def __init__(self, context: Context) -> None:
        self.gates = feature_gates(context.settings)
        self.on = {name for name, value in self.gates.items() if value and name in context.facts.gates}
        self.by: dict[str, list[tuple[str, str]]] = {name: [] for name in self.on}
        for ask in gate_asks(context.settings):
            self.by.setdefault(ask.gate, []).append((ask.path, ask.what))
        for name, value in context.settings.gpu.feature_gates.items():
            if value:
                self.by.setdefault(name, []).append((f"{PATH}.{name}", "gpu.featureGates"))

    def path(self, name: str) -> str:
        return self.by[name][0][0] if self.by.get(name) else f"{PATH}.{name}"

    def who(self, name: str) -> str:
        return ", ".join(what for _, what in self.by.get(name, ())) or "gpu.featureGates"


def known_gates(context: Context) -> Iterator[Finding]:
    for name in context.settings.gpu.feature_gates:
        if name not in context.facts.gates:
            yield finding(
                "CHT006",
                "error",
                f"{PATH}.{name}",
                name,
                "the DRA driver has no such gate",
                did_you_mean(name, context.facts.gates),
                GATES,
            )
    for chart, path, values in _raw_values(context):
        given = values.get("featureGates")
        if isinstance(given, Mapping) and given:
            yield finding(
                "GAT001",
                "error",
                f"{path}.featureGates",
                ", ".join(map(str, given)),
                f"gates in the values of {chart} would pass by every check of them",
                f"write them under {PATH}",
                "aks-dra: context/gates",
            )


def _raw_values(context: Context) -> Iterator[tuple[str, str, dict[str, object]]]:
    charts = context.settings.gpu.charts
    yield "the DRA driver's chart", "aks-dra:gpu.charts.draDriver.values", dict(charts.dra_driver.values)
    inner = charts.operator.values.get("draDriver")
    if isinstance(inner, dict):
        yield "the operator's chart", "aks-dra:gpu.charts.operator.values.draDriver", inner


def exclusions(context: Context) -> Iterator[Finding]:
    asked, known = Asked(context), context.facts.gates
    for name in sorted(asked.on):
        for other in known[name].excludes:
            if other in asked.on and name < other:
                yield finding(
                    "CHT007",
                    "error",
                    asked.path(name),
                    name,
                    f"the driver does not start with both {name}, asked for by {asked.who(name)}, and {other}, asked "
                    f"for by {asked.who(other)}: a gate holds for the whole cluster",
                    "keep one of the two in this cluster; the other needs a cluster of its own",
                    known[name].source,
                )
        for other in known[name].documented_excludes:
            if other in asked.on and not (other < name and name in known[other].documented_excludes):
                yield finding(
                    "GAT002",
                    "warning",
                    asked.path(name),
                    name,
                    f"NVIDIA's documents say that {name}, asked for by {asked.who(name)}, and {other}, asked for by "
                    f"{asked.who(other)}, exclude each other; the driver starts with both and refuses on the node",
                    "keep one of the two in this cluster",
                    known[name].source,
                )


def needs(context: Context) -> Iterator[Finding]:
    asked, known = Asked(context), context.facts.gates
    for name in sorted(asked.on):
        need = known[name].kubernetes_need
        if need and context.lacks(need):
            minimum = context.facts.kubernetes.needs[need].minimum
            yield finding(
                "CHT012",
                "error",
                asked.path(name),
                context.version,
                f"{name}, asked for by {asked.who(name)}, needs a Kubernetes feature that AKS has from {minimum} on",
                f"set cluster.kubernetesVersion to {minimum} or newer",
                context.facts.kubernetes.needs[need].source,
            )
        for other in known[name].needs:
            if other not in asked.on and not (known[other].default and asked.gates.get(other, True)):
                yield finding(
                    "CHT008",
                    "error",
                    asked.path(name),
                    name,
                    f"{name} needs {other}",
                    f"add {PATH}.{other}: true",
                    known[name].source,
                )


def switched_off(context: Context) -> Iterator[Finding]:
    for ask in gate_asks(context.settings):
        if context.settings.gpu.feature_gates.get(ask.gate) is False:
            yield finding(
                "CHT009",
                "error",
                f"{PATH}.{ask.gate}",
                "false",
                f"{ask.what} works only with this gate",
                f"remove it, or share {ask.what} in another way",
                context.facts.gates[ask.gate].source,
            )


def consumable_shares(context: Context) -> Iterator[Finding]:
    """One GPU for several claims: only as the chart's own value, since no part of the package plans with it."""
    raw = context.settings.gpu.charts.dra_driver.values.get("consumableShares")
    gate = context.settings.gpu.feature_gates.get("ConsumableShares")
    wanted = raw not in (None, "", "disabled")
    if not wanted and not gate:
        return
    path = "aks-dra:gpu.charts.draDriver.values.consumableShares" if wanted else f"{PATH}.ConsumableShares"
    if wanted and not gate:
        yield finding(
            "GAT003",
            "error",
            path,
            raw,
            "the value does nothing without the gate ConsumableShares",
            f"add {PATH}.ConsumableShares: true, or remove the value",
            context.facts.gates["ConsumableShares"].source,
        )
    yield finding(
        "GAT004",
        "warning",
        path,
        raw if wanted else "true",
        "alpha: several claims get the same GPU, nothing enforces what memory each takes, MPS claims are refused on "
        "the node, and the plan counts every GPU once",
        "share a claim between pods (shareAcross: pods) or take MIG where workloads must not disturb each other",
        context.facts.gates["ConsumableShares"].source,
    )


RULES = (known_gates, exclusions, needs, switched_off, consumable_shares)
