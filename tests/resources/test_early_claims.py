"""What names a class before it is there: what is found in a cluster, what is said, and what stops a run."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pulumi
import pytest

from aks_dra.model.plan import Plan
from aks_dra.resources import early_claims
from aks_dra.resources.early_claims import EarlyClaims, early, refusal, wait_for_policies, warning
from tests.resources.hand_made import whole_cluster
from tests.resources.stand_in import kubelogin, run  # noqa: F401
from tests.stacks import planned
from tests.topics.tenants.bodies import POOLS

CLASSES = "aks-dra:deviceClasses: {small: {require: {memory: '<=20Gi'}, extendedResourceName: example.com/small}}\n"
OWN = "aks-dra:claims: {ml: {own: {deviceClass: t4}}}\n"
LISTS = "aks-dra:namespaces: {ml: {allow: [t4, small]}}\n"


def of(kind: str, namespace: str, name: str, spec: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    return {"kind": kind, "metadata": {"namespace": namespace, "name": name, **metadata}, "spec": spec}


def claim(namespace: str, name: str, *classes: str, **metadata: Any) -> dict[str, Any]:
    requests = [{"name": f"r{n}", "exactly": {"deviceClassName": entry}} for n, entry in enumerate(classes)]
    return of("ResourceClaim", namespace, name, {"devices": {"requests": requests}}, **metadata)


def template(namespace: str, name: str, *classes: str) -> dict[str, Any]:
    choices = [{"name": f"c{n}", "deviceClassName": entry} for n, entry in enumerate(classes)]
    spec = {"devices": {"requests": [{"name": "r", "firstAvailable": choices}]}}
    return of("ResourceClaimTemplate", namespace, name, {"spec": spec})


def pod(namespace: str, name: str, resource: str, where: str = "containers", kind: str = "limits") -> dict[str, Any]:
    plain = [{"name": "plain"}]
    asks = [{"name": "asks", "resources": {kind: {resource: "1"}}}]
    return of("Pod", namespace, name, {"containers": plain, where: asks})


def cluster(*objects: dict[str, Any], classes: tuple[str, ...] = (), page: int = 2, **lists: str) -> Any:
    """An API server that has these, and gives its lists page by page."""
    held: dict[str, list[dict[str, Any]]] = {
        "/apis/resource.k8s.io/v1/deviceclasses": [{"metadata": {"name": name}} for name in classes],
        "/api/v1/namespaces": [
            {"metadata": {"name": name, "annotations": {"aks-dra.dev/allowed-device-classes": text}}}
            for name, text in lists.items()
        ],
        "/apis/resource.k8s.io/v1/resourceclaims": [o for o in objects if o["kind"] == "ResourceClaim"],
        "/apis/resource.k8s.io/v1/resourceclaimtemplates": [o for o in objects if o["kind"] == "ResourceClaimTemplate"],
        "/api/v1/pods": [o for o in objects if o["kind"] == "Pod"],
    }

    def call(method: str, path: str, body: Any) -> tuple[int, Any]:
        assert (method, body) == ("GET", None)
        where, _, query = path.partition("?")
        options = dict(part.split("=") for part in query.split("&"))
        assert ("fieldSelector" in options) == (where == "/api/v1/pods")
        first = int(options.get("continue", 0))
        more = {"continue": str(first + page)} if len(held[where]) > first + page else {}
        return 200, {"metadata": more, "items": held[where][first : first + page]}

    return call


def shown(plan: Plan, call: Any) -> list[str]:
    return [str(entry) for entry in early(plan, call)]


def test_without_lists_all_that_names_a_new_class_is_found(tmp_path: Path) -> None:
    plan = planned(tmp_path, POOLS + CLASSES + OWN)
    prefix = "deviceclass.resource.kubernetes.io"
    made = [{"kind": "Pod", "name": "trainer"}]
    objects = [
        claim("dev", "one", "h100-nvl", "t4"),
        claim("dev", "other", "somebody-elses"),
        claim("dev", "made", "gpu.nvidia.com", ownerReferences=made),
        claim("ml", "own", "t4"),  # the stack's own is a template; a claim of this name is somebody's
        claim("kube-system", "system", "h100-nvl"),
        of("ResourceClaim", "dev", "empty", {"devices": {}}),
        of("ResourceClaim", "dev", "look", {"devices": {"requests": [
            {"name": "r", "exactly": {"deviceClassName": "h100-nvl", "adminAccess": True}}]}}),
        template("ml", "own", "t4"),
        template("dev", "ranked", "nothing", "h100-nvl"),
        pod("dev", "by-class", f"{prefix}/h100-nvl"),
        pod("dev", "first", f"{prefix}/small", "initContainers", "requests"),
        pod("dev", "by-name", "example.com/small"),
        pod("dev", "legacy", "nvidia.com/gpu"),
        pod("dev", "plain", "cpu"),
    ]  # fmt: skip
    there = ("t4", "aks-dra-legacy-requests")
    assert shown(plan, cluster(*objects, classes=there)) == [
        "ResourceClaim dev/one: h100-nvl",
        "ResourceClaim dev/made, made for pod trainer: gpu.nvidia.com",
        "ResourceClaimTemplate dev/ranked: h100-nvl",
        "Pod dev/by-class: h100-nvl",
        "Pod dev/first: small",
        "Pod dev/by-name: small",
    ]
    assert "Pod dev/legacy: aks-dra-legacy-requests" in shown(plan, cluster(*objects, classes=("t4",)))
    without = shown(plan, cluster(*objects))
    assert "ResourceClaim ml/own: t4" in without
    assert "ResourceClaimTemplate ml/own: t4" not in without
    text = warning(early(plan, cluster(*objects, classes=there)), False)
    assert text.startswith("These name device classes that do not exist yet, and get their devices once the classes")
    assert "\n  Pod dev/first: small\n" in text


def test_where_every_class_is_there_nothing_else_is_asked(tmp_path: Path) -> None:
    plan = planned(tmp_path, POOLS)
    asked = []

    def call(method: str, path: str, body: Any) -> tuple[int, Any]:
        asked.append(path)
        return 200, {"items": [{"metadata": {"name": name}} for name in early_claims.made_classes(plan)]}

    assert early(plan, call) == []
    assert asked == ["/apis/resource.k8s.io/v1/deviceclasses?limit=500"]
    assert early_claims.made_classes(plan) >= {"t4", "h100-nvl", "gpu.nvidia.com"}


def test_with_lists_what_a_namespace_may_use_is_no_news(tmp_path: Path) -> None:
    """The list of the stack file counts; of a namespace that is not in it, the one that somebody gave it."""
    plan = planned(tmp_path, POOLS + CLASSES + LISTS)
    objects = [
        claim("ml", "good", "t4"),
        claim("ml", "both", "t4", "h100-nvl"),
        claim("byhand", "good", "h100-nvl"),
        claim("none", "bad", "t4", "h100-nvl"),
        template("none", "bad", "t4"),
        pod("none", "bad", "example.com/small"),
    ]
    found = early(plan, cluster(*objects, byhand="x, h100-nvl", ml="t4,h100-nvl"))
    assert [str(entry) for entry in found] == [
        "ResourceClaim ml/both: h100-nvl",
        "ResourceClaim none/bad: h100-nvl, t4",
        "ResourceClaimTemplate none/bad: t4",
        "Pod none/bad: small",
    ]
    text = refusal(found[:2])
    assert "\n  ResourceClaim none/bad: h100-nvl, t4\n" in text
    assert text.endswith(
        "allow the classes: h100-nvl in aks-dra:namespaces.ml.allow; h100-nvl, t4 in aks-dra:namespaces.none.allow"
    )
    assert "… and 3 more" in refusal([found[1]] * 43)


def test_it_waits_until_the_policies_are_in_force(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(early_claims, "SETTLED_SECONDS", 0.6)
    answers: list[tuple[int, Any]] = [(201, {}), (403, {}), (201, {}), *[(403, {})] * 9]
    asked: list[tuple[str, str, Any]] = []

    def call(*what: Any) -> tuple[int, Any]:
        asked.append(what)
        return answers.pop(0)

    wait_for_policies(call)
    assert 4 <= len(asked) <= 7  # a refusal that is followed by another answer is no end
    method, path, body = asked[0]
    assert (method, path) == ("POST", "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims?dryRun=All")
    assert body["spec"]["devices"]["requests"][0]["exactly"]["deviceClassName"].startswith("aks-dra-")
    monkeypatch.setattr(early_claims, "IN_FORCE_SECONDS", 0.0)
    with pytest.raises(pulumi.RunError, match="every namespace could take the new device classes: they are not"):
        wait_for_policies(lambda *_: (201, {}))


def ask(plan: Plan, kubeconfig: str, *, preview: bool = False) -> None:
    """Calls the hook as the engine does, for two classes at once."""

    def program() -> EarlyClaims:
        return EarlyClaims("gpu", plan, pulumi.Output.from_input(kubeconfig))

    _, found = run(program, preview=preview)

    async def twice() -> None:
        both = [found._before_a_class(None), found._before_a_class(None)]
        for answer in await asyncio.gather(*both, return_exceptions=True):
            if answer:
                raise answer

    asyncio.get_event_loop().run_until_complete(twice())


@pytest.mark.parametrize("preview", [True, False])
def test_a_cluster_that_does_not_answer_stops_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, preview: bool
) -> None:
    ask(planned(tmp_path, POOLS + CLASSES + LISTS), "no: kubeconfig", preview=preview)
    said = "Claims that name a class before it exists were not looked for: "
    assert caplog.text.count(said) == (0 if preview else 1)
    ask(planned(tmp_path, POOLS + CLASSES + LISTS), "", preview=preview)
    assert caplog.text.count(said) == (0 if preview else 1)


@pytest.mark.parametrize("preview", [True, False])
def test_a_claim_that_may_not_be_stops_the_run_and_the_rest_warns_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, preview: bool
) -> None:
    objects = [claim("none", "bad", "t4"), template("none", "bad", "t4")]
    waited: list[bool] = []
    monkeypatch.setattr(early_claims, "wait_for_policies", lambda _: waited.append(True))
    monkeypatch.setattr(early_claims, "caller", lambda _: cluster(*objects))
    with pytest.raises(pulumi.RunError, match="the classes are not created"):
        ask(planned(tmp_path, POOLS + CLASSES + LISTS), "a: kubeconfig", preview=preview)
    assert caplog.text.count("ResourceClaimTemplate none/bad: t4") == 1
    assert waited == ([] if preview else [True])
    monkeypatch.setattr(early_claims, "caller", lambda _: cluster(*objects[1:]))
    ask(planned(tmp_path, POOLS + CLASSES + LISTS), "a: kubeconfig", preview=preview)


def test_whatever_brings_a_class_asks_first_and_after_the_policies(tmp_path: Path) -> None:
    plan = planned(tmp_path, POOLS + CLASSES + LISTS)
    engine, _ = run(whole_cluster(plan))
    policies = {r.name for r in engine.requests if ":ValidatingAdmissionPolicy" in r.type}
    assert len(policies) == 6
    bringers = [*engine.of(":DeviceClass"), engine.named("gpu-dra-driver-dra-driver-nvidia-gpu")]
    assert len(bringers) == 5
    for request in bringers:
        assert list(request.raw.hooks.before_create) == ["gpu-early-claims"], request.name
        assert engine.behind(request) >= policies | {"gpu-namespaces-namespace-ml"}
    for name in policies:  # without its list a namespace would be refused everything
        assert "gpu-namespaces-namespace-ml" in engine.behind(engine.named(name))
    others = [r for r in engine.requests if r not in bringers and r.raw.hooks.before_create]
    assert others == []


def test_policies_that_were_among_the_claims_are_the_same_ones(tmp_path: Path) -> None:
    """Or the engine would write them, and then delete them under the same name."""
    engine, _ = run(whole_cluster(planned(tmp_path, POOLS + CLASSES + LISTS)))
    aliases = engine.named("gpu-namespaces-policy-claims").raw.aliases
    names = [alias.spec.name for alias in aliases if alias.spec.parentUrn.endswith("$aks-dra:index:Claims::gpu-claims")]
    assert names == ["gpu-claims-policy-claims"]
