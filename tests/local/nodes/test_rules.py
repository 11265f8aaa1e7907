"""The rules of the simulated nodes as pure functions: snapshot in, actions out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from local.nodes.actions import Apply, Delete, PatchCapacity, PatchNode
from local.nodes.device_plugin import Sharing, parse
from local.nodes.hardware import Gpu, Machine, Profile, Tables, semantic
from local.nodes.reconcile import reconcile
from local.nodes.snapshot import Memory, Snapshot


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("version: v1", Sharing()),
        ("version: v1\nflags: {migStrategy: mixed}", Sharing(mig_strategy="mixed")),
        (
            "version: v1\nsharing: {timeSlicing: {renameByDefault: true, resources: [{name: a, replicas: 3}]}}",
            Sharing("time-slicing", {"a": 3}, True),
        ),
        ("version: v1\nsharing: {mps: {resources: [{name: a, replicas: 2}]}}", Sharing("mps", {"a": 2})),
        ("version: v1\nsharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 1}]}}", None),
        ("sharing: {}", None),
        ("[", None),
        ("", None),
    ],
)
def test_device_plugin_configs(text: str, expected: Sharing | None) -> None:
    assert parse(text) == expected


@pytest.mark.parametrize(
    ("given_", "expected"), [("580.159.04", "580.159.4"), ("7.5", "7.5.0"), ("595.91.07", "595.91.7"), ("9", "9.0.0")]
)
def test_versions_as_the_driver_normalises_them(given_: str, expected: str) -> None:
    assert semantic(given_) == expected


# A small cluster, by hand.

GPU = Gpu(
    id="g",
    product_name="NVIDIA G",
    brand="Nvidia",
    architecture="Hopper",
    compute_capability="9.0.0",
    memory_mib=81559,
    compute_slices=7,
    memory_slices=8,
    profiles={"1g.10gb": Profile("1g.10gb", 19, 1, 1, 7, tuple(range(7)), 9984, {"multiprocessors": 16})},
)


class OneSize(Tables):
    """A single VM size, so that these tests do not follow the tables' figures."""

    def machine(self, vm_size: str) -> Machine | None:
        return Machine(vm_size, GPU, 1, True, "580.159.04") if vm_size == "big" else None


def node(labels: Mapping[str, str] | None = None, **annotations: str) -> dict[str, Any]:
    own = {f"local.aks-dra.dev/{key.replace('_', '-')}": value for key, value in annotations.items()}
    metadata = {
        "name": "n",
        "uid": "1",
        "labels": dict(labels or {}),
        "annotations": {"local.aks-dra.dev/simulated": "true", **own},
    }
    return {"metadata": metadata, "status": {"capacity": {"cpu": "4"}, "allocatable": {"cpu": "4"}}}


def pod(labels: Mapping[str, str], container: str = "main", uid: str = "u", **env: str) -> dict[str, Any]:
    variables = [{"name": key, "value": value} for key, value in env.items()]
    return {
        "metadata": {"name": f"p-{uid}", "namespace": "gpu-operator", "uid": uid, "labels": dict(labels)},
        "spec": {"nodeName": "n", "containers": [{"name": container, "env": variables}]},
        "status": {"phase": "Running"},
    }


def snapshot(*pods: dict[str, Any], now: float = 0.0, **fields: Any) -> Snapshot:
    return Snapshot(OneSize({}, {}, {}, {}), now, pods=pods, **fields)


POLICY = {
    "metadata": {"name": "cluster-policy"},
    "spec": {
        "driver": {"enabled": False},
        "mig": {"strategy": "mixed"},
        "migManager": {"config": {"default": "all-disabled"}},
    },
}
PLUGIN = {"dra-driver-nvidia-gpu-component": "kubelet-plugin"}
NFD = {"app.kubernetes.io/name": "node-feature-discovery", "role": "worker"}
VALIDATOR = pod({"app": "nvidia-operator-validator"}, uid="v")
MANAGER = pod({"app": "nvidia-mig-manager"}, uid="m")
LABELLED = {"feature.node.kubernetes.io/pci-10de.present": "true", "nvidia.com/mig.capable": "true"}


def patches(actions: list[Any]) -> dict[str, str | None]:
    return {key: value for action in actions if isinstance(action, PatchNode) for key, value in action.labels.items()}


