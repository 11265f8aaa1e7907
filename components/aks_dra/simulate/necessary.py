"""What can be said of a workload without a scheduler: conditions that must hold before any pod of it can be placed.

The answer is "cannot" or "may", never "will". Each pool is looked at as if it were empty: does a node of it bear the
pod's labels and tolerations, has it enough devices that match every request, or enough of an extended resource? Which
device goes to whom is left to the scheduler, so this is no second allocator; "cannot" must hold whatever it does. A
device that might match (its answer rests on values that only the node knows) counts as matching, one that raises never
does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from aks_dra import names
from aks_dra.cel import CompileError, compile_expression
from aks_dra.facts import load_facts
from aks_dra.findings.build import nearest
from aks_dra.kube.asks import IMPLICIT, Missing, PodAsks, has_room, tolerates
from aks_dra.kube.claims import Ask, Claim, Request
from aks_dra.kube.devices import GPU_DRIVER, Device, distinct
from aks_dra.kube.versions import minor as version
from aks_dra.matching.alike import can_be_alike
from aks_dra.matching.conditions import Tried, attempt
from aks_dra.matching.counters import most_at_once
from aks_dra.model.plan import PlannedPool
from aks_dra.simulate.classes import KnownClass

Code = Literal[
    "class-missing", "template-missing", "claim-missing", "label", "taint", "no-match", "too-few", "too-many",
    "raises", "refused", "attribute-missing", "attribute-unlike", "capacity", "resource", "resource-unmapped",
]  # fmt: skip


@dataclass(frozen=True)
class Obstacle:
    """Why a pod cannot be on a pool, or (pool "") on any."""

    code: Code
    pool: str
    about: str  # the label, taint, class, attribute or resource
    wanted: int = 0
    there: int = 0
    ask: Ask | None = None
    device: Device | None = None  # the nearest that fails, or one that raises
    tried: Tried | None = None
    hint: str = ""


@dataclass(frozen=True)
class Judgement:
    """The answer for one pod: every pool's obstacles; those of the pod itself; attributes that it rests on."""

    verdict: Literal["cannot", "may"]
    own: tuple[Obstacle, ...] = ()
    pools: Mapping[str, tuple[Obstacle, ...]] = field(default_factory=dict)
    undecided: tuple[str, ...] = ()
    # Devices on which a selector raises, of pools that the pod may go to: while one is free, no node takes the pod.
    raising: tuple[Obstacle, ...] = ()

    @property
    def possible(self) -> tuple[str, ...]:
        return () if self.own else tuple(name for name, obstacles in self.pools.items() if not obstacles)


def node_labels(pool: PlannedPool) -> dict[str, str]:
    """The labels that AKS and the plan put on every node of a pool, as far as they decide where pods go."""
    accelerator = {"kubernetes.azure.com/accelerator": "nvidia", "accelerator": "nvidia"} if pool.gpu else {}
    return {
        "agentpool": pool.name,
        names.LABEL_AGENT_POOL: pool.name,
        "kubernetes.azure.com/mode": str(pool.inputs.get("mode", "User")).lower(),
        "kubernetes.io/os": str(pool.inputs.get("osType", "Linux")).lower(),
        "node.kubernetes.io/instance-type": pool.vm_size,
        **accelerator,
        **pool.labels,
    }


