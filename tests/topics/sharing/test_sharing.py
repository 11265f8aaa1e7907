"""Sharing modes for each allocation: what they are refused for, and what they come to in configs, gates and devices."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aks_dra.model.plan import Plan
from tests.stacks import check, planned

T4 = "{vmSize: Standard_NC4as_T4_v3"
A100 = "{vmSize: Standard_NC24ads_A100_v4"
A100X2 = "{vmSize: Standard_NC48ads_A100_v4"
A100_40 = "{vmSize: Standard_ND96asr_v4"
H100 = "{vmSize: Standard_NC40ads_H100_v5"
OLD = ", allocation: devicePlugin"


def pool(text: str) -> str:
    return f"aks-dra:pools: {{p: {text}}}}}"


REFUSED = [
    # device plugin
    (pool(T4 + OLD + ", sharing: {mode: mps, replicas: 1}"), "SHA007", "aks-dra:pools.p.sharing.replicas"),
    (pool(T4 + OLD + ", sharing: {mode: mps, replicas: 49}"), "SHA013", "aks-dra:pools.p.sharing.replicas"),
    (pool(T4 + OLD + ", sharing: {mode: timeSlicing}"), "SHA006", "aks-dra:pools.p.sharing"),
    (pool(T4 + OLD + ", sharing: {rename: true}"), "SHA012", "aks-dra:pools.p.sharing"),
    (pool(T4 + OLD + ", sharing: {failRequestsGreaterThanOne: true}"), "SHA012", "aks-dra:pools.p.sharing"),
    (pool(T4 + OLD + ", sharing: {replicas: 2}"), "SHA008", "aks-dra:pools.p.sharing.replicas"),
    (
        pool(A100 + OLD + ", sharing: {mode: mig, layout: all-1g.10gb, replicas: 1}"),
        "SHA007",
        "aks-dra:pools.p.sharing.replicas",
    ),
    (
        pool(T4 + OLD + ", sharing: {mode: timeSlicing, replicas: 2, flags: {renameByDefault: true}}"),
        "SET001",
        "aks-dra:pools.p.sharing.flags",
    ),
    (pool(H100 + OLD + ", sharing: {mode: dynamicMig}"), "DYN001", "aks-dra:pools.p.sharing.mode"),
    # DRA
    (pool(T4 + ", sharing: {mode: timeSlicing, replicas: 4}"), "SHA001", "aks-dra:pools.p.sharing.replicas"),
    (pool(T4 + ", sharing: {mode: timeSlicing, interval: short}"), "SET002", "aks-dra:pools.p.sharing.interval"),
    (
        pool(T4 + ", sharing: {mode: mps, activeThreadPercentage: 101}"),
        "SHA004",
        "aks-dra:pools.p.sharing.activeThreadPercentage",
    ),
    (
        pool(T4 + ", sharing: {mode: mps, pinnedMemoryLimit: 512Ki}"),
        "SHA010",
        "aks-dra:pools.p.sharing.pinnedMemoryLimit",
    ),
    (
        pool(T4 + ", sharing: {mode: mps, pinnedMemoryLimit: much}"),
        "SHA010",
        "aks-dra:pools.p.sharing.pinnedMemoryLimit",
    ),
    (pool(T4 + ", sharing: {mode: dynamicMig}"), "DYN003", "aks-dra:pools.p.sharing.mode"),
    # MIG layouts
    (
        pool(A100X2 + ", sharing: {mode: mig, layout: [{devices: [0], profiles: {}}, {devices: [1], profiles: {}}]}"),
        "MIG015",
        "aks-dra:pools.p.sharing.layout",
    ),
    (
        pool(A100 + ", sharing: {mode: mig, layout: [{deviceFilter: A100, profiles: {1g.10gb: 7}}]}"),
        "MIG017",
        "aks-dra:pools.p.sharing.layout.0.deviceFilter",
    ),
    (
        pool(A100 + ", sharing: {mode: mig, layout: [{deviceFilter: 0x233010DE, profiles: {1g.10gb: 7}}]}"),
        "MIG016",
        "aks-dra:pools.p.sharing.layout.0.deviceFilter",
    ),
    (
        pool(
            A100X2
            + OLD
            + ", sharing: {mode: mig, strategy: single, "
            + "layout: [{devices: [0], profiles: {}}, {devices: [1], profiles: {1g.10gb: 7}}]}"
        ),
        "MIG014",
        "aks-dra:pools.p.sharing.strategy",
    ),
]


@pytest.mark.parametrize(("body", "code", "path"), REFUSED, ids=[f"{c[1]}-{n}" for n, c in enumerate(REFUSED)])
def test_refused(tmp_path: Path, body: str, code: str, path: str) -> None:
    findings = check(tmp_path, body)
    assert (code, path) in {(finding.code, finding.path) for finding in findings}, findings
    assert all(finding.remedy and finding.source for finding in findings)


def config_map(plan: Plan, name: str) -> dict[str, Any]:
    made = next(entry.manifest for entry in plan.objects if entry.manifest["metadata"]["name"] == name)
    assert made["metadata"]["namespace"] == "gpu-operator"
    return {key: json.loads(text) for key, text in made["data"].items()}


LEGACY = """
aks-dra:pools:
  plain: {vmSize: Standard_NC4as_T4_v3, allocation: devicePlugin}
  sliced: {vmSize: Standard_NC4as_T4_v3, allocation: devicePlugin,
    sharing: {mode: timeSlicing, replicas: 4, rename: true, failRequestsGreaterThanOne: true}}
  mps: {vmSize: Standard_NC64as_T4_v3, allocation: devicePlugin, sharing: {mode: mps, replicas: 10}}
  single: {vmSize: Standard_NC48ads_A100_v4, allocation: devicePlugin,
    sharing: {mode: mig, layout: all-2g.20gb, replicas: 2}}
  mixed: {vmSize: Standard_NC24ads_A100_v4, allocation: devicePlugin,
    sharing: {mode: mig, layout: all-balanced, replicas: 3}}
  named: {vmSize: Standard_NC24ads_A100_v4, allocation: devicePlugin,
    sharing: {mode: mig, layout: all-1g.10gb, strategy: mixed}}
