"""NVIDIA's MIG manager: partitions the GPUs of a node as its label `nvidia.com/mig.config` says.

It compares first: a layout that is there already is `success` at once. Otherwise the state goes to `pending`,
the clients that the operator knows are paused by their labels, and only then the partitions change. Plugins
whose affinity asks for `success` have been taken away by the DaemonSet controller by then. One that was not
keeps publishing what it saw when it started, as in life.

On Ampere a change of MIG mode needs a reset that a cloud VM does not allow, so without WITH_REBOOT it fails.
"""

from __future__ import annotations

from local.nodes.discovery import validated
from local.nodes.dra_driver import plugin_pod as dra_plugin_pod
from local.nodes.operator import namespace
from local.nodes.partitions import LayoutError, target
from local.nodes.snapshot import DEPLOY, Memory, NodeView, Object, configmap_volume, environment

PROGRAM = "mig-manager"
CONFIG = "nvidia.com/mig.config"
STATE = "nvidia.com/mig.config.state"
PAUSED = "paused-for-mig-change"
PAUSED_KEYS = tuple(DEPLOY + name for name in ("client", "device-plugin", "gpu-feature-discovery", "dcgm-exporter"))
WAIT_SECONDS = 3.0
"""How long it waits for plugins to go. Minutes in life; here pods go within a second of a label."""

GENERATED = ("", "default-mig-parted-config")


def apply_layout(view: NodeView, memory: Memory) -> None:
    pod = view.runs("nvidia-mig-manager")
    layout = view.labels.get(CONFIG)
    if view.machine is None or not view.machine.mig_capable or pod is None or not layout or not validated(view):
        return
    waiting = f"mig/{view.name}"
    record, state, uid = view.record, view.labels.get(STATE), str(pod["metadata"]["uid"])
    if record.get("config") == layout and record.get("pod") == uid and state in ("success", "failed"):
        if state == "failed":
            view.say(PROGRAM, str(record.get("error", "")))
        return  # it acts when its pod starts and when the label changes
    current = view.partitions()
    try:
        wanted = target(view.machine, layout, custom_file(view, pod))
        ampere = view.machine.gpu.architecture == "Ampere"
        reboots = environment(pod, "nvidia-mig-manager").get("WITH_REBOOT", "").lower() == "true"
        if ampere and not reboots and [item.mig for item in wanted] != [item.mig for item in current]:
            raise LayoutError("the MIG mode of an Ampere GPU in a VM changes only with WITH_REBOOT=true")
    except LayoutError as error:
        view.keep(current, config=layout, pod=uid, error=str(error))
        view.say(PROGRAM, str(error))
        finish(view, memory, "failed")
        return
    if wanted == current:
        view.keep(current, config=layout, pod=uid)
        finish(view, memory, "success")
        return
    if state not in ("pending", "rebooting"):
        view.labels[STATE] = "pending"
        for key in PAUSED_KEYS:
            if view.labels.get(key) == "true":
                view.labels[key] = PAUSED
        memory.forget(waiting)
    lasted = memory.lasted(waiting, view.snapshot.now)
    if lasted < 0.2 or (dra_plugin_pod(view) is not None and lasted < WAIT_SECONDS):
        return
    view.keep(wanted, config=layout, pod=uid)
    finish(view, memory, "success")


def finish(view: NodeView, memory: Memory, state: str) -> None:
    view.labels[STATE] = state
    memory.forget(f"mig/{view.name}")
    for key in PAUSED_KEYS:
        if view.labels.get(key) == PAUSED:
            view.labels[key] = "true"


def custom_file(view: NodeView, pod: Object) -> str | None:
    """The layout file of the ConfigMap that the pod mounts; None for the generated one.

    It replaces the generated one on every node, so a layout that it lacks does not exist any more.
    """
    name = configmap_volume(pod)
    if name in GENERATED:
        return None
    policy = view.snapshot.policy
    where = str(pod["metadata"].get("namespace") or (namespace(policy) if policy else ""))
    data = view.snapshot.configmaps.get((where, name))
    if data is None or "config.yaml" not in data:
        raise LayoutError(f"ConfigMap {where}/{name} has no key config.yaml")
    return data["config.yaml"]
