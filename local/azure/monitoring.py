"""Data collection rules, their associations, and maintenance windows: records with the few rules that matter here."""

from __future__ import annotations

from local.azure import arm, models
from local.azure.arm import ArmError, Properties
from local.azure.store import Record, Store
from local.azure.types import ASSOCIATION, MAINTENANCE, RULE, TYPES, WORKSPACE, common

WINDOWS = ("default", "aksManagedAutoUpgradeSchedule", "aksManagedNodeOSUpgradeSchedule")


def put_rule(store: Store, resource_id: str, body: Properties) -> Record:
    """A rule sends to workspaces of its own region only; those that are not simulated are taken as they are."""
    place = arm.location(str(body["location"]))
    for destination in (body.get("destinations") or {}).get("logAnalytics") or []:
        workspace = store.get(str(destination.get("workspaceResourceId", "")))
        if workspace is not None and workspace.token == WORKSPACE and workspace.properties["location"] != place:
            raise ArmError(
                400,
                "InvalidPayload",
                f"Data collection rule is invalid: the workspace {workspace.id} is in "
                f"{workspace.properties['location']}, the rule in {place}.",
            )
    answer = {
        **body,
        **common(TYPES[RULE], arm.name_of(resource_id)),
        "location": place,
        "immutableId": "dcr-" + arm.stable_uuid(resource_id, "immutable").replace("-", ""),
        "provisioningState": "Succeeded",
    }
    return store.put(Record(resource_id, RULE, answer))


def put_association(store: Store, resource_id: str, body: Properties) -> Record:
    rule = str(body.get("dataCollectionRuleId") or "")
    if rule and store.get(rule) is None:
        raise ArmError(400, "InvalidAssociation", f"Data collection rule {rule} was not found.")
    answer = {**body, **common(TYPES[ASSOCIATION], arm.name_of(resource_id)), "provisioningState": "Succeeded"}
    return store.put(Record(resource_id, ASSOCIATION, answer))


def put_maintenance(store: Store, resource_id: str, body: Properties) -> Record:
    store.need(arm.parent_of(resource_id))
    name = arm.name_of(resource_id)
    if name not in WINDOWS:
        raise arm.invalid("configName", f"The name must be one of {', '.join(WINDOWS)}, not {name}.")
    models.check("MaintenanceConfigurationProperties", body, "properties")
    answer = {**body, **common(TYPES[MAINTENANCE], name)}
    return store.put(Record(resource_id, MAINTENANCE, answer))
