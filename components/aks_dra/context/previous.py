"""What a stack was before: the third input of planning, beside settings and facts.

Some changes cannot be told from the new settings alone: Azure never changes a pool's VM size, a pool that flips from
one allocation to the other leaves prepared devices behind, a removed class leaves its claims waiting. `Previous`
holds of an earlier plan just what such rules compare, as plain data that survives a stack's outputs and JSON.
What is updated in place without a consequence (labels, taints, tags, counts of pools) is left out.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from aks_dra import names
from aks_dra.facts import load_facts
from aks_dra.kube.claims import KINDS, Claim
from aks_dra.model.plan import Plan, PlannedCluster, PlannedPool

FORMAT = 1
DYNAMIC_MIG = "partitions on demand"
# Every input of the cluster that is not the system pool's or one of these is compared with the facts' table.
CLUSTER_LEFT_OUT = ("agentPoolProfiles", "kubernetesVersion")


class PreviousError(Exception):
    """This is no description of an earlier stack. The text says what is missing."""


@dataclass(frozen=True)
class PreviousCluster:
    name: str
    resource_group: str
    location: str
    existing: str
    kubernetes_version: str
    login: str
    protect: bool
    inputs: Mapping[str, Any]
    system_pool: Mapping[str, Any]
    made: Mapping[str, str] | None = None  # what the stack makes around it, setting to name; None: not known
    takes_along: bool = False  # the state says that what is in the cluster goes with it; earlier releases did not


@dataclass(frozen=True)
class PreviousPool:
    vm_size: str
    allocation: str
    driver_owner: str
    mig: str  # the partitions as text, "" without MIG
    protect: bool
    inputs: Mapping[str, Any]
    classes: tuple[str, ...]
    path: str = ""  # in the stack file; "" in what earlier releases wrote
    resources: tuple[str, ...] = ()  # names by which pods ask the device plugin for its GPUs
    evicting: tuple[str, ...] | None = None  # taints that end running pods; None: not known
    count: int = -1  # nodes that the state has, -1: not known; an autoscaler's bounds move on without it


@dataclass(frozen=True)
class PreviousClass:
    origin: str
    selectors: tuple[str, ...]
    pools: tuple[str, ...]


@dataclass(frozen=True)
class PreviousClaim:
    kind: str
    classes: tuple[str, ...]
    digest: str


@dataclass(frozen=True)
class Previous:
    """Pools, classes and namespaces by name, claims by `namespace/name`."""

    cluster: PreviousCluster
    pools: Mapping[str, PreviousPool] = field(default_factory=dict)
    classes: Mapping[str, PreviousClass] = field(default_factory=dict)
    claims: Mapping[str, PreviousClaim] = field(default_factory=dict)
    namespaces: tuple[str, ...] = ()
    gpu_requests: str = ""  # who serves nvidia.com/gpu: devicePlugin, dra, or nobody
    dra_stack: str = ""  # chart or operator, "" without a DRA pool
    releases: Mapping[str, str] = field(default_factory=dict)  # chart versions by release, "" of a packed chart
    driver: str = ""  # version that the operator installs, "" where it installs none or the chart says which
    extended: Mapping[str, str] = field(default_factory=dict)  # class of each extended resource


def previous_of(plan: Plan) -> Previous:
    """What later runs compare with, of this plan."""
    return Previous(
        cluster=_cluster(plan.cluster),
        pools={pool.name: _pool(pool, plan) for pool in plan.pools},
        classes={
            match.device_class: PreviousClass(match.origin, match.selectors, tuple(sorted(match.pools)))
            for match in plan.matches
            if match.create
        },
        claims=_claims(plan),
        namespaces=tuple(sorted(entry.manifest["metadata"]["name"] for entry in plan.namespaces if not entry.patch)),
        gpu_requests=_gpu_requests(plan),
        dra_stack=_dra_stack(plan),
        releases={release.name: release.version for release in plan.releases},
        driver=_driver(plan),
        extended=_extended(plan),
    )


def as_plain(previous: Previous) -> dict[str, Any]:
    """Plain data for outputs and JSON; `from_plain` reads it back."""
    plain: dict[str, Any] = json.loads(json.dumps({"format": FORMAT, **asdict(previous)}))
    return plain


def from_plain(data: object) -> Previous:
    """The inverse of `as_plain`, also after numbers became floats on their way. Raises PreviousError."""
    if not isinstance(data, Mapping) or data.get("format") != FORMAT:
        got = data.get("format") if isinstance(data, Mapping) else type(data).__name__
        raise PreviousError(f"format {FORMAT} is known here, this is {got!r}")
    try:
        whole = _integers(data)
        return Previous(
            cluster=PreviousCluster(**_known(PreviousCluster, whole["cluster"])),
            pools={name: _tupled(PreviousPool, entry) for name, entry in whole["pools"].items()},
            classes={name: _tupled(PreviousClass, entry) for name, entry in whole["classes"].items()},
            claims={name: _tupled(PreviousClaim, entry) for name, entry in whole["claims"].items()},
            namespaces=tuple(whole["namespaces"]),
            gpu_requests=str(whole["gpu_requests"]),
            dra_stack=str(whole["dra_stack"]),
            releases=dict(whole.get("releases") or {}),
            driver=str(whole.get("driver") or ""),
            extended=dict(whole.get("extended") or {}),
        )
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise PreviousError(f"it is incomplete ({type(error).__name__}: {error})") from error


def _cluster(cluster: PlannedCluster) -> PreviousCluster:
    profiles = cluster.inputs.get("agentPoolProfiles") or [{}]
    system = dict(profiles[0])
    if system.get("enableAutoScaling"):
        system.pop("count", None)  # the autoscaler's
    return PreviousCluster(
        name=cluster.name,
        resource_group=cluster.resource_group,
        location=cluster.location,
        existing=cluster.existing,
        kubernetes_version=cluster.kubernetes_version,
        login=cluster.login,
        protect=cluster.protect,
        inputs={key: _unsecret(value) for key, value in cluster.inputs.items() if key not in CLUSTER_LEFT_OUT},
        system_pool=system,
        made=_made(cluster),
        takes_along=True,
    )


def _made(cluster: PlannedCluster) -> dict[str, str]:
    """By setting, the name of each resource that goes when the setting names one that exists."""
    if cluster.existing:
        return {}
    keys = {"identity": "identity", "kubelet-identity": "kubeletIdentity"}
    made = {
        keys.get(identity.key, identity.key): identity.name for identity in cluster.identities if not identity.existing
    }
    if cluster.create_resource_group:
        made["resourceGroup"] = cluster.resource_group
    if cluster.workspace is not None and not cluster.workspace.existing:
        made["monitoring.logAnalytics"] = cluster.workspace.name
    return dict(sorted(made.items()))


def _pool(pool: PlannedPool, plan: Plan) -> PreviousPool:
    in_place = load_facts().pool_fields_of("update")  # without a consequence for what runs on the nodes
    return PreviousPool(
        vm_size=pool.vm_size,
        allocation=pool.allocation,
        driver_owner=pool.driver_owner,
        mig=_partitions(pool, plan),
        protect=pool.protect,
        inputs={key: _unsecret(value, key) for key, value in pool.inputs.items() if key not in in_place},
        classes=pool.device_classes,
        path=pool.path,
        resources=tuple(sorted(pool.extended_resources)),
        evicting=tuple(taint for taint in pool.taints if taint.endswith(":NoExecute")),
        count=pool.inputs.get("count", -1),
    )


def _unsecret(value: Any, key: str = "") -> Any:
    """A raw input may hold a password, and this goes into the stack's outputs."""
    if any(word in key.casefold() for word in ("password", "secret")):
        return "[secret]"
    if isinstance(value, Mapping):
        return {name: _unsecret(inner, str(name)) for name, inner in value.items()}
    return [_unsecret(inner) for inner in value] if isinstance(value, list | tuple) else value


