"""Two clusters of one program: refused in preview where they take one id, and independent where they do not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from local import kubernetes
from local.azure import arm, types
from local.azure.store import Record, Store
from local.tools.build import TOOLS, build
from tests.engine.tiny_project import ZERO, Tiny, make

CHECKOUT = Path(__file__).resolve().parents[2]
COMMON = '"access": {"localAccounts": True}, "protect": False, "systemPool": {"nodes": {"count": 1}}'
FIRST = f"""
from aks_dra import DraCluster
DraCluster("gpus", {{"cluster": {{{COMMON}}}}})
"""
TWIN = FIRST + f'DraCluster("gpus2", {{"cluster": {{{COMMON}}}}})\n'
NAMED = FIRST + f'DraCluster("gpus2", {{"cluster": {{{COMMON}, "name": "gpus2"}}}})\n'
SHOWN = f"/subscriptions/{ZERO}/resourceGroups/rg-tiny-dev"
REFUSAL = f"""\
error: DraCluster "gpus2" has what DraCluster "gpus" of this program has already; nothing of DraCluster "gpus2" was \
registered:
  resource group {SHOWN}
  cluster {SHOWN}/providers/Microsoft.ContainerService/managedClusters/tiny-dev
Each of these exists once: both components would write it, and removing one of them would delete it from the other.
Give the newer of the two names of its own, since other names for the older one replace what it has:
  in "gpus2": cluster: {{name: gpus2}}
  in "gpus": cluster: {{name: gpus}}"""


@pytest.fixture
def tiny(tmp_path: Path) -> Iterator[Tiny]:
    made = make(tmp_path)
    made.added["PYTHONPATH"] = f"{CHECKOUT}:{CHECKOUT / 'components'}"
    made.run("config", "set", "azure-native:location", "swedencentral", "--stack", "dev")
    made.run("config", "set", "azure-native:subscriptionId", ZERO, "--stack", "dev")
    (tmp_path / "bin" / "pulumi-resource-kubernetes").symlink_to(build(TOOLS["kubernetes-provider"]))
    state = tmp_path / "state"
    # Each cluster has a control plane of its own; the second one's is found by its name.
    servers = (state, state / "more" / "gpus2")
    try:
        for folder in servers:
            folder.mkdir(parents=True)
            kubernetes.start(folder, "1.36", durable=False)
        yield made
    finally:
        for folder in servers:
            kubernetes.stop(folder)


def below(tiny: Tiny, group: str) -> list[Record]:
    """Everything that the simulated Azure has in this resource group, the group first."""
    held = Store(tiny.root / "state" / "azure")
    found = held.get(arm.group_id(group))
    return [] if found is None else [found, *held.children(found.id)]


def test_two_clusters(tiny: Tiny) -> None:
    tiny.program(TWIN)
    text = tiny.run("preview", "--stack", "dev", code=1)
    assert REFUSAL in "\n".join(line.removeprefix("    ") for line in text.splitlines())
    assert "DraCluster gpus2" not in text
    assert below(tiny, "rg-tiny-dev") == []

    tiny.program(FIRST)
    tiny.run("up", "--yes", "--skip-preview", "--stack", "dev")
    first = below(tiny, "rg-tiny-dev")
    assert {record.token for record in first} == {types.GROUP, types.CLUSTER, types.POOL}

    # The second comes and goes; nothing of the first is written.
    tiny.program(NAMED)
    tiny.run("up", "--yes", "--skip-preview", "--stack", "dev")
    assert len(below(tiny, "rg-gpus2")) == len(first)
    assert below(tiny, "rg-tiny-dev") == first
    tiny.run("preview", "--expect-no-changes", "--stack", "dev")
    tiny.program(FIRST)
    tiny.run("up", "--yes", "--skip-preview", "--stack", "dev")
    assert below(tiny, "rg-gpus2") == []
    assert below(tiny, "rg-tiny-dev") == first
    tiny.run("preview", "--expect-no-changes", "--stack", "dev")

    # The first goes, and the second keeps its names.
    tiny.program(NAMED)
    tiny.run("up", "--yes", "--skip-preview", "--stack", "dev")
    second = below(tiny, "rg-gpus2")
    tiny.program(NAMED.replace('DraCluster("gpus",', "(lambda *_: None)("))
    tiny.run("up", "--yes", "--skip-preview", "--stack", "dev")
    assert below(tiny, "rg-tiny-dev") == []
    assert below(tiny, "rg-gpus2") == second


def test_two_stacks_that_give_one_name(tiny: Tiny) -> None:
    """What the program cannot know, the provider refuses: another stack has the cluster."""
    named = f'from aks_dra import DraCluster\nDraCluster("gpus", {{"cluster": {{{COMMON}, "name": "shared"}}}})\n'
    tiny.program(named)
    tiny.run("up", "--yes", "--skip-preview", "--stack", "dev")
    before = below(tiny, "rg-shared")
    tiny.run("stack", "init", "other")
    tiny.run("config", "cp", "--stack", "dev", "--dest", "other")
    text = tiny.run("up", "--yes", "--skip-preview", "--stack", "other", code=1)
    assert f"error: cannot create already existing resource '{arm.group_id('rg-shared')}'" in text
    tiny.run("destroy", "--yes", "--skip-preview", "--stack", "other")
    assert below(tiny, "rg-shared") == before
