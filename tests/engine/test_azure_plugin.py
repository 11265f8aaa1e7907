"""The simulated Azure under the real engine, with what needs no Kubernetes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from local.azure import arm
from local.azure.store import Store
from tests.engine.tiny_project import ZERO, Tiny, make

PROGRAM = """
import pulumi
from pulumi_azure_native import authorization, managedidentity, resources
config = pulumi.Config()
group = resources.ResourceGroup("group", resource_group_name="rg-tiny", tags={"owner": config.get("owner") or "me"})
who = managedidentity.UserAssignedIdentity("who", resource_group_name=group.name, resource_name_="who")
role = authorization.RoleAssignment("role", scope=group.id, principal_id=who.principal_id,
    principal_type="ServicePrincipal", role_definition_id="/providers/Microsoft.Authorization/roleDefinitions/x")
pulumi.export("id", group.id)
pulumi.export("location", who.location)
pulumi.export("principal", who.principal_id)
pulumi.export("what", pulumi.runtime.invoke("azure-native:aksdra:whatAreYou", {}).value)
"""
GROUP_ID = arm.group_id("rg-tiny")
WHO_ID = f"{GROUP_ID}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/who"


@pytest.fixture
def tiny(tmp_path: Path) -> Tiny:
    made = make(tmp_path)
    made.run("config", "set", "azure-native:location", "Sweden Central", "--stack", "dev")
    made.run("config", "set", "azure-native:subscriptionId", ZERO, "--stack", "dev")
    made.program(PROGRAM)
    return made


def records(tiny: Tiny) -> Store:
    return Store(tiny.root / "state" / "azure")


def test_up_again_change_refresh_destroy(tiny: Tiny) -> None:
    assert "+ 4 to create" in tiny.run("preview", "--stack", "dev")
    assert records(tiny).get(GROUP_ID) is None
    tiny.run("up", "--yes", "--skip-preview", "--stack", "dev")
    identity = f"{GROUP_ID}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/who"
    assert tiny.outputs() == {
        "id": GROUP_ID,
        "location": "swedencentral",
        "principal": arm.stable_uuid(identity, "principal"),
        "what": {"simulated": True, "of": "Azure Resource Manager"},
    }
    tiny.run("preview", "--expect-no-changes", "--stack", "dev")

    tiny.run("config", "set", "owner", "you", "--stack", "dev")
    # A preview knows that a changed tag moves nothing else.
    text = tiny.run("up", "--yes", "--skip-preview", "--stack", "dev")
    assert "~ 1 updated" in text
    assert "3 unchanged" in text
    assert "replace" not in text

    tiny.run("refresh", "--yes", "--skip-preview", "--expect-no-changes", "--stack", "dev")
    held = records(tiny).need(GROUP_ID)
    records(tiny).put(type(held)(held.id, held.token, {**held.properties, "tags": {"owner": "somebody"}}))
    assert "~ 1 updated" in tiny.run("refresh", "--yes", "--skip-preview", "--stack", "dev")
    assert "~ 1 updated" in tiny.run("up", "--yes", "--skip-preview", "--stack", "dev")
    assert records(tiny).need(GROUP_ID).properties["tags"] == {"owner": "you"}

    tiny.run("destroy", "--yes", "--skip-preview", "--stack", "dev")
    assert records(tiny).children(f"/subscriptions/{ZERO}") == []


def test_a_real_subscription_is_refused(tiny: Tiny) -> None:
    other = "11111111-1111-1111-1111-111111111111"
    tiny.run("config", "set", "azure-native:subscriptionId", other, "--stack", "dev")
    text = tiny.run("preview", "--stack", "dev", code=1)
    assert f"azure-native:subscriptionId is {other}. It serves the subscription {ZERO} only." in text
    tiny.run("config", "rm", "azure-native:subscriptionId", "--stack", "dev")
    assert "azure-native:subscriptionId is not set" in tiny.run(
        "up", "--yes", "--skip-preview", "--stack", "dev", code=1
    )
    assert records(tiny).children(f"/subscriptions/{ZERO}") == []


def test_an_environment_for_the_real_azure_is_refused(tiny: Tiny) -> None:
    tiny.added["ARM_CLIENT_ID"] = "x"
    text = tiny.run("preview", "--stack", "dev", code=1)
    assert "The simulated Azure refuses to run where ARM_CLIENT_ID is set" in text


def test_an_unknown_type_is_named(tiny: Tiny) -> None:
    tiny.program("import pulumi\npulumi.CustomResource('azure-native:storage:StorageAccount', 'x', {})\n")
    text = tiny.run("preview", "--stack", "dev", code=1)
    assert "The simulated Azure has no azure-native:storage:StorageAccount." in text


def test_a_fault_strikes_once_and_the_next_run_goes_on(tiny: Tiny) -> None:
    file = tiny.root / "state" / "azure" / "faults.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps([{"name": "who", "code": "Throttled", "status": 429, "when": "after"}]))
    text = tiny.run("up", "--yes", "--skip-preview", "--stack", "dev", code=1)
    assert 'Status=429 Code="Throttled" Message="A fault was asked for: create of who."' in text
    # The answer was lost and the resource is there: nothing but an import helps, as with the real provider.
    text = tiny.run("up", "--yes", "--skip-preview", "--stack", "dev", code=1)
    assert f"error: cannot create already existing resource '{WHO_ID}'" in text
    imported(tiny, 'resource_name_="who"', WHO_ID)
    tiny.run("preview", "--expect-no-changes", "--stack", "dev")


def test_what_somebody_else_made_is_not_created(tiny: Tiny) -> None:
    """Made by another stack of the same subscription; the refusal leaves it as it is."""
    tiny.run("up", "--yes", "--skip-preview", "--stack", "dev")
    before = records(tiny).need(WHO_ID)
    tiny.run("stack", "init", "other")
    tiny.run("config", "cp", "--stack", "dev", "--dest", "other")
    tiny.run("config", "set", "owner", "you", "--stack", "other")
    text = tiny.run("up", "--yes", "--skip-preview", "--stack", "other", code=1)
    assert f"error: cannot create already existing resource '{GROUP_ID}'" in text
    assert "+ 1 created" in text  # the stack itself
    tiny.run("destroy", "--yes", "--skip-preview", "--stack", "other")
    assert records(tiny).need(WHO_ID) == before
    assert records(tiny).need(GROUP_ID).properties["tags"] == {"owner": "me"}
    tiny.run("preview", "--expect-no-changes", "--stack", "dev")


def test_a_killed_engine_leaves_a_plugin_that_finishes_and_goes(tiny: Tiny) -> None:
    tiny.added["AKS_DRA_LOCAL_AZURE_FAULTS"] = json.dumps([{"name": "rg-tiny", "operation": "create", "delay": 4}])
    started = tiny.start("up", "--yes", "--skip-preview", "--stack", "dev")
    until(lambda: plugins(tiny) and locked(tiny), "the create to begin")
    os.kill(started.pid, signal.SIGKILL)
    started.wait()
    assert records(tiny).get(GROUP_ID) is None
    until(lambda: records(tiny).get(GROUP_ID) is not None, "the orphan to finish its create")
    until(lambda: not plugins(tiny), "the orphans to go")
    tiny.added.clear()
    tiny.run("cancel", "--yes", "--stack", "dev")
    text = tiny.run("up", "--yes", "--skip-preview", "--stack", "dev", code=1)
    assert f"error: cannot create already existing resource '{GROUP_ID}'" in text
    tiny.run("refresh", "--yes", "--skip-preview", "--clear-pending-creates", "--stack", "dev")
    imported(tiny, 'tags={"owner": config.get("owner") or "me"}', GROUP_ID)
    tiny.run("up", "--yes", "--skip-preview", "--stack", "dev")
    tiny.run("preview", "--expect-no-changes", "--stack", "dev")


def imported(tiny: Tiny, argument: str, resource_id: str) -> None:
    """Takes what is there into the state: the option stands in the program for one run."""
    tiny.program(PROGRAM.replace(argument, f'{argument}, opts=pulumi.ResourceOptions(import_="{resource_id}")'))
    assert "1 imported" in tiny.run("up", "--yes", "--skip-preview", "--stack", "dev")
    tiny.program(PROGRAM)


def locked(tiny: Tiny) -> bool:
    return any((tiny.root / "state" / "azure" / "locks").glob("*"))


def plugins(tiny: Tiny) -> list[str]:
    """The processes whose environment has this test's state folder, engine excepted."""
    marker = f"AKS_DRA_LOCAL_STATE={tiny.root / 'state'}".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if marker in (folder / "environ").read_bytes() and b"local." in (folder / "cmdline").read_bytes():
                found.append(folder.name)
        except OSError:
            continue
    return found


def until(condition: object, what: str) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if callable(condition) and condition():
            return
        time.sleep(0.1)
    raise subprocess.TimeoutExpired(what, 60)
