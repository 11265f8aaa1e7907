"""Why a DaemonSet has no pod on a node: its node selector, its affinity and its tolerations against the node.

Kubernetes makes no pod and no event for a node that a DaemonSet does not fit, so the reason has to be found
from the outside. Only what decides that is looked at: resources never do, for these pods ask for none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Item = Mapping[str, Any]

# Taints that the DaemonSet controller tolerates for every pod it makes.
ALWAYS_TOLERATED = {
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/unreachable",
    "node.kubernetes.io/disk-pressure",
    "node.kubernetes.io/memory-pressure",
    "node.kubernetes.io/pid-pressure",
    "node.kubernetes.io/unschedulable",
}


def labels_of(item: Item) -> Mapping[str, str]:
    return (item.get("metadata") or {}).get("labels") or {}


def name_of(item: Item) -> str:
    return str((item.get("metadata") or {}).get("name", "?"))


def pod_spec(daemonset: Item) -> Item:
    spec: Item = daemonset["spec"]["template"].get("spec") or {}
    return spec


def obstacles(daemonset: Item, node: Item) -> list[str]:
    """Every reason why this DaemonSet makes no pod for this node; [] when it fits."""
    spec, labels = pod_spec(daemonset), labels_of(node)
    found = []
    for key, value in sorted((spec.get("nodeSelector") or {}).items()):
        if labels.get(key) != value:
            has = f"has {key}={labels[key]}" if key in labels else f"has no label {key}"
            found.append(f"its node selector wants {key}={value}, the node {has}")
    terms = required_terms(spec)
    if terms and not any(all(fits(expression, labels) for expression in term) for term in terms):
        wanted = " or ".join(" and ".join(map(spell, term)) or "nothing" for term in terms)
        keys = sorted({str(expression["key"]) for term in terms for expression in term})
        has = ", ".join(f"{key}={labels[key]}" if key in labels else f"no {key}" for key in keys)
        found.append(f"its affinity wants {wanted}; the node has {has}")
    for taint in (node.get("spec") or {}).get("taints") or []:
        hard = taint.get("effect") in {"NoSchedule", "NoExecute"} and taint["key"] not in ALWAYS_TOLERATED
        if hard and not any(tolerates(toleration, taint) for toleration in spec.get("tolerations") or []):
            found.append(f"it does not tolerate the taint {taint['key']}={taint.get('value', '')}:{taint['effect']}")
    return found


def required_terms(spec: Item) -> list[Sequence[Item]]:
    """The terms of the required node affinity, one of which must fit. matchFields are not used by these charts."""
    affinity = ((spec.get("affinity") or {}).get("nodeAffinity") or {}).get(
        "requiredDuringSchedulingIgnoredDuringExecution"
    )
    return [term.get("matchExpressions") or [] for term in (affinity or {}).get("nodeSelectorTerms") or []]


def fits(expression: Item, labels: Mapping[str, str]) -> bool:
    key, operator, values = str(expression["key"]), expression["operator"], expression.get("values") or []
    if operator == "In":
        return labels.get(key) in values
    if operator == "NotIn":
        return labels.get(key) not in values
    if operator == "Exists":
        return key in labels
    if operator == "DoesNotExist":
        return key not in labels
    try:
        number, limit = int(labels[key]), int(values[0])
    except (KeyError, IndexError, ValueError):
        return False
    return number > limit if operator == "Gt" else number < limit


def spell(expression: Item) -> str:
    values = ", ".join(expression.get("values") or [])
    return f"{expression['key']} {expression['operator']}" + (f" [{values}]" if values else "")


def tolerates(toleration: Item, taint: Item) -> bool:
    if toleration.get("effect") and toleration["effect"] != taint.get("effect"):
        return False
    if not toleration.get("key"):
        return toleration.get("operator") == "Exists"
    if toleration["key"] != taint["key"]:
        return False
    return toleration.get("operator") == "Exists" or (toleration.get("value") or "") == (taint.get("value") or "")
