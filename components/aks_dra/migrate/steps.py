"""The road of one pool from the device plugin to DRA, as stack files that follow each other.

A pool never flips in place, so there are two for a while: the new one is added beside the old one, the workloads move,
the old one is emptied, then it goes. Every file is planned against the one before it: none may have an error, and none
may replace a pool or touch one that is not of this road.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aks_dra.context.previous import Previous, previous_of
from aks_dra.facts import load_facts
from aks_dra.findings.finding import Finding
from aks_dra.kube.reading import Manifest
from aks_dra.kube.versions import minor
from aks_dra.kube.workloads import OBJECTS, WITHOUT_SAY
from aks_dra.migrate.pools import emptied, successor
from aks_dra.migrate.project import plan_text
from aks_dra.migrate.tenants import short_quotas, widened
from aks_dra.migrate.workloads import MAPPING, POD_PATHS, Advice, Fleet, advise
from aks_dra.model.plan import Plan, PlannedPool
from aks_dra.settings import Settings
from aks_dra.settings.parse import settings_from_loaded
from aks_dra.stackfile.edit import Drop, Edit, EditError, Put, edited
from aks_dra.stackfile.loader import Loaded, load_stack_file
from aks_dra.topics.changes.pool_rules import free_name

POOLS = "aks-dra:pools"


class MigrateError(Exception):
    """There is no such road for this pool. The text says why and what to do first."""


@dataclass(frozen=True)
class Step:
    """One stack file of the road. `text` is the whole file."""

    name: str
    title: str
    text: str
    plan: Plan
    findings: tuple[Finding, ...]
    changed: bool = True
    releases: tuple[str, ...] = ()  # Helm releases that it updates
    notes: tuple[str, ...] = ()  # lists of namespaces that it widens


@dataclass(frozen=True)
class Road:
    file: Path
    stack: str
    pool: str
    new_pool: str
    before: Plan
    steps: tuple[Step, ...]
    advice: tuple[Advice, ...]
    notes: tuple[str, ...]
    version: str
    last: bool  # the cluster's last device-plugin pool
    by_mapping: bool  # nvidia.com/gpu turns to DRA while workloads move
    new: PlannedPool
    before_resources: tuple[str, ...]  # what the old pool advertises
    can_carry: bool  # nvidia.com/gpu could stay in manifests

    @property
    def minor(self) -> tuple[int, int]:
        return minor(self.version)


def road(
    file: Path, pool: str, to: str = "", manifests: Sequence[Manifest] = (), claims: bool = False, today: str = ""
) -> Road:
    """The whole road. `claims` asks for a claim also where nvidia.com/gpu would be carried. Raises MigrateError."""
    loaded, settings, before = _start(file, today)
    old = _old_pool(before, pool)
    new_name = to or free_name(pool, [p.name for p in before.pools] + [settings.cluster.system_pool.name])
    if any(planned.name == new_name for planned in before.pools):
        raise MigrateError(f"--to {new_name}: there is a pool of this name already")
    raw: Mapping[str, Any] = loaded.config[POOLS][pool]
    owners = [planned.driver_owner for planned in before.pools if planned.allocation == "dra"]
    settings_of_new, notes = successor(raw, owners[0] if owners else old.driver_owner, settings.gpu.driver)
    maker = _Maker(file, before, previous_of(before), file.read_text(encoding="utf-8"), today, pool, new_name)
    add = maker.step("1-add", f"add {new_name} beside {pool}", [Put(("config", POOLS, new_name), settings_of_new)])
    new = next(planned for planned in add.plan.pools if planned.name == new_name)
    plugins = [planned.name for planned in before.pools if planned.allocation == "devicePlugin"]
    fleet = Fleet(
        old=old,
        new=new,
        sharing=str((raw.get("sharing") or {}).get("mode", "exclusive")),
        replicas=int((raw.get("sharing") or {}).get("replicas") or 1),
        minor=minor(before.cluster.kubernetes_version),
        last=plugins == [pool],
        taken={f"{planned.claim.namespace}/{planned.claim.name}" for planned in before.claims},
        claims=claims,
        settings=settings,
    )
    advice = advise(fleet, manifests)
    notes += [*_unknown(manifests), *short_quotas(settings, before, advice, manifests)]
    by_mapping = any(entry.kind == "unchanged" for entry in advice)
    lists, grown = widened(settings, advice)
    move = maker.step("2-move", "move the workloads", [*lists, *_moving(settings, advice, by_mapping)], grown)
    elsewhere = _elsewhere(loaded, file, pool)
    at = ("config", POOLS, pool)
    shrink = maker.step(
        "3-shrink",
        f"take the nodes of {pool} away",
        [Put((*at, "nodes"), emptied(raw, elsewhere)), Put((*at, "protect"), False)],
    )
    last_edits: list[Edit] = [Put(at, None) if elsewhere else Drop(at)]
    if by_mapping and settings.gpu.legacy_requests != "dra":
        own = ("config", "aks-dra:gpu")
        last_edits.append(Drop((*own, "legacyRequests") if "aks-dra:gpu" in loaded.config else own))
    remove = maker.step("4-remove", f"remove {pool}", last_edits)
    return Road(
        file, loaded.stack, pool, new_name, before, (add, move, shrink, remove), advice, tuple(notes),
        before.cluster.kubernetes_version, fleet.last, by_mapping, new, tuple(sorted(old.extended_resources)),
        fleet.last and fleet.sharing == "exclusive" and fleet.minor >= load_facts().since(MAPPING),
    )  # fmt: skip


def _unknown(manifests: Sequence[Manifest]) -> tuple[str, ...]:
    """Objects that may make pods of their own, which nothing here knows how to find."""
    kinds = {*POD_PATHS, *WITHOUT_SAY, *(kind for _, kind in OBJECTS)}
    return tuple(
        f"{manifest.kind} {manifest.name or '(no name)'} ({manifest.where}) is not looked at: which pods it makes is "
        "not known here"
        for manifest in manifests
        if manifest.kind not in kinds
    )


def _start(file: Path, today: str) -> tuple[Loaded, Settings, Plan]:
    loaded = load_stack_file(file)
    settings, _ = settings_from_loaded(loaded)
    planned, findings = plan_text(file, file.read_text(encoding="utf-8"), today) if file.is_file() else (None, ())
    errors = [finding for finding in findings if finding.severity == "error"]
    if settings is None or planned is None or errors:
        reason = f": {errors[0].code} {errors[0].path}: {errors[0].message}" if errors else ""
        raise MigrateError(f"{file} has errors of its own{reason} (aks-dra check {file})")
    return loaded, settings, planned


def _old_pool(plan: Plan, pool: str) -> PlannedPool:
    found = next((planned for planned in plan.pools if planned.name == pool), None)
    plugins = [planned.name for planned in plan.pools if planned.allocation == "devicePlugin"]
    if found is None or found.path != f"{POOLS}.{pool}":
        raise MigrateError(f"--pool {pool}: there is no such pool; device-plugin pools: {', '.join(plugins) or 'none'}")
    if found.allocation == "dra":
        raise MigrateError(
            f"--pool {pool}: it is a DRA pool already; device-plugin pools: {', '.join(plugins) or 'none'}"
        )
    return found


def _elsewhere(loaded: Loaded, file: Path, pool: str) -> bool:
    """Whether a base file (or Pulumi.yaml) sets something of the pool: then it has to be taken back, not taken out."""
    own = file.absolute()
    return any(
        path[:2] == (POOLS, pool) and Path(position.file).absolute() != own
        for path, position in loaded.positions.items()
    )


def _moving(settings: Settings, advice: Sequence[Advice], by_mapping: bool) -> list[Edit]:
    edits: list[Edit] = []
    for entry in advice:
        for name, claim in entry.claims.items():
            edits.append(Put(("config", "aks-dra:claims", entry.namespace, name), claim))
    if by_mapping and settings.gpu.legacy_requests != "dra":
        edits.append(Put(("config", "aks-dra:gpu", "legacyRequests"), "dra"))
    return edits


@dataclass
class _Maker:
    """Makes each step from the one before, and looks at what it would do."""

    file: Path
    plan: Plan
    previous: Previous
    text: str
    today: str
    old: str
    new: str

    def step(self, name: str, title: str, edits: Sequence[Edit], notes: tuple[str, ...] = ()) -> Step:
        try:
            text = edited(self.text, edits)
        except EditError as error:
            raise MigrateError(f"{self.file} cannot be edited in place: {error}") from None
        planned, findings = plan_text(self.file, text, self.today, self.previous)
        errors = [finding for finding in findings if finding.severity == "error"]
        if planned is None or errors:
            shown = "\n".join(f"  {f.code} {f.path}: {f.message}\n    {f.remedy}" for f in errors)
            raise MigrateError(f"step {name} ({title}) would have errors; settle them first:\n{shown}")
        now = previous_of(planned)
        self._refuse_strangers(name, now)
        updated = tuple(
            release.name
            for release in planned.releases
            if any(old.name == release.name and old != release for old in self.plan.releases)
        )
        step = Step(name, title, text, planned, findings, text != self.text, updated, notes)
        self.text, self.previous, self.plan = text, now, planned
        return step

    def _refuse_strangers(self, name: str, now: Previous) -> None:
        """An edit that did something else, through an alias or a merge key, is not handed out."""
        before = {key: pool for key, pool in self.previous.pools.items() if key not in (self.old, self.new)}
        after = {key: pool for key, pool in now.pools.items() if key not in (self.old, self.new)}
        kept = all(now.claims.get(key) == claim for key, claim in self.previous.claims.items())
        there = (self.old in now.pools) == (name != "4-remove") and self.new in now.pools
        if before != after or not kept or not there or now.cluster != self.previous.cluster:
            raise MigrateError(
                f"step {name} would change more than {self.old} and {self.new}: {self.file} says the pools in a way "
                "that cannot be edited in place; write them out as plain maps"
            )
