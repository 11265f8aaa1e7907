"""What `aks-dra simulate` does: the plan, the workload, a control plane or none, and the report.

With a kubeconfig it uses that cluster, if it has no real node. Without one it looks for a checkout, whose `local`
package starts a control plane of its own for the time of the run; the command then runs in that one's child, with the
kubeconfig. Where there is none, necessary conditions are answered.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from aks_dra.facts import Facts, load_facts
from aks_dra.kube.mixed_claims import mixed_claims
from aks_dra.kube.reading import WorkloadError, read_files
from aks_dra.kube.versions import minor
from aks_dra.kube.workloads import DEFAULT_NAMESPACE, Workloads, workloads
from aks_dra.model.plan import Plan
from aks_dra.simulate.classes import known_classes
from aks_dra.simulate.conditions_only import conditions_report
from aks_dra.simulate.fleet import Nodes, node_pools
from aks_dra.simulate.model import Report, SimulationError
from aks_dra.simulate.necessary import Fleet

CHECKOUT = "AKS_DRA_CHECKOUT"
NOT_BUILT = 69
"""What the local starter answers when Kubernetes was not built yet; that takes too long to do unasked."""

MOST_NODES = 1000

Named = dict[tuple[str, str], Mapping[str, Any]]


def read_workloads(files: Sequence[Path], namespace: str = DEFAULT_NAMESPACE) -> Workloads:
    """The files' pods and objects. Raises WorkloadError."""
    found = workloads(read_files(list(files)), namespace)
    if not any(group.pods for group in found.groups):
        raise WorkloadError(f"no pods in {', '.join(map(str, files))}: give Pods, Deployments, Jobs or the like")
    return found


def claims_and_templates(plan: Plan, found: Workloads) -> tuple[Named, Named]:
    """Those of the plan and of the workload, by namespace and name."""
    named: dict[str, Named] = {"ResourceClaim": {}, "ResourceClaimTemplate": {}}
    for manifest in (*(entry.manifest for entry in plan.objects), *found.objects):
        if manifest["kind"] in named:
            metadata = manifest["metadata"]
            named[manifest["kind"]][str(metadata.get("namespace", DEFAULT_NAMESPACE)), str(metadata["name"])] = manifest
    return named["ResourceClaim"], named["ResourceClaimTemplate"]


def fleet_of(plan: Plan, found: Workloads, version: tuple[int, int]) -> Fleet:
    return Fleet(plan.pools, known_classes(plan, found.of_kind("DeviceClass")), version)


def without_cluster(plan: Plan, found: Workloads, why: str) -> Report:
    """Necessary conditions."""
    claims, templates = claims_and_templates(plan, found)
    version = minor(plan.cluster.kubernetes_version)
    found = replace(found, notes=(*found.notes, *_mixed(found, version, load_facts())))
    return conditions_report(plan, fleet_of(plan, found, version), found, claims, templates, why)


def with_cluster(
    plan: Plan,
    found: Workloads,
    kubeconfig: Path,
    nodes: Nodes = "first",
    keep: bool = False,
    clean_first: bool = False,
    facts: Facts | None = None,
) -> Report:
    """The scheduler's word. Raises SimulationError."""
    from aks_dra.simulate.cleaning import leaving_nothing
    from aks_dra.simulate.cluster import Cluster, Refused, refuse_real_nodes
    from aks_dra.simulate.explain import Explainer
    from aks_dra.simulate.run import Run

    cluster = Cluster(kubeconfig)
    pools = node_pools(plan, nodes)
    total = sum(pool.count for pool in pools)
    if total > MOST_NODES:
        raise SimulationError(f"the plan has {total} nodes; at most {MOST_NODES} can be simulated")
    try:
        refuse_real_nodes(cluster)
        version = cluster.version()
        run = Run(cluster, plan, facts or load_facts(), pools)
        with leaving_nothing(cluster, run.id, keep, clean_first):
            run.publish(found)
            seen = run.place(found)
    except Refused as error:
        raise SimulationError(f"the API server {cluster.server} answers {error}") from None
    claims, templates = claims_and_templates(plan, found)
    explainer = Explainer(plan, fleet_of(plan, found, version), seen, claims, templates)
    notes = [*found.notes, *explainer.notes(), *_mixed(found, version, facts or load_facts())]
    if version != minor(plan.cluster.kubernetes_version):
        notes.append(
            f"the cluster follows Kubernetes {version[0]}.{version[1]}, the plan says {plan.cluster.kubernetes_version}"
        )
    kept = f"kept in the cluster, with the label simulated.aks-dra.dev/run={run.id}"
    if keep and not os.environ.get(INNER):
        notes.append(kept)
    title = f"{plan.project}/{plan.stack}"
    return Report(title, True, f"{version[0]}.{version[1]}", tuple(explainer.results()), tuple(notes))


def _mixed(found: Workloads, version: tuple[int, int], facts: Facts) -> tuple[str, ...]:
    return mixed_claims(facts, version, ((group.title, pod.spec) for group in found.groups for pod in group.pods))


INNER = "AKS_DRA_SIMULATE_INNER"


def checkout(stack: Path) -> Path | None:
    """The folder with Pulumi.yaml and the `local` package: the variable's, around the stack file, or this package's."""
    given = os.environ.get(CHECKOUT)
    starts = [Path(given)] if given else [stack.resolve().parent, Path.cwd(), Path(__file__).resolve().parent]
    for start in starts:
        for folder in (start, *start.parents):
            if (folder / "Pulumi.yaml").is_file() and (folder / "local" / "simulate.py").is_file():
                return folder
    return None


def by_local(folder: Path, arguments: Sequence[str]) -> int:
    """Runs the command once more, by the checkout's starter of control planes. Gives its exit code."""
    places = [str(folder), str(folder / "components"), *filter(None, [os.environ.get("PYTHONPATH")])]
    command = [sys.executable, "-m", "local.simulate", "--if-built", *arguments]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(places)}
    process = subprocess.Popen(command, env=environment)
    before = signal.signal(signal.SIGTERM, lambda number, frame: process.send_signal(number))
    try:
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:
                continue  # it got the signal too, and tidies up
    finally:
        signal.signal(signal.SIGTERM, before)
