"""A simulated Azure on an empty folder, for tests that need neither engine nor control plane."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from local import state
from local.azure import nodes, types
from local.azure.arm import ArmError, Properties
from local.azure.service import Service
from local.azure.store import Store

A100, T4, PLAIN = "Standard_NC24ads_A100_v4", "Standard_NC4as_T4_v3", "Standard_D4ds_v5"
GROUP = {"resourceGroupName": "rg", "location": "swedencentral"}
CLUSTER: Properties = {
    "resourceGroupName": "rg",
    "resourceName": "demo",
    "location": "swedencentral",
    "dnsPrefix": "demo",
    "kubernetesVersion": "1.36",
    "identity": {"type": "SystemAssigned"},
    "agentPoolProfiles": [{"name": "system", "mode": "System", "count": 1, "vmSize": PLAIN}],
}
POOL: Properties = {
    "resourceGroupName": "rg",
    "resourceName": "demo",
    "agentPoolName": "a100",
    "vmSize": A100,
    "count": 2,
}


class Cloud:
    """A service on an empty folder, with the Nodes that it would have made."""

    def __init__(self, root: Path) -> None:
        self.service = Service(Store(root))
        self.nodes: dict[str, nodes.Wanted] = {}
        self.broken = False

    def apply(self, want: nodes.Wanted, _server: Path) -> None:
        if self.broken:
            raise ArmError(503, "LocalControlPlaneUnreachable", "no server")
        self.nodes[want.pool] = want

    def delete(self, _server: Path, _group: str, pool: str | None = None) -> None:
        for name in [pool] if pool else list(self.nodes):
            self.nodes.pop(name, None)

    def put(self, token: str, inputs: Properties, **changes: Any) -> tuple[str, Properties]:
        """Creates it, or changes what is there: what a PUT does."""
        kind = types.TYPES[token]
        given = {key: value for key, value in {**inputs, **changes}.items() if value is not None}
        resource_id = kind.id(given)
        if self.service.store.get(resource_id) is None:
            return self.service.create(kind, given)
        return resource_id, self.service.update(kind, resource_id, given)

    def refused(self, token: str, inputs: Properties, **changes: Any) -> str:
        with pytest.raises(ArmError) as raised:
            self.put(token, inputs, **changes)
        return str(raised.value)


@pytest.fixture
def cloud(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cloud:
    made = Cloud(tmp_path)
    monkeypatch.setattr(nodes, "apply", made.apply)
    monkeypatch.setattr(nodes, "delete", made.delete)
    monkeypatch.setenv(state.VARIABLE, str(tmp_path))  # where no control plane is
    return made


@pytest.fixture
def full(cloud: Cloud) -> Cloud:
    cloud.put(types.GROUP, GROUP)
    cloud.put(types.CLUSTER, CLUSTER)
    cloud.put(types.POOL, POOL)
    return cloud
