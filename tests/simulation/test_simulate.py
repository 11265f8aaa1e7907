"""Workloads on planned fleets, decided by the real scheduler: where each pod is, or the reason in our words."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

from aks_dra.simulate.cleaning import wait
from aks_dra.simulate.cluster import RUN_LABEL, Cluster
from tests.simulation.answers import ROOT, T4, answers, marked, simulate, variables
from tests.stacks import stack

SIMULATED = Path(__file__).parent / "simulated"
FLEET = """
aks-dra:pools:
  t4: {vmSize: Standard_NC4as_T4_v3, nodes: {count: 1}}
  a100: {vmSize: Standard_NC48ads_A100_v4, nodes: {count: 1}, taints: ["sku=gpu:NoSchedule"]}
  h100: {vmSize: Standard_NC40ads_H100_v5, nodes: {count: 1}, sharing: {mode: mig, layout: all-1g.12gb}}
  t4old:
    vmSize: Standard_NC4as_T4_v3
    nodes: {count: 1}
    allocation: devicePlugin
    sharing: {mode: timeSlicing, replicas: 2}
aks-dra:deviceClasses:
  odd: {cel: ["device.attributes['gpu.nvidia.com'].profile == '1g.12gb'"]}
  slice: {require: {profile: 1g.12gb}, extendedResourceName: nvidia.com/mig-1g.12gb}
aks-dra:claims:
  ml:
    one-t4: {deviceClass: t4}
    one-a100: {deviceClass: a100-80gb}
    shared: {deviceClass: h100-nvl-1g.12gb, shareAcross: pods}
    ranked: {firstAvailable: [{deviceClass: t4, count: 2}, {deviceClass: h100-nvl-1g.12gb}]}
    odd: {deviceClass: odd}
  small:
    slice: {deviceClass: h100-nvl-1g.12gb}
aks-dra:namespaces:
  small: {quota: {h100-nvl-1g.12gb: 1}}
