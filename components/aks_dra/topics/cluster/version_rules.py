"""Kubernetes versions: the floor for DRA, what AKS supports, pools against the cluster, support dates."""

from __future__ import annotations

import re
from collections.abc import Iterator

from aks_dra.context.context import Context
from aks_dra.findings.build import finding
from aks_dra.findings.finding import Finding
from aks_dra.kube.versions import minor

SUPPORT = "AKS: supported Kubernetes versions"
SHAPE = re.compile(r"(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*)){1,2}")
MOST_BEHIND = 3  # minor versions that a node may be older than the API server


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def shape_and_floor(context: Context) -> Iterator[Finding]:
    places = [("aks-dra:cluster.kubernetesVersion", context.version)]
    places += [
        (f"{path}.kubernetesVersion", pool.kubernetes_version)
        for _, path, pool in context.pools()
        if pool.kubernetes_version
    ]
    floor = context.facts.kubernetes.floor
    for path, version in places:
        if not SHAPE.fullmatch(version):
            stripped = re.sub(r"(^|\.)0+(?=[0-9])", r"\1", version.strip().lstrip("vV"))
            hint = (
                f'write "{stripped}"'
                if SHAPE.fullmatch(stripped)
                else (f'write a version such as "{context.facts.kubernetes.default}"')
            )
            yield finding(
                "VER001",
                "error",
                path,
                version,
                "a Kubernetes version is major.minor or major.minor.patch",
                hint,
                SUPPORT,
            )
            continue
        numbers, lowest = _numbers(version), _numbers(floor)
        # A bare minor means its latest patch, so only a patch that is given can be too low.
        if numbers[:2] < lowest[:2] or (len(numbers) == 3 and numbers < lowest):
            yield finding(
                "VER002",
                "error",
                path,
                version,
                f"below {floor}, the oldest version that serves DRA for NVIDIA's driver",
                f'write "{context.facts.kubernetes.default}"',
                f"NVIDIA DRA driver, prerequisites: Kubernetes {floor} or newer; resource.k8s.io/v1 from "
                + context.facts.kubernetes.needs["resource_v1"].minimum,
            )
        elif context.snapshot and context.snapshot.versions:
            continue  # better than the table, and checked against it
        elif ".".join(version.split(".")[:2]) not in context.facts.kubernetes.versions:
            yield finding(
                "VER003",
                "warning",
                path,
                version,
                "this version is not in the facts tables",
                "check `az aks get-versions`, or add a row to a facts file of your own",
                SUPPORT,
            )


def pools_against_cluster(context: Context) -> Iterator[Finding]:
    cluster = context.settings.cluster
    if not SHAPE.fullmatch(context.version):
        return
    # The version of a cluster that exists is known only where the stack says it.
    assumed = bool(cluster.existing) and cluster.kubernetes_version is None
    for _, path, pool in context.pools():
        version, where = pool.kubernetes_version or "", f"{path}.kubernetesVersion"
        if not SHAPE.fullmatch(version):
            continue
        if _newer(version, context.version):
            yield finding(
                "VER004",
                "warning" if assumed else "error",
                where,
                version,
                f"the cluster's version is taken to be {context.version}, and a pool cannot be newer than its cluster"
                if assumed
                else f"a pool cannot be newer than its cluster ({context.version})",
                "write the cluster's version as cluster.kubernetesVersion"
                if assumed
                else "upgrade the cluster first, or lower the pool",
                "AKS: upgrade order",
            )
        elif context.minor[0] == minor(version)[0] and context.minor[1] - minor(version)[1] > MOST_BEHIND:
            yield finding(
                "VER008",
                "error",
                where,
                version,
                f"a node is at most {MOST_BEHIND} minor versions older than the API server ({context.version})",
                f'write "{context.minor[0]}.{context.minor[1] - MOST_BEHIND}" or later',
                "Kubernetes: version skew policy",
            )


def _newer(pool: str, cluster: str) -> bool:
    """Patches count where both are written: a minor alone is its latest patch."""
    left, right = _numbers(pool), _numbers(cluster)
    return left[:2] > right[:2] or (left[:2] == right[:2] and len(left) == len(right) == 3 and left > right)


def long_term_support(context: Context) -> Iterator[Finding]:
    cluster = context.settings.cluster
    if cluster.lts and cluster.tier != "Premium":
        yield finding(
            "VER005",
            "error",
            "aks-dra:cluster.lts",
            "true",
            "long-term support needs the Premium tier",
            "set cluster.tier: Premium",
            "AKS: long-term support",
        )


def long_term_only(context: Context) -> Iterator[Finding]:
    cluster = context.settings.cluster
    row = context.facts.kubernetes.versions.get(".".join(context.version.split(".")[:2]))
    if row is None or not row.lts_only or cluster.lts or context.minor < minor(context.facts.kubernetes.floor):
        return
    yield finding(
        "VER007",
        "warning",
        "aks-dra:cluster.kubernetesVersion",
        context.version,
        "AKS makes new clusters of this version under long-term support only",
        f'move to "{context.facts.kubernetes.default}", or set cluster.lts: true and cluster.tier: Premium',
        row.source,
    )


def support_dates(context: Context) -> Iterator[Finding]:
    row = context.facts.kubernetes.versions.get(".".join(context.version.split(".")[:2]))
    long_term = context.settings.cluster.lts
    end = (row.lts_eol if long_term else row.eol) if row else ""
    if context.today and row and end and context.today > end:
        yield finding(
            "VER006",
            "warning",
            "aks-dra:cluster.kubernetesVersion",
            context.version,
            f"{'long-term' if long_term else 'standard'} support ended on {end}",
            f'move to "{context.facts.kubernetes.default}"'
            + ("" if long_term else ", or set cluster.lts with tier Premium"),
            row.source,
        )


RULES = (shape_and_floor, pools_against_cluster, long_term_support, long_term_only, support_dates)
