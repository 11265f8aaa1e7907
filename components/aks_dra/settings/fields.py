"""Which property of Azure Resource Manager a setting of a pool or the cluster becomes: the one table of them.

From it follow the inputs of plain settings, what raw inputs may not say, where a finding about a change points, what
other tools' keys are called here, and what docs/settings.md says. What a change to a property does is a fact
(pool_field, cluster_field in facts/aks.toml), by the same name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic.alias_generators import to_camel

from aks_dra.settings.base import Model


@dataclass(frozen=True)
class Field:
    """`arm` has dots where the property is inside another one, `setting` where it is inside another setting."""

    arm: str
    setting: str
    attribute: str = ""  # of the model: its value goes to Azure as it is; "" where a topic works the value out
    text: bool = False  # Azure takes text, whatever the setting takes
    raw: bool = False  # raw inputs may say it too while they do not contradict: nothing else follows from it


def plain(arm: str, attribute: str, *, text: bool = False) -> Field:
    return Field(arm, to_camel(attribute), attribute, text)


POOL: tuple[Field, ...] = (
    Field("name", "name", raw=True),
    plain("vmSize", "vm_size"),
    Field("count", "nodes.count"),
    Field("minCount", "nodes.min"),
    Field("maxCount", "nodes.max"),
    Field("enableAutoScaling", "nodes.min and nodes.max"),
    Field("nodeLabels", "labels"),
    Field("nodeTaints", "taints"),
    Field("gpuInstanceProfile", "sharing.layout"),
    Field("gpuProfile", "driver"),
    Field("scaleSetPriority", "spot"),
    Field("scaleSetEvictionPolicy", "spot.evictionPolicy"),
    Field("spotMaxPrice", "spot.maxPrice"),
    plain("osSKU", "os_sku"),
    plain("osDiskSizeGB", "os_disk_size_gb"),
    plain("osDiskType", "os_disk_type"),
    plain("availabilityZones", "zones"),
    plain("maxPods", "max_pods"),
    Field("vnetSubnetID", "subnetId"),
    Field("orchestratorVersion", "kubernetesVersion"),
    Field("tags", "tags"),
    plain("enableFIPS", "fips"),
    plain("capacityReservationGroupID", "capacity_reservation_group"),
    plain("upgradeSettings.maxSurge", "max_surge", text=True),
    plain("upgradeSettings.drainTimeoutInMinutes", "drain_timeout_minutes"),
    plain("upgradeSettings.maxUnavailable", "max_unavailable", text=True),
    plain("upgradeSettings.nodeSoakDurationInMinutes", "node_soak_minutes"),
    plain("upgradeSettings.undrainableNodeBehavior", "undrainable_nodes"),
)

CLUSTER: tuple[Field, ...] = (
    Field("name", "name", raw=True),
    Field("resourceGroup", "resourceGroup", raw=True),
    Field("location", "location"),
    Field("tags", "tags"),
    Field("identity", "identity"),
    Field("identityProfile", "kubeletIdentity"),
    Field("kubernetesVersion", "kubernetesVersion"),
    Field("dnsPrefix", "dnsPrefix"),
    Field("nodeResourceGroup", "nodeResourceGroup"),
    Field("agentPoolProfiles", "systemPool"),
    Field("disableLocalAccounts", "access.localAccounts"),
    Field("supportPlan", "lts"),
    Field("networkProfile.networkPlugin", "network.plugin", raw=True),
    Field("networkProfile.networkPluginMode", "network.plugin", raw=True),
    Field("networkProfile.networkPolicy", "network.dataplane", raw=True),
    Field("networkProfile.networkDataplane", "network.dataplane", raw=True),
    Field("networkProfile.podCidr", "network.podCidr", raw=True),
    Field("networkProfile.serviceCidr", "network.serviceCidr", raw=True),
    Field("networkProfile.dnsServiceIP", "network.dnsServiceIp", raw=True),
    Field("networkProfile.outboundType", "network.outboundType", raw=True),
    Field("apiServerAccessProfile.enablePrivateCluster", "network.privateCluster", raw=True),
    Field("apiServerAccessProfile.privateDNSZone", "network.privateDnsZone", raw=True),
    Field("oidcIssuerProfile.enabled", "access.oidcIssuer", raw=True),
    Field("aadProfile.managed", "access", raw=True),
)


def plain_inputs(model: Model) -> dict[str, Any]:
    """Those properties of a pool that are settings as they stand; what is empty by default is left to Azure."""
    inputs: dict[str, Any] = {}
    for field in POOL:
        known = type(model).model_fields.get(field.attribute)
        if known is None:
            continue
        value = getattr(model, field.attribute)
        if value is None or (not value and value == known.default):
            continue
        outer, _, inner = field.arm.rpartition(".")
        held = inputs.setdefault(outer, {}) if outer else inputs
        held[inner] = str(value) if field.text else list(value) if isinstance(value, tuple) else value
    return inputs


def setting_of(fields: Iterable[Field], arm: str) -> str:
    """Where the user sets a property, or what it is part of: a setting, or else a raw input."""
    known = {field.arm: field.setting for field in fields}
    name = arm
    while name and name not in known:
        name = name.rpartition(".")[0]
    return known.get(name) or f"azureInputs.{arm}"


def only_settings(fields: Iterable[Field]) -> Mapping[str, str]:
    """Top-level properties that raw inputs may not say, with the settings to write instead."""
    found: dict[str, list[str]] = {}
    for field in fields:
        if not field.raw:
            found.setdefault(field.arm.partition(".")[0], []).append(field.setting)
    return {arm: ", ".join(settings[:2]) + (" …" if settings[2:] else "") for arm, settings in found.items()}


def called_otherwise(fields: Iterable[Field], model: type[Model]) -> dict[str, str]:
    """Names of Azure that a model's settings do not have, in lower case, with the setting of each."""
    own = {field.alias for field in model.model_fields.values()}
    return {
        field.arm.lower(): field.setting
        for field in fields
        if "." not in field.arm
        and field.setting.partition(".")[0] in own
        and field.setting.lower() != field.arm.lower()
    }
