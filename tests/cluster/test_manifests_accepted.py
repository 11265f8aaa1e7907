"""A stack without errors plans objects that the API server takes: tried on a sample, by a dry run that is strict."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from kubernetes.client.exceptions import ApiException

from aks_dra.model.plan import Plan, PlannedObject
from aks_dra.plan import plan
from aks_dra.settings.parse import settings_from_values
from aks_dra.stack_plan import plan_file
from tests.cluster.conftest import TestCluster
from tests.plan.bulk_settings import valid

ROOT = Path(__file__).resolve().parents[2]
STACKS = sorted((ROOT / "stacks").glob("Pulumi.*.yaml"))
SAMPLE = 60
STRICT = "dryRun=All&fieldValidation=Strict"


class Server:
    """Where each kind of object is posted, as the server itself says."""

    def __init__(self, cluster: TestCluster) -> None:
        self.api = cluster.api
        self.known: dict[str, dict[str, tuple[str, bool]]] = {}
        self.made: set[str] = set()

    def path(self, manifest: dict[str, Any]) -> str:
        version = manifest["apiVersion"]
        root = f"/apis/{version}" if "/" in version else f"/api/{version}"
        if version not in self.known:
            listed = self.api.call("GET", root)["resources"]
            plain = [entry for entry in listed if "/" not in entry["name"]]
            self.known[version] = {entry["kind"]: (entry["name"], entry["namespaced"]) for entry in plain}
        plural, namespaced = self.known[version][manifest["kind"]]
        return f"{root}/namespaces/{manifest['metadata']['namespace']}/{plural}" if namespaced else f"{root}/{plural}"

    def refusal(self, manifest: dict[str, Any]) -> str:
        """What the server has against an object; it is never made."""
        try:
            self.api.call("POST", f"{self.path(manifest)}?{STRICT}", manifest)
        except ApiException as error:
            body = json.loads(error.body or "{}")
            return "" if error.status == 409 else str(body.get("message", error))
        return ""

    def namespace(self, name: str) -> None:
        """Really there: a namespaced object is refused without it, in a dry run too."""
        if name in self.made:
            return
        self.made.add(name)
        try:
            self.api.call(
                "POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
            )
        except ApiException as error:
            if error.status != 409:
                raise


@pytest.fixture(scope="module")
def server(control_plane: TestCluster) -> Iterator[Server]:
    here = Server(control_plane)
    yield here
    for name in here.made - {"default", "kube-system"}:
        control_plane.api.call("DELETE", f"/api/v1/namespaces/{name}")


def refusals(server: Server, planned: Plan) -> dict[str, str]:
    """By the object's key what the server says against it."""
    objects: list[PlannedObject] = [*planned.namespaces, *planned.objects]
    for entry in objects:
        if name := entry.manifest["metadata"].get("namespace"):
            server.namespace(name)
    said = {entry.key: server.refusal(json.loads(json.dumps(entry.manifest))) for entry in objects}
    return {key: text for key, text in said.items() if text}


@pytest.mark.parametrize("file", STACKS, ids=[file.name for file in STACKS])
def test_the_objects_of_every_stack_are_accepted(server: Server, file: Path) -> None:
    planned, found = plan_file(file)
    assert planned is not None
    assert planned.errors == (), found
    assert planned.objects
    assert refusals(server, planned) == {}


def test_an_object_that_is_wrong_is_refused(server: Server) -> None:
    """The dry run is worth its name: it sees a field that is not known, and an expression that is not CEL."""
    server.namespace("default")
    device_class: dict[str, Any] = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": "wrong"},
        "spec": {"selectors": [{"cel": {"expression": "device.driver =="}}]},
    }
    assert "Syntax error" in server.refusal(device_class)
    right = {**device_class, "spec": {"selectors": [{"cel": {"expression": "device.driver == 'x'"}}]}}
    assert server.refusal(right) == ""
    assert "unknown field" in server.refusal({**right, "spec": {**right["spec"], "selector": []}})


def test_the_objects_of_random_stacks_without_errors_are_accepted(server: Server) -> None:
    accepted: list[Plan] = []

    @settings(
        max_examples=4 * SAMPLE, deadline=None, derandomize=True, database=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(tree=valid())
    def collect(tree: dict[str, Any]) -> None:
        read, found = settings_from_values(tree)
        assert read is not None, found
        planned = plan(read, project="gpus", stack="dev", location="swedencentral")
        if not planned.errors and planned.objects:
            accepted.append(planned)

    collect()
    sample = chosen(accepted)
    assert len(sample) == SAMPLE
    kinds = {entry.kind for planned in sample for entry in planned.objects}
    assert {"ConfigMap", "DeviceClass", "ResourceClaim", "ResourceClaimTemplate", "ResourceQuota"} <= kinds
    refused = {number: said for number, planned in enumerate(sample) if (said := refusals(server, planned))}
    assert refused == {}


def chosen(plans: list[Plan]) -> list[Plan]:
    """A sample in which the kinds of objects that few stacks have are not left to chance."""
    held = [{entry.kind for entry in planned.objects} for planned in plans]
    number = Counter(kind for kinds in held for kind in kinds)
    order = sorted(range(len(plans)), key=lambda index: (min(number[kind] for kind in held[index]), index))
    return [plans[index] for index in order[:SAMPLE]]
