"""Obstacles as sentences, with what to write instead."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import yaml

from aks_dra.cel import lint
from aks_dra.facts import load_facts
from aks_dra.kube.asks import IMPLICIT, PodAsks
from aks_dra.kube.claims import Ask
from aks_dra.matching.conditions import in_words
from aks_dra.model.plan import PlannedPool
from aks_dra.report.tables import describe_device
from aks_dra.simulate.model import Reason
from aks_dra.simulate.necessary import Fleet, Judgement, Obstacle

MOST = 3
OUTSIDE = ("label", "taint")
NEARLY = ("too-few", "resource", "attribute-missing", "attribute-unlike", "capacity")
SOME = ("attribute-missing", "attribute-unlike", "capacity")  # of those, what has no number


def reasons(pod: PodAsks, judgement: Judgement, fleet: Fleet) -> list[Reason]:
    """Why no pool can take the pod: what is wrong with the pod itself, then what each pool lacks, nearest first."""
    if judgement.own:
        return [of_pod(obstacle, fleet, pod) for obstacle in judgement.own]
    blocked = {name: found for name, found in judgement.pools.items() if found}
    kept_out = {name: found for name, found in blocked.items() if all(item.code in OUTSIDE for item in found)}
    result = [kept_out_of(fleet.pools[name], found) for name, found in kept_out.items()]
    if kept_out:
        return result
    return lacks(blocked, fleet)


def of_pod(obstacle: Obstacle, fleet: Fleet, pod: PodAsks) -> Reason:
    about, hint = obstacle.about, obstacle.hint
    if obstacle.code == "class-missing":
        known = ", ".join(sorted(fleet.classes)[:8]) or "none"
        remedy = f"did you mean {hint}?" if hint else f"write one of the classes that there are: {known}"
        if about.startswith("compute-domain-"):
            remedy = "ComputeDomains are not simulated: leave the claim out"
        return Reason(obstacle.code, f"device class {about} does not exist", remedy)
    if obstacle.code == "refused":
        problem = lint(hint, (), fleet.minor)[0]
        where = f", request {obstacle.ask.reference}" if obstacle.ask and about.startswith("claim ") else ""
        return Reason(
            obstacle.code, f"the API server refuses a selector of {about}{where}: {problem.text}", problem.remedy
        )
    if obstacle.code == "too-many":
        text = f"claim {about} asks for {obstacle.wanted} devices; one claim holds at most {obstacle.there}"
        return Reason(obstacle.code, text, "use several claims")
    kind = "ResourceClaimTemplate" if obstacle.code == "template-missing" else "ResourceClaim"
    remedy = f"create it in namespace {pod.namespace}: it must be in the pod's own"
    if hint:
        remedy = f"did you mean {hint}?"
        if hint.partition("/")[0] != pod.namespace:
            remedy = f"{hint} is another namespace's, and a pod uses those of its own: create it in {pod.namespace}"
    return Reason(obstacle.code, f"{kind} {about} does not exist", remedy)


def kept_out_of(pool: PlannedPool, obstacles: Iterable[Obstacle]) -> Reason:
    """The pool has what the pod asks for, but the pod is kept away from its nodes."""
    taints = [item.about for item in obstacles if item.code == "taint"]
    labels = [item for item in obstacles if item.code == "label"]
    parts = [f"the pod does not tolerate its taint {taint}" for taint in taints]
    parts += [
        f"the pod wants the label {item.about}, which it " + (f"has as {item.hint}" if item.hint else "does not have")
        for item in labels
    ]
    advice = []
    if taints:
        needed = [dict(entry) for entry in pool.pod.tolerations if any(_bears(entry, taint) for taint in taints)]
        advice.append(f"add to the pod tolerations: {_flow(needed)}")
    if labels:
        advice.append(f"write nodeSelector: {_flow(dict(pool.pod.node_selector))}")
    code = "taint" if taints and not labels else "label" if labels and not taints else "kept-out"
    return Reason(code, f"pool {pool.name} has what the pod asks for, but {' and '.join(parts)}", "; ".join(advice))


def _bears(toleration: Mapping[str, str], taint: str) -> bool:
    return taint.rpartition(":")[0].partition("=")[0] == toleration.get("key")


def _flow(value: object) -> str:
    """As one line of YAML, to be copied."""
    return yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=10**6, allow_unicode=True).strip()


def lacks(blocked: Mapping[str, tuple[Obstacle, ...]], fleet: Fleet) -> list[Reason]:
    """What the pools lack, one sentence for those that lack the same; the nearest first."""
    if not blocked:
        return [Reason("no-match", "the plan has no GPU pool", "add one to aks-dra:pools")]
    of_devices = {
        name: next((item for item in found if item.code not in OUTSIDE), None) for name, found in blocked.items()
    }
    worst = [item for item in of_devices.values() if item]
    raising = [item for item in worst if item.code == "raises"]
    if raising:
        return [raises(raising[0], fleet)]
    unmapped = next((item for item in worst if item.code == "resource-unmapped"), None)
    if unmapped and all(item.code == "resource-unmapped" for item in worst):
        return [Reason(unmapped.code, f"no pool and no device class serves {unmapped.about}", advice(unmapped, fleet))]
    ranked = sorted(worst, key=lambda item: _rank(item, fleet))
    # where some pools nearly do, the others are not worth a word
    near = [item for item in ranked if item.code in NEARLY and (item.there or item.code in SOME)]
    lines: dict[str, list[Obstacle]] = {}
    for item in near or ranked:
        lines.setdefault(sentence(item, fleet), []).append(item)
    result = [
        Reason(items[0].code, f"pool{'s' if len(items) > 1 else ''} {', '.join(item.pool for item in items)}: {text}")
        for text, items in list(lines.items())[:MOST]
    ]
    if len(lines) > MOST:
        result.append(Reason("no-match", f"and {len(lines) - MOST} more of the kind"))
    result[0] = Reason(result[0].code, result[0].text, advice(ranked[0], fleet))
    return result


def _rank(item: Obstacle, fleet: Fleet) -> tuple[int, int, str]:
    """The nearest first: what has some, then what fails last, and pools without devices at the end."""
    held = item.tried.held if item.tried else 0
    if item.code in NEARLY and (item.there or item.code in SOME):
        return (0, -item.there, item.pool)
    bare = item.code == "no-match" and not fleet.pools[item.pool].all_devices
    return (2 if bare else 1, -held, item.pool)


def sentence(item: Obstacle, fleet: Fleet) -> str:
    pool = fleet.pools[item.pool]
    if item.code == "too-few":
        return f"one node has {item.there} devices for {_ask(item.ask)}, {item.wanted} are asked for on one node"
    if item.code == "attribute-missing":
        return f"its devices have no attribute {item.about}, which matchAttribute wants them to share"
    if item.code == "attribute-unlike":
        return f"no {item.wanted} of its devices that match have the same {item.about}, as matchAttribute wants"
    if item.code == "capacity" and item.ask and item.device:
        amount, held = item.ask.capacity[item.about], item.device.capacity.get(item.about)
        has = "no capacity of this name" if held is None else str(held)
        return f"{describe_device(item.device)} has not the {amount} of {item.about} that are asked for: it has {has}"
    if item.code == "resource":
        through = f" (by class {item.ask.device_class})" if item.ask else ""
        return f"one node has {item.there} of {item.about}{through}, {item.wanted} are asked for"
    if item.code == "resource-unmapped":
        return f"nothing there serves {item.about}"
    if pool.allocation == "devicePlugin" and not pool.all_devices:
        offer = ", ".join(pool.extended_resources) or "nothing"
        return f"served by the device plugin, so claims get nothing there (it offers {offer})"
    if item.device is None or item.tried is None:
        return "its nodes publish no devices"
    return f"{describe_device(item.device)} is not {_ask(item.ask)}: {in_words(item.tried.part, item.device)}"


def advice(item: Obstacle, fleet: Fleet) -> str:
    if item.code == "too-few":
        return f"ask for {item.there} or less in one pod, or take a larger VM size"
    if item.code == "attribute-missing":
        return "remove the constraint"
    if item.code == "attribute-unlike":
        return "remove the constraint, or name an attribute that such devices share"
    if item.code == "capacity":
        return "ask for less of it, or name a class of larger devices"
    if item.code == "resource":
        return (
            f"ask for {item.there} or less in one pod" if item.there else "see which classes match with `aks-dra plan`"
        )
    if item.code == "resource-unmapped":
        if item.about.startswith(IMPLICIT):
            return f"there is no class {item.about.removeprefix(IMPLICIT)}; `aks-dra plan` lists the classes"
        if not fleet.extended and any(entry.resource == item.about for entry in fleet.classes.values()):
            since = load_facts().kubernetes.needs["extended_resource_request"].minimum
            return (
                f"device classes serve extended resources from Kubernetes {since} on: use a claim, or raise the version"
            )
        return "no device class has it as extendedResourceName; use a claim, or set extendedResourceName on a class"
    return "see what each class matches with `aks-dra plan`"


def raises(item: Obstacle, fleet: Fleet) -> Reason:
    """A selector that raises on a device, with what the check of stack files would say to write instead."""
    assert item.tried is not None
    assert item.device is not None
    assert item.ask is not None
    selector, about = item.tried.part, item.about
    holder = f"class {about}" if selector in fleet.classes[about].selectors else f"the request for {about}"
    text = (
        f"a selector of {holder} raises an error on {describe_device(item.device)} (pool {item.pool}), which ends "
        f"the pod's scheduling on every node: {item.tried.raises} in {selector}"
    )
    selectors = fleet.selectors(item.ask)
    before = selectors[: selectors.index(selector)] if selector in selectors else ()
    found = lint(selector, (item.device,), fleet.minor, before)
    return Reason("raises", text, next((problem.remedy for problem in found if problem.severity == "error"), ""))


def _ask(ask: Ask | None) -> str:
    if ask is None:
        return "the request"
    return f"{ask.device_class} with its selectors" if ask.cel else ask.device_class


def rests_on(judgement: Judgement) -> tuple[str, ...]:
    """What the answer rests on and only a node knows."""
    if not judgement.undecided:
        return ()
    return (f"rests on {', '.join(judgement.undecided)}, which only a node knows",)
