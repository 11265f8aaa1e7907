"""What the scheduler did, in words: where each pod is and what it got, or why it has no place.

The scheduler's own text is the same for "nothing matches" and "all taken". So the reason is worked out again from what
is in the cluster: the plan's devices, the conditions of each request, and who holds what.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from aks_dra.kube.asks import PodAsks, pod_asks
from aks_dra.kube.claims import Ask
from aks_dra.kube.workloads import Group, Pod
from aks_dra.model.plan import Plan
from aks_dra.report.tables import describe_device
from aks_dra.simulate import words
from aks_dra.simulate.hints import with_hint
from aks_dra.simulate.holdings import Holdings, allocated, device_key, node_count, users
from aks_dra.simulate.model import Got, PodResult, Reason
from aks_dra.simulate.necessary import Fleet, Judgement
from aks_dra.simulate.run import Seen, answered, claims_named

Key = tuple[str, str]
QUOTA_SUFFIX = ".deviceclass.resource.k8s.io/devices"
QUOTA_PREFIX = "requests.deviceclass.resource.kubernetes.io/"
OTHER = {
    "Insufficient cpu": "cpu",
    "Insufficient memory": "memory",
    "Too many pods": "room for pods",
    "Insufficient ephemeral-storage": "ephemeral storage",
}


class Explainer:
    """All pods of one run. Pure: it reads what `run` saw."""

    def __init__(
        self, plan: Plan, fleet: Fleet, seen: Seen, claims: Mapping[Key, Any], templates: Mapping[Key, Any]
    ) -> None:
        self.fleet, self.seen, self.claims, self.templates = fleet, seen, claims, templates
        self.devices = {
            (device.driver, node, device.name): device
            for node, pool in seen.nodes.items()
            if pool in fleet.pools
            for device in fleet.pools[pool].all_devices
        }
        self.holdings = Holdings(fleet, seen)

    def results(self) -> Iterator[PodResult]:
        for group, pods in self.seen.groups:
            for pod in pods:
                result = self.result(group, pod)
                if not (pod.name and group.kind == "DaemonSet" and _elsewhere(result)):
                    yield result

    def result(self, group: Group, pod: Pod) -> PodResult:
        key = (pod.namespace, pod.name)
        found = self.seen.pods.get(key)
        asks = pod_asks(pod.namespace, pod.name, pod.spec, self.claims, self.templates)
        judgement = self.fleet.judge(asks)
        notes = words.rests_on(judgement)
        if found is None:
            reason = self.absent(key)
            return PodResult(group.title, *key, "not placed", reasons=(reason,), notes=notes)
        node = str(found["spec"].get("nodeName") or "")
        if node:
            stumbled = [text for text in self.events_of(key) if "CEL runtime error" in text]
            if stumbled:
                text = self.raising(judgement, stumbled[-1]).text
                notes = (*notes, f"at first {text}; then others took that device")
            got = tuple(self.got(found))
            plugin = () if any(not item.claim for item in got) else tuple(sorted(asks.resources.items()))
            pool = self.seen.nodes.get(node, "")
            return PodResult(group.title, *key, "placed", node, pool, got, plugin, notes=notes)
        condition = _condition(found)
        said = str(condition.get("message", "")) or " ".join(
            str(event.get("message", "")) for event in self.seen.events.get(key, ())[-1:]
        )
        reasons = self.refused_claims(pod) or tuple(self.why(key, found, condition, asks, judgement))
        return PodResult(group.title, *key, "not placed", reasons=reasons, scheduler=said, notes=notes)

    def got(self, pod: dict[str, Any]) -> Iterator[Got]:
        """The devices in the pod's claims, by the names under which the pod knows the claims."""
        status = pod.get("status") or {}
        made = {entry["name"]: entry.get("resourceClaimName") for entry in status.get("resourceClaimStatuses") or ()}
        named = {
            str(made.get(entry["name"]) or entry.get("resourceClaimName")): str(entry["name"])
            for entry in pod["spec"].get("resourceClaims") or ()
        }
        if extended := (status.get("extendedResourceClaimStatus") or {}).get("resourceClaimName"):
            named[str(extended)] = ""
        for claim in self.seen.claims:
            name = str(claim["metadata"]["name"])
            if claim["metadata"]["namespace"] != pod["metadata"]["namespace"] or name not in named:
                continue
            for result in allocated(claim):
                device = self.devices.get(device_key(result))
                yield Got(
                    named[name],
                    str(result["request"]),
                    str(result["device"]),
                    str(result["pool"]),
                    str(result["driver"]),
                    describe_device(device) if device else "",
                    len(users(claim)) > 1,
                )

    def refused_claims(self, pod: Pod) -> tuple[Reason, ...]:
        """What a quota or a policy said of the claims and templates that a pod names."""
        refused = self.seen.refused_claims
        return tuple(refusal(refused[claim], _title(claim)) for claim in claims_named(pod) if claim in refused)

    def notes(self) -> Iterator[str]:
        """Refused claims and templates that no pod names, which no pod's answer tells of."""
        named = {claim for _, pods in self.seen.groups for pod in pods for claim in claims_named(pod)}
        for claim, text in self.seen.refused_claims.items():
            if claim not in named:
                yield f"{_title(claim)}, which no pod names: {refusal(text).text}"

    def events_of(self, key: Key) -> list[str]:
        return [str(event.get("message", "")) for event in self.seen.events.get(key, ())]

    def absent(self, key: Key) -> Reason:
        if text := self.seen.refused.get(key):
            return refusal(text)
        events = self.seen.events.get(key, ())
        if any(event.get("reason") == "Preempted" for event in events):
            text = "it had a place and lost it to a pod of higher priority"
            return Reason("preempted", text, "raise its priority, or add nodes")
        return Reason("gone", "the pod was deleted while the simulation ran")

    def why(
        self, key: Key, pod: dict[str, Any], condition: Mapping[str, Any], asks: PodAsks, judgement: Judgement
    ) -> Iterator[Reason]:
        said = str(condition.get("message", ""))
        events = self.events_of(key)
        if gates := pod["spec"].get("schedulingGates"):
            names = ", ".join(str(gate["name"]) for gate in gates)
            yield Reason("gated", f"its scheduling gates ({names}) keep it from the scheduler", "remove them")
        elif (scheduler := pod["spec"].get("schedulerName")) not in (None, "default-scheduler"):
            yield Reason("scheduler", f"it is left to the scheduler {scheduler}", "remove schedulerName to try it here")
        elif judgement.own:
            for obstacle in judgement.own:
                yield words.of_pod(with_hint(obstacle, self.claims, self.templates), self.fleet, asks)
        elif quota := next((text for text in events if "exceeded quota" in text or "forbidden" in text), ""):
            yield refusal(quota)
        elif "exceeded quota" in said:
            yield refusal(said)
        elif "CEL runtime error" in said:
            yield self.raising(judgement, said)
        elif not answered(pod):
            yield Reason("silent", "the scheduler did not speak of it", "; ".join(events[-1:]))
        elif not judgement.possible and not _plain(asks):
            yield from words.reasons(asks, judgement, self.fleet)
        else:
            yield from self.occupied(asks, judgement, said)

    def raising(self, judgement: Judgement, said: str) -> Reason:
        """The device and selector behind a CEL runtime error: the scheduler names the node and the device."""
        found = re.search(r"on device [^/\s]+/([^/\s]+)/([^:\s]+)", said)
        pool = self.seen.nodes.get(found[1], "") if found else ""
        raising = [item for item in judgement.raising if item.pool == pool] or judgement.raising
        return words.raises(raising[0], self.fleet) if raising else Reason("raises", said)

    def occupied(self, asks: PodAsks, judgement: Judgement, said: str) -> Iterator[Reason]:
        """The pod could be on an empty pool: what is in its way now."""
        found = False
        for name in judgement.possible:
            nodes = [node for node, pool in self.seen.nodes.items() if pool == name]
            if not nodes:
                found = True
                yield Reason("no-nodes", f"pool {name} would do, and has no nodes", "give it nodes, or --nodes max")
                continue
            for ask in [a for c in asks.claims for r in c.requests if r.takes for a in r.asks]:
                reason = self.holdings.taken(name, nodes, ask)
                if reason:
                    found = True
                    yield reason
                    break
            for resource, number in asks.resources.items():
                there = self.fleet.pools[name].extended_resources.get(resource, 0)
                free = max((there - self.holdings.used.get(node, {}).get(resource, 0) for node in nodes), default=0)
                if there and free < number:
                    found = True
                    holders = self.holdings.users_of(nodes, resource)
                    text = f"pool {name}: {resource} is used up ({there} on each of {node_count(nodes)}) by {holders}"
                    yield Reason("resource-taken", text, f"more nodes in {name}, or fewer pods")
                elif not there:
                    for entry in self.fleet.class_of(resource)[:1]:
                        reason = self.holdings.taken(name, nodes, Ask("", entry.name, number))
                        if reason:
                            found = True
                            yield reason
        for pool, obstacles in judgement.pools.items():
            if found and obstacles and all(item.code in words.OUTSIDE for item in obstacles):
                yield words.kept_out_of(self.fleet.pools[pool], obstacles)
        if not found:
            short = [word for text, word in OTHER.items() if text in said]
            if asks.node_selector and "node affinity/selector" in said and not short:
                wanted = ", ".join(f"{key}={value}" for key, value in asks.node_selector.items())
                yield Reason("label", f"no node that would do has the label {wanted}", "see `aks-dra plan` for pools")
                return
            text = f"no node has enough {' and '.join(short)} left" if short else f"the scheduler says: {said}"
            yield Reason("room" if short else "other", text)


