"""The table of what Azure takes in raw inputs is what Azure's own models and azure-native say today."""

from __future__ import annotations

from aks_dra.facts.arm import CLUSTER, MAINTENANCE, POOL, arm_types, provider_names
from tests.tools import arm_properties

TABLE = arm_types()


def test_the_table_is_what_the_models_and_the_provider_have() -> None:
    rows = {
        name: (dict(row.properties), list(row.not_in_provider), dict(row.provider_name), list(row.required))
        for name, row in TABLE.items()
    }
    assert rows == arm_properties.types()
    assert all(row.verified and row.source.startswith("azure-mgmt-containerservice") for row in TABLE.values())


def test_the_table_holds_what_stacks_write_and_not_what_only_azure_says() -> None:
    assert {"autoUpgradeProfile", "autoScalerProfile", "httpProxyConfig"} <= set(TABLE[CLUSTER].properties)
    assert "provisioningState" not in TABLE[CLUSTER].properties
    assert TABLE[POOL].properties["nodeLabels"] == "map of text"
    assert TABLE[MAINTENANCE].properties["maintenanceWindow"] == "MaintenanceWindow"
    assert TABLE["GPUProfile"].not_in_provider == ("nvidia",)


def test_names_that_azure_native_has_otherwise_are_translated_wherever_they_are() -> None:
    raw = {
        "autoScalerProfile": {"scan-interval": "20", "expander": "least-waste"},
        "tags": {"scan-interval": "as it is"},
        "identity": {"type": "UserAssigned", "userAssignedIdentities": ["/id/a"]},
        "agentPoolProfiles": [{"name": "system", "nodeLabels": {"scan-interval": "x"}}],
    }
    assert provider_names(CLUSTER, raw) == {
        **raw,
        "autoScalerProfile": {"scanInterval": "20", "expander": "least-waste"},
    }