"""
A100, SLICE = "NVIDIA A100 80GB PCIe 81920Mi", "NVIDIA H100 NVL 1g.12gb"
# pod: its pool and devices, or the code of the reason with a part of its text and of the remedy
EXPECTED: dict[str, tuple[str, ...]] = {
    "ml/t4-a": ("t4", T4),
    "ml/t4-b": (
        "taken",
        "pool t4, 1 node: the device that matches (Tesla T4 16384Mi) is held by ml/t4-a",
        "more nodes",
    ),
    "ml/wrong-class": ("class-missing", "device class t44 does not exist", "did you mean t4?"),
    "ml/wrong-template": ("template-missing", "ResourceClaimTemplate ml/one-tt4 does not exist", "ml/one-t4?"),
    "other/wrong-namespace": ("template-missing", "other/one-t4 does not exist", "ml/one-t4 is another namespace's"),
    "ml/no-toleration": (
        "taint",
        "pool a100 has what the pod asks for, but the pod does not tolerate its taint sku=gpu:NoSchedule",
        "add to the pod tolerations: [{key: sku, operator: Equal, value: gpu, effect: NoSchedule}]",
    ),
    "ml/tolerant": ("a100", A100),
    "ml/wrong-label": ("label", "pool h100 has what the pod asks for", "{kubernetes.azure.com/agentpool: h100}"),
    "ml/three": ("too-few", "pool a100: one node has 2 devices for a100-80gb, 3 are asked for", "ask for 2 or less"),
    "ml/shared-a": ("h100", SLICE),
    "ml/shared-b": ("h100", SLICE),
    "ml/second-choice": ("h100", SLICE),
    "ml/everything": ("taken", "some of the 7 devices that match", "more nodes in h100"),
    "ml/same-root": ("attribute-missing", "have no attribute resource.kubernetes.io/pcieRoot", "remove the constraint"),
    "ml/raises": ("h100", SLICE),
    "ml/undecided": ("a100", A100),
    "ml/legacy-a": ("t4old",),
    "ml/legacy-b": ("resource-taken", "pool t4old: nvidia.com/gpu is used up", "more nodes in t4old"),
    "ml/legacy-c": ("resource", "pool t4old: one node has 2 of nvidia.com/gpu, 3 are asked for", "ask for 2 or less"),
    "ml/by-name": ("h100", SLICE),
    "ml/unmapped": ("resource-unmapped", "no pool and no device class serves amd.com/gpu", "extendedResourceName"),
    "small/quota-a": ("h100", SLICE),
    "small/quota-b": ("quota", "allows 1 devices of class h100-nvl-1g.12gb; 1 used, 1 more", "raise the quota"),
    "ml/heavy": ("room", "no node has enough cpu left", ""),
    "ml/nowhere": ("label", "disk=fast", ""),
    "ml/gated": ("gated", "its scheduling gates (wait)", "remove them"),
    "ml/agent-aks-h100-vmss000000": ("h100",),
    "ml/agent-aks-t4-vmss000000": ("t4",),
    "ml/agent-aks-t4old-vmss000000": ("t4old",),
}


def test_every_pod_has_its_place_or_the_reason(tmp_path: Path, bare: tuple[Path, Cluster]) -> None:
    kubeconfig, cluster = bare
    file = stack(tmp_path, FLEET)
    run = simulate(file, SIMULATED / "workload.yaml", "--kubeconfig", kubeconfig, "--format", "json")
    assert run.returncode == 1, run.stderr
    found = answers(run.stdout)
    assert found.keys() == EXPECTED.keys()
    for name, (first, *rest) in EXPECTED.items():
        assert found[name][0] == first, (name, found[name])
        assert len(found[name]) == 1 + len(rest), (name, found[name])
        assert all(part in text for part, text in zip(rest, found[name][1:], strict=True)), (name, found[name])
    document = json.loads(run.stdout)
    assert document["scheduled"] is True
    assert "PyTorchJob big was left out: aks-dra does not know what pods it makes" in document["notes"]
    by_name = {pod["name"]: pod for pod in document["pods"]}
    assert by_name["legacy-a"]["extendedResources"] == {"nvidia.com/gpu": 2}
    assert by_name["by-name"]["extendedResources"] == {}
    assert by_name["shared-a"]["devices"] == by_name["shared-b"]["devices"]
    assert by_name["undecided"]["notes"] == ["rests on gpu.nvidia.com/driverVersion, which only a node knows"]
    assert marked(cluster) == []
    assert not [item for item in cluster.items("ResourceClaim") if item["metadata"]["namespace"] in ("ml", "small")]


def test_without_a_cluster_nothing_is_promised_and_nothing_contradicted(tmp_path: Path) -> None:
    run = simulate(stack(tmp_path, FLEET), SIMULATED / "workload.yaml", "--no-cluster", "--format", "json")
    assert run.returncode == 1, run.stderr
    document = json.loads(run.stdout)
    assert document["scheduled"] is False
    (note,) = next(pod["notes"] for pod in document["pods"] if pod["name"] == "raises")
    assert note.startswith(
        "while that device is free, a selector of class odd raises an error on Tesla T4 16384Mi (pool t4)"
    )
    said = {f"{pod['namespace']}/{pod['name']}": pod["status"] for pod in document["pods"]}
    assert set(said.values()) == {"may", "cannot"}
    cannot = {name for name, status in said.items() if status == "cannot"}
    assert cannot == {
        "ml/wrong-class",
        "ml/wrong-template",
        "other/wrong-namespace",
        "ml/no-toleration",
        "ml/wrong-label",
        "ml/three",
        "ml/same-root",
        "ml/legacy-c",
        "ml/unmapped",
    }


def test_an_error_in_a_selector_ends_all_hope_and_is_named(tmp_path: Path, bare: tuple[Path, Cluster]) -> None:
    run = simulate(stack(tmp_path, FLEET), SIMULATED / "raising.yaml", "--kubeconfig", bare[0], "--format", "json")
    assert run.returncode == 1, run.stderr
    found = answers(run.stdout)
    code, text, remedy = found.pop("ml/raises")
    assert code == "raises"
    assert "a selector of class odd raises an error on Tesla T4 16384Mi (pool t4)" in text
    assert "no such key: profile" in text
    mig = "device.driver == 'gpu.nvidia.com' && device.attributes['gpu.nvidia.com'].type == 'mig' &&"
    assert remedy == f"test first: {mig}"
    assert found.pop("ml/legacy") == ("h100", SLICE)
    assert found == {}


def test_partitions_of_one_gpu_exclude_each_other(tmp_path: Path, bare: tuple[Path, Cluster]) -> None:
    file = stack(
        tmp_path,
        """
        aks-dra:pools:
          h100: {vmSize: Standard_NC40ads_H100_v5, nodes: {count: 1}, sharing: {mode: dynamicMig}}
        aks-dra:claims:
          ml:
            big: {deviceClass: h100-nvl-4g.47gb}
            half: {deviceClass: h100-nvl-3g.47gb}
        """,
    )
    workload = tmp_path / "w.json"
    pods = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": "ml"},
            "spec": {
                "containers": [{"name": "main", "resources": {"claims": [{"name": "gpu"}]}}],
                "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": template}],
            },
        }
        for name, template in (("a", "big"), ("b", "half"), ("c", "half"))
    ]
    workload.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": pods}))
    run = simulate(file, workload, "--kubeconfig", bare[0], "--format", "json")
    assert run.returncode == 1, run.stdout + run.stderr
    found = answers(run.stdout)
    assert found["ml/a"] == ("h100", "NVIDIA H100 NVL 4g.47gb")
    assert found["ml/b"] == ("h100", "NVIDIA H100 NVL 3g.47gb")
    assert found["ml/c"][:2] == (
        "taken",
        "pool h100, 1 node: the 2 devices that match (NVIDIA H100 NVL 3g.47gb) are held by ml/a, ml/b; none is free",
    )


def test_a_cluster_with_a_real_node_is_left_alone(tmp_path: Path, bare: tuple[Path, Cluster]) -> None:
    kubeconfig, cluster = bare
    cluster.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "somebodys"}})
    try:
        run = simulate(stack(tmp_path, FLEET), SIMULATED / "raising.yaml", "--kubeconfig", kubeconfig)
        assert run.returncode == 2
        assert "has nodes that no simulation made (first: somebodys)" in run.stderr
        assert marked(cluster) == []
    finally:
        cluster.call("DELETE", "/api/v1/nodes/somebodys")


def test_an_interrupted_run_leaves_nothing_and_a_killed_one_is_named(
    tmp_path: Path, bare: tuple[Path, Cluster]
) -> None:
    kubeconfig, cluster = bare
    arguments = [str(stack(tmp_path, FLEET)), str(SIMULATED / "workload.yaml"), "--kubeconfig", str(kubeconfig)]

    def interrupted(number: signal.Signals) -> int:
        command = [sys.executable, "-m", "aks_dra.cli", "simulate", *arguments]
        process = subprocess.Popen(command, env=variables(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        assert wait(lambda: bool(cluster.items("Pod", labelSelector=RUN_LABEL)), 60)
        process.send_signal(number)
        return process.wait(60)

    assert interrupted(signal.SIGINT) == 130
    assert marked(cluster) == []
    interrupted(signal.SIGKILL)
    assert marked(cluster)
    again = simulate(*arguments)
    assert again.returncode == 2
    assert "give --clean to delete what it left" in again.stderr
    cleaned = simulate(*arguments, "--clean")
    assert cleaned.returncode == 1, cleaned.stderr
    assert all(len(line) <= 100 for line in cleaned.stdout.splitlines())
    assert marked(cluster) == []


def test_make_starts_a_control_plane_and_ends_it(tmp_path: Path) -> None:
    state = tmp_path / "state"
    file = stack(tmp_path, FLEET.replace("aks-dra:pools:", "aks-dra:gpu: {driver: operator}\naks-dra:pools:"))
    file.write_text(file.read_text().replace("{access:", '{kubernetesVersion: "1.35", access:'))
    workload = tmp_path / "legacy.yaml"
    workload.write_text(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: old}\nspec:\n"
        "  nodeSelector: {kubernetes.azure.com/agentpool: h100}\n"
        "  containers: [{name: main, resources: {limits: {nvidia.com/mig-1g.12gb: 1}}}]\n"
    )
    run = simulate(file, workload, AKS_DRA_LOCAL_STATE=str(state), AKS_DRA_CHECKOUT=str(ROOT))
    assert run.returncode == 1, run.stderr
    assert "Kubernetes 1.35, the scheduler's word" in run.stdout
    text = " ".join(run.stdout.split())
    assert "no pool and no device class serves nvidia.com/mig-1g.12gb" in text
    assert "device classes serve extended resources from Kubernetes 1.36 on" in text
    assert list((state / "simulate").iterdir()) == []
