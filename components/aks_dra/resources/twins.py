"""Refuses the second of two components of one program that take the same thing, before it registers anything.

Azure keeps one resource for an id, and a cluster one object for a kind and name. Two components that have the same one
overwrite each other in every run, and the removal of either deletes what the other still needs. Default names follow
from project and stack, so every second cluster of a program is such a case unless it has a name. It is refused
and not named after its component: a name that came and went with the number of clusters would replace clusters.

What is taken is kept per run: the engine's settings are new in each, in tests and in the Automation API too. Programs
in other languages have a run of ours for each component, and there the process is the program.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import pulumi
from pulumi.runtime.settings import SETTINGS

from aks_dra.model.plan import Plan
from aks_dra.resources.holdings import ClusterPlace, Holding, Inside, Key

# Of a cluster's name; with it twice, and with a location, the name of the node resource group has 80 at most.
LONGEST_NAME = 27


@dataclass(frozen=True, eq=False)
class Owner:
    """A component that has something."""

    component: pulumi.Resource
    name: str
    plan: Plan
    parent: pulumi.Resource | None

    @property
    def kind(self) -> str:
        return type(self.component).__name__

    @property
    def same(self) -> tuple[str, ...]:
        """Equal for what the engine takes for one resource: a program that is run twice under one set of mocks."""
        above = () if self.parent is None else (self.parent.pulumi_resource_type, self.parent.pulumi_resource_name)
        return self.kind, self.name, *above

    def __str__(self) -> str:
        return f'{self.kind} "{self.name}"'


@dataclass
class Program:
    """What the components of one run have."""

    taken: dict[Key, Owner] = field(default_factory=dict)
    owners: dict[tuple[str, ...], Owner] = field(default_factory=dict)
    clusters: dict[pulumi.ProviderResource, ClusterPlace] = field(default_factory=dict)

    def take(self, owner: Owner, holdings: Iterable[Holding]) -> None:
        """Takes all of it, or none and ends the program."""
        if any(whole.component is owner.parent and whole.plan is owner.plan for whole in self.owners.values()):
            return  # a part of what has it already
        if (before := self.owners.pop(owner.same, None)) is not None:
            self.taken = {key: held for key, held in self.taken.items() if held is not before}
        wanted = list(holdings)
        if first := next((self.taken[holding.key] for holding in wanted if holding.key in self.taken), None):
            raise pulumi.RunError(self._refusal(first, owner, wanted))
        self.owners[owner.same] = owner
        self.taken |= {holding.key: owner for holding in wanted}

    def _refusal(self, first: Owner, second: Owner, wanted: list[Holding]) -> str:
        twice = [h for h in wanted if self.taken.get(h.key) is first]
        keys = {holding.key for holding in twice}
        shown = [holding for holding in twice if holding.within not in keys]
        lines = dict.fromkeys(f"  {holding.what} {holding.shown}" for holding in shown)
        return "\n".join(
            [
                f"{second} has what {first} of this program has already; nothing of {second} was registered:",
                *lines,
                "Each of these exists once: both components would write it, and removing one of them would delete it "
                "from the other.",
                *self._remedies(first, second, shown),
            ]
        )

    def _remedies(self, first: Owner, second: Owner, shown: list[Holding]) -> Iterator[str]:
        kinds = {holding.kind for holding in shown}
        if named := [holding for holding in shown if holding.kind == "name"]:
            yield "Give the newer of the two names of its own, since other names for the older one replace what it has:"
            for owner in (second, first):
                yield f'  in "{owner.name}": cluster: {self._names(owner, named)}'
        if "cluster" in kinds:
            yield (
                "Put the pools, namespaces, device classes and claims of both into one DraCluster, or name another "
                "cluster in one of them."
            )
        if "pool" in kinds:
            yield "Register each pool once, or give the newer of the two another name."
        if "role" in kinds and not named:
            yield "Leave the scope of the role assignment out of one of them."
        if "object" in kinds:
            yield (
                "Leave it out of one of them, pass `after=` with the `registered` of the part that has it, or pass the "
                "provider of another cluster."
            )

    def _names(self, owner: Owner, named: list[Holding]) -> str:
        name = self._free_name(owner)
        tree: dict[str, Any] = {}
        for holding in named:
            *above, last = holding.path.split(".")
            inner = tree
            for part in above:
                inner = inner.setdefault(part, {})
            inner[last] = holding.proposal.format(name=name)
        return _flow(tree)

    def _free_name(self, owner: Owner) -> str:
        """The component's own name as a name in Azure; with a number where a cluster has it."""
        base = re.sub(r"[^a-zA-Z0-9]+", "-", owner.name)[:LONGEST_NAME].strip("-") or "cluster"
        names = {other.plan.cluster.name.lower() for other in (*self.owners.values(), owner)}
        numbered = (base, *(f"{base}-{number}" for number in range(2, len(names) + 3)))
        return next(name for name in numbered if name.lower() not in names)


def _flow(tree: dict[str, Any]) -> str:
    """The mapping as a stack file writes it on one line."""
    return "{" + ", ".join(f"{k}: {_flow(v) if isinstance(v, dict) else v}" for k, v in tree.items()) + "}"


_programs: WeakKeyDictionary[Any, Program] = WeakKeyDictionary()
_hosted: dict[tuple[str, str, bool], Program] = {}
_in_other_language: ContextVar[bool] = ContextVar("in_other_language", default=False)


def program() -> Program:
    """The program that runs now."""
    if _in_other_language.get():
        run = (pulumi.get_project(), pulumi.get_stack(), pulumi.runtime.is_dry_run())
        return _hosted.setdefault(run, Program())
    return _programs.setdefault(SETTINGS.rpc_manager, Program())


@contextmanager
def hosted() -> Iterator[None]:
    """For a component of a program in another language: all that this process makes in a run are of one program."""
    token = _in_other_language.set(True)
    try:
        yield
    finally:
        _in_other_language.reset(token)


def take(
    component: pulumi.Resource,
    name: str,
    plan: Plan,
    opts: pulumi.ResourceOptions | None,
    holdings: Iterable[Holding],
) -> None:
    """Takes these for the component, which is not registered yet; refuses it where another one has one of them."""
    program().take(Owner(component, name, plan, opts.parent if opts else None), holdings)


def known_as(provider: pulumi.ProviderResource) -> tuple[Inside, ...]:
    """The ways in which the cluster behind a provider is known."""
    place = program().clusters.get(provider)
    return (provider,) if place is None else (place, provider)


def leads_to(provider: pulumi.ProviderResource, place: ClusterPlace) -> None:
    """Notes which cluster a provider reaches."""
    program().clusters[provider] = place