def test_nothing_to_do_gives_nothing() -> None:
    assert reconcile(snapshot(nodes=[node()]), Memory()) == []
    assert reconcile(snapshot(nodes=[node(vm_size="small")]), Memory()) == []
    assert reconcile(snapshot(nodes=[node(vm_size="big")]), Memory()) == []


def test_a_slice_follows_its_plugin_and_not_the_partitions() -> None:
    memory, here = Memory(), node(vm_size="big")
    (action,) = reconcile(snapshot(pod(PLUGIN, "gpus", NVIDIA_DRIVER_ROOT="/"), nodes=[here]), memory)
    assert isinstance(action, Apply)
    published = dict(action.manifest)
    assert [device["name"] for device in published["spec"]["devices"]] == ["gpu-0"]
    cut = node(vm_size="big", mig_devices=json.dumps({"gpus": [{"mig": True, "devices": [["1g.10gb", 3]]}]}))
    same = pod(PLUGIN, "gpus", NVIDIA_DRIVER_ROOT="/")
    assert reconcile(snapshot(same, nodes=[cut], slices=[published]), memory) == []
    newer = pod(PLUGIN, "gpus", uid="u2", NVIDIA_DRIVER_ROOT="/")
    (action,) = reconcile(snapshot(newer, nodes=[cut], slices=[published]), memory)
    assert isinstance(action, Apply)
    (device,) = action.manifest["spec"]["devices"]
    assert device["name"] == "gpu-0-mig-1g10gb-19-3"
    memory_and_slots = {
        "memory": {"value": "9984Mi"},
        "multiprocessors": {"value": "16"},
        "memorySlice3": {"value": "1"},
    }
    assert device["capacity"] == memory_and_slots
    assert action.manifest["spec"]["pool"]["generation"] == 2
    path = f"/apis/resource.k8s.io/v1/resourceslices/{published['metadata']['name']}"
    assert reconcile(snapshot(nodes=[cut], slices=[published], now=10.0), memory) == []
    assert reconcile(snapshot(nodes=[cut], slices=[published], now=11.0), memory) == [Delete(path)]
    assert reconcile(snapshot(nodes=[], slices=[published]), memory) == [Delete(path)]


@pytest.mark.parametrize(
    "plugin",
    [
        pod(PLUGIN, "gpus", NVIDIA_DRIVER_ROOT="/run/nvidia/driver"),
        pod(PLUGIN, "compute-domains", NVIDIA_DRIVER_ROOT="/"),  # resources.gpus.enabled=false
        pod({"app": "other"}, "gpus", NVIDIA_DRIVER_ROOT="/"),
        {**pod(PLUGIN, "gpus", NVIDIA_DRIVER_ROOT="/"), "status": {"phase": "Pending"}},
    ],
)
def test_what_publishes_nothing(plugin: dict[str, Any]) -> None:
    assert reconcile(snapshot(plugin, nodes=[node(vm_size="big")]), Memory()) == []


def test_the_operators_driver_is_where_its_pod_runs() -> None:
    plugin = pod(PLUGIN, "gpus", NVIDIA_DRIVER_ROOT="/run/nvidia/driver")
    here = node(vm_size="big", gpu_driver="None")
    assert reconcile(snapshot(plugin, nodes=[here]), Memory()) == []
    driver = pod({"app": "nvidia-driver-daemonset"}, "nvidia-driver-ctr", uid="d", DRIVER_VERSION="595.91.07")
    (action,) = reconcile(snapshot(plugin, driver, nodes=[here]), Memory())
    assert isinstance(action, Apply)
    attributes = action.manifest["spec"]["devices"][0]["attributes"]
    assert attributes["driverVersion"] == {"version": "595.91.7"}


def test_a_gpu_in_mig_mode_without_partitions_is_no_device() -> None:
    here = node(vm_size="big", mig_devices=json.dumps({"gpus": [{"mig": True, "devices": []}]}))
    assert reconcile(snapshot(pod(PLUGIN, "gpus"), nodes=[here]), Memory()) == []


