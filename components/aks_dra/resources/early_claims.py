"""What in the cluster names a device class before it is there: reported before the class comes.

A claim may name a class that does not exist; on the day the class comes it gets a device. So before the first new
class, and before the release that brings NVIDIA's own, the claims, templates and waiting pods of the cluster are read.
Where a namespace may not use the class, its claims stop the run: no policy looks at a claim that is there. Its
templates and pods do not, since the claim that Kubernetes makes for them is refused. In a cluster without lists
everybody may use every class, so all are named, in a warning.

It is done in a hook, which runs when a class is really made, in previews too. It asks the API server and nothing of the
stack's state, so that a run which stopped half-way is followed by one that knows as much.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pulumi
from pulumi.runtime.proto import resource_pb2
from pulumi.runtime.settings import monitor_supports_feature

from aks_dra import names
from aks_dra.kube.asks import IMPLICIT
from aks_dra.kube.claims import read_claim
from aks_dra.model.classes import CHART_CLASSES
from aks_dra.model.plan import Plan
from aks_dra.resources.api_server import Call, caller, items
from aks_dra.resources.args import Args, plan_of

DRA = "/apis/resource.k8s.io/v1"
CLASSES = f"{DRA}/deviceclasses"
CLAIMS, TEMPLATES, PODS = f"{DRA}/resourceclaims", f"{DRA}/resourceclaimtemplates", "/api/v1/pods"
# A pod that has a node has its devices; one that has ended needs none.
WAITING = "fieldSelector=spec.nodeName%3D,status.phase%3DPending"
# An API server looks for changed policies once a second (measured: docs/tenants.md), and there may be several.
SETTLED_SECONDS = 2.0
IN_FORCE_SECONDS = 30.0
SHOWN = 40


@dataclass(frozen=True)
class Early:
    """An object that names classes that do not exist yet."""

    kind: str
    namespace: str
    name: str
    classes: tuple[str, ...]
    pod: str = ""  # for which Kubernetes made it
    refused: tuple[str, ...] = ()  # of the classes: those that the namespace may not use

    def __str__(self) -> str:
        of = f", made for pod {self.pod}" if self.pod else ""
        return f"{self.kind} {self.namespace}/{self.name}{of}: {', '.join(self.refused or self.classes)}"


class EarlyClaims:
    """The check of one cluster; `hook` goes to whatever makes a device class, and only its first call asks."""

    def __init__(
        self,
        name: str,
        args: Args,
        kubeconfig: pulumi.Output[str] | None,
        parent: pulumi.Resource | None = None,
    ) -> None:
        self._plan, self._kubeconfig, self._parent = plan_of(args), kubeconfig, parent
        self._asked: asyncio.Task[None] | None = None
        self.hook: pulumi.ResourceHook | None = None
        if kubeconfig is not None and monitor_supports_feature(resource_pb2.RESOURCE_MONITOR_FEATURE_RESOURCE_HOOKS):
            options = pulumi.ResourceHookOptions(on_dry_run=True)
            self.hook = pulumi.ResourceHook(f"{name}-early-claims", self._before_a_class, options)

    async def _before_a_class(self, _: pulumi.ResourceHookArgs) -> None:
        if self._asked is None:
            self._asked = asyncio.ensure_future(self._ask())
        await self._asked

    async def _ask(self) -> None:
        dry_run = pulumi.runtime.is_dry_run()
        kubeconfig = await self._kubeconfig.future() if self._kubeconfig is not None else None
        if not kubeconfig:
            return  # a cluster that is only planned, or a provider of the program's own
        try:
            call = caller(kubeconfig)
            if self._plan.tenancy.in_force and not dry_run:
                await asyncio.to_thread(wait_for_policies, call)
            found = await asyncio.to_thread(early, self._plan, call)
        except pulumi.RunError:
            raise
        except Exception as error:  # the client's errors have no common base, and none of them says anything of a claim
            if not dry_run:
                reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
                pulumi.log.warn(
                    f"Claims that name a class before it exists were not looked for: {reason}", self._parent
                )
            return
        if others := [entry for entry in found if not (entry.refused and entry.kind == "ResourceClaim")]:
            pulumi.log.warn(warning(others, self._plan.tenancy.in_force), self._parent)
        if refused := [entry for entry in found if entry.refused and entry.kind == "ResourceClaim"]:
            raise pulumi.RunError(refusal(refused))


def early(plan: Plan, call: Call) -> list[Early]:
    """What names a class of the plan that the cluster does not have; without the stack's own and the exempt.

    While lists are in force, what a namespace may use is left out.
    """
    new = made_classes(plan) - {str(item["metadata"]["name"]) for item in items(call, CLASSES)}
    if not new:
        return []
    own = {(each.claim.kind, each.claim.namespace, each.claim.name) for each in plan.claims}
    resources = {IMPLICIT + name: name for name in new} | {
        resource: name for resource, name in plan.tenancy.resources.items() if name in new
    }
    found = []
    for kind, path in (("ResourceClaim", CLAIMS), ("ResourceClaimTemplate", TEMPLATES), ("Pod", f"{PODS}?{WAITING}")):
        for item in items(call, path):
            metadata, spec = item["metadata"], item.get("spec") or {}
            namespace, name = str(metadata["namespace"]), str(metadata["name"])
            if kind == "Pod":
                named = {resources[asked] for asked in asked_resources(spec) if asked in resources}
            else:
                named = set(named_classes(spec.get("spec") or {} if kind == "ResourceClaimTemplate" else spec)) & new
            if named and namespace not in plan.tenancy.exempt and (kind, namespace, name) not in own:
                found.append(Early(kind, namespace, name, tuple(sorted(named)), _pod(metadata)))
    if not found or not plan.tenancy.in_force:
        return found
    lists = {str(item["metadata"]["name"]): _list(item["metadata"]) for item in items(call, "/api/v1/namespaces")}
    lists |= plan.tenancy.lists
    judged = [
        Early(
            e.kind, e.namespace, e.name, e.classes, e.pod, tuple(sorted({*e.classes} - {*lists.get(e.namespace, ())}))
        )
        for e in found
    ]
    return [entry for entry in judged if entry.refused]


def made_classes(plan: Plan) -> set[str]:
    """The classes that come with the plan, NVIDIA's own among them."""
    made = {str(o.manifest["metadata"]["name"]) for o in plan.objects if o.kind == "DeviceClass"}
    chart = {entry.name for entry in CHART_CLASSES} if any(pool.allocation == "dra" for pool in plan.pools) else set()
    return made | chart


