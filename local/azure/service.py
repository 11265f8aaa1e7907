"""The simulated Resource Manager as a whole: PUT, GET and DELETE of anything, with what holds for every type.

The parent must exist, its location is fixed, one request at a time works on an id, and a group takes everything in it
along. A PUT makes or changes, whatever is there; the provider looks first, and does not create what exists.
"""

from __future__ import annotations

from collections.abc import Callable

from local.azure import arm, basics, clusters, faults, identity, monitoring, pools
from local.azure.arm import ArmError, Properties
from local.azure.store import Record, Store
from local.azure.types import (
    ASSOCIATION,
    CLUSTER,
    GROUP,
    IDENTITY,
    MAINTENANCE,
    NETWORK,
    POOL,
    ROLE_ASSIGNMENT,
    RULE,
    SUBNET,
    WORKSPACE,
    ArmType,
)

PUT: dict[str, Callable[[Store, str, Properties], Record]] = {
    GROUP: basics.put_group,
    CLUSTER: clusters.put,
    POOL: pools.put,
    IDENTITY: identity.put,
    ROLE_ASSIGNMENT: identity.put_role_assignment,
    WORKSPACE: basics.put_workspace,
    NETWORK: basics.put_network,
    SUBNET: basics.put_subnet,
    RULE: monitoring.put_rule,
    ASSOCIATION: monitoring.put_association,
    MAINTENANCE: monitoring.put_maintenance,
}


class AlreadyThere(ArmError):
    """The provider's own refusal, word for word: a PUT would take over what somebody else made.

    Its CanCreate asks before each create and ends with "cannot create already existing resource '%s'", with the id
    that it was about to write (pulumi-azure-native, provider/pkg/azure/client_azcore.go; seen in its issue #1722).
    """

    def __init__(self, resource_id: str) -> None:
        super().__init__(409, "AlreadyExists", f"cannot create already existing resource '{resource_id}'")

    def __str__(self) -> str:
        return self.message


class Service:
    def __init__(self, store: Store) -> None:
        self.store = store

    def create(self, kind: ArmType, inputs: Properties) -> tuple[str, Properties]:
        resource_id = kind.id(inputs)
        return resource_id, self.put(kind, resource_id, inputs, "create")

    def update(self, kind: ArmType, resource_id: str, inputs: Properties) -> Properties:
        return self.put(kind, resource_id, inputs, "update")

    def put(self, kind: ArmType, resource_id: str, inputs: Properties, operation: str) -> Properties:
        name = arm.name_of(resource_id)
        with self.store.lock(f"put {resource_id}"):
            there = self.read(resource_id)
            # A create that broke off goes on: the real Azure would have finished it without its client.
            if operation == "create" and there is not None and there.born:
                raise AlreadyThere(resource_id)
            faults.strike(self.store, kind.token, operation, name, "before")
            self.check(kind, resource_id, inputs)
            body = {key: value for key, value in inputs.items() if key not in kind.parameters and value is not None}
            record = PUT[kind.token](self.store, resource_id, body)
            faults.strike(self.store, kind.token, operation, name, "after")
        return self.answer(record)

    def check(self, kind: ArmType, resource_id: str, inputs: Properties) -> None:
        group = arm.group_of(resource_id)
        if kind.token != GROUP and group and self.store.get(arm.group_id(group)) is None:
            raise arm.group_not_found(group)
        if not kind.has_location:
            return
        if not inputs.get("location"):
            raise ArmError(
                400, "LocationRequired", "The location property is required for this definition.", "location"
            )
        old = self.store.get(resource_id)
        if (
            kind.token != GROUP
            and old is not None
            and arm.location(str(inputs["location"])) != old.properties["location"]
        ):
            raise ArmError(
                409,
                "InvalidResourceLocation",
                f"The resource '{arm.name_of(resource_id)}' already exists in location "
                f"'{old.properties['location']}' in resource group "
                f"'{group}'. A resource with the same name cannot be created in location '{inputs['location']}'. "
                "Please select a new resource name.",
            )

    def default_location(self, inputs: Properties, configured: str) -> str:
        """Where a resource goes that does not say: where the configuration says, or where its group is."""
        group = self.store.get(arm.group_id(str(inputs.get("resourceGroupName") or "-")))
        return configured or (str(group.properties["location"]) if group is not None else "")

    def read(self, resource_id: str) -> Record | None:
        """What a GET finds; a resource on its way out is gone, one that never came to be is as it was recorded."""
        record = self.store.get(resource_id)
        return None if record is None or record.state == "Deleting" else record

    def answer(self, record: Record) -> Properties:
        if record.token == CLUSTER:
            return clusters.answer(self.store, record)
        if record.token == NETWORK:
            return basics.network_answer(self.store, record)
        return record.properties

    def delete(self, kind: ArmType, resource_id: str) -> None:
        name = arm.name_of(resource_id)
        with self.store.lock(f"put {resource_id}"):
            faults.strike(self.store, kind.token, "delete", name, "before")
            if kind.token == GROUP:
                self.delete_group(resource_id)
            elif kind.token == CLUSTER:
                clusters.delete(self.store, resource_id)
            elif kind.token == POOL:
                pools.delete(self.store, resource_id)
            else:
                for child in reversed(self.store.children(resource_id)):
                    self.store.delete(child.id)
                self.store.delete(resource_id)
            faults.strike(self.store, kind.token, "delete", name, "after")

    def delete_group(self, resource_id: str) -> None:
        for child in self.store.children(resource_id):
            if child.token == CLUSTER:
                clusters.delete(self.store, child.id)
        for child in reversed(self.store.children(resource_id)):
            self.store.delete(child.id)
        self.store.delete(resource_id)