def test_the_operator_labels_only_what_nfd_labelled() -> None:
    preset = {"nvidia.com/gpu.deploy.device-plugin": "false", "nvidia.com/gpu.deploy.operands": "false", "pool": "a"}
    actions = reconcile(snapshot(nodes=[node(preset, vm_size="big")], policy=POLICY), Memory())
    assert patches(actions) == {"nvidia.com/gpu.deploy.device-plugin": None}
    made = {action.target.rpartition("/")[2] for action in actions if isinstance(action, Apply)}
    assert made == {
        "nvidia",
        "nvidia-container-toolkit-daemonset",
        "nvidia-operator-validator",
        "nvidia-device-plugin-daemonset",
        "nvidia-device-plugin-mps-control-daemon",
        "gpu-feature-discovery",
        "nvidia-mig-manager",
    }
    again = [action.manifest for action in actions if isinstance(action, Apply)]
    assert not [a for a in reconcile(snapshot(operands=again, policy=POLICY), Memory()) if isinstance(a, Apply)]
    assert len([a for a in reconcile(snapshot(operands=again), Memory()) if isinstance(a, Delete)]) == len(again)

    worker = pod(NFD, uid="w")
    found = patches(reconcile(snapshot(worker, nodes=[node({}, vm_size="big")], policy=POLICY), Memory()))
    assert found["feature.node.kubernetes.io/pci-10de.present"] == found["nvidia.com/gpu.present"] == "true"
    assert found["nvidia.com/gpu.deploy.client"] == "true"
    assert "nvidia.com/mig.config" not in found  # GFD has not said yet that the GPU is MIG-capable
    found = patches(reconcile(snapshot(worker, nodes=[node(LABELLED, vm_size="big")], policy=POLICY), Memory()))
    assert found["nvidia.com/mig.config"] == "all-disabled"


def test_the_mig_manager_goes_through_pending() -> None:
    memory = Memory()
    labels = {**LABELLED, "nvidia.com/mig.config": "all-1g.10gb", "nvidia.com/gpu.deploy.client": "true"}
    here = node(labels, vm_size="big")
    pods = (pod(NFD, uid="w"), VALIDATOR, MANAGER)

    def step(*extra: dict[str, Any], now: float) -> dict[str, str | None]:
        """One pass, whose changes are on the node afterwards."""
        found: dict[str, str | None] = {}
        for action in reconcile(snapshot(*pods, *extra, nodes=[here], policy=POLICY, now=now), memory):
            if isinstance(action, PatchNode):
                found.update(action.labels)
                here["metadata"]["annotations"].update({k: v for k, v in action.annotations.items() if v})
        for key, value in found.items():
            here["metadata"]["labels"].pop(key, None) if value is None else here["metadata"]["labels"].update(
                {key: value}
            )
        return found

    plugin = pod(PLUGIN, "gpus")
    first = step(plugin, now=0.0)
    assert first["nvidia.com/mig.config.state"] == "pending"
    assert first["nvidia.com/gpu.deploy.client"] == "paused-for-mig-change"
    assert step(plugin, now=1.0) == {}  # the plugin still runs
    last = step(now=1.3)
    assert last["nvidia.com/mig.config.state"] == "success"
    assert last["nvidia.com/gpu.deploy.client"] == "true"
    kept = json.loads(here["metadata"]["annotations"]["local.aks-dra.dev/mig-devices"])
    assert len(kept["gpus"][0]["devices"]) == 7
    assert step(now=2.0) == {}

    here["metadata"]["labels"]["nvidia.com/mig.config"] = "all-2g.20gb"
    assert step(now=3.0) == {"nvidia.com/mig.config.state": "failed"}
    assert step(now=4.0) == {}
    here["metadata"]["labels"]["nvidia.com/mig.config"] = "all-1g.10gb"
    assert step(now=5.0) == {"nvidia.com/mig.config.state": "success"}  # it is there already: no pending


def test_the_device_plugin_counts_and_leaves_zero() -> None:
    name = {"app.kubernetes.io/name": "nvidia-device-plugin"}
    plugin = pod(name, "nvidia-device-plugin-ctr")
    here = node(vm_size="big")
    (action,) = reconcile(snapshot(plugin, nodes=[here]), Memory())
    assert action == PatchCapacity("n", {"nvidia.com/gpu": "1"})
    here["status"]["capacity"]["nvidia.com/gpu"] = here["status"]["allocatable"]["nvidia.com/gpu"] = "1"
    assert reconcile(snapshot(plugin, nodes=[here]), Memory()) == []
    assert reconcile(snapshot(nodes=[here]), Memory()) == [PatchCapacity("n", {"nvidia.com/gpu": "0"})]
    mps = pod(name, "mps-control-daemon-ctr")
    assert reconcile(snapshot(mps, nodes=[here]), Memory()) == [PatchCapacity("n", {"nvidia.com/gpu": "0"})]
