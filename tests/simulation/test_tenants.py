"""A simulated workload under the lists and quotas of its namespaces."""

from __future__ import annotations

import json
from pathlib import Path

from aks_dra.simulate.cluster import Cluster
from tests.simulation.answers import T4, answers, marked, simulate
from tests.stacks import stack

TENANTS = """
aks-dra:pools:
  t4: {vmSize: Standard_NC4as_T4_v3, nodes: {count: 4}}
  h100: {vmSize: Standard_NC40ads_H100_v5, nodes: {count: 1}, sharing: {mode: mig, layout: all-1g.12gb}}
aks-dra:namespaces:
  team-a: {allow: [t4], quota: {t4: 2}}
  team-b: {allow: [t4]}
"""
CLAIM = """
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: NAME, namespace: team-a}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: CLASS}}]}}
"""
TEMPLATE = """
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: NAME, namespace: team-a}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: CLASS}}]}}}
"""
TENANT_POD = """
---
apiVersion: v1
kind: Pod
metadata: {name: NAME, namespace: team-a}
spec:
  containers: [{name: main, image: x, resources: {claims: [{name: gpu}]}}]
  resourceClaims: [{name: gpu, KEY: NAME}]
"""
BY_NAME = """
---
apiVersion: v1
kind: Pod
metadata: {name: NAME, namespace: team-b}
spec: {containers: [{name: main, image: x, resources: {limits: {deviceclass.resource.kubernetes.io/CLASS: 1}}}]}
"""


def named(name: str, device_class: str) -> str:
    pod = TENANT_POD.replace("KEY", "resourceClaimName").replace("NAME", name)
    return CLAIM.replace("NAME", name).replace("CLASS", device_class) + pod


def test_what_a_workload_brings_is_held_against_lists_and_quotas(tmp_path: Path, bare: tuple[Path, Cluster]) -> None:
    parts = [named("every", "gpu.nvidia.com"), named("slice", "h100-nvl-1g.12gb")]
    parts += [named(name, "t4") for name in ("one", "two", "three")]
    parts += [TEMPLATE.replace("NAME", "made").replace("CLASS", "gpu.nvidia.com")]
    parts += [TENANT_POD.replace("KEY", "resourceClaimTemplateName").replace("NAME", "made")]
    parts += [CLAIM.replace("NAME", "unused").replace("CLASS", "mig.nvidia.com")]
    parts += [BY_NAME.replace("NAME", "good").replace("CLASS", "t4")]
    parts += [BY_NAME.replace("NAME", "bad").replace("CLASS", "gpu.nvidia.com")]
    workload = tmp_path / "w.yaml"
    workload.write_text("".join(parts))
    run = simulate(stack(tmp_path, TENANTS), workload, "--kubeconfig", bare[0], "--format", "json")
    assert run.returncode == 1, run.stdout + run.stderr
    may = "(it may use t4; annotation aks-dra.dev/allowed-device-classes of the namespace)"
    found = answers(run.stdout)
    for name, topic, kind in (("every", "claims", "ResourceClaim"), ("made", "templates", "ResourceClaimTemplate")):
        text = f"policy aks-dra-device-classes-{topic} refuses {kind} team-a/{name}: namespace team-a may not use "
        assert found[f"team-a/{name}"][:2] == ("policy", f"{text}device class gpu.nvidia.com {may}")
    assert found["team-a/slice"][0] == "policy"
    assert found["team-a/one"] == found["team-a/two"] == ("t4", T4)
    assert found["team-a/three"] == (
        "quota",
        "quota aks-dra-device-classes allows 2 devices of class t4; 2 used, 1 more asked for",
        "raise the quota, or use fewer",
    )
    assert found["team-b/good"] == ("t4", T4)
    assert found["team-b/bad"][0] == "policy"
    (note,) = json.loads(run.stdout)["notes"]
    assert note.startswith("ResourceClaim team-a/unused, which no pod names: policy aks-dra-device-classes-claims ")
    assert marked(bare[1]) == []
