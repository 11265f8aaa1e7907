"""Which creates that a killed engine left are written into the state, and where in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from local.azure import arm, types
from local.stack import created_meanwhile
from tests.local.azure.cloud import CLUSTER, GROUP, POOL, Cloud, cloud, full

__all__ = ["cloud", "full"]  # fixtures

POOL_ID = types.TYPES[types.POOL].id(POOL)


def entry(token: str, name: str, inputs: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    urn = f"urn:pulumi:t::p::{token}::{name}"
    return {"urn": urn, "custom": True, "type": token, **({"inputs": inputs} if inputs else {}), **more}


STACK = entry("pulumi:pulumi:Stack", "stack")
PENDING = entry(types.POOL, "pool", POOL, parent=STACK["urn"], dependencies=[entry(types.CLUSTER, "cluster")["urn"]])


def written(root: Path, resources: list[dict[str, Any]], *pending: dict[str, Any], what: str = "creating") -> Any:
    state: dict[str, Any] = {"deployment": {"resources": resources}}
    operations = [{"type": what, "resource": resource} for resource in pending]
    names = [urn.split("::")[-1] for urn in created_meanwhile.write(state, operations, root)]
    return names, state["deployment"]["resources"]


def test_what_came_to_be_is_written_with_id_and_outputs(full: Cloud, tmp_path: Path) -> None:
    cluster = entry(types.CLUSTER, "cluster", CLUSTER)
    names, resources = written(tmp_path, [STACK, cluster], PENDING)
    assert names == ["pool"]
    assert resources[:2] == [STACK, cluster]
    assert resources[2] == {**PENDING, "id": POOL_ID, "outputs": full.service.store.need(POOL_ID).properties}


@pytest.mark.parametrize(
    ("pending", "what"),
    [
        (entry(types.POOL, "other", {**POOL, "agentPoolName": "other"}), "creating"),
        (entry(types.IDENTITY, "nameless", {"resourceGroupName": "rg"}), "creating"),
        (entry("kubernetes:helm.sh/v3:Release", "release", {"name": "x"}), "creating"),
        (entry(types.GROUP, "group", GROUP), "updating"),
        (entry(types.GROUP, "group", GROUP), "deleting"),
    ],
    ids=["not there", "no name yet", "not Azure's", "an update", "a deletion"],
)
def test_all_else_is_left_out(full: Cloud, tmp_path: Path, pending: dict[str, Any], what: str) -> None:
    assert written(tmp_path, [STACK], pending, what=what) == ([], [STACK])


def test_a_create_that_broke_off_is_asked_for_again(full: Cloud, tmp_path: Path) -> None:
    full.broken = True
    with pytest.raises(arm.ArmError):
        full.put(types.POOL, POOL, agentPoolName="late")
    late = entry(types.POOL, "late", {**POOL, "agentPoolName": "late"})
    assert written(tmp_path, [STACK], late) == ([], [STACK])
    full.broken = False
    full.service.create(types.TYPES[types.POOL], {**POOL, "agentPoolName": "late"})
    assert written(tmp_path, [STACK], late)[0] == ["late"]


def test_an_entry_comes_after_what_it_needs_and_takes_the_place_of_what_it_replaces(
    full: Cloud, tmp_path: Path
) -> None:
    cluster = entry(types.CLUSTER, "cluster", CLUSTER)
    replaced = {**PENDING, "id": POOL_ID, "pendingReplacement": True}
    after = entry("a:b:C", "after", dependencies=[PENDING["urn"]])
    _, resources = written(tmp_path, [STACK, cluster, replaced, after], PENDING)
    assert [e["urn"].split("::")[-1] for e in resources] == ["stack", "cluster", "pool", "after"]
    assert "pendingReplacement" not in resources[2]
    gone = {**PENDING, "id": POOL_ID, "delete": True}
    _, resources = written(tmp_path, [gone, STACK, cluster], PENDING)
    assert [e["urn"].split("::")[-1] for e in resources] == ["pool", "stack", "cluster", "pool"]
