"""Five hundred pods with random asks on pools of every kind: no device is ever held twice."""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from typing import Any

from tests.end_to_end.conftest import Stack, eventually

PODS, ROUND, SEED = 500, 25, 20261130
LEGACY = "nvidia.com/gpu"


def asks(number: random.Random) -> dict[str, Any]:
    """What one pod asks for: a claim of a template, a shared claim, or an extended resource of either kind."""
    kind = number.choice(["template"] * 5 + ["shared"] + ["legacy"] * 2 + ["class"])
    if kind in ("legacy", "class"):
        name = (
            LEGACY if kind == "legacy" else f"deviceclass.resource.kubernetes.io/{number.choice(['t4', 'a100-80gb'])}"
        )
        count = str(number.choice([1, 1, 2]))
        return {"container": {"resources": {"limits": {name: count}, "requests": {name: count}}}}
    template = number.choice(["one-a100", "a100-or-t4", "slice", "slice", "big"])
    source = {"resourceClaimTemplateName": template} if kind == "template" else {"resourceClaimName": "shared-t4"}
    return {
        "claims": [{"name": "gpu", **source}],
        "container": {"resources": {"claims": [{"name": "gpu"}]}},
    }


def pod(name: str, wanted: dict[str, Any]) -> dict[str, Any]:
    container = {"name": "main", "image": "registry.example/app", **wanted["container"]}
    spec = {"containers": [container], "terminationGracePeriodSeconds": 0}
    if "claims" in wanted:
        spec["resourceClaims"] = wanted["claims"]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"random": "yes"}}, "spec": spec}


def settled(pods: list[dict[str, Any]]) -> bool:
    """Each pod runs, or the scheduler has said that it cannot."""
    return all(
        item["status"].get("phase") == "Running"
        or any(c.get("reason") == "Unschedulable" for c in item["status"].get("conditions", ()))
        for item in pods
    )


def held_twice(claims: list[dict[str, Any]]) -> list[tuple[str, str]]:
    holders: dict[tuple[str, str], set[str]] = defaultdict(set)
    for claim in claims:
        allocation = claim["status"].get("allocation") or {"devices": {"results": []}}
        for entry in allocation["devices"]["results"]:
            holders[entry["pool"], entry["device"]].add(claim["metadata"]["uid"])
    return [device for device, uids in holders.items() if len(uids) > 1]


def shares_too_many(pods: list[dict[str, Any]], nodes: list[dict[str, Any]], by_dra: set[str]) -> list[str]:
    """Nodes whose pods hold more of the device plugin's resource than there is."""
    taken: Counter[str] = Counter()
    for item in pods:
        if item["metadata"]["uid"] in by_dra or "nodeName" not in item["spec"]:
            continue
        for container in item["spec"]["containers"]:
            limits = container.get("resources", {}).get("limits", {})
            taken[item["spec"]["nodeName"]] += int(limits.get(LEGACY, 0))
    room = {item["metadata"]["name"]: int(item["status"]["allocatable"].get(LEGACY, 0)) for item in nodes}
    return [name for name, number in taken.items() if number > room[name]]


def test_no_device_is_held_twice(stack: Stack) -> None:
    number, ran = random.Random(SEED), Counter[str]()
    alive: list[str] = []
    twice: list[tuple[str, str]] = []
    busiest = 0
    try:
        for start in range(0, PODS, ROUND):
            made = [pod(f"random-{start + index}", asks(number)) for index in range(ROUND)]
            stack.kube(
                "create", "-n", "ml", "-f", "-", stdin=json.dumps({"kind": "List", "apiVersion": "v1", "items": made})
            )
            alive += [item["metadata"]["name"] for item in made]

            def tried() -> list[dict[str, Any]] | None:
                found: list[dict[str, Any]] = stack.get("pods")["items"]
                return found if settled(found) else None

            pods = eventually(f"pods {start} to {start + ROUND} tried", tried)
            claims = json.loads(stack.kube("get", "resourceclaims", "-A", "-o", "json"))["items"]
            nodes = stack.get("nodes")["items"]
            twice += held_twice(claims)
            by_dra = {owner["uid"] for claim in claims for owner in claim["metadata"].get("ownerReferences", ())}
            assert shares_too_many(pods, nodes, by_dra) == []
            allocated = [claim for claim in claims if claim["status"].get("allocation")]
            busiest = max(busiest, len(allocated))
            for item in pods:
                if item["status"].get("phase") == "Running":
                    ran[item["metadata"]["name"]] += 1
            gone = number.sample(alive, k=len(alive) * 2 // 3)
            stack.kube("delete", "pod", "-n", "ml", "--wait=false", *gone)
            alive = [name for name in alive if name not in gone]
            await_gone(stack, gone)
    finally:
        stack.kube("delete", "pod", "-n", "ml", "-l", "random=yes", "--wait=false")
    assert twice == []
    assert busiest >= 9  # of 2 A100s, 7 partitions and 3 T4s
    assert len(ran) >= PODS // 5


def await_gone(stack: Stack, names: list[str]) -> None:
    def gone() -> bool:
        return {item["metadata"]["name"] for item in stack.get("pods")["items"]}.isdisjoint(names)

    eventually("deleted pods gone", gone)
