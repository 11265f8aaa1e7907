"""Each check with an input that triggers it: code, path and, where it says something to write, the remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.stacks import check

T4 = "aks-dra:pools: {t4: {vmSize: Standard_NC4as_T4_v3"


A100 = "aks-dra:pools: {a100: {vmSize: Standard_NC24ads_A100_v4"


A100X2 = "aks-dra:pools: {a100: {vmSize: Standard_NC48ads_A100_v4"


CASES = [
    # names
    (
        "aks-dra:pools: {GPU-Pool: {vmSize: Standard_NC4as_T4_v3}}",
        "NAM001",
        "aks-dra:pools.GPU-Pool",
        "for example gpupool",
    ),
    (
        "aks-dra:pools: {gpu-enabled: {vmSize: Standard_NC4as_T4_v3}}",
        "NAM001",
        "aks-dra:pools.gpu-enabled",
        "gpuenabled",
    ),
    ("aks-dra:pools: {1t4: {vmSize: Standard_NC4as_T4_v3}}", "NAM001", "aks-dra:pools.1t4", "for example t4"),
    ("aks-dra:pools: {averyverylong1: {vmSize: Standard_NC4as_T4_v3}}", "NAM001", "aks-dra:pools.averyverylong1", ""),
    ("aks-dra:pools: {system: {vmSize: Standard_NC4as_T4_v3}}", "NAM002", "aks-dra:pools.system", "rename"),
    ("aks-dra:claims: {Team_A: {}}", "NAM003", "aks-dra:claims.Team_A", "rename it"),
    (
        "aks-dra:deviceClasses: {gpu.nvidia.com: {require: {type: gpu}}}",
        "NAM005",
        "aks-dra:deviceClasses.gpu.nvidia.com",
        "",
    ),
    # labels, taints, tags
    (
        T4 + ", labels: {node-restriction.kubernetes.io/tier: gpu}}}",
        "LAB002",
        "aks-dra:pools.t4.labels.node-restriction.kubernetes.io/tier",
        "write node.kubernetes.io/tier",
    ),
    (
        T4 + ", labels: {kubernetes.azure.com/tier: gpu}}}",
        "LAB002",
        "aks-dra:pools.t4.labels.kubernetes.azure.com/tier",
        "",
    ),
    (
        T4 + ", labels: {aks-dra.dev/allocation: dra}}}",
        "LAB003",
        "aks-dra:pools.t4.labels.aks-dra.dev/allocation",
        "remove it",
    ),
    (
        T4 + ", labels: {nvidia.com/gpu.deploy.device-plugin: 'false'}}}",
        "LAB004",
        "aks-dra:pools.t4.labels.nvidia.com/gpu.deploy.device-plugin",
        "remove it",
    ),
    (T4 + ", labels: {tier: true}}}", "SET002", "aks-dra:pools.t4.labels.tier", 'write "true"'),
    (T4 + ", taints: ['sku=gpu']}}", "LAB006", "aks-dra:pools.t4.taints.0", "sku=gpu:NoSchedule"),
    (
        T4 + ", tags: {SkipGPU-DriverInstall: 'true'}}}",
        "LAB007",
        "aks-dra:pools.t4.tags.SkipGPU-DriverInstall",
        "gpu.driver",
    ),
    # sizes and counts
    (
        "aks-dra:pools: {t4: {vmSize: Standard_NC4as_T4_v4}}",
        "SIZ001",
        "aks-dra:pools.t4.vmSize",
        "did you mean Standard_NC4as_T4_v3?",
    ),
    (T4 + ", nodes: {count: 1, min: 1, max: 2}}}", "SIZ003", "aks-dra:pools.t4.nodes", ""),
    (T4 + ", nodes: {count: 1001}}}", "SIZ004", "aks-dra:pools.t4.nodes.count", "write 1000"),
    (T4 + ", nodes: {min: 1}}}", "SIZ005", "aks-dra:pools.t4.nodes", "add max"),
    (T4 + ", nodes: {min: 4, max: 2}}}", "SIZ006", "aks-dra:pools.t4.nodes", "exchange the two"),
    (T4 + ", nodes: {min: 1, max: 2, initial: 5}}}", "SIZ007", "aks-dra:pools.t4.nodes.initial", "write 2"),
    (T4 + ", zones: ['1', '2']}}", "SIZ009", "aks-dra:pools.t4.zones", "az vm list-skus"),
    # drivers
    (
        "aks-dra:pools: {t4: {vmSize: Standard_NC4as_T4_v3, driver: aks}, h100: {vmSize: Standard_NC40ads_H100_v5}}",
        "DRV001",
        "aks-dra:pools.t4.driver",
        "remove driver",
    ),
    ("aks-dra:pools: {a10: {vmSize: Standard_NV36ads_A10_v5}}", "DRV003", "aks-dra:pools.a10.vmSize", "driver: aks"),
    # MIG
    (T4 + ", sharing: {mode: mig, layout: all-1g.5gb}}}", "MIG002", "aks-dra:pools.t4.sharing.mode", "exclusive"),
    (A100 + ", sharing: {mode: mig}}}", "MIG003", "aks-dra:pools.a100.sharing", "all-1g.10gb"),
    (A100 + ", sharing: {mode: mig, layout: all-1g.5gb}}}", "MIG004", "aks-dra:pools.a100.sharing.layout", "all-"),
    (
        A100X2 + ", sharing: {mode: mig, layout: [{devices: [0, 1, 2, 3], profiles: {1g.10gb: 7}}]}}}",
        "MIG005",
        "aks-dra:pools.a100.sharing.layout.0.devices",
        "remove the index",
    ),
    (
        A100 + ", sharing: {mode: mig, layout: [{profiles: {3g.40gb: 2, 1g.10gb: 1}}]}}}",
        "MIG009",
        "aks-dra:pools.a100.sharing.layout.0.profiles",
        "fewer or smaller",
    ),
    (
        A100X2 + ", sharing: {mode: mig, layout: [{devices: [0], profiles: {1g.10gb: 7}}]}}}",
        "MIG010",
        "aks-dra:pools.a100.sharing.layout",
        "devices: all",
    ),
    (
        A100 + ", driver: aks, sharing: {mode: mig, layout: all-1g.20gb}}}\naks-dra:gpu: {driver: aks}",
        "MIG011",
        "aks-dra:pools.a100.sharing.layout",
        "operator",
    ),
    (
        A100 + ", allocation: devicePlugin, sharing: {mode: mig, layout: all-balanced, strategy: single}}}",
        "MIG014",
        "aks-dra:pools.a100.sharing.strategy",
        "write mixed",
    ),
    # sharing
    (
        T4 + ", sharing: {mode: timeSlicing, replicas: 4}}}",
        "SHA001",
        "aks-dra:pools.t4.sharing.replicas",
        "shareAcross: pods",
    ),
    (
        T4 + ", allocation: devicePlugin, sharing: {mode: mps, replicas: 1}}}",
        "SHA007",
        "aks-dra:pools.t4.sharing.replicas",
        "mode: exclusive",
    ),
    (
        T4 + ", sharing: {mode: timeSlicing, interval: short}}}",
        "SET002",
        "aks-dra:pools.t4.sharing.interval",
        "did you mean Short?",
    ),
    # allocation, autoscaling
    (T4 + ", nodes: {min: 0, max: 2}}}", "AUT001", "aks-dra:pools.t4.nodes.min", "write min: 1"),
    (T4 + ", nodes: {min: 1, max: 2}}}", "AUT002", "aks-dra:pools.t4.nodes", "fixed count"),
    # classes and claims
    (
        T4 + "}}\naks-dra:deviceClasses: {big: {require: {memory: '>=20Gi'}}}",
        "CLS005",
        "aks-dra:deviceClasses.big",
        "loosen",
    ),
    (
        T4 + "}}\naks-dra:deviceClasses: {x: {cel: [\"device.attributes['gpu.nvidia.com'].memory == 'x'\"]}}",
        "CLS004",
        "aks-dra:deviceClasses.x.cel.0",
        "",
    ),
    (
        T4
        + "}}\naks-dra:deviceClasses: {x: {cel: [\"device.attributes['gpu.nvidia.com'].productname == 'Tesla T4'\"]}}",
        "CLS004",
        "aks-dra:deviceClasses.x.cel.0",
        "productName",
    ),
    (
        T4 + "}}\naks-dra:claims: {ml: {one: {deviceClass: t44}}}",
        "CLM007",
        "aks-dra:claims.ml.one.deviceClass",
        "did you mean t4?",
    ),
    (
        T4 + "}}\naks-dra:claims: {ml: {many: {deviceClass: t4, count: 40}}}",
        "CLM006",
        "aks-dra:claims.ml.many.count",
        "32",
    ),
    (
        T4 + "}}\naks-dra:claims: {ml: {two: {deviceClass: t4, count: 2}}}",
        "CLM009",
        "aks-dra:claims.ml.two.count",
        "write 1",
    ),
    (
        T4 + "}}\naks-dra:claims: {ml: {spy: {deviceClass: t4, adminAccess: true}}}",
        "CLM004",
        "aks-dra:claims.ml.spy.adminAccess",
        "namespaces.ml.adminAccess",
    ),
    # charts
    (
        "aks-dra:gpu: {charts: {operator: {version: '26.7'}}}",
        "CHT001",
        "aks-dra:gpu.charts.operator.version",
        "v26.7.0",
    ),
    (
        "aks-dra:gpu: {charts: {draDriver: {version: v0.5.0}}}",
        "CHT002",
        "aks-dra:gpu.charts.draDriver.version",
        "write 0.5.0",
    ),
    (
        "aks-dra:gpu: {charts: {operator: {values: {drver: {enabled: true}}}}}",
        "CHT004",
        "aks-dra:gpu.charts.operator.values.drver",
        "driver",
    ),
    (
        "aks-dra:gpu: {charts: {draDriver: {values: {nvidiaDriverRoot: /elsewhere}}}}",
        "CHT005",
        "aks-dra:gpu.charts.draDriver.values.nvidiaDriverRoot",
        "the setting",
    ),
    (
        "aks-dra:gpu: {featureGates: {DynamicMIG: true, MPSSupport: true}}",
        "CHT007",
        "aks-dra:gpu.featureGates.DynamicMIG",
        "",
    ),
    (
        T4 + ", sharing: {mode: mps}}}\naks-dra:gpu: {featureGates: {MPSSupport: false}}",
        "CHT009",
        "aks-dra:gpu.featureGates.MPSSupport",
        "mps",
    ),
    (
        "aks-dra:gpu: {charts: {draDriver: {values: {controller: {affinity: null}}}}}",
        "CHT010",
        "aks-dra:gpu.charts.draDriver.values.controller.affinity",
        "in full",
    ),
    (
        "aks-dra:gpu: {charts: {draDriver: {version: 0.4.0, values: {nameOverride: nvidia-dra-driver-gpu}}}}",
        "CHT011",
        "aks-dra:gpu.charts.draDriver.values.nameOverride",
        "0.4.1",
    ),
    (
        T4 + "}}\naks-dra:gpu: {featureGates: {DynamicMIG: true}, charts: {draDriver: {version: 25.12.0}}}",
        "CHT011",
        "aks-dra:gpu.charts.draDriver.values.featureGates.DynamicMIG",
        "0.4.0",
    ),
    # shape and type
    (
        "aks-dra:pools: {t4: {vmsize: Standard_NC4as_T4_v3}}",
        "SET001",
        "aks-dra:pools.t4.vmsize",
        "did you mean vmSize?",
    ),
    ("aks-dra:pools: {t4: {}}", "SET002", "aks-dra:pools.t4.vmSize", "add vmSize"),
]


@pytest.mark.parametrize(("body", "code", "path", "remedy"), CASES, ids=[f"{c[1]}-{n}" for n, c in enumerate(CASES)])
def test_finding(tmp_path: Path, body: str, code: str, path: str, remedy: str) -> None:
    findings = check(tmp_path, body)
    matching = [finding for finding in findings if (finding.code, finding.path) == (code, path)]
    assert matching, findings
    assert remedy in matching[0].remedy
    assert matching[0].source
    assert matching[0].message
    assert matching[0].line >= 3, "a finding names the line in the user's file"


@pytest.mark.parametrize(
    "body",
    [
        T4 + ", labels: {node.kubernetes.io/tier: gpu, team: vision}}}",
        A100 + ", labels: {nvidia.com/mig.config: all-1g.10gb}}}",
        A100 + ", sharing: {mode: mig, layout: all-1g.10gb}}}",
        A100 + ", sharing: {mode: mig, layout: [{profiles: {3g.40gb: 1, 2g.20gb: 1, 1g.10gb: 2}}]}}}",
        T4 + ", allocation: devicePlugin, nodes: {min: 0, max: 2}}}",
        "aks-dra:pools: {t4inference: {vmSize: standard_nc4as_t4_v3}}",
    ],
)
def test_accepted(tmp_path: Path, body: str) -> None:
    assert [f for f in check(tmp_path, body) if f.severity == "error"] == []