"""


def test_one_config_for_each_device_plugin_pool_and_a_plain_default(tmp_path: Path) -> None:
    plan = planned(tmp_path, LEGACY)
    assert plan.errors == ()

    def sharing(*entries: tuple[str, int], **options: bool) -> dict[str, Any]:
        return {**options, "resources": [{"name": name, "replicas": number} for name, number in entries]}

    gpu = "nvidia.com/gpu"
    profiles = [f"nvidia.com/mig-{name}" for name in ("1g.10gb", "2g.20gb", "3g.40gb")]
    plain = {"version": "v1", "flags": {"migStrategy": "none"}}
    assert config_map(plan, "aks-dra-device-plugin") == {
        "default": plain,
        "plain": plain,
        "sliced": plain
        | {"sharing": {"timeSlicing": sharing((gpu, 4), renameByDefault=True, failRequestsGreaterThanOne=True)}},
        "mps": plain | {"sharing": {"mps": sharing((gpu, 10))}},
        "single": {"version": "v1", "flags": {"migStrategy": "single"}, "sharing": {"timeSlicing": sharing((gpu, 2))}},
        "mixed": {
            "version": "v1",
            "flags": {"migStrategy": "mixed"},
            "sharing": {"timeSlicing": sharing(*[(name, 3) for name in profiles])},
        },
        "named": {"version": "v1", "flags": {"migStrategy": "mixed"}},
    }
    assert {pool.name: dict(pool.extended_resources) for pool in plan.pools} == {
        "plain": {gpu: 1},
        "sliced": {"nvidia.com/gpu.shared": 4},
        "mps": {gpu: 40},
        "single": {gpu: 12},
        "mixed": {profiles[0]: 6, profiles[1]: 3, profiles[2]: 3},
        "named": {profiles[0]: 7},
    }
    assert {pool.name: pool.labels["nvidia.com/device-plugin.config"] for pool in plan.pools} == {
        name: name for name in ("plain", "sliced", "mps", "single", "mixed", "named")
    }


def test_both_readers_of_the_configs_are_told_where_they_are(tmp_path: Path) -> None:
    """The plugin's chart and the operator's feature discovery; a strategy for the cluster would overrule the pools'."""
    releases = {release.key: release.values for release in planned(tmp_path, LEGACY).releases}
    named = {"name": "aks-dra-device-plugin", "default": "default"}
    assert releases["nvidia-device-plugin"]["config"] == named
    assert releases["gpu-operator"]["devicePlugin"] == {"enabled": False, "config": named}
    assert releases["gpu-operator"]["mig"] == {"strategy": ""}
    alone = {release.key: release.values for release in planned(tmp_path, pool(T4)).releases}
    assert alone["gpu-operator"]["mig"] == {"strategy": "single"}