def _partitions(pool: PlannedPool, plan: Plan) -> str:
    """The layout's name; of a custom layout, whose name is the pool's, a digest of what it says as well."""
    if not pool.mig_layout:
        return DYNAMIC_MIG if pool.sharing.startswith("dynamicMig") else ""
    for planned in plan.objects:
        if planned.kind == "ConfigMap" and planned.manifest["metadata"]["name"] == names.MIG_LAYOUTS_CONFIG_MAP:
            layouts = _layouts(planned.manifest["data"])
            if pool.mig_layout.endswith(pool.name) and pool.mig_layout in layouts:
                return f"{pool.mig_layout} {_digest(layouts[pool.mig_layout])}"
    return pool.mig_layout


def _layouts(data: Mapping[str, str]) -> dict[str, Any]:
    import yaml  # here: only stacks with a layout of their own need it

    found: dict[str, Any] = {}
    for text in data.values():
        found |= (yaml.safe_load(text) or {}).get("mig-configs") or {}
    return found


def _claims(plan: Plan) -> dict[str, PreviousClaim]:
    specs = {
        f"{metadata['namespace']}/{metadata['name']}": planned.manifest["spec"]
        for planned in plan.objects
        if planned.kind in KINDS
        for metadata in (planned.manifest["metadata"],)
    }
    return {
        key: PreviousClaim(claim.kind, _classes_of(claim), _digest(specs.get(key)))
        for claim in (planned.claim for planned in plan.claims)
        for key in (f"{claim.namespace}/{claim.name}",)
    }


def _classes_of(claim: Claim) -> tuple[str, ...]:
    return tuple(dict.fromkeys(ask.device_class for ask in claim.asks))


def _gpu_requests(plan: Plan) -> str:
    for planned in plan.objects:
        if planned.kind == "DeviceClass" and planned.manifest["metadata"]["name"] == names.LEGACY_CLASS:
            off = planned.manifest["spec"]["selectors"] == [{"cel": {"expression": "false"}}]
            return "devicePlugin" if off else "dra"
    return "devicePlugin" if any(pool.allocation == "devicePlugin" for pool in plan.pools) else ""


def _dra_stack(plan: Plan) -> str:
    if not any(pool.allocation == "dra" for pool in plan.pools):
        return ""
    return "chart" if any(release.name == names.DRA_RELEASE for release in plan.releases) else "operator"


def _driver(plan: Plan) -> str:
    for release in plan.releases:
        if release.name == names.OPERATOR_RELEASE:
            driver = release.values.get("driver") or {}
            return str(driver.get("version") or "") if driver.get("enabled", True) else ""
    return ""


def _extended(plan: Plan) -> dict[str, str]:
    return {
        planned.manifest["spec"]["extendedResourceName"]: planned.manifest["metadata"]["name"]
        for planned in plan.objects
        if planned.kind == "DeviceClass" and "extendedResourceName" in planned.manifest["spec"]
    }


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()[:12]


def _integers(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {str(key): _integers(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_integers(inner) for inner in value]
    return value


def _known(kind: type, data: Mapping[str, Any]) -> dict[str, Any]:
    """What this release knows of an entry: a later one may have written more."""
    return {key: value for key, value in data.items() if key in kind.__dataclass_fields__}  # type: ignore[attr-defined]


def _tupled(kind: type, data: Mapping[str, Any]) -> Any:
    fields = {key: tuple(value) if isinstance(value, list) else value for key, value in _known(kind, data).items()}
    return kind(**fields)
