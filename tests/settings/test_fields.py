"""The table of settings and Azure's names for them: both sides exist, and what is plain reaches Azure."""

from __future__ import annotations

import pytest

from aks_dra.facts import load_facts
from aks_dra.facts.arm import CLUSTER as CLUSTER_TYPE
from aks_dra.facts.arm import POOL as POOL_TYPE
from aks_dra.facts.arm import arm_types
from aks_dra.settings import ClusterSettings, Model, Pool, SystemPool
from aks_dra.settings.elsewhere import written_here
from aks_dra.settings.fields import CLUSTER, POOL, Field, only_settings, plain_inputs, setting_of

NO_PROPERTIES = {"name", "resourceGroup", "location", "tags", "identity"}  # of the resource, not of its properties


@pytest.mark.parametrize("field", POOL, ids=lambda field: field.arm)
def test_a_field_of_a_pool_is_a_property_of_azure_and_a_setting(field: Field) -> None:
    _is_property(POOL_TYPE, field)
    _is_setting(Pool if field.arm != "name" else SystemPool, field)
    if field.attribute:
        assert field.attribute in Pool.model_fields
    if field.arm != "name":
        assert field.arm.partition(".")[0] in load_facts().pool_fields, "what a change of it does"


@pytest.mark.parametrize("field", CLUSTER, ids=lambda field: field.arm)
def test_a_field_of_a_cluster_is_a_property_of_azure_and_a_setting(field: Field) -> None:
    _is_property(CLUSTER_TYPE, field)
    _is_setting(ClusterSettings, field)


def _is_property(kind: str, field: Field) -> None:
    for part in field.arm.split("."):
        properties = arm_types()[kind].properties
        assert part in properties or part in NO_PROPERTIES
        kind = properties.get(part, "")


def _is_setting(model: type[Model], field: Field) -> None:
    first = field.setting.split(" ")[0].partition(".")[0]
    assert first in {entry.alias for entry in model.model_fields.values()}


def test_what_changes_a_cluster_has_a_setting_or_is_a_raw_input() -> None:
    for name in load_facts().cluster_fields:
        setting = setting_of(CLUSTER, name)
        assert setting.startswith("azureInputs.") == (name.partition(".")[0] in arm_types()[CLUSTER_TYPE].properties
            and name not in {field.arm for field in CLUSTER} and name != "identity.type")  # fmt: skip


def test_plain_settings_are_sent_where_they_say_something() -> None:
    assert plain_inputs(Pool(vm_size="x")) == {"vmSize": "x", "osSKU": "Ubuntu"}
    pool = Pool(vm_size="x", zones=("1",), fips=True, max_surge=0, node_soak_minutes=0, max_pods=30)
    assert plain_inputs(pool) == {
        "vmSize": "x", "osSKU": "Ubuntu", "availabilityZones": ["1"], "enableFIPS": True, "maxPods": 30,
        "upgradeSettings": {"maxSurge": "0", "nodeSoakDurationInMinutes": 0},
    }  # fmt: skip
    assert plain_inputs(SystemPool()) == {"vmSize": "Standard_D4ds_v5", "osSKU": "Ubuntu"}


def test_names_of_azure_lead_to_settings() -> None:
    assert setting_of(POOL, "gpuProfile.driver") == "driver"
    assert setting_of(POOL, "kubeletConfig") == "azureInputs.kubeletConfig"
    assert setting_of(CLUSTER, "identity.type") == "identity"
    assert only_settings(POOL)["upgradeSettings"] == "maxSurge, drainTimeoutMinutes …"
    assert "networkProfile" not in only_settings(CLUSTER)
    assert written_here("Pool", "node_taints") == "taints"
    assert written_here("SystemPool", "availabilityZones") == "zones"
    assert written_here("SystemPool", "node_taints") == ""
    assert written_here("ClusterSettings", "disableLocalAccounts") == "access.localAccounts"
