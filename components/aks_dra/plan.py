"""Settings × facts → Plan: pure functions, no Pulumi, no clock, no network.

`plan` never raises on bad settings: what is wrong becomes findings, all of them at once, and the rest of the plan is
what could still be worked out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from operator import attrgetter
from typing import Any

from aks_dra import names
from aks_dra.context.context import Context
from aks_dra.context.previous import Previous
from aks_dra.context.snapshot import Snapshot
from aks_dra.facts import Facts, load_facts
from aks_dra.findings.finding import Finding
from aks_dra.incomplete.worlds import certain, whole_unread
from aks_dra.kube.claims import Claim
from aks_dra.kube.versions import minor
from aks_dra.matching.claim_matches import ClaimMatches
from aks_dra.matching.matcher import Matcher
from aks_dra.model.classes import CHART_CLASSES, PlannedClass
from aks_dra.model.plan import (
    ClassMatch,
    Plan,
    PlannedClaim,
    PlannedCluster,
    PlannedObject,
    PlannedPool,
    PlannedRelease,
    PodSnippet,
)
from aks_dra.settings import Settings
from aks_dra.settings.pools_of import all_pools
from aks_dra.settings.reading import Unread
from aks_dra.topics.changes import rules as changes_rules
from aks_dra.topics.charts import rules as charts_rules
from aks_dra.topics.charts.releases import dra_release, plan_releases
from aks_dra.topics.claims import rules as claims_rules
from aks_dra.topics.claims.manifests import claim_manifest, claim_of
from aks_dra.topics.classes import rules as classes_rules
from aks_dra.topics.classes.classes import legacy_class, package_classes, pool_classes, user_classes
from aks_dra.topics.cluster import rules as cluster_rules
from aks_dra.topics.cluster.inputs import kubernetes_version, plan_cluster
from aks_dra.topics.devices import rules as devices_rules
from aks_dra.topics.devices.other_drivers import other_devices
from aks_dra.topics.devices.published import planned_devices
from aks_dra.topics.legacy import rules as legacy_rules
from aks_dra.topics.legacy.extended import named
from aks_dra.topics.pools import rules as pools_rules
from aks_dra.topics.pools.pools import plan_pool
from aks_dra.topics.sharing import rules as sharing_rules
from aks_dra.topics.sharing.config_maps import mig_layouts_config_map, plugin_config_map
from aks_dra.topics.subscription import rules as subscription_rules
from aks_dra.topics.tenants import rules as tenants_rules
from aks_dra.topics.tenants.namespaces import plan_namespaces
from aks_dra.topics.tenants.policies import quota_manifest, tenancy, tenant_objects
from aks_dra.topics.testpool import rules as testpool_rules
from aks_dra.topics.testpool.claims import all_claims
from aks_dra.topics.testpool.smoke_test import smoke_objects

__all__ = [
    "ClassMatch",
    "Finding",
    "Plan",
    "PlannedClaim",
    "PlannedCluster",
    "PlannedObject",
    "PlannedPool",
    "PlannedRelease",
    "PodSnippet",
    "plan",
]


RULES = tuple(
    rule
    for topic in (
        cluster_rules,
        pools_rules,
        devices_rules,
        sharing_rules,
        charts_rules,
        classes_rules,
        legacy_rules,
        claims_rules,
        tenants_rules,
        testpool_rules,
        subscription_rules,
        changes_rules,
    )
    for rule in topic.RULES
)
"""Every rule, topic by topic. All of them run; none stops another."""


def plan(
    settings: Settings,
    *,
    project: str,
    stack: str,
    location: str = "",
    facts: Facts | None = None,
    config_findings: Iterable[Finding] = (),
    today: str = "",
    snapshot: Snapshot | None = None,
    previous: Previous | None = None,
    unread: Unread | None = None,
) -> Plan:
    """The Plan for one stack.

    `location` is what azure-native:location says; `config_findings` are those of reading the file; `today`
    (ISO date) is compared with support dates, `snapshot` is what a subscription offers, `previous` what
    the stack was before; all three change findings only. `unread` is what the settings lack because it could not
    be read: the plan is of the rest, and has no finding that would go if something else stood there.
    """
    facts = facts or load_facts()

    def of(settings: Settings) -> Plan:
        return _planned(settings, project, stack, location, facts, today, snapshot, previous)

    planned = of(settings)
    left_out = whole_unread(settings, unread)
    found = certain(planned, settings, left_out, of, facts, previous) if left_out else planned.findings
    findings = sorted_findings([*config_findings, *found], settings)
    return replace(planned, findings=findings, incomplete=left_out.shown if left_out else ())


def _planned(
    settings: Settings,
    project: str,
    stack: str,
    location: str,
    facts: Facts,
    today: str,
    snapshot: Snapshot | None,
    previous: Previous | None,
) -> Plan:
    """The plan with its own findings, as if the settings were all there is."""
    version = kubernetes_version(settings, facts)
    entries = all_pools(settings)
    devices = {
        name: planned_devices(facts, size, pool.sharing)
        if (size := facts.vm_size(pool.vm_size)) and pool.allocation == "dra"
        else ()
        for name, (_, pool) in entries.items()
    }
    others = other_devices(settings)
    pools = []
    served = {}
    for name, (path, pool) in entries.items():
        size = facts.vm_size(pool.vm_size)
        classes = pool_classes(facts, size.gpu, devices[name], pool.sharing) if size else ()
        planned = plan_pool(settings, facts, name, path, pool, version, classes)
        pools.append(replace(planned, other_devices=others.get(name, ())))
        if size:
            served[name] = (pool, size.gpu, devices[name])
    legacy = {name: pool for name, (_, pool) in entries.items() if pool.allocation == "devicePlugin"}
    dra = any(pool.allocation == "dra" for pool in pools)
    decided = dra and minor(version) >= facts.since("extended_resource_name")
    by_dra = not legacy or settings.gpu.legacy_requests == "dra"
    matcher = Matcher(pools, minor(version))
    own = named(settings, [*package_classes(facts, served), *user_classes(settings, matcher.type_of)])
    whole = next((entry for entry in own if entry.extended_resource_name == names.LEGACY_RESOURCE), None)
    legacy_classes = [legacy_class(by_dra, whole)] if decided else []
    chart_classes = CHART_CLASSES if dra else ()
    matches = tuple(matcher.match(entry) for entry in (*own, *chart_classes))
    claims = all_claims(settings, pools)
    asked = tuple(claim_of(namespace, name, claim) for (namespace, name), claim in claims.items())
    claim_matches = ClaimMatches(matcher, (*own, *chart_classes), facts.limit("devices_per_claim"))
    manifests = [
        (claim, claim_manifest(claim, claim_matches.type_of, claims[claim.namespace, claim.name].own_sharing))
        for claim in asked
    ]
    releases = plan_releases(settings, facts, pools)
    objects = tuple(_objects(settings, facts, entries, pools, legacy, [*own, *legacy_classes], manifests, version))
    partial = Plan(
        project=project,
        stack=stack,
        cluster=plan_cluster(settings, facts, project=project, stack=stack, location=location),
        pools=tuple(pools),
        namespaces=plan_namespaces(settings, claims, bool(pools)),
        releases=releases,
        objects=objects,
        smoke_test=smoke_objects(settings, facts, pools, releases, objects),
        matches=matches,
        legacy_match=matcher.match(legacy_classes[0]) if legacy_classes else None,
        claims=tuple(claim_matches.planned(claim) for claim in asked),
        tenancy=tenancy(settings, [*own, *legacy_classes]),
    )
    context = Context(settings, facts, partial, own, matcher, today, snapshot, asked, claim_matches, previous)
    return replace(partial, findings=tuple(found for rule in RULES for found in rule(context)))


def _objects(
    settings: Settings,
    facts: Facts,
    entries: dict[str, Any],
    pools: list[PlannedPool],
    legacy: dict[str, Any],
    classes: list[PlannedClass],
    claims: list[tuple[Claim, dict[str, Any]]],
    version: str,
) -> list[PlannedObject]:
    objects = []
    if legacy:
        objects.append(
            PlannedObject(names.CONFIG_MAP_KEYS[names.DEVICE_PLUGIN_CONFIG_MAP], plugin_config_map(facts, legacy))
        )
    partitioned = [(pool, entries[pool.name][1].sharing) for pool in pools if pool.mig_owner == "operator" and pool.gpu]
    if layouts := mig_layouts_config_map(facts, partitioned):
        objects.append(PlannedObject(names.CONFIG_MAP_KEYS[names.MIG_LAYOUTS_CONFIG_MAP], layouts))
    after = (dra_release(settings),) if any(pool.allocation == "dra" for pool in pools) else ()
    policies = tenant_objects(settings, classes)
    bound_first = tuple(entry.key for entry in policies)  # or a class is there before it is refused
    for entry in classes:
        if not entry.create:
            continue
        bound = after if entry.name == names.LEGACY_CLASS else ()
        before = (*after, *bound_first)
        objects.append(PlannedObject(f"deviceclass-{entry.name}", entry.manifest(), after=before, replace_with=bound))
    for claim, manifest in claims:
        objects.append(PlannedObject(f"claim-{claim.namespace}-{claim.name}", manifest, after=after))
    for namespace, wanted in sorted(settings.namespaces.items()):
        if wanted.quota:
            quota = quota_manifest(namespace, wanted.quota, minor(version) >= facts.since("extended_resource_quota"))
            objects.append(PlannedObject(f"quota-{namespace}", quota, after=after))
    return [*objects, *policies]


def sorted_findings(findings: Iterable[Finding], settings: Settings) -> tuple[Finding, ...]:
    """Errors first, then by path and code; each once; warnings that the stack file acknowledges carry its reason."""
    result = []
    # By everything that differs: the order of a set is another one in every process.
    whole = attrgetter("path", "code", "message", "value", "remedy")
    listed = set(findings)
    listed |= set(_acknowledged_errors(listed, settings))
    for finding in sorted(listed, key=lambda f: (f.severity != "error", *whole(f))):
        if finding.severity == "warning":
            for entry in settings.acknowledge:
                if entry.code == finding.code and entry.path in (None, finding.path):
                    finding = replace(finding, acknowledged=entry.reason)
        result.append(finding)
    return tuple(result)


def _acknowledged_errors(findings: Iterable[Finding], settings: Settings) -> Iterator[Finding]:
    errors = {(finding.code, finding.path) for finding in findings if finding.severity == "error"}
    for index, entry in enumerate(settings.acknowledge):
        if any(entry.code == code and entry.path in (None, path) for code, path in errors):
            yield Finding(
                "ACK001",
                "warning",
                f"aks-dra:acknowledge.{index}",
                f"{entry.code} is an error here, and an error cannot be acknowledged",
                entry.code,
                "correct what it names, and remove this entry",
                "aks-dra: acknowledge",
            )
