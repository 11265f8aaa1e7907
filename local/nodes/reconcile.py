"""One pass: what every simulated program would do now, from what the cluster holds now."""

from __future__ import annotations

from collections.abc import Mapping

from local.nodes import device_plugin, discovery, dra_driver, mig_manager, operator
from local.nodes.actions import Action, PatchCapacity, PatchNode
from local.nodes.snapshot import SIMULATED, VM_SIZE, Memory, NodeView, Snapshot


def reconcile(snapshot: Snapshot, memory: Memory) -> list[Action]:
    """The actions of one pass, in order. Nothing to do gives an empty list."""
    actions: list[Action] = list(operator.objects(snapshot))
    actions.extend(dra_driver.orphans(snapshot))
    for node in snapshot.nodes:
        view = NodeView(node, snapshot)
        if VM_SIZE in view.annotations:
            actions.extend(node_actions(view, memory))
    return actions


def node_actions(view: NodeView, memory: Memory) -> list[Action]:
    view.annotations[SIMULATED] = "true"
    discovery.label_hardware(view)
    discovery.label_gpus(view)
    operator.label_node(view)
    mig_manager.apply_layout(view, memory)
    dra_driver.take_over(view)
    resources = device_plugin.capacity(view)
    published = list(dra_driver.publish(view, memory))
    view.write_down()
    actions: list[Action] = []
    labels = difference(view.before_labels, view.labels)
    annotations = difference(view.before_annotations, view.annotations)
    if labels or annotations:
        actions.append(PatchNode(view.name, labels, annotations))
    if resources:
        actions.append(PatchCapacity(view.name, resources))
    actions.extend(published)
    return actions


def difference(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str | None]:
    """What to write: new and changed keys with their values, removed ones with None."""
    changed: dict[str, str | None] = {key: value for key, value in after.items() if before.get(key) != value}
    changed.update({key: None for key in before if key not in after})
    return changed
