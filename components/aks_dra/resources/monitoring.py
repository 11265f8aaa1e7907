"""Container logs to Log Analytics: the workspace, and the rule that says which logs go there.

The agent logs in as the cluster's identity (keys of a workspace are retired for it), and then sends what a data
collection rule associated with the cluster asks for: without one it sends nothing, whatever the addon says. A rule is
in its workspace's region, which need not be the cluster's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pulumi

from aks_dra import names
from aks_dra.model.plan import PlannedCluster
from aks_dra.resources.identity import parts_of

# All that Container insights reads: logs of containers, events, inventory.
STREAM = "Microsoft-ContainerInsights-Group-Default"
EXTENSION = "ContainerInsights"
# The names by which Azure's agent and portal find the two.
ASSOCIATION = "ContainerInsightsExtension"
DESTINATION = "ciworkspace"


def register_workspace(
    name: str, planned: PlannedCluster, group: pulumi.Input[str], parent: pulumi.Resource
) -> pulumi.Output[str] | None:
    """The workspace's id, or None where no logs are collected."""
    workspace = planned.workspace
    if workspace is None:
        return None
    if workspace.existing:
        return pulumi.Output.from_input(workspace.existing)
    from pulumi_azure_native.operationalinsights import Workspace

    made = Workspace(
        f"{name}-logs",
        resource_group_name=group,
        workspace_name=workspace.name,
        location=planned.location,
        retention_in_days=workspace.retention_days,
        sku={"name": "PerGB2018"},
        tags=dict(planned.tags) or None,
        opts=pulumi.ResourceOptions(parent=parent, protect=planned.protect, delete_before_replace=True),
    )
    workspace_id: pulumi.Output[str] = made.id
    return workspace_id


def with_workspace(inputs: Mapping[str, Any], workspace_id: pulumi.Output[str] | None) -> dict[str, Any]:
    """The cluster's inputs with the id of the workspace in the agent's configuration."""
    if workspace_id is None:
        return dict(inputs)
    addons = dict(inputs.get("addonProfiles") or {})
    agent = addons.get("omsagent") or {}
    config = {**agent.get("config", {}), "logAnalyticsWorkspaceResourceID": workspace_id}
    return {**inputs, "addonProfiles": {**addons, "omsagent": {**agent, "config": config}}}


def collect_logs(
    name: str,
    planned: PlannedCluster,
    group: pulumi.Input[str],
    workspace_id: pulumi.Output[str] | None,
    cluster_id: pulumi.Output[str],
    parent: pulumi.Resource,
) -> None:
    """The rule and its association with the cluster."""
    if workspace_id is None:
        return
    from pulumi_azure_native import monitor, operationalinsights

    parts = workspace_id.apply(parts_of)
    workspace = operationalinsights.get_workspace_output(
        resource_group_name=parts.apply(lambda p: p.group),
        workspace_name=parts.apply(lambda p: p.name),
        opts=pulumi.InvokeOutputOptions(parent=parent),
    )
    rule = monitor.DataCollectionRule(
        f"{name}-log-rule",
        resource_group_name=group,
        data_collection_rule_name=names.COLLECTION_RULE + planned.name,
        location=workspace.apply(lambda found: found.location),
        kind="Linux",
        data_sources={
            "extensions": [{"name": ASSOCIATION, "extensionName": EXTENSION, "streams": [STREAM]}],
        },
        destinations={"logAnalytics": [{"name": DESTINATION, "workspaceResourceId": workspace_id}]},
        data_flows=[{"streams": [STREAM], "destinations": [DESTINATION]}],
        tags=dict(planned.tags) or None,
        opts=pulumi.ResourceOptions(parent=parent, delete_before_replace=True),
    )
    monitor.DataCollectionRuleAssociation(
        f"{name}-log-rule-association",
        resource_uri=cluster_id,
        association_name=ASSOCIATION,
        data_collection_rule_id=rule.id,
        opts=pulumi.ResourceOptions(parent=parent, delete_before_replace=True),
    )