def test_a_layout_that_two_kinds_of_gpu_share_has_an_entry_for_each(tmp_path: Path) -> None:
    body = f"""
aks-dra:pools:
  big: {A100}, sharing: {{mode: mig, layout: all-1g.10gb}}}}
  small: {A100_40}, sharing: {{mode: mig, layout: all-1g.10gb}}}}
  own: {A100X2}, sharing: {{mode: mig, layout: [{{devices: [0], profiles: {{}}}},
    {{devices: [1], deviceFilter: 0x20B510DE, profiles: {{3g.40gb: 1, 2g.20gb: 1, 1g.10gb: 2}}}}]}}}}
"""
    plan = planned(tmp_path, body)
    assert plan.errors == ()
    layouts = config_map(plan, "aks-dra-mig-layouts")["config.yaml"]["mig-configs"]
    assert layouts == {
        "all-disabled": [{"devices": "all", "mig-enabled": False}],
        "all-1g.10gb": [
            {
                "devices": "all",
                "device-filter": ["0x20B010DE", "0x20B110DE", "0x20F110DE", "0x20F610DE"],
                "mig-enabled": True,
                "mig-devices": {"1g.10gb": 4},
            },
            {
                "devices": "all",
                "device-filter": ["0x20B210DE", "0x20B510DE", "0x20F310DE", "0x20F510DE"],
                "mig-enabled": True,
                "mig-devices": {"1g.10gb": 7},
            },
        ],
        "aks-dra-own": [
            {"devices": [0], "mig-enabled": False},
            {
                "devices": [1],
                "device-filter": ["0x20B510DE"],
                "mig-enabled": True,
                "mig-devices": {"3g.40gb": 1, "2g.20gb": 1, "1g.10gb": 2},
            },
        ],
    }
    assert {pool.name: len(pool.devices) for pool in plan.pools} == {"big": 7, "small": 32, "own": 5}
    own = next(pool for pool in plan.pools if pool.name == "own")
    assert own.devices[0].name == "gpu-0"
    assert {device.name.split("-mig-")[0] for device in own.devices[1:]} == {"gpu-1"}
    assert {pool.name: pool.labels["nvidia.com/mig.config"] for pool in plan.pools} == {
        "big": "all-1g.10gb",
        "small": "all-1g.10gb",
        "own": "aks-dra-own",
    }


@pytest.mark.parametrize(
    ("sharing", "owner", "manager", "profile"),
    [
        ("{mode: mig, layout: all-1g.10gb}", "operator", True, None),
        ("{mode: mig, layout: all-1g.10gb}", "aks", False, "MIG1g"),
        ("{mode: exclusive}", "operator", False, None),
    ],
)
def test_who_partitions(tmp_path: Path, sharing: str, owner: str, manager: bool, profile: str | None) -> None:
    plan = planned(tmp_path, f"aks-dra:gpu: {{driver: {owner}}}\n" + pool(f"{A100}, sharing: {sharing}"))
    assert plan.errors == ()
    values = plan.releases[0].values
    assert values["migManager"]["enabled"] is manager
    assert values["migManager"].get("env") == ([{"name": "WITH_REBOOT", "value": "true"}] if manager else None)
    assert plan.pools[0].inputs.get("gpuInstanceProfile") == profile