def named_classes(spec: Mapping[str, Any]) -> Iterator[str]:
    """Every class that a claim's spec names. Requests with admin access take nothing, and are not meant."""
    for request in read_claim(spec).requests:
        if not request.admin_access:
            yield from (ask.device_class for ask in request.asks if ask.device_class)


def asked_resources(spec: Mapping[str, Any]) -> set[str]:
    """Every resource that a pod asks for."""
    parts = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ()), spec]
    return {
        name
        for part in parts
        for kind in ("limits", "requests")
        for name in ((part.get("resources") or {}).get(kind) or ())
    }


def wait_for_policies(call: Call) -> None:
    """Until the API server keeps refusing a claim by the policies: it learns of new ones a moment after they are there.

    The claim is a dry run for a class that nobody has. A refusal for whatever reason counts.
    """
    metadata = {"generateName": "aks-dra-"}
    requests = [{"name": "r", "exactly": {"deviceClassName": f"aks-dra-{secrets.token_hex(4)}"}}]
    claim = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": metadata,
        "spec": {"devices": {"requests": requests}},
    }
    last = start = time.monotonic()  # last: when it was not refused
    while (now := time.monotonic()) - last < SETTLED_SECONDS:
        if call("POST", f"{DRA}/namespaces/default/resourceclaims?dryRun=All", claim)[0] < 300:
            last = time.monotonic()
        if now - start > IN_FORCE_SECONDS:
            raise pulumi.RunError(
                f"The API server still accepts what the policy {names.CLASS_POLICY}-claims refuses, "
                f"{IN_FORCE_SECONDS:.0f} s after the policy was written, so every namespace could take the new device "
                "classes: they are not created. `kubectl get validatingadmissionpolicybinding "
                f"{names.CLASS_POLICY}-claims` shows whether somebody removed it."
            )
        time.sleep(0.25)


def warning(found: list[Early], in_force: bool) -> str:
    """What is said of objects that do not stop the run."""
    if in_force:
        head = "These name device classes that come now and that their namespace may not use, so they wait for ever:"
        tail = f"Delete them, or allow the classes: {_allow(found)}"
    else:
        head = "These name device classes that do not exist yet, and get their devices once the classes come:"
        tail = "Delete those that shall not. Lists say which namespaces may: docs/tenants.md"
    return "\n".join([head, *_lines(found), f"  {tail}"])


def refusal(found: list[Early]) -> str:
    """What stops the run."""
    return "\n".join(
        [
            "These claims name device classes that come now and that their namespace may not use. They are older than "
            "the lists, so no policy refuses them, and they would get the devices; the classes are not created:",
            *_lines(found),
            "  Delete them (kubectl delete resourceclaim NAME -n NAMESPACE; the pod first where one is named), or "
            f"allow the classes: {_allow(found)}",
        ]
    )


def _lines(found: list[Early]) -> list[str]:
    more = [f"  … and {len(found) - SHOWN} more"] if len(found) > SHOWN else []
    return [*(f"  {entry}" for entry in found[:SHOWN]), *more]


def _allow(found: list[Early]) -> str:
    wanted: dict[str, set[str]] = {}
    for entry in found[:SHOWN]:
        wanted.setdefault(entry.namespace, set()).update(entry.refused)
    added = (f"{', '.join(sorted(classes))} in aks-dra:namespaces.{name}.allow" for name, classes in wanted.items())
    return "; ".join(added)


def _pod(metadata: Mapping[str, Any]) -> str:
    owners = metadata.get("ownerReferences") or ()
    return next((str(owner["name"]) for owner in owners if owner.get("kind") == "Pod"), "")


def _list(metadata: Mapping[str, Any]) -> tuple[str, ...]:
    text = (metadata.get("annotations") or {}).get(names.ALLOWED_CLASSES, "")
    return tuple(name.strip() for name in text.split(","))
