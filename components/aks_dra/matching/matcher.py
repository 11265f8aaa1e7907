"""Which pools' devices each class matches, by Kubernetes' own CEL semantics.

Devices that a selector cannot tell apart are evaluated once, and pools that publish the same devices are counted once,
so the work grows with the kinds of devices and not with pools or nodes. Of devices that exclude each other (the places
of dynamic MIG) as many count as can exist at once.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from aks_dra.cel import CompileError, Result, RuntimeProblem, Undecided, compile_expression, project
from aks_dra.kube.devices import GPU_DRIVER, Device
from aks_dra.matching.counters import most_at_once
from aks_dra.model.classes import DeviceType, PlannedClass
from aks_dra.model.plan import ClassMatch, PlannedPool


@dataclass(frozen=True)
class Matched:
    """What selectors match: kinds of devices (numbers of the matcher's), and how many of them a node of each pool has.

    `places` is there for pools whose matching devices exclude each other: how many are published, where `pools` says
    how many of them can exist at once.
    """

    kinds: frozenset[int] = frozenset()
    pools: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    undecided: tuple[str, ...] = ()
    places: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))


@dataclass
class _Alike:
    """Pools whose nodes publish the same devices."""

    names: list[str]
    devices: tuple[Device, ...]
    kinds: tuple[int, ...]  # of the devices, one by one


class Matcher:
    """Evaluates selectors against the devices of all pools; answers are kept."""

    def __init__(self, pools: Iterable[PlannedPool], kubernetes_minor: tuple[int, int]) -> None:
        self.minor = kubernetes_minor
        self.devices: tuple[Device, ...] = ()
        self._order: dict[str, int] = {}
        self._alike: list[_Alike] = []
        self._having: list[list[int]] = []  # by kind: which of those publish it
        self._projections: dict[frozenset[str] | None, list[int]] = {}
        self._results: dict[str, dict[int, Result]] = {}
        self._answers: dict[tuple[str, ...], Matched] = {}
        self._counts: dict[frozenset[int], tuple[Mapping[str, int], Mapping[str, int]]] = {}
        numbers: dict[Hashable, int] = {}
        kinds: list[Device] = []
        groups: dict[Hashable, int] = {}
        for pool in pools:
            self._order[pool.name] = len(self._order)
            devices = pool.all_devices
            if not devices:
                continue
            for device in devices:
                if numbers.setdefault(device.kind(), len(kinds)) == len(kinds):
                    kinds.append(device)
                    self._having.append([])
            own = tuple(numbers[device.kind()] for device in devices)
            group = groups.setdefault((own, tuple(d.name for d in devices if d.consumes)), len(self._alike))
            if group == len(self._alike):
                self._alike.append(_Alike([], devices, own))
                for kind in set(own):
                    self._having[kind].append(group)
            self._alike[group].names.append(pool.name)
        self.devices = tuple(kinds)

    def match(self, entry: PlannedClass) -> ClassMatch:
        """What one class matches. A selector that does not compile or raises on a device matches nothing there."""
        found = self.matched(entry.selectors)
        return ClassMatch(
            entry.name,
            entry.origin,
            entry.selectors,
            found.pools,
            found.undecided,
            found.places,
            entry.extended_resource_name,
            unknown=entry.unread or self.unreadable(entry.selectors),
            create=entry.create,
        )

    def unreadable(self, selectors: Sequence[str]) -> bool:
        """Whether one of the selectors is no CEL."""
        return any(isinstance(compile_expression(text, self.minor), CompileError) for text in selectors)

    def matched(self, selectors: Sequence[str]) -> Matched:
        """What all of the selectors match together."""
        key = tuple(selectors)
        if key not in self._answers:
            self._answers[key] = self._matched(key)
        return self._answers[key]

    def devices_of(self, found: Matched) -> tuple[Device, ...]:
        """One device of each kind that was matched."""
        return tuple(self.devices[number] for number in sorted(found.kinds))

    def type_of(self, selectors: Sequence[str]) -> DeviceType:
        """Whole GPUs, MIG devices, or neither or both; whole GPUs when nothing matches, which is a finding anyway."""
        matched = self.devices_of(self.matched(selectors))
        types = {device.qualified_attributes().get(GPU_DRIVER, {}).get("type") for device in matched}
        if types <= {"gpu"}:
            return "gpu"
        return "mig" if types == {"mig"} else "other"

    def _matched(self, selectors: tuple[str, ...]) -> Matched:
        rests_on: dict[int, set[str]] = {number: set() for number in range(len(self.devices))}
        for text in selectors:
            self._keep(text, rests_on)
        kinds = frozenset(rests_on)
        undecided = {name for names in rests_on.values() for name in names}
        pools, places = self._counted(kinds)
        return Matched(kinds, pools, tuple(sorted(undecided)), places)

    def number(self, kinds: frozenset[int]) -> Mapping[str, int]:
        """How many devices of these kinds a node of each pool has at once."""
        return self._counted(kinds)[0]

    def _counted(self, kinds: frozenset[int]) -> tuple[Mapping[str, int], Mapping[str, int]]:
        if kinds not in self._counts:
            self._counts[kinds] = self._count(kinds)
        return self._counts[kinds]

    def _count(self, kinds: frozenset[int]) -> tuple[Mapping[str, int], Mapping[str, int]]:
        totals: dict[str, int] = {}
        places: dict[str, int] = {}
        # Only pools that publish one of these kinds are looked at.
        for key in sorted({key for kind in kinds for key in self._having[kind]}):
            alike = self._alike[key]
            devices = [d for d, kind in zip(alike.devices, alike.kinds, strict=True) if kind in kinds]
            totals.update(dict.fromkeys(alike.names, most_at_once(devices, alike.devices)))
            if any(device.consumes for device in devices):
                places.update(dict.fromkeys(alike.names, len(devices)))
        return {name: totals[name] for name in sorted(totals, key=self._order.__getitem__)}, places

    def _keep(self, text: str, candidates: dict[int, set[str]]) -> None:
        """Leaves the kinds that one selector matches or may match, with the attributes that this rests on."""
        program = compile_expression(text, self.minor)
        if isinstance(program, CompileError):
            candidates.clear()
            return
        groups, answers = self._groups(program.reads), self._results.setdefault(text, {})
        for number in list(candidates):
            group = groups[number]
            if group not in answers:
                answers[group] = program.evaluate(self.devices[number])
            result = answers[group]
            if isinstance(result, Undecided):
                candidates[number].update(result.attributes)
            elif isinstance(result, RuntimeProblem) or result is False:
                del candidates[number]

    def _groups(self, names: frozenset[str] | None) -> list[int]:
        """For each kind of device a number, the same where a selector that reads these names cannot tell them apart."""
        if names not in self._projections:
            seen: dict[Hashable, int] = {}
            self._projections[names] = [seen.setdefault(project(d, names), len(seen)) for d in self.devices]
        return self._projections[names]
