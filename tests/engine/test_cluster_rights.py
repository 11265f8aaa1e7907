"""A cluster in a network of one's own: rights first, second runs without a change, and tags that replace nothing.

The simulated Azure refuses the cluster where a right is missing, so that `up` succeeds says that they came before.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from local import kubernetes
from local.azure import arm, types
from local.azure.store import Store
from local.tools.build import TOOLS, build
from tests.engine.tiny_project import ZERO, Tiny, make

pytestmark = pytest.mark.cluster  # it starts a control plane
CHECKOUT = Path(__file__).resolve().parents[2]
NET = f"/subscriptions/{ZERO}/resourceGroups/rg-net/providers"
SUBNET = f"{NET}/Microsoft.Network/virtualNetworks/hub/subnets/aks"
TABLE = f"{NET}/Microsoft.Network/routeTables/rt"
ZONE = f"{NET}/Microsoft.Network/privateDnsZones/privatelink.swedencentral.azmk8s.io"
REGISTRY = f"{NET}/Microsoft.ContainerRegistry/registries/images"
NETWORK = f"""
from pulumi_azure_native import network, resources
group = resources.ResourceGroup("net", resource_group_name="rg-net")
hub = network.VirtualNetwork("hub", resource_group_name=group.name, virtual_network_name="hub",
    address_space={{"addressPrefixes": ["10.20.0.0/16"]}})
network.Subnet("aks", resource_group_name=group.name, virtual_network_name=hub.name, subnet_name="aks",
    address_prefix="10.20.0.0/20", route_table={{"id": "{TABLE}"}})
"""
SETTINGS: dict[str, Any] = {
    "cluster": {
        "protect": False,
        "access": {"localAccounts": True},
        "systemPool": {"nodes": {"count": 1}},
        "network": {
            "subnetId": SUBNET,
            "outboundType": "userDefinedRouting",
            "routeTableId": TABLE,
            "privateCluster": True,
            "privateDnsZone": {"existing": ZONE},
        },
        "kubeletIdentity": {},
        "registries": [REGISTRY],
        "monitoring": {"logAnalytics": {"retentionDays": 60}},
        "maintenance": {
            "aksManagedAutoUpgradeSchedule": {
                "maintenanceWindow": {
                    "schedule": {"weekly": {"intervalWeeks": 1, "dayOfWeek": "Sunday"}},
                    "durationHours": 4,
                    "startTime": "02:00",
                }
            }
        },
        "azureInputs": {"autoScalerProfile": {"scan-interval": "20"}},
    }
}
ROLES = {
    "gpu-subnet-network-contributor",
    "gpu-route-table-network-contributor",
    "gpu-dns-zone-private-dns-zone-contributor",
    "gpu-kubelet-managed-identity-operator",
    "gpu-registry-acr-pull",
}


def program(settings: dict[str, Any]) -> str:
    return f"""{NETWORK}
import json, pulumi
from aks_dra import AksCluster
cluster = AksCluster("gpu", json.loads({json.dumps(settings)!r}))
pulumi.export("identity", cluster.managed_cluster.identity)
"""


@pytest.fixture
def tiny(tmp_path: Path) -> Iterator[Tiny]:
    made = make(tmp_path)
    made.added["PYTHONPATH"] = f"{CHECKOUT}:{CHECKOUT / 'components'}"
    made.run("config", "set", "azure-native:location", "swedencentral", "--stack", "dev")
    made.run("config", "set", "azure-native:subscriptionId", ZERO, "--stack", "dev")
    (tmp_path / "bin" / "pulumi-resource-kubernetes").symlink_to(build(TOOLS["kubernetes-provider"]))
    state = tmp_path / "state"
    state.mkdir()
    kubernetes.start(state, "1.36", durable=False)
    yield made
    kubernetes.stop(state)


def steps(tiny: Tiny) -> list[tuple[str, str]]:
    """(what, name) of every step that a preview plans, without what stays."""
    text = tiny.run("preview", "--json", "--stack", "dev")
    planned = json.loads(text[text.index("{\n") :])["steps"]
    return [(step["op"], step["urn"].rpartition("::")[2]) for step in planned if step["op"] != "same"]


def test_rights_come_first_and_nothing_moves_afterwards(tiny: Tiny) -> None:
    tiny.program(NETWORK)
    tiny.run("up", "--yes", "--skip-preview", "--stack", "dev")
    tiny.program(program(SETTINGS))
    tiny.run("up", "--yes", "--skip-preview", "--stack", "dev")

    held = Store(tiny.root / "state" / "azure")
    (cluster,) = held.all(types.CLUSTER)
    group = arm.group_id("rg-tiny-dev")
    own = f"{group}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/id-tiny-dev"
    principals = {name: arm.stable_uuid(name, "principal") for name in (own, f"{own}-kubelet")}
    assert tiny.outputs()["identity"]["userAssignedIdentities"].keys() == {own}
    assert cluster.properties["identityProfile"]["kubeletidentity"]["objectId"] == principals[f"{own}-kubelet"]
    assigned = {
        (record.properties["scope"], record.properties["principalId"]) for record in held.all(types.ROLE_ASSIGNMENT)
    }
    assert assigned == {
        (SUBNET.removesuffix("/subnets/aks"), principals[own]),
        (TABLE, principals[own]),
        (ZONE, principals[own]),
        (f"{own}-kubelet", principals[own]),
        (REGISTRY, principals[f"{own}-kubelet"]),
    }
    (workspace,) = held.all(types.WORKSPACE)
    agent = cluster.properties["addonProfiles"]["omsagent"]
    assert agent == {
        "enabled": True,
        "config": {"useAADAuth": "true", "logAnalyticsWorkspaceResourceID": workspace.id},
    }
    assert cluster.properties["autoScalerProfile"] == {"scanInterval": "20"}
    assert [arm.name_of(record.id) for record in held.all(types.MAINTENANCE)] == ["aksManagedAutoUpgradeSchedule"]
    (rule,) = held.all(types.RULE)
    (association,) = held.all(types.ASSOCIATION)
    assert association.id.startswith(cluster.id)
    assert association.properties["dataCollectionRuleId"] == rule.id

    tiny.run("preview", "--expect-no-changes", "--stack", "dev")
    # Tags go to cluster, identities and workspace; assignments, whose principals rest on those, stay as they are.
    tiny.program(program({**SETTINGS, "tags": {"team": "ml"}}))
    changed = steps(tiny)
    assert {what for what, _ in changed} == {"update"}
    assert {name for _, name in changed} >= {"gpu-aks", "gpu-identity", "gpu-kubelet-identity", "gpu-logs"}
    assert {name for _, name in changed}.isdisjoint(ROLES)
    tiny.run("up", "--yes", "--skip-preview", "--stack", "dev")
    tiny.run("refresh", "--yes", "--skip-preview", "--expect-no-changes", "--stack", "dev")

    tiny.run("destroy", "--yes", "--skip-preview", "--stack", "dev")
    assert held.children(f"/subscriptions/{ZERO}") == []


def test_without_the_rights_azure_refuses_the_cluster(tiny: Tiny) -> None:
    tiny.program(NETWORK)
    tiny.run("up", "--yes", "--skip-preview", "--stack", "dev")
    bare = {**SETTINGS["cluster"], "identity": {"assignRoles": False}}
    tiny.program(program({"cluster": bare}))
    text = tiny.run("up", "--yes", "--skip-preview", "--stack", "dev", code=1)
    assert 'Code="CustomKubeletIdentityMissingPermissionError"' in text
