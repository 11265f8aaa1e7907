"""Changes to classes, claims and namespaces that pods depend on, in this file or outside of it."""

from __future__ import annotations

from collections.abc import Iterator

from aks_dra import names
from aks_dra.context.context import Context
from aks_dra.context.previous import Previous
from aks_dra.findings.build import finding
from aks_dra.findings.finding import Finding
from aks_dra.topics.tenants.policies import governs, may_use

KEP = "Kubernetes: DRA extended resources (KEP-5004); the newest class of a resource name decides"
TEST_POOL = "aks-dra:testPool"
DRA = "Kubernetes: resource.k8s.io/v1"
POLICIES = "aks-dra: docs/tenants.md"


def gpu_requests(context: Context, before: Previous, now: Previous) -> Iterator[Finding]:
    """nvidia.com/gpu changes hands, mostly because the last device-plugin pool goes."""
    had, has = before.gpu_requests, now.gpu_requests
    plugin_pools = [name for name, pool in now.pools.items() if pool.allocation == "devicePlugin"]
    path = "aks-dra:gpu.legacyRequests" if plugin_pools else "aks-dra:pools"
    because = "" if plugin_pools else "the last device-plugin pool goes: "
    texts = {
        ("devicePlugin", "dra"): (
            f"{because}pods that ask for nvidia.com/gpu are served by DRA from now on (class {names.LEGACY_CLASS}), "
            "with a whole GPU of any DRA pool that they tolerate",
            "nothing, if that is meant; else keep a device-plugin pool"
            if not plugin_pools
            else "nothing, if that is meant; else write legacyRequests: devicePlugin",
        ),
        ("devicePlugin", ""): (
            f"{because}nobody serves nvidia.com/gpu any more, and pods that ask for it stay Pending",
            "give these pods claims first (`aks-dra migrate` lists them); DRA serves the resource from Kubernetes "
            + context.facts.kubernetes.needs["extended_resource_name"].minimum,
        ),
        ("dra", "devicePlugin"): (
            "pods that ask for nvidia.com/gpu go to device-plugin pools only from now on; those placed by DRA stay",
            "nothing, if that is meant; else write gpu.legacyRequests: dra",
        ),
    }
    if (had, has) in texts:
        message, remedy = texts[had, has]
        yield finding("CHG017", "warning", path, f"{had} → {has or 'nobody'}", message, remedy, KEP)


def kept_from_gpu_requests(context: Context, before: Previous, now: Previous) -> Iterator[Finding]:
    """nvidia.com/gpu turns to DRA, whose class is handed out by namespace; what the device plugin serves is not."""
    settings = context.settings
    if (before.gpu_requests, now.gpu_requests) != ("devicePlugin", "dra") or not governs(settings):
        return
    lacking = [name for name in settings.namespaces if not may_use(settings, name, names.LEGACY_CLASS)]
    if not lacking:
        return
    yield finding(
        "CHG031",
        "warning",
        "aks-dra:namespaces",
        ", ".join(lacking),
        f"nvidia.com/gpu is handed out by namespace from now on, as class {names.LEGACY_CLASS}: new pods that ask for "
        f"it are refused in namespace{'s' if len(lacking) > 1 else ''} {', '.join(lacking)}, and in all that this file "
        "does not name",
        f"add {names.LEGACY_CLASS} to allow where such pods shall go on; elsewhere give them claims first "
        "(`aks-dra migrate` writes them)",
        POLICIES,
    )


def classes(context: Context, before: Previous, now: Previous) -> Iterator[Finding]:
    gone_pools = set(before.pools) - set(now.pools)
    for name, old in sorted(before.classes.items()):
        if name in now.classes or old.origin == "chart" or (old.pools and set(old.pools) <= gone_pools):
            continue  # what goes with its pools is said there
        twins = [key for key, new in sorted(now.classes.items()) if new.selectors == old.selectors]
        renamed = next((key for key in twins if key not in before.classes), "")
        claims = [key for key, claim in sorted(before.claims.items()) if name in claim.classes]
        message = f"class {name} " + (f"becomes {renamed}" if renamed else "is deleted")
        message += ": claims that name it find no device any more, and their new pods stay Pending"
        if claims:
            message += f"; in this stack {', '.join(claims)}"
        path = f"aks-dra:deviceClasses.{name}" if old.origin == "user" else "aks-dra:pools"
        yield finding(
            "CHG018",
            "warning",
            path,
            name,
            message,
            f"keep {name}{f' beside {renamed}' if renamed else ''} until no claim names it"
            + " (kubectl get resourceclaims,resourceclaimtemplates -A -o yaml | grep deviceClassName)",
            DRA,
        )


def _of_test_pool(context: Context, before: Previous, namespace: str) -> bool:
    """Whether a namespace is there for a test pool that is switched off now."""
    test = context.settings.test_pool
    had = any(pool.path == TEST_POOL for pool in before.pools.values())
    return had and not test.enabled and namespace in (test.namespace, f"{test.namespace}{names.ADMIN_SUFFIX}")


def claims(context: Context, before: Previous, now: Previous) -> Iterator[Finding]:
    for key, old in sorted(before.claims.items()):
        namespace, _, name = key.partition("/")
        path = TEST_POOL if _of_test_pool(context, before, namespace) else f"aks-dra:claims.{namespace}.{name}"
        template = old.kind == "ResourceClaimTemplate"
        new = now.claims.get(key)
        if new is None:
            twins = [other for other, claim in sorted(now.claims.items()) if claim.digest == old.digest]
            renamed = next((other for other in twins if other not in before.claims), "")
            what = "new pods" if template else "its deletion waits for the pods that use it; later ones"
            yield finding(
                "CHG019",
                "warning",
                path,
                old.kind,
                f"claim {key} " + (f"becomes {renamed}: " if renamed else "is deleted: ") + f"{what} stay Pending",
                f"keep {key} until no workload names it" + (f", beside {renamed}" if renamed else ""),
                DRA,
            )
        elif new.kind != old.kind:
            yield finding(
                "CHG020",
                "warning",
                f"{path}.shareAcross",
                f"{old.kind} → {new.kind}",
                f"claim {key} becomes another kind of object: pods that name it as {_reference(old.kind)} stay Pending",
                f"give it another name, and let the workloads name it as {_reference(new.kind)}",
                DRA,
            )
        elif new.digest != old.digest and not template:
            yield finding(
                "CHG020",
                "warning",
                path,
                old.kind,
                f"the spec of a claim is fixed: {key} is deleted, which waits for the pods that use it, and made anew",
                "stop the pods that use it first, or give the new one another name",
                DRA,
            )


def _reference(kind: str) -> str:
    return "resourceClaimTemplateName" if kind == "ResourceClaimTemplate" else "resourceClaimName"


def namespaces(context: Context, before: Previous, now: Previous) -> Iterator[Finding]:
    kept = set(now.namespaces) | {name for name, entry in context.settings.namespaces.items() if not entry.create}
    own = {names.OPERATOR_NAMESPACE, names.DRA_NAMESPACE}
    for name in sorted(set(before.namespaces) - kept - own):
        yield finding(
            "CHG021",
            "warning",
            TEST_POOL if _of_test_pool(context, before, name) else f"aks-dra:namespaces.{name}",
            name,
            f"namespace {name} leaves the stack and stays in the cluster, with its labels and all that is in it",
            f"nothing, if that is meant; `kubectl delete namespace {name}` deletes it",
            "aks-dra: namespaces outlive the stack",
        )


RULES = (gpu_requests, kept_from_gpu_requests, classes, claims, namespaces)