class Fleet:
    """Pools and classes, with what each condition comes to on each kind of device."""

    def __init__(
        self, pools: Sequence[PlannedPool], classes: Mapping[str, KnownClass], minor: tuple[int, int] | None = None
    ) -> None:
        facts = load_facts()
        self.pools = {pool.name: pool for pool in pools}
        self.classes = classes
        self.minor = minor or version(facts.kubernetes.default)
        self.extended = self.minor >= facts.since("extended_resource_request")
        self.consumable = self.minor >= facts.since("claim_capacity")
        self.devices_per_claim = facts.limit("devices_per_claim")
        self.kinds = {name: distinct(pool.all_devices) for name, pool in self.pools.items()}
        self.labels = {name: node_labels(pool) for name, pool in self.pools.items()}
        # A label that some pool is given is lacked by the others; the rest may come from programs on the node.
        self.given = {key for labels in self.labels.values() for key in labels}
        self._tried: dict[tuple[tuple[str, ...], Any], Tried] = {}

    def attempt(self, selectors: tuple[str, ...], device: Device) -> Tried:
        key = (selectors, device.kind())
        if key not in self._tried:
            self._tried[key] = attempt(selectors, device, self.minor)
        return self._tried[key]

    def selectors(self, ask: Ask) -> tuple[str, ...]:
        return (*self.classes[ask.device_class].selectors, *ask.cel)

    def matching(self, pool: str, selectors: tuple[str, ...], shared: tuple[str, ...] = ()) -> list[Device]:
        """The devices of one node that match or might, and have the attributes that must be shared."""
        return [
            device
            for device in self.pools[pool].all_devices
            if self.attempt(selectors, device).matches and not lacking(device, shared)
        ]

    def class_of(self, resource: str) -> tuple[KnownClass, ...]:
        """The class that serves a resource name; several where it is open which of them is the newest."""
        if not self.extended:
            return ()
        if resource.startswith(IMPLICIT):
            named = self.classes.get(resource.removeprefix(IMPLICIT))
            return (named,) if named else ()
        mapped = [entry for entry in self.classes.values() if entry.resource == resource]
        newest = max((entry.rank for entry in mapped), default=0)
        return tuple(entry for entry in mapped if entry.rank == newest)

    def judge(self, pod: PodAsks) -> Judgement:
        """Whether there is a pool where nothing stands in the pod's way."""
        own = tuple(self._own(pod))
        pools = {name: tuple(self._on(name, pod)) for name in self.pools} if not own else {}
        undecided = dict.fromkeys(
            name
            for ask in pod.asks
            if ask.device_class in self.classes
            for kinds in self.kinds.values()
            for device in kinds
            for name in self.attempt(self.selectors(ask), device).undecided
        )
        asks_for_devices = bool(pod.claims or pod.resources)
        stuck = bool(own) or (asks_for_devices and all(pools.values()))
        raising = () if own else tuple(self._raising(pod, pools))
        return Judgement("cannot" if stuck else "may", own, pools, tuple(undecided), raising)

    def _raising(self, pod: PodAsks, pools: Mapping[str, tuple[Obstacle, ...]]) -> Iterable[Obstacle]:
        for pool, obstacles in pools.items():
            if any(item.code in ("label", "taint") for item in obstacles):
                continue  # the scheduler looks at devices only on nodes that bear the pod
            for ask in pod.asks:
                for device in self.kinds[pool]:
                    tried = self.attempt(self.selectors(ask), device)
                    if tried.raises:
                        yield Obstacle("raises", pool, ask.device_class, 0, 0, ask, device, tried)

    def _own(self, pod: PodAsks) -> Iterable[Obstacle]:
        for missing in pod.missing:
            yield _missing(missing)
        for claim in pod.claims:
            for request in claim.requests:
                unknown = [ask for ask in request.asks if ask.device_class not in self.classes]
                # a ranked request fails as a whole with one unknown class: the scheduler looks all of them up
                for ask in unknown[:1]:
                    hint = nearest(ask.device_class, self.classes)
                    yield Obstacle("class-missing", "", ask.device_class, ask=ask, hint=hint)
                for ask in request.asks:
                    yield from self._refused(claim, ask)
            asked = sum(min(_counted(ask) for ask in request.asks) for request in claim.requests)
            if asked > self.devices_per_claim:
                yield Obstacle("too-many", "", claim.name, asked, self.devices_per_claim)

    def _refused(self, claim: Claim, ask: Ask) -> Iterable[Obstacle]:
        """Selectors that cannot be read, of the request and of its class: the API server takes neither object."""
        of_class = self.classes[ask.device_class].selectors if ask.device_class in self.classes else ()
        for holder, texts in ((f"class {ask.device_class}", of_class), (f"claim {claim.name}", ask.cel)):
            for text in texts:
                if isinstance(compile_expression(text, self.minor), CompileError):
                    yield Obstacle("refused", "", holder, ask=ask, hint=text)

    def _on(self, pool: str, pod: PodAsks) -> Iterable[Obstacle]:
        labels = self.labels[pool]
        for key, value in pod.node_selector.items():
            if labels.get(key, value if key not in self.given else None) != value:
                yield Obstacle("label", pool, f"{key}={value}", hint=labels.get(key, ""))
        for taint in self.pools[pool].taints:
            if not tolerates(pod.tolerations, taint):
                yield Obstacle("taint", pool, taint)
        for claim in pod.claims:
            yield from self._claim_on(pool, claim)
        for resource, number in pod.resources.items():
            yield from self._resource_on(pool, resource, number)

    def _claim_on(self, pool: str, claim: Claim) -> Iterable[Obstacle]:
        for request in claim.requests:
            shared = _shared_attributes(claim, request)
            obstacles = [self._ask_on(pool, ask, shared) for ask in request.asks]
            if all(obstacles):
                yield from (item for item in obstacles if item)
                return
        plain = [request for request in claim.requests if len(request.asks) == 1]
        taking = [request.asks[0] for request in plain if request.takes and not request.asks[0].every]
        together = {
            (device.driver, device.name): device
            for ask in taking
            for device in self.matching(pool, self.selectors(ask))
        }
        if unlike := self._unlike(pool, claim, [request.asks[0] for request in plain]):
            yield unlike
            return
        wanted = sum(ask.count for ask in taking)
        there = most_at_once(together.values())
        if wanted > there and not any(device.allow_multiple_allocations for device in together.values()):
            yield Obstacle("too-few", pool, claim.name, wanted, there, ask=taking[-1])

    def _unlike(self, pool: str, claim: Claim, plain: list[Ask]) -> Obstacle | None:
        """An attribute that must be the same in more devices than can have it the same."""
        for constraint in claim.constraints:
            attribute, requests = constraint.match, constraint.requests
            if not attribute:
                continue
            # One may name one alternative; the whole request is then left to the scheduler.
            bound = [ask for ask in plain if not ask.every and (not requests or ask.reference in requests)]
            asked = [(ask.count, self.matching(pool, self.selectors(ask), (attribute,))) for ask in bound]
            wanted = sum(count for count, _ in asked)
            shared = any(device.allow_multiple_allocations for _, each in asked for device in each)
            name = attribute if "/" in attribute else f"{GPU_DRIVER}/{attribute}"
            if wanted > 1 and not shared and not can_be_alike(name, asked, self.pools[pool].all_devices):
                return Obstacle("attribute-unlike", pool, attribute, wanted, 0, ask=bound[-1])
        return None

    def _ask_on(self, pool: str, ask: Ask, shared: tuple[str, ...]) -> Obstacle | None:
        selectors = self.selectors(ask)
        amounts = ask.amounts if self.consumable else ()
        matching = [device for device in self.matching(pool, selectors) if has_room(device, amounts)]
        wanted, there = ask.least, most_at_once(matching)
        if there >= wanted or (matching and any(device.allow_multiple_allocations for device in matching)):
            able = self.matching(pool, selectors, shared)
            missing = [name for name in shared if all(lacking(device, (name,)) for device in matching)]
            if not able and missing:
                return Obstacle("attribute-missing", pool, missing[0], wanted, 0, ask, matching[0])
            return None
        if matching:
            return Obstacle("too-few", pool, ask.device_class, wanted, there, ask)
        if small := self.matching(pool, selectors):
            name = next(name for name, amount in ask.amounts if not has_room(small[0], ((name, amount),)))
            return Obstacle("capacity", pool, name, wanted, 0, ask, small[0])
        tried = [(device, self.attempt(selectors, device)) for device in self.kinds[pool]]
        raising = [(device, found) for device, found in tried if found.raises]
        nearest = raising or sorted(tried, key=lambda pair: -pair[1].held)
        device, found = nearest[0] if nearest else (None, None)
        return Obstacle("raises" if raising else "no-match", pool, ask.device_class, wanted, 0, ask, device, found)

    def _resource_on(self, pool: str, resource: str, number: int) -> Iterable[Obstacle]:
        there = self.pools[pool].extended_resources.get(resource, 0)
        if there:
            if there < number:
                yield Obstacle("resource", pool, resource, number, there)
            return
        mapped = self.class_of(resource)
        if not mapped:
            yield Obstacle("resource-unmapped", pool, resource, number, 0)
            return
        most = max((most_at_once(self.matching(pool, entry.selectors)), entry.name) for entry in mapped)
        if most[0] < number:
            yield Obstacle("resource", pool, resource, number, most[0], Ask("", most[1], number))


def _counted(ask: Ask) -> int:
    """What it adds to the devices of its claim for certain."""
    return 0 if ask.every else ask.count


def _shared_attributes(claim: Claim, request: Request) -> tuple[str, ...]:
    """Attributes that the devices of a request must have in common with each other."""
    return tuple(
        constraint.match
        for constraint in claim.constraints
        if constraint.match and (not constraint.requests or request.name in constraint.requests)
    )


def lacking(device: Device, attributes: Iterable[str]) -> bool:
    """Whether the device has none of that name, qualified or in its driver's own domain."""
    own = f"{device.driver}/"
    return any(name not in device.attributes and name.removeprefix(own) not in device.attributes for name in attributes)


def _missing(missing: Missing) -> Obstacle:
    code: Code = "template-missing" if missing.kind == "ResourceClaimTemplate" else "claim-missing"
    return Obstacle(code, "", f"{missing.namespace}/{missing.name}")
