"""Pods that use a claim shared with others beside one from a template, which some schedulers fail to score."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from aks_dra.facts import Facts
from aks_dra.kube.claims import KINDS, pod_claims

FAULT = "shared-claim-beside-template"


def mixes_claims(pod: Mapping[str, Any]) -> bool:
    """Whether a pod's spec names a claim and a template."""
    return {named.kind for named in pod_claims(pod)} == set(KINDS)


def mixed_claims(
    facts: Facts, kubernetes_minor: tuple[int, int], pods: Iterable[tuple[str, Mapping[str, Any]]]
) -> tuple[str, ...]:
    """A warning for each workload, given as (title, spec of its pods), on the versions that have the fault."""
    fault = facts.aks_faults[FAULT]
    if f"{kubernetes_minor[0]}.{kubernetes_minor[1]}" not in fault.versions:
        return ()
    titles = dict.fromkeys(title for title, spec in pods if mixes_claims(spec))
    return tuple(f"warning: {title}: {fault.effect}; {fault.remedy}" for title in titles)
