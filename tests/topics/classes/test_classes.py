"""Device classes as manifests, and the devices of other drivers that they can be for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aks_dra.kube.devices import UNKNOWN, Attribute, Device, Version
from aks_dra.model.plan import Plan
from aks_dra.report.tables import class_rows, pool_rows
from tests.stacks import check, errors, planned

POOLS = """
aks-dra:pools:
  t4: {vmSize: Standard_NC4as_T4_v3}
  old: {vmSize: Standard_NC4as_T4_v3, allocation: devicePlugin}
"""
FPGA = """
aks-dra:devices:
  fpga: {driver: fpga.example.com, pools: [t4, old], perNode: 2,
         attributes: {family: agilex, lanes: 16, hot: false, firmware: {version: "1.2.3"}, serial: {knownOnNode: true},
                      resource.kubernetes.io/pcieRoot: pci0000},
         capacity: {luts: 900k}, allowMultipleAllocations: true}
"""


def device_class(plan: Plan, name: str) -> dict[str, Any]:
    [manifest] = [dict(entry.manifest) for entry in plan.objects if entry.key == f"deviceclass-{name}"]
    return manifest


def test_a_class_of_another_driver_asks_for_the_driver_first(tmp_path: Path) -> None:
    body = """
aks-dra:deviceClasses:
  nic: {driver: nic.example.com, cel: ["device.attributes['nic.example.com'].speed > 100"], labels: {team: net},
        config: [{driver: nic.example.com, parameters: {apiVersion: nic.example.com/v1, mtu: 9000}}]}
  any-nic: {driver: nic.example.com}
"""
    plan = planned(tmp_path, POOLS + body)
    assert plan.errors == ()
    driver = {"cel": {"expression": "device.driver == 'nic.example.com'"}}
    assert device_class(plan, "nic") == {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": "nic", "labels": {"team": "net"}},
        "spec": {
            "selectors": [driver, {"cel": {"expression": "device.attributes['nic.example.com'].speed > 100"}}],
            "config": [
                {
                    "opaque": {
                        "driver": "nic.example.com",
                        "parameters": {"apiVersion": "nic.example.com/v1", "mtu": 9000},
                    }
                }
            ],
        },
    }
    assert device_class(plan, "any-nic")["spec"] == {"selectors": [driver]}


def test_described_devices_are_on_pools_of_either_kind(tmp_path: Path) -> None:
    plan = planned(tmp_path, POOLS + FPGA)
    assert plan.errors == ()
    attributes: dict[str, Attribute] = {
        "family": "agilex",
        "firmware": Version("1.2.3"),
        "hot": False,
        "lanes": 16,
        "resource.kubernetes.io/pcieRoot": "pci0000",
        "serial": UNKNOWN,
    }
    devices = tuple(Device(f"fpga-{i}", "fpga.example.com", attributes, {"luts": "900k"}, True) for i in range(2))
    assert {pool.name: pool.other_devices for pool in plan.pools} == {"old": devices, "t4": devices}
    assert {pool.name: [device.name for device in pool.devices] for pool in plan.pools} == {"old": [], "t4": ["gpu-0"]}
    published = {row[0]: row[4] for row in pool_rows(plan)}
    assert published == {
        "old": "1x nvidia.com/gpu, 2x fpga.example.com",
        "t4": "1x Tesla T4 16384Mi, 2x fpga.example.com",
    }


@pytest.mark.parametrize(
    ("condition", "pools", "undecided"),
    [
        ("family == 'agilex'", {"old": 2, "t4": 2}, ()),
        ("lanes < 16", {}, ()),
        ("firmware.compareTo(semver('1.2.0')) > 0", {"old": 2, "t4": 2}, ()),
        ("serial == 'x'", {"old": 2, "t4": 2}, ("fpga.example.com/serial",)),
    ],
)
def test_classes_are_matched_with_described_devices(
    tmp_path: Path, condition: str, pools: dict[str, int], undecided: tuple[str, ...]
) -> None:
    cel = f"device.attributes['fpga.example.com'].{condition}"
    plan = planned(tmp_path, f'{POOLS}{FPGA}aks-dra:deviceClasses: {{f: {{driver: fpga.example.com, cel: ["{cel}"]}}}}')
    [match] = [match for match in plan.matches if match.device_class == "f"]
    assert (dict(match.pools), match.undecided) == (pools, undecided)
    assert ("CLS005" in {finding.code for finding in plan.findings}) == (not pools)


def test_names_of_described_devices_are_known(tmp_path: Path) -> None:
    cel = "device.attributes['fpga.example.com'].familly == 'agilex'"
    body = f'{POOLS}{FPGA}aks-dra:deviceClasses: {{f: {{driver: fpga.example.com, cel: ["{cel}"]}}}}'
    assert [(f.code, f.path, f.remedy) for f in check(tmp_path, body)] == [
        ("CLS004", "aks-dra:deviceClasses.f.cel.0", "did you mean family?")
    ]


def test_of_a_driver_without_described_devices_only_the_form_is_known(tmp_path: Path) -> None:
    body = """
aks-dra:deviceClasses:
  right: {driver: nic.example.com, cel: ["device.attributes['nic.example.com'].speed > 100"]}
  wrong: {driver: nic.example.com, cel: ["device.attributes['nic.example.com'].speed >"]}