TEMPLATE = "\naks-dra:claims: {{ml: {{c: {{deviceClass: {0}{1}}}}}}}"


@pytest.mark.parametrize(
    ("device_class", "more", "warned"),
    [
        ("t4-timesliced", "", True),
        ("t4", ", sharing: {mode: timeSlicing}", True),
        ("t4-timesliced", ", shareAcross: pods", False),
        ("t4-timesliced", ", shareAcross: containers", False),  # said on purpose
        ("t4", "", False),
    ],
)
def test_a_template_that_was_meant_to_be_shared(tmp_path: Path, device_class: str, more: str, warned: bool) -> None:
    body = pool(T4 + ", sharing: {mode: timeSlicing}") + TEMPLATE.format(device_class, more)
    findings = [f for f in check(tmp_path, body) if f.code == "SHA014"]
    assert [f.path for f in findings] == (["aks-dra:claims.ml.c.shareAcross"] if warned else [])
    assert all("two pods hold two GPUs" in f.message for f in findings)


def test_the_same_claim_in_two_namespaces_is_two_objects(tmp_path: Path) -> None:
    body = pool(T4) + (
        "\naks-dra:claims: {a: {one: {deviceClass: t4, shareAcross: pods}, each: {deviceClass: t4}}, "
        "b: {one: {deviceClass: t4, shareAcross: pods}}}"
    )
    claims = [entry.manifest for entry in planned(tmp_path, body).objects if entry.key.startswith("claim-")]
    assert [(c["kind"], c["metadata"]["namespace"], c["metadata"]["name"]) for c in claims] == [
        ("ResourceClaimTemplate", "a", "each"),
        ("ResourceClaim", "a", "one"),
        ("ResourceClaim", "b", "one"),
    ]


def test_a_claims_config_is_of_the_kind_of_each_alternative(tmp_path: Path) -> None:
    body = f"""
aks-dra:pools:
  cut: {A100}, sharing: {{mode: mig, layout: all-1g.10gb}}}}
  whole: {T4}}}
aks-dra:claims:
  ml:
    c:
      firstAvailable: [{{deviceClass: a100-80gb-1g.10gb}}, {{deviceClass: t4}}]
      sharing: {{mode: mps, activeThreadPercentage: 50, pinnedMemoryLimit: 4Gi}}
      shareAcross: pods
"""
    (claim,) = [entry.manifest for entry in planned(tmp_path, body).objects if entry.key == "claim-ml-c"]
    mps = {"defaultActiveThreadPercentage": 50, "defaultPinnedDeviceMemoryLimit": "4Gi"}
    configs = claim["spec"]["devices"]["config"]
    assert [(c["requests"], c["opaque"]["parameters"]["kind"]) for c in configs] == [
        (["gpu/a100-80gb-1g-10gb"], "MigDeviceConfig"),
        (["gpu/t4"], "GpuConfig"),
    ]
    assert all(c["opaque"]["parameters"]["sharing"] == {"strategy": "MPS", "mpsConfig": mps} for c in configs)


def test_the_classes_speak_the_api_that_is_served(tmp_path: Path) -> None:
    """The chart's too: rendered without a cluster, it would guess."""
    plan = planned(tmp_path, pool(T4))
    made = [entry.manifest["apiVersion"] for entry in plan.objects if entry.kind == "DeviceClass"]
    assert set(made) == {"resource.k8s.io/v1"}
    values = next(release.values for release in plan.releases if release.key == "dra-driver-nvidia-gpu")
    assert values["resourceApiVersion"] == "resource.k8s.io/v1"
    assert values["resources"]["computeDomains"] == {"enabled": False}
