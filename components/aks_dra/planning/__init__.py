"""Settings × facts → Plan: pure functions, no Pulumi, no clock, no network.

`plan` never raises on bad settings: what is wrong becomes findings, all of them at once, and the rest of the plan is
what could still be worked out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from aks_dra.facts import Facts, load_facts
from aks_dra.planning import names
from aks_dra.planning.checks import run_checks
from aks_dra.planning.checks.context import Context
from aks_dra.planning.claims import claim_manifest
from aks_dra.planning.classes import (
    CHART_CLASSES,
    PlannedClass,
    legacy_class,
    package_classes,
    pool_classes,
    user_classes,
)
from aks_dra.planning.cluster import kubernetes_version, minor, plan_cluster
from aks_dra.planning.configs import mig_layouts_config_map, plugin_config_map
from aks_dra.planning.devices_of import planned_devices
from aks_dra.planning.matching import Matcher
from aks_dra.planning.model import (
    ClassMatch,
    Finding,
    Plan,
    PlannedClaim,
    PlannedCluster,
    PlannedObject,
    PlannedPool,
    PlannedRelease,
    PodSnippet,
)
from aks_dra.planning.pools import all_pools, plan_pool
from aks_dra.planning.releases import plan_releases
from aks_dra.planning.snapshot import Snapshot
from aks_dra.settings import ClaimSettings, Settings

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
) -> Plan:
    """The Plan for one stack.

    `location` is what azure-native:location says; `config_findings` are those of reading the file; `today`
    (ISO date) is compared with support dates, `snapshot` is what a subscription offers; both change findings only.
    """
    facts = facts or load_facts()
    version = kubernetes_version(settings, facts)
    entries = all_pools(settings)
    devices = {
        name: planned_devices(facts, size, pool.sharing)
        if (size := facts.vm_size(pool.vm_size)) and pool.allocation == "dra"
        else ()
        for name, (_, pool) in entries.items()
    }
    pools = []
    served = {}
    for name, (path, pool) in entries.items():
        size = facts.vm_size(pool.vm_size)
        classes = pool_classes(facts, size.gpu, devices[name], pool.sharing) if size else ()
        pools.append(plan_pool(settings, facts, name, path, pool, version, classes))
        if size:
            served[name] = (pool, size.gpu, devices[name])
    legacy = {name: pool for name, (_, pool) in entries.items() if pool.allocation == "devicePlugin"}
    dra = any(pool.allocation == "dra" for pool in pools)
    decided = dra and minor(version) >= (1, 36)
    by_dra = not legacy or settings.gpu.legacy_requests == "dra"
    own = [*package_classes(facts, served), *user_classes(settings)]
    legacy_classes = [legacy_class(by_dra)] if decided else []
    matcher = Matcher(pools, minor(version))
    chart_classes = CHART_CLASSES if dra else ()
    matches = tuple(matcher.match(entry) for entry in (*own, *chart_classes))
    claims = all_claims(settings, pools)
    partial = Plan(
        project=project,
        stack=stack,
        cluster=plan_cluster(settings, facts, project=project, stack=stack, location=location),
        pools=tuple(pools),
        namespaces=_namespaces(settings, claims, bool(pools)),
        releases=plan_releases(settings, facts, pools),
        objects=tuple(_objects(settings, facts, entries, pools, legacy, [*own, *legacy_classes], claims)),
        matches=matches,
        claims=tuple(_planned_claim(namespace, name, claim, matches) for (namespace, name), claim in claims.items()),
    )
    context = Context(settings, facts, partial, own, matcher, today, snapshot)
    found = sorted_findings([*config_findings, *run_checks(context)], settings)
    return Plan(**{**{key: getattr(partial, key) for key in partial.__dataclass_fields__}, "findings": found})


def all_claims(settings: Settings, pools: list[PlannedPool]) -> dict[tuple[str, str], ClaimSettings]:
    """Claims by namespace and name; the test pool brings one for its own devices."""
    claims = {
        (namespace, name): claim
        for namespace, entries in sorted(settings.claims.items())
        for name, claim in sorted(entries.items())
    }
    test = settings.test_pool
    if test.enabled:
        pool = next((pool for pool in pools if pool.name == test.name), None)
        if pool and pool.device_classes:
            claim = ClaimSettings(device_class=pool.device_classes[0])
            claims.setdefault((test.namespace, names.TEST_CLAIM), claim)
    return claims


def _namespaces(
    settings: Settings, claims: dict[tuple[str, str], ClaimSettings], with_gpus: bool
) -> tuple[PlannedObject, ...]:
    wanted = {namespace for namespace, _ in claims} | set(settings.namespaces)
    if with_gpus:
        wanted |= {names.OPERATOR_NAMESPACE, names.DRA_NAMESPACE}
    objects = []
    for name in sorted(wanted):
        entry = settings.namespaces.get(name)
        if entry is not None and not entry.create:
            continue
        metadata: dict[str, Any] = {"name": name}
        labels = dict(entry.labels) if entry else {}
        if entry and entry.admin_access:
            labels["resource.kubernetes.io/admin-access"] = "true"
        if labels:
            metadata["labels"] = labels
        manifest = {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
        objects.append(PlannedObject(f"namespace-{name}", manifest, retain=True))
    return tuple(objects)


def _objects(
    settings: Settings,
    facts: Facts,
    entries: dict[str, Any],
    pools: list[PlannedPool],
    legacy: dict[str, Any],
    classes: list[PlannedClass],
    claims: dict[tuple[str, str], ClaimSettings],
) -> list[PlannedObject]:
    objects = []
    if legacy:
        objects.append(PlannedObject("configmap-device-plugin", plugin_config_map(legacy)))
    partitioned = [(pool, entries[pool.name][1].sharing) for pool in pools if pool.mig_owner == "operator" and pool.gpu]
    if layouts := mig_layouts_config_map(facts, partitioned):
        objects.append(PlannedObject("configmap-mig-layouts", layouts))
    after = (names.DRA_RELEASE,) if any(pool.allocation == "dra" for pool in pools) else ()
    for entry in classes:
        bound = after if entry.name == names.LEGACY_CLASS else ()
        objects.append(PlannedObject(f"deviceclass-{entry.name}", entry.manifest(), after=after, replace_with=bound))
    for (namespace, name), claim in claims.items():
        objects.append(PlannedObject(f"claim-{namespace}-{name}", claim_manifest(namespace, name, claim), after=after))
    for namespace, wanted in sorted(settings.namespaces.items()):
        if wanted.quota:
            hard = {f"{key}.deviceclass.resource.k8s.io/devices": str(n) for key, n in sorted(wanted.quota.items())}
            manifest = {
                "apiVersion": "v1",
                "kind": "ResourceQuota",
                "metadata": {"name": "aks-dra-device-classes", "namespace": namespace},
                "spec": {"hard": hard},
            }
            objects.append(PlannedObject(f"quota-{namespace}", manifest, after=after))
    return objects


def _planned_claim(namespace: str, name: str, claim: ClaimSettings, matches: tuple[ClassMatch, ...]) -> PlannedClaim:
    asks = tuple((entry.device_class, entry.count) for entry in claim.first_available) or (
        (claim.device_class or "", claim.count),
    )
    by_name = {match.device_class: tuple(match.pools) for match in matches}
    return PlannedClaim(
        namespace=namespace,
        name=name,
        kind="ResourceClaim" if claim.share_across == "pods" else "ResourceClaimTemplate",
        asks=asks,
        pools={device_class: by_name.get(device_class, ()) for device_class, _ in asks},
    )


def sorted_findings(findings: Iterable[Finding], settings: Settings) -> tuple[Finding, ...]:
    """Errors first, then by path and code; each once; warnings that the stack file acknowledges carry its reason."""
    from dataclasses import replace

    result = []
    for finding in sorted(set(findings), key=lambda f: (f.severity != "error", f.path, f.code, f.message)):
        if finding.severity == "warning":
            for entry in settings.acknowledge:
                if entry.code == finding.code and entry.path in (None, finding.path):
                    finding = replace(finding, acknowledged=entry.reason)
        result.append(finding)
    return tuple(result)
