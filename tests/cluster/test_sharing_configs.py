"""Sharing under DRA on the real scheduler: pods that name one claim, and the config that reaches the driver with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.cluster.conftest import TestCluster, make_node, make_pod
from tests.cluster.sharing_help import plugin, refused, running
from tests.stacks import planned

STACK = """
aks-dra:gpu: {driver: aks}
aks-dra:pools:
  t4: {vmSize: Standard_NC64as_T4_v3, sharing: {mode: timeSlicing, interval: Short}}
  a100: {vmSize: Standard_NC24ads_A100_v4, sharing: {mode: mps, activeThreadPercentage: 50, pinnedMemoryLimit: 10Gi}}
  h100: {vmSize: Standard_NC40ads_H100_v5, sharing: {mode: mig, layout: all-1g.12gb}}
aks-dra:claims:
  ml:
    slices: {deviceClass: t4-timesliced, shareAcross: pods}
    longer: {deviceClass: t4-timesliced, shareAcross: pods, sharing: {mode: timeSlicing, interval: Long}}
    pair: {requests: {plain: {deviceClass: t4}, shared: {deviceClass: t4-timesliced}}, shareAcross: pods}
    clients: {deviceClass: a100-80gb-mps, shareAcross: pods}
    either: {firstAvailable: [{deviceClass: a100-80gb}, {deviceClass: h100-nvl-1g.12gb}], shareAcross: pods,
      sharing: {mode: mps, activeThreadPercentage: 20}}
"""
CLAIMS = ("slices", "longer", "pair", "clients", "either")


def config(kind: str, strategy: str, settings: dict[str, Any]) -> dict[str, Any]:
    """What a driver is handed: NVIDIA's own kind, and how its device is shared."""
    key = {"TimeSlicing": "timeSlicingConfig", "MPS": "mpsConfig"}[strategy]
    sharing = {"strategy": strategy, key: settings}
    return {"apiVersion": "resource.nvidia.com/v1beta1", "kind": kind, "sharing": sharing}


def handed(cluster: TestCluster, claim: str) -> tuple[list[tuple[str, str]], list[tuple[str, list[str], Any]]]:
    """The results as (request, device), and the configs of the allocation as (source, requests, parameters)."""
    devices = cluster.get("ResourceClaim", claim)["status"]["allocation"]["devices"]
    results = [(result["request"], result["device"]) for result in devices["results"]]
    configs = [
        (entry["source"], entry.get("requests", []), entry["opaque"]["parameters"])
        for entry in devices.get("config", [])
    ]
    return results, configs


def test_pods_share_one_claim_and_its_config_comes_with_it(cluster: TestCluster, tmp_path: Path) -> None:
    here = {"test": cluster.namespace}
    made = planned(tmp_path, STACK)
    (driver,) = [release for release in made.releases if release.name == "dra-driver-nvidia-gpu"]
    gates = "".join(f"{name}={str(on).lower()}," for name, on in sorted(driver.values["featureGates"].items()))
    assert gates == "MPSSupport=true,TimeSlicingSettings=true,"
    cluster.apply(plugin(here, gates))
    sizes = {"t4": "Standard_NC64as_T4_v3", "a100": "Standard_NC24ads_A100_v4"}
    names = [make_node(cluster, name, size) for name, size in sizes.items()]
    names.append(make_node(cluster, "h100", "Standard_NC40ads_H100_v5", instance_profile="MIG1g"))
    cluster.until(lambda: [len(cluster.devices(name)) for name in names] == [4, 1, 7], "devices of the three nodes")
    for entry in made.objects:
        if entry.kind == "DeviceClass":
            cluster.apply(entry.manifest)
        elif entry.kind == "ResourceClaim":
            metadata = {"name": entry.manifest["metadata"]["name"]}
            cluster.apply({**entry.manifest, "metadata": metadata})
    for claim in CLAIMS:  # one after the other, so that `clients` holds the only A100 before `either` asks
        for number in (1, 2, 3):
            spec = {"resourceClaims": [{"name": "gpu", "resourceClaimName": claim}], "nodeSelector": here}
            make_pod(cluster, f"{claim}{number}", {**spec, "container": {"resources": {"claims": [{"name": "gpu"}]}}})
        pods = [f"{claim}{number}" for number in (1, 2, 3)]
        cluster.until(lambda pods=pods: len(running(cluster, *pods)) == 3, claim)  # type: ignore[misc]
        assert len({cluster.get("Pod", name)["spec"]["nodeName"] for name in pods}) == 1

    short = config("GpuConfig", "TimeSlicing", {"interval": "Short"})
    half = config("GpuConfig", "MPS", {"defaultActiveThreadPercentage": 50, "defaultPinnedDeviceMemoryLimit": "10Gi"})
    # No request named means all of them: so the scheduler writes a config that is for every request of its claim.
    assert handed(cluster, "slices") == ([("gpu", "gpu-0")], [("FromClass", [], short)])
    assert handed(cluster, "pair")[1] == [("FromClass", ["shared"], short)]
    # The class's first: a driver lets the later one, the claim's own, win.
    longer = config("GpuConfig", "TimeSlicing", {"interval": "Long"})
    assert handed(cluster, "longer")[1] == [("FromClass", [], short), ("FromClaim", [], longer)]
    assert handed(cluster, "clients") == ([("gpu", "gpu-0")], [("FromClass", [], half)])
    # Each alternative has a config of its own kind, and only that of the one that was taken comes along.
    ((request, device),), configs = handed(cluster, "either")
    assert request == "gpu/h100-nvl-1g-12gb"
    assert device.startswith("gpu-0-mig-1g12gb-")
    assert configs == [("FromClaim", [], config("MigDeviceConfig", "MPS", {"defaultActiveThreadPercentage": 20}))]

    each = {"metadata": {"name": "each"}, "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate"}
    devices = {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "t4-timesliced"}}]}
    cluster.apply({**each, "spec": {"spec": {"devices": devices}}})
    spec = {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "each"}], "nodeSelector": here}
    make_pod(cluster, "alone", {**spec, "container": {"resources": {"claims": [{"name": "gpu"}]}}})
    cluster.until(lambda: refused(cluster, "alone"))  # all four T4s are held: a template shares nothing