"""
    assert [(f.code, f.path) for f in check(tmp_path, POOLS + body)] == [
        ("CLS004", "aks-dra:deviceClasses.wrong.cel.0")
    ]


WRONG = [
    ("{driver: gpu.nvidia.com, pools: [t4]}", "DEV001", ".driver"),
    ("{driver: FPGA, pools: [t4]}", "DEV001", ".driver"),
    ("{driver: f.example.com, pools: []}", "DEV002", ".pools"),
    ("{driver: f.example.com, pools: [t5]}", "DEV002", ".pools.0"),
    ("{driver: f.example.com, pools: [t4], perNode: 0}", "DEV003", ".perNode"),
    ("{driver: f.example.com, pools: [t4], perNode: 129}", "DEV003", ".perNode"),
    ("{driver: f.example.com, pools: [t4], attributes: {a-b: x}}", "DEV005", ".attributes.a-b"),
    ("{driver: f.example.com, pools: [t4], attributes: {a: 1.5}}", "DEV006", ".attributes.a"),
    ("{driver: f.example.com, pools: [t4], attributes: {a: {version: '1.2'}}}", "DEV006", ".attributes.a"),
    ("{driver: f.example.com, pools: [t4], attributes: {a: {knownOnNode: false}}}", "DEV006", ".attributes.a"),
    ("{driver: f.example.com, pools: [t4], attributes: {a: " + "x" * 65 + "}}", "DEV006", ".attributes.a"),
    ("{driver: f.example.com, pools: [t4], capacity: {memory: 8GB}}", "DEV007", ".capacity.memory"),
]


@pytest.mark.parametrize(("settings", "code", "below"), WRONG, ids=[f"{w[1]}-{n}" for n, w in enumerate(WRONG)])
def test_devices_that_no_slice_can_hold(tmp_path: Path, settings: str, code: str, below: str) -> None:
    findings = check(tmp_path, f"{POOLS}aks-dra:devices: {{d: {settings}}}")
    assert [(f.severity, f.code, f.path) for f in findings] == [("error", code, f"aks-dra:devices.d{below}")]


def test_a_version_is_corrected(tmp_path: Path) -> None:
    entry = "{driver: f.example.com, pools: [t4], attributes: {a: {version: '1.2'}}}"
    (said,) = check(tmp_path, f"{POOLS}aks-dra:devices: {{d: {entry}}}")
    assert said.remedy == 'a version has three numbers: write {version: "1.2.0"}'


def test_more_values_than_a_device_can_have(tmp_path: Path) -> None:
    attributes = ", ".join(f"a{n}: x" for n in range(33))
    body = f"{POOLS}aks-dra:devices: {{d: {{driver: f.example.com, pools: [t4], attributes: {{{attributes}}}}}}}"
    assert [(f.code, f.path) for f in check(tmp_path, body)] == [("DEV004", "aks-dra:devices.d")]
    assert check(tmp_path, body.replace("a32: x", "")) == []


def test_sharing_a_device_needs_a_version_that_knows_it(tmp_path: Path) -> None:
    cluster = 'aks-dra:cluster: {kubernetesVersion: "1.35", access: {azureRbac: true}}'
    findings = check(tmp_path, cluster + POOLS + FPGA)
    assert [(f.code, f.path) for f in findings] == [("DEV008", "aks-dra:devices.fpga.allowMultipleAllocations")]


def test_a_uuid_in_a_class_is_a_warning(tmp_path: Path) -> None:
    cel = "device.attributes['gpu.nvidia.com'].type == 'gpu' && device.attributes['gpu.nvidia.com'].uuid == 'GPU-1'"
    findings = check(tmp_path, f'{POOLS}aks-dra:deviceClasses: {{one: {{cel: ["{cel}"]}}}}')
    assert [(f.severity, f.code, f.path) for f in findings] == [
        ("warning", "CLS004", "aks-dra:deviceClasses.one.cel.0")
    ]
    assert "a replaced node has another" in findings[0].message


def test_dynamic_mig_counts_what_can_be_there_at_once(tmp_path: Path) -> None:
    body = """
aks-dra:pools: {h100: {vmSize: Standard_NC40ads_H100_v5, sharing: {mode: dynamicMig}}}
aks-dra:deviceClasses:
  half: {require: {profile: [3g.47gb, 4g.47gb]}}
  part: {require: {type: mig}}
  any: {require: {product: "*H100*"}}
"""
    plan = planned(tmp_path, body)
    counted = {match.device_class: (match.pools["h100"], match.places["h100"]) for match in plan.matches if match.pools}
    small, whole = counted["h100-nvl-1g.12gb"], counted["h100-nvl"]
    assert (small, whole) == ((7, 7), (1, 1))
    assert counted["half"] == (2, 3)
    places = sum(1 for device in plan.pools[0].devices if device.attributes["type"] == "mig")
    assert counted["part"] == counted["mig.nvidia.com"] == (7, places)
    assert counted["any"] == (7, places + 1)
    rows = {row[0]: row[2] for row in class_rows(plan)}
    assert (rows["half"], rows["any"]) == ("h100 (2 of 3)", f"h100 (7 of {places + 1})")


def test_a_class_has_no_name_of_the_charts(tmp_path: Path) -> None:
    body = "aks-dra:deviceClasses: {gpu.nvidia.com: {require: {type: gpu}}}"
    assert ("NAM005", "aks-dra:deviceClasses.gpu.nvidia.com") in errors(tmp_path, body)


def test_a_quantity_is_not_compared_with_text(tmp_path: Path) -> None:
    selector = "device.attributes['gpu.nvidia.com'].memory == 'x'"
    body = f'{POOLS}aks-dra:deviceClasses: {{x: {{cel: ["{selector}"]}}}}'
    assert ("CLS004", "aks-dra:deviceClasses.x.cel.0") in errors(tmp_path, body)
