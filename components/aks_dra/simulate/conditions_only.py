"""The answer without a control plane: what cannot be placed, and where the rest may be. Never who gets what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from aks_dra.kube.asks import PodAsks, pod_asks
from aks_dra.kube.workloads import Workloads
from aks_dra.model.plan import Plan
from aks_dra.simulate import words
from aks_dra.simulate.hints import with_hint
from aks_dra.simulate.model import PodResult, Reason, Report
from aks_dra.simulate.necessary import Fleet

Key = tuple[str, str]
LABEL = "resource.kubernetes.io/admin-access"


def conditions_report(
    plan: Plan, fleet: Fleet, workloads: Workloads, claims: Mapping[Key, Any], templates: Mapping[Key, Any], why: str
) -> Report:
    """Each pod alone on an empty fleet. `why` says why no scheduler was asked."""
    notes = (f"no scheduler was asked ({why}): necessary conditions only, each pod as if alone", *workloads.notes)
    pods = tuple(_results(fleet, workloads, claims, templates, _labelled(plan, workloads)))
    version = ".".join(map(str, fleet.minor))
    return Report(f"{plan.project}/{plan.stack}", False, version, pods, notes)


def _labelled(plan: Plan, workloads: Workloads) -> dict[str, bool]:
    """By namespace, whether it is labelled for admin access, where that can be told."""
    own = [entry.manifest for entry in plan.namespaces if entry.kind == "Namespace" and not entry.patch]
    return {
        str(manifest["metadata"]["name"]): (manifest["metadata"].get("labels") or {}).get(LABEL) == "true"
        for manifest in (*own, *workloads.of_kind("Namespace"))
    }


def _looking_on(asks: PodAsks, labelled: Mapping[str, bool]) -> tuple[list[Reason], tuple[str, ...]]:
    """Admin access needs the namespace's label: a refusal where it is known to lack it, else a note."""
    claims = [c.name for c in asks.claims if not all(r.takes for r in c.requests)]
    if not claims or labelled.get(asks.namespace):
        return [], ()
    if asks.namespace not in labelled:
        return [], (f'admin access needs the label {LABEL}: "true" on namespace {asks.namespace}',)
    text = f"claim {claims[0]} asks for admin access, and namespace {asks.namespace} is not labelled for it"
    remedy = f"set aks-dra:namespaces.{asks.namespace}.adminAccess: true, or take a namespace that has it"
    return [Reason("refused", text, remedy)], ()


def _results(
    fleet: Fleet,
    workloads: Workloads,
    claims: Mapping[Key, Any],
    templates: Mapping[Key, Any],
    labelled: Mapping[str, bool],
) -> Iterator[PodResult]:
    for group in workloads.groups:
        for pod in group.pods:
            asks = pod_asks(pod.namespace, pod.name, pod.spec, claims, templates)
            judgement = fleet.judge(asks)
            reasons: list[Reason] = []
            if judgement.verdict == "cannot":
                own = tuple(with_hint(item, claims, templates) for item in judgement.own)
                reasons = (
                    [words.of_pod(item, fleet, asks) for item in own] if own else words.reasons(asks, judgement, fleet)
                )
            refused, looking = _looking_on(asks, labelled)
            reasons += refused
            notes = (*words.rests_on(judgement), *looking)
            if not any(reason.code == "raises" for reason in reasons):
                for item in judgement.raising[:1]:
                    reason = words.raises(item, fleet)
                    notes = (*notes, f"while that device is free, {reason.text}; {reason.remedy}")
            possible = judgement.possible if asks.claims or asks.resources else ()
            yield PodResult(
                group.title,
                pod.namespace,
                pod.name,
                "cannot" if reasons else judgement.verdict,
                reasons=tuple(reasons),
                notes=notes,
                possible=() if reasons else possible,
            )
