"""The answer without a control plane: what cannot be placed, and where the rest may be. Never who gets what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from aks_dra.planning.asks import pod_asks
from aks_dra.planning.model import Plan
from aks_dra.planning.necessary import Fleet
from aks_dra.simulate import words
from aks_dra.simulate.hints import with_hint
from aks_dra.simulate.model import PodResult, Report
from aks_dra.simulate.workloads import Workloads

Key = tuple[str, str]


def conditions_report(
    plan: Plan, fleet: Fleet, workloads: Workloads, claims: Mapping[Key, Any], templates: Mapping[Key, Any], why: str
) -> Report:
    """Each pod alone on an empty fleet. `why` says why no scheduler was asked."""
    notes = (f"no scheduler was asked ({why}): necessary conditions only, each pod as if alone", *workloads.notes)
    pods = tuple(_results(fleet, workloads, claims, templates))
    version = ".".join(map(str, fleet.minor))
    return Report(f"{plan.project}/{plan.stack}", False, version, pods, notes)


def _results(
    fleet: Fleet, workloads: Workloads, claims: Mapping[Key, Any], templates: Mapping[Key, Any]
) -> Iterator[PodResult]:
    for group in workloads.groups:
        for pod in group.pods:
            asks = pod_asks(pod.namespace, pod.name, pod.spec, claims, templates)
            judgement = fleet.judge(asks)
            notes = words.rests_on(judgement)
            for item in judgement.raising[:1]:
                reason = words.raises(item)
                notes = (*notes, f"while that device is free, {reason.text}; {reason.remedy}")
            if judgement.verdict == "may":
                possible = judgement.possible if asks.claims or asks.resources else ()
                yield PodResult(group.title, pod.namespace, pod.name, "may", notes=notes, possible=possible)
            else:
                own = tuple(with_hint(item, claims, templates) for item in judgement.own)
                reasons = (
                    [words.of_pod(item, fleet, asks) for item in own] if own else words.reasons(asks, judgement, fleet)
                )
                yield PodResult(group.title, pod.namespace, pod.name, "cannot", reasons=tuple(reasons), notes=notes)
