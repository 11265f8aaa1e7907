"""The smoke test: two Jobs on the test pool that show that a claim gets a GPU.

The first takes a GPU by a claim from a template and lists what it got. The second looks at it with admin access, which
reserves nothing, from a namespace of its own: admin access reaches every device of the cluster, and the test pool's
namespace is for trying things.

A Job's name ends in a hash of what it tests: its own spec, the claim, the classes, the pool, and version and values of
the operator and the DRA driver. So it runs again when one of them changes, and an unchanged stack plans nothing. For
the same reason it has no time to live: a Job that vanishes would be made anew by every `up`. One that failed is
replaced by the next `up`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from aks_dra import names
from aks_dra.facts import Facts
from aks_dra.model.plan import PlannedObject, PlannedPool, PlannedRelease
from aks_dra.settings import Settings
from aks_dra.settings.testpool_of import admin_namespace, smoke_test_runs
from aks_dra.topics.charts.stack_values import mirrored

# The report is the container's log and its termination message; without a GPU nvidia-smi ends with 6.
COMMAND = ("sh", "-c", "nvidia-smi -L >/dev/termination-log; code=$?; cat /dev/termination-log; exit $code")


# What an autoscaler or a bill changes about a pool is no reason to test it again.
UNTESTED = ("count", "minCount", "maxCount", "enableAutoScaling", "tags", "upgradeSettings")


# The Job ends a little after Pulumi stops waiting: its own end deletes the pod, and with it the reason.
GRACE_SECONDS = 60


REQUEST = "gpu"


LABELS = {"app.kubernetes.io/name": names.SMOKE_TEST, "app.kubernetes.io/managed-by": "aks-dra"}


def smoke_objects(
    settings: Settings,
    facts: Facts,
    pools: Iterable[PlannedPool],
    releases: Iterable[PlannedRelease],
    objects: Iterable[PlannedObject],
) -> tuple[PlannedObject, ...]:
    """The two Jobs and the second one's claim; `objects` are the plan's classes and claims."""
    test = settings.test_pool
    pool = next((pool for pool in pools if pool.name == test.name), None)
    if not smoke_test_runs(settings) or pool is None or not pool.device_classes:
        return ()
    by_key = {planned.key: planned for planned in objects}
    claim_key = f"claim-{test.namespace}-{names.TEST_CLAIM}"
    classes = [key for name in pool.device_classes if (key := f"deviceclass-{name}") in by_key]
    needed = tuple(release.key for release in releases if release.key in (names.OPERATOR_RELEASE, names.DRA_RELEASE))
    tested = {
        "pool": {key: value for key, value in pool.inputs.items() if key not in UNTESTED},
        "releases": [
            {"name": release.name, "version": release.version, "values": release.values}
            for release in releases
            if release.key in needed
        ],
        "objects": [by_key[key].manifest for key in (*classes, claim_key)],
    }
    admin = _admin_claim(admin_namespace(settings), pool.device_classes[0])
    image = test.smoke_test.image or mirrored(settings, facts.images["smoke_test"].reference)
    seconds = test.smoke_test.timeout_seconds

    def job(key: str, name: str, namespace: str, claim: Mapping[str, Any], claim_key: str) -> PlannedObject:
        manifest = _job(name, namespace, image, seconds, pool, claim, tested)
        after = (*needed, *classes, claim_key)
        return PlannedObject(key, manifest, after=after, timeout_seconds=seconds)

    return (
        job("smoke-test", names.SMOKE_TEST, test.namespace, by_key[claim_key].manifest, claim_key),
        PlannedObject("smoke-test-admin-claim", admin, after=(*needed, *classes)),
        job(
            "smoke-test-admin-access",
            names.ADMIN_ACCESS_TEST,
            admin_namespace(settings),
            admin,
            "smoke-test-admin-claim",
        ),
    )


def _admin_claim(namespace: str, device_class: str) -> dict[str, Any]:
    exactly = {"deviceClassName": device_class, "allocationMode": "ExactCount", "count": 1, "adminAccess": True}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": names.TEST_CLAIM, "namespace": namespace},
        "spec": {"spec": {"devices": {"requests": [{"name": REQUEST, "exactly": exactly}]}}},
    }


def _job(
    name: str,
    namespace: str,
    image: str,
    seconds: int,
    pool: PlannedPool,
    claim: Mapping[str, Any],
    tested: Mapping[str, Any],
) -> dict[str, Any]:
    source = "resourceClaimTemplateName" if claim["kind"] == "ResourceClaimTemplate" else "resourceClaimName"
    container = {
        "name": name,
        "image": image,
        "command": list(COMMAND),
        # NVIDIA's images ask for all GPUs, and where its runtime is the default that would be granted without a claim.
        "env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"}],
        "resources": {"claims": [{"name": REQUEST}]},
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        "terminationMessagePolicy": "FallbackToLogsOnError",
    }
    pod: dict[str, Any] = {
        "automountServiceAccountToken": False,
        "containers": [container],
        "nodeSelector": dict(pool.pod.node_selector),
        "resourceClaims": [{"name": REQUEST, source: claim["metadata"]["name"]}],
        "restartPolicy": "Never",
    }
    if pool.pod.tolerations:
        pod["tolerations"] = [dict(toleration) for toleration in pool.pod.tolerations]
    spec = {
        "activeDeadlineSeconds": seconds + GRACE_SECONDS,
        "backoffLimit": 0,
        "template": {"metadata": {"labels": LABELS}, "spec": pod},
    }
    text = json.dumps([spec, claim, tested], sort_keys=True, default=str)
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:8]}",
            "namespace": namespace,
            "labels": LABELS,
            "annotations": {"pulumi.com/replaceUnready": "true"},
        },
        "spec": spec,
    }