def _title(claim: tuple[str, str, str]) -> str:
    kind, namespace, name = claim
    return f"{kind} {namespace}/{name}"


def refusal(text: str, what_was: str = "it") -> Reason:
    """What admission said: a quota, a policy, or another rule. `what_was` refused, if not the pod or its own claim."""
    quota = re.search(r"exceeded quota: ([\w.-]+), requested: (\S+), used: (\S+), limited: (\S+)", text)
    if quota:
        asked, used, limits = (dict(pair.split("=", 1) for pair in quota[part].split(",")) for part in (2, 3, 4))
        what = next(iter(asked))
        device_class = what.removesuffix(QUOTA_SUFFIX).removeprefix(QUOTA_PREFIX)
        thing = f"devices of class {device_class}" if device_class != what else what
        return Reason(
            "quota",
            f"quota {quota[1]} allows {limits.get(what)} {thing}; {used.get(what)} used, {asked[what]} more asked for",
            "raise the quota, or use fewer",
        )
    policy = re.search(r"ValidatingAdmissionPolicy '([^']+)'.*denied request: (.*)", text)
    if policy:
        return Reason("policy", f"policy {policy[1]} refuses {what_was}: {policy[2]}")
    return Reason("refused", f"the API server refuses {what_was}: {text}")


def _condition(pod: dict[str, Any]) -> dict[str, Any]:
    conditions = (pod.get("status") or {}).get("conditions") or ()
    return next((dict(item) for item in conditions if item["type"] == "PodScheduled"), {})


def _plain(asks: PodAsks) -> bool:
    return not asks.claims and not asks.resources and not asks.missing


def _elsewhere(result: PodResult) -> bool:
    """A DaemonSet makes no pod for a node that its selector or a taint excludes."""
    text = result.scheduler
    other = "didn't match Pod's node affinity" in text or "untolerated taint" in text
    return result.status == "not placed" and other and "cannot allocate" not in text and "Insufficient" not in text
