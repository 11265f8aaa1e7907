"""Tenants by the stack file: policies, lists and quotas come with one `up` and go with another."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.conftest import Stack, eventually
from tests.end_to_end.variants import Variant, changes, variants

TENANTS = """\
  aks-dra:namespaces:
    ml: {allow: [a100-80gb, t4, h100-nvl-1g.12gb, gpu-20gi], quota: {gpu-20gi: 1}}
    team: {create: false, allow: [t4]}
"""


def claim(stack: Stack, namespace: str, device_class: str) -> str:
    """What the API server says to a claim: its refusal, or ""."""
    requests = [{"name": "gpu", "exactly": {"deviceClassName": device_class}}]
    manifest = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "asks", "namespace": namespace},
        "spec": {"devices": {"requests": requests}},
    }
    command = [*stack.kubectl, "create", "--dry-run=server", "-f", "-"]
    run = subprocess.run(command, input=json.dumps(manifest), capture_output=True, text=True, check=False)
    return run.stderr if run.returncode else ""


def annotated(stack: Stack, namespace: str) -> dict[str, str]:
    return dict(stack.get("namespace", namespace)["metadata"].get("annotations", {}))


def test_tenants_come_and_go(stack: Stack, tmp_path: Path) -> None:
    stack.kube("create", "namespace", "team")
    stack.kube("annotate", "namespace", "team", "owner=somebody")
    try:
        with variants(stack, tmp_path) as variant:
            outcome, log = variant.up(more=TENANTS)
            assert outcome.code == 0, log
            # Three policies with bindings, a quota, and what is laid over the namespace that exists.
            assert changes(outcome) == {"created": 8, "updated": 1}
            listed = annotated(stack, "team")
            assert listed["aks-dra.dev/allowed-device-classes"] == "t4"
            assert listed["owner"] == "somebody"

            refusal = "namespace team may not use device class gpu.nvidia.com (it may use t4; annotation"
            eventually("the policy is in force", lambda: refusal in claim(stack, "team", "gpu.nvidia.com") or None)
            assert claim(stack, "team", "t4") == ""
            assert "may not use device class t4 (it may use none" in claim(stack, "default", "t4")
            assert claim(stack, "gpu-test", "gpu.nvidia.com") == ""
            stack.pod_of("first", template="big")
            assert stack.pool_of("first") == "a100"
            stack.pod_of("second", template="big")

            def over_quota() -> bool:
                events = stack.get("events")["items"]
                return any("exceeded quota: aks-dra-device-classes" in event["message"] for event in events)

            eventually("the second claim is over quota", over_quota)

            outcome, log = variant.up(more=TENANTS)
            assert (outcome.code, outcome.changed) == (0, 0), log
        # The API server learns a moment later that a policy is gone.
        eventually("the policy is gone", lambda: claim(stack, "default", "t4") == "")
        assert annotated(stack, "team") == {"owner": "somebody"}
    finally:
        stack.kube("delete", "namespace", "team", "--timeout=60s")


LATER = "    later: {require: {memory: '<=20Gi'}}\n"
PARTS = ("namespaces", "claims")
RESOURCE = "deviceclass.resource.kubernetes.io/later"


@pytest.fixture
def early(stack: Stack, tmp_path: Path) -> Iterator[Variant]:
    """A namespace whose user names a class before it exists, in the three ways there are."""
    requests = [{"name": "gpu", "exactly": {"deviceClassName": "later"}}]
    spec = {"devices": {"requests": requests}}
    group = {"apiVersion": "resource.k8s.io/v1", "metadata": {"name": "early"}}
    stack.kube("create", "namespace", "team")
    try:
        with variants(stack, tmp_path) as variant:
            stack.apply({**group, "kind": "ResourceClaim", "spec": spec}, "team")
            stack.apply({**group, "kind": "ResourceClaimTemplate", "spec": {"spec": spec}}, "team")
            container = {"name": "main", "image": "registry.example/app", "resources": {"limits": {RESOURCE: "1"}}}
            pod = {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": "early"},
                "spec": {"containers": [container]},
            }
            stack.apply(pod, "team")
            yield variant
    finally:
        stack.kube("delete", "namespace", "team", "--timeout=60s")


def classes(stack: Stack) -> set[str]:
    return {item["metadata"]["name"] for item in stack.get("deviceclasses")["items"]}


def test_what_names_a_class_before_it_comes_is_reported_and_without_lists_gets_it(stack: Stack, early: Variant) -> None:
    said = [f"{kind} team/early: later" for kind in ("ResourceClaim", "ResourceClaimTemplate", "Pod")]
    code, text = early.preview(classes=LATER)
    assert code == 0, text
    assert [line for line in said if line not in text] == []
    outcome, log = early.up(classes=LATER)
    assert outcome.code == 0, log
    assert changes(outcome) == {"created": 1}
    assert "These name device classes that do not exist yet" in log
    assert [line for line in said if line not in log] == []
    assert "later" in classes(stack)
    # Once it is there nothing is new any more.
    outcome, log = early.up(classes=LATER)
    assert (outcome.code, outcome.changed) == (0, 0), log
    assert "team/early" not in log


def test_lists_that_come_with_a_class_leave_nothing_to_who_named_it_before(stack: Stack, early: Variant) -> None:
    """The policies are in force before the class is there; a claim from before them stops the run."""
    code, text = early.preview(more=TENANTS, classes=LATER)
    assert code != 0
    assert "ResourceClaim team/early: later" in text
    outcome, log = early.up(more=TENANTS, classes=LATER)
    assert outcome.code != 0, log
    assert "the classes are not created:" in log
    assert "ResourceClaim team/early: later" in log
    assert "allow the classes: later in aks-dra:namespaces.team.allow" in log
    assert "later" not in classes(stack)

    stack.kube("delete", "resourceclaim", "early", "-n", "team")
    outcome, log = early.up(more=TENANTS, classes=LATER)
    assert outcome.code == 0, log
    for kind in ("ResourceClaimTemplate", "Pod"):
        assert f"{kind} team/early: later" in log
    assert "later" in classes(stack)
    uses = {"name": "gpu", "resourceClaimTemplateName": "early"}
    container = {"name": "main", "image": "registry.example/app", "resources": {"claims": [{"name": "gpu"}]}}
    spec = {"containers": [container], "resourceClaims": [uses]}
    stack.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "by-template"}, "spec": spec}, "team")

    def refusals() -> bool:
        text = "may not use device class later (it may use t4"
        events = stack.get("events", namespace="team")["items"]
        return {e["involvedObject"]["name"] for e in events if text in e["message"]} == {"early", "by-template"}

    eventually("the scheduler and the claim controller are refused", refusals)
    assert stack.get("resourceclaims", namespace="team")["items"] == []
    for name in ("early", "by-template"):
        assert stack.get("pod", name, "team")["status"]["phase"] == "Pending"


def test_policies_come_before_classes_and_go_after_them(stack: Stack, tmp_path: Path) -> None:
    with variants(stack, tmp_path) as variant:
        only_ml = TENANTS.partition("    team:")[0]
        outcome, log = variant.up(more=only_ml, classes=LATER)
        assert outcome.code == 0, log
        assert done(log, "created", "policy-binding-claims") < done(log, "created", "deviceclass-later")

        # A state in which the policies are still among the claims: they are moved, not written and then deleted.
        engine = variant.engine(more=only_ml, classes=LATER)
        engine.put_state(with_old_policies(engine.state()))
        outcome, log = variant.up(more=only_ml, classes=LATER)
        assert (outcome.code, outcome.changed) == (0, 0), log
        assert "may not use device class later (it may use none" in claim(stack, "default", "later")

        outcome, log = variant.up()
        assert outcome.code == 0, log
        assert done(log, "deleted", "deviceclass-later") < done(log, "deleted", "policy-claims")


def done(log: str, what: str, name: str) -> int:
    """The line of the engine's log that tells it."""
    [found] = [n for n, line in enumerate(log.splitlines()) if f"-{name} {what}" in line]
    return found


def with_old_policies(state: dict[str, Any]) -> dict[str, Any]:
    """The state as earlier code left it: policies are the last children of the claims, and nothing waits for them."""
    resources = state["deployment"]["resources"]
    component = {kind: next(r["urn"] for r in resources if r["urn"].endswith(f"::aks-dra-{kind}")) for kind in PARTS}
    policies = [r for r in resources if "::aks-dra-namespaces-policy-" in r["urn"]]
    assert len(policies) == 6
    urns = {r["urn"] for r in policies}
    rest = [r for r in resources if r["urn"] not in urns]
    for entry in rest:
        entry["dependencies"] = [urn for urn in entry.get("dependencies", ()) if urn not in urns]
    text = json.dumps(policies)
    for old, new in (
        (component["namespaces"], component["claims"]),
        ("aks-dra:index:Namespaces$kubernetes:admission", "aks-dra:index:Claims$kubernetes:admission"),
        ("::aks-dra-namespaces-policy-", "::aks-dra-claims-policy-"),
    ):
        assert old in text
        text = text.replace(old, new)
    state["deployment"]["resources"] = [*rest, *json.loads(text)]
    return state
