"""Which pools' devices each class matches, by Kubernetes' own CEL semantics.

Devices that no selector can tell apart are evaluated once, so the work grows with the kinds of devices, not
with pools or nodes.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from aks_dra.planning.cel import CompileError, RuntimeProblem, Undecided, compile_expression
from aks_dra.planning.classes import PlannedClass
from aks_dra.planning.devices import Device, distinct
from aks_dra.planning.model import ClassMatch, PlannedPool


class Matcher:
    """Evaluates classes against the devices of all pools; answers are kept per kind of device."""

    def __init__(self, pools: Iterable[PlannedPool], kubernetes_minor: tuple[int, int]) -> None:
        self.minor = kubernetes_minor
        self.counts: dict[str, dict[Hashable, int]] = {}
        self.kinds: dict[Hashable, Device] = {}
        for pool in pools:
            counts = self.counts.setdefault(pool.name, {})
            for device in pool.devices:
                kind = device.kind()
                self.kinds.setdefault(kind, device)
                counts[kind] = counts.get(kind, 0) + 1

    @property
    def devices(self) -> tuple[Device, ...]:
        return distinct(self.kinds.values())

    def match(self, entry: PlannedClass) -> ClassMatch:
        """What one class matches. A selector that does not compile or raises on a device matches nothing there."""
        matched: set[Hashable] = set()
        undecided: set[str] = set()
        programs = [compile_expression(text, self.minor) for text in entry.selectors]
        if not any(isinstance(program, CompileError) for program in programs):
            for kind, device in self.kinds.items():
                holds = True
                for program in programs:
                    assert not isinstance(program, CompileError)
                    result = program.evaluate(device)
                    if isinstance(result, Undecided):
                        undecided.update(result.attributes)
                        continue
                    if isinstance(result, RuntimeProblem) or result is False:
                        holds = False
                        break
                if holds:
                    matched.add(kind)
        pools = {
            name: total
            for name, counts in self.counts.items()
            if (total := sum(count for kind, count in counts.items() if kind in matched))
        }
        return ClassMatch(entry.name, entry.origin, entry.selectors, pools, tuple(sorted(undecided)))
