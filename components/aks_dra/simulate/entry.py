"""The command from its arguments to its exit code: 0 all placed (or nothing against it), 1 some not, 2 wrong use."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType
from typing import Any, Literal

from aks_dra.findings.finding import Finding
from aks_dra.kube.reading import WorkloadError
from aks_dra.kube.workloads import DEFAULT_NAMESPACE, Workloads
from aks_dra.model.plan import Plan
from aks_dra.simulate import command
from aks_dra.simulate.model import Report, SimulationError

GOOD, SOME_NOT, WRONG_USE, INTERRUPTED = 0, 1, 2, 130


@dataclass(frozen=True)
class Options:
    """The options of the command."""

    stack: Path
    workloads: Sequence[Path]
    format: Literal["text", "json"] = "text"
    kubeconfig: Path | None = None
    no_cluster: bool = False
    namespace: str = DEFAULT_NAMESPACE
    nodes: Literal["first", "max"] = "first"
    keep: bool = False
    clean: bool = False
    dry_run: bool = False


def simulate(options: Options, console: Any, plan: Plan | None, findings: Sequence[Finding]) -> int:
    """Prints the report; gives the exit code."""
    if plan is None:
        from aks_dra.report.findings import print_findings

        print_findings(console, tuple(findings))
        return WRONG_USE
    try:
        if options.no_cluster and options.kubeconfig:
            raise SimulationError("--no-cluster and --kubeconfig exclude each other")
        found = command.read_workloads(options.workloads, options.namespace)
        if options.dry_run:
            print(json.dumps(summary(plan, found, options)))
            return GOOD
        report = answer(options, plan, found)
    except (WorkloadError, SimulationError) as error:
        print(f"error: {error}", file=sys.stderr)
        return WRONG_USE
    except KeyboardInterrupt:
        print("stopped; what was made for the simulation is deleted", file=sys.stderr)
        return INTERRUPTED
    if isinstance(report, int):
        return report
    if errors := sum(finding.severity == "error" for finding in findings):
        text = f"the plan has {errors} error{'s' if errors > 1 else ''}: see `aks-dra check {options.stack}`"
        report = replace(report, notes=(text, *report.notes))
    from aks_dra.simulate.show import as_document, print_report

    if options.format == "json":
        print(json.dumps(as_document(report), indent=2))
    else:
        print_report(console, report)
    return GOOD if report.good else SOME_NOT


def summary(plan: Plan, found: Workloads, options: Options) -> dict[str, Any]:
    from aks_dra.simulate.fleet import node_pools

    return {
        "kubernetesVersion": plan.cluster.kubernetes_version,
        "nodes": sum(pool.count for pool in node_pools(plan, options.nodes)),
        "pods": sum(len(group.pods) for group in found.groups),
    }


def answer(options: Options, plan: Plan, found: Workloads) -> Report | int:
    """The report, or the exit code of the command that was run in this one's place and has said all."""
    if options.no_cluster:
        return command.without_cluster(plan, found, "--no-cluster")
    if options.kubeconfig:
        with interruptible():
            return command.with_cluster(plan, found, options.kubeconfig, options.nodes, options.keep, options.clean)
    folder = command.checkout(options.stack)
    if folder is None:
        return command.without_cluster(plan, found, "no --kubeconfig, and no checkout that could start a control plane")
    code = command.by_local(folder, arguments(options))
    if code == command.NOT_BUILT:
        return command.without_cluster(plan, found, "Kubernetes is not built yet; `make simulate` builds it")
    return code


def arguments(options: Options) -> list[str]:
    """The command line once more, for the child."""
    parts = [str(options.stack), *map(str, options.workloads), "--format", options.format]
    return [*parts, "--namespace", options.namespace, "--nodes", options.nodes]


@contextmanager
def interruptible() -> Iterator[None]:
    """SIGTERM ends the block as Ctrl-C does. Either does so at the latest when the block is through.

    Python passes over an exception that is raised while it frees something, a response of the API server for example.
    """
    import signal

    told: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        told.append(number)
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if told:
        raise KeyboardInterrupt
