"""What is refused in claims and what is not: both sides of each boundary."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.planning_help import HEAD, found

pytestmark = pytest.mark.unit

POOLS = """
aks-dra:pools:
  h100: {vmSize: Standard_NC40ads_H100_v5, sharing: {mode: mig, layout: all-1g.12gb}}
  a100: {vmSize: Standard_NC48ads_A100_v4}
  t4: {vmSize: Standard_NC4as_T4_v3}
"""
HERE = "aks-dra:claims.ml.c"
NVIDIA = "apiVersion: resource.nvidia.com/v1beta1"


def findings(tmp_path: Path, claim: str, version: str = "1.36", more: str = "") -> dict[tuple[str, str], str]:
    """(code, path) to "severity: message: remedy" of everything said of one claim `c` in namespace `ml`."""
    cluster = f'aks-dra:cluster: {{kubernetesVersion: "{version}", access: {{azureRbac: true}}}}\n'
    listed = found(tmp_path, f"{cluster}{POOLS}{more}\naks-dra:claims: {{ml: {{c: {claim}}}}}", access=False)
    # What this version does to nvidia.com/gpu, and whether pods share, are other topics.
    return {
        (f.code, f.path): f"{f.severity}: {f.message}: {f.remedy}" for f in listed if f.code not in ("ALL006", "SHA014")
    }


REFUSED = [
    # (claim, version, code, path below the claim, severity, words of the message or remedy)
    ("{deviceClass: t4, firstAvailable: [{deviceClass: t4}]}", "1.36", "CLM001", "", "error", "one of them"),
    ("{requests: {a: {deviceClass: t4}}, count: 2}", "1.36", "CLM003", ".count", "error", "move count below requests"),
    ("{requests: {a: {}}}", "1.36", "CLM001", ".requests.a", "error", "deviceClass: NAME"),
    ("{requests: {a: {firstAvailable: [{deviceClass: t4}], all: true}}}", "1.36", "CLM003", ".requests.a.all", "error",
     "move all into each alternative"),
    ("{firstAvailable: [{deviceClass: t4}], adminAccess: true}", "1.36", "CLM003", ".adminAccess", "error",
     "remove adminAccess: it goes with one class"),
    ("{raw: {devices: {}}, count: 2}", "1.36", "CLM003", ".count", "error", "says everything itself"),
    ("{requests: {Big_One: {deviceClass: t4}}}", "1.36", "CLM019", ".requests.Big_One", "error", "lowercase letters"),
    ("{firstAvailable: [{deviceClass: t4, name: A}]}", "1.36", "CLM019", ".firstAvailable.0", "error", "rename"),
    ("{firstAvailable: [{deviceClass: t4, name: a}, {deviceClass: t4, name: a}]}", "1.36", "CLM020",
     ".firstAvailable.1", "error", "rename one"),
    ("{deviceClass: t4, tolerations: [{key: a b, operator: Exists}]}", "1.36", "CON010", ".tolerations.0", "error",
     "those of a taint"),
    ("{deviceClass: t4, capacity: {a-b: 1Gi}}", "1.36", "CON014", ".capacity.a-b", "error", "letters, digits and _"),
    # 32 devices in all
    ("{deviceClass: t4, count: 33}", "1.36", "CLM006", ".count", "error", "write 32 or less"),
    ("{requests: {a: {deviceClass: t4, count: 20}, b: {deviceClass: t4, count: 13}}}", "1.36", "CLM006", "", "error",
     "32"),
    ("{firstAvailable: [{deviceClass: t4}, {deviceClass: t4, count: 40}]}", "1.36", "CLM006",
     ".firstAvailable.1.count", "warning", "never taken"),
    ("{requests: {a: {deviceClass: t4, count: 30}, "
     "b: {firstAvailable: [{deviceClass: t4, count: 3}, {deviceClass: t4}]}}}", "1.36", "CLM006",
     ".requests.b.firstAvailable.0.count", "warning", "write 2 or less"),
    # all
    ("{deviceClass: a100-80gb, all: true, count: 2}", "1.36", "CLM011", ".count", "error", "remove count"),
    ("{firstAvailable: [{deviceClass: a100-80gb, all: true, count: 2}]}", "1.36", "CLM011",
     ".firstAvailable.0.count", "error", "remove count"),
    ("{firstAvailable: [{deviceClass: a100-80gb, all: true}]}", "1.34", "CLM012",
     ".firstAvailable.0.all", "warning", "1.36 or newer"),
    ("{firstAvailable: [{deviceClass: a100-80gb, all: true}]}", "1.35.6", "CLM012",
     ".firstAvailable.0.all", "warning", "write a count"),
    # what older versions drop
    ("{deviceClass: t4, tolerations: [{key: a}]}", "1.35", "CON009", ".tolerations", "error", "dropped silently"),
    ("{deviceClass: t4, capacity: {memory: 1Gi}}", "1.34", "CON011", ".capacity", "error", "1.36 or newer"),
    ("{firstAvailable: [{deviceClass: t4, capacity: {memory: 1Gi}}]}", "1.35", "CON011",
     ".firstAvailable.0.capacity", "error", "1.36 or newer"),
    ("{deviceClass: t4, constraints: [{distinctAttribute: gpu.nvidia.com/uuid}]}", "1.35", "CON004",
     ".constraints.0.distinctAttribute", "error", "misleading"),
    # constraints
    ("{deviceClass: t4, constraints: [{}]}", "1.36", "CON002", ".constraints.0", "error", "one of the two"),
    ("{deviceClass: t4, constraints: [{matchAttribute: a/b, distinctAttribute: a/b}]}", "1.36", "CON002",
     ".constraints.0", "error", "one of the two"),
    ("{deviceClass: t4, constraints: [{requests: [gup], matchAttribute: gpu.nvidia.com/uuid}]}", "1.36", "CON003",
     ".constraints.0.requests.0", "error", "did you mean gpu?"),
    ("{deviceClass: mig.nvidia.com, count: 2, constraints: [{matchAttribute: parentUUID}]}", "1.36", "CON005",
     ".constraints.0.matchAttribute", "error", "write gpu.nvidia.com/parentUUID"),
    ("{deviceClass: a100-80gb, count: 2, constraints: [{matchAttribute: resource.kubernetes.io/pcieRoot}]}", "1.36",
     "CON006", ".constraints.0.matchAttribute", "warning", "leave the constraint out on AKS"),
    ("{deviceClass: a100-80gb, count: 2, constraints: [{matchAttribute: gpu.nvidia.com/parentUUID}]}", "1.36",
     "CON007", ".constraints.0.matchAttribute", "error", "never allocated"),
    ("{deviceClass: a100-80gb, count: 2, constraints: [{matchAttribute: resource.kubernetes.io/numaNode}]}", "1.36",
     "CON008", ".constraints.0.matchAttribute", "warning", "depends on the node"),
    # tolerations and capacity
    ("{deviceClass: t4, tolerations: [{key: a, operator: Exists, value: b}]}", "1.36", "CON010", ".tolerations.0",
     "error", "takes no value"),
    ("{deviceClass: t4, tolerations: [{value: b}]}", "1.36", "CON010", ".tolerations.0", "error", "operator Exists"),
    ("{deviceClass: t4, tolerations: [{key: a, tolerationSeconds: 3}]}", "1.36", "CON010", ".tolerations.0", "error",
     "effect: NoExecute"),
    ("{deviceClass: t4, capacity: {memory: 10GB}}", "1.36", "CON012", ".capacity.memory", "error", "10Gi"),
    ("{deviceClass: t4, capacity: {memry: 1Gi}}", "1.36", "CON013", ".capacity.memry", "error",
     "did you mean memory?"),
    ("{firstAvailable: [{deviceClass: t4, capacity: {memry: 1Gi}}]}", "1.36", "CON013",
     ".firstAvailable.0.capacity.memry", "warning", "did you mean memory?"),
    ("{deviceClass: t4, capacity: {gpu.nvidia.com/memory: 1Gi}}", "1.36", "CON013", ".capacity.gpu.nvidia.com/memory",
     "error", "so none is taken: write memory"),
    ("{deviceClass: t4, capacity: {memory: 20Gi}}", "1.36", "CON015", ".capacity.memory", "error",
     "no device that request gpu can get has more than 16384Mi of memory, so none is taken: write 16384Mi or less"),
    ("{firstAvailable: [{deviceClass: t4, capacity: {memory: 20Gi}}, {deviceClass: t4}]}", "1.36", "CON015",
     ".firstAvailable.0.capacity.memory", "warning", "write 16384Mi or less"),
    # what all devices of a claim have in common, or differ in
    ("{deviceClass: a100-80gb, count: 2, constraints: [{matchAttribute: gpu.nvidia.com/uuid}]}", "1.36", "CON016",
     ".constraints.0.matchAttribute", "error", "every device has a value of its own"),
    ("{requests: {a: {deviceClass: a100-80gb}, b: {deviceClass: gpu.nvidia.com}}, "
     "constraints: [{matchAttribute: resource.kubernetes.io/pciBusID}]}", "1.36", "CON016",
     ".constraints.0.matchAttribute", "error", "no node has 2 devices for request a, b"),
    ("{deviceClass: mig.nvidia.com, count: 2, constraints: [{matchAttribute: gpu.nvidia.com/uuid}]}", "1.36", "CON016",
     ".constraints.0.matchAttribute", "error", "every device has a value of its own"),
    ("{deviceClass: a100-80gb, count: 2, constraints: [{distinctAttribute: gpu.nvidia.com/productName}]}", "1.36",
     "CON017", ".constraints.0.distinctAttribute", "error", "no more than 1 value of gpu.nvidia.com/productName"),
    # what the attribute is called
    ("{deviceClass: t4, constraints: [{matchAttribute: pcieRoot}]}", "1.36", "CON005", ".constraints.0.matchAttribute",
     "error", "write resource.kubernetes.io/pcieRoot"),
    ("{deviceClass: t4, constraints: [{matchAttribute: gpu.nvidia.com/pciBusID}]}", "1.36", "CON007",
     ".constraints.0.matchAttribute", "error", "write resource.kubernetes.io/pciBusID"),
    ("{deviceClass: t4, constraints: [{matchAttribute: gpu.nvidia.com/memory}]}", "1.36", "CON007",
     ".constraints.0.matchAttribute", "error", "memory is a capacity, and a constraint compares attributes"),
    ("{deviceClass: a100-80gb, count: 2, constraints: [{matchAttribute: gpu.nvidia.com/parentUUID}]}", "1.36",
     "CON007", ".constraints.0.matchAttribute", "error", "only MIG devices have it"),
    # configs
    ("{deviceClass: t4, config: [{requests: [gup], parameters: {NVIDIA, kind: GpuConfig}}]}", "1.36", "CFG002",
     ".config.0.requests.0", "error", "did you mean gpu?"),
    ("{firstAvailable: [{deviceClass: a100-80gb}, {deviceClass: t4}], config: [{requests: [gpu], "
     "parameters: {NVIDIA, kind: GpuConfig}}]}", "1.36", "CFG003", ".config.0.requests.0", "warning",
     "[gpu/a100-80gb, gpu/t4]"),
    ("{deviceClass: t4, config: [{driver: '', parameters: {}}]}", "1.36", "CFG005", ".config.0", "error", "driver"),
    ("{deviceClass: t4, config: [{parameters: {NVIDIA, kind: GpuConfig, sharing: {strategy: mps}}}]}", "1.36", "CFG006",
     ".config.0.parameters.sharing.strategy", "error", "did you mean MPS?"),
    ("{deviceClass: t4, config: [{parameters: {NVIDIA, kind: GpuConfig, sharing: {strategy: time-slicing}}}]}", "1.36",
     "CFG006", ".config.0.parameters.sharing.strategy", "error", "did you mean TimeSlicing?"),
    ("{deviceClass: t4, config: [{parameters: {NVIDIA, kind: GpuConfig, sharing: {strategy: TimeSlicing, "
     "timeSlicingConfig: {}}}}]}", "1.36", "CFG006", ".config.0.parameters.sharing.timeSlicingConfig", "error",
     "add interval"),
    ("{deviceClass: t4, config: [{parameters: {NVIDIA, kind: GpuConfig, sharing: {strategy: TimeSlicing, "
     "timeSlicingConfig: {interval: short}}}}]}", "1.36", "CFG006",
     ".config.0.parameters.sharing.timeSlicingConfig.interval", "error", "did you mean Short?"),
    ("{deviceClass: t4, config: [{parameters: {NVIDIA, kind: GpuConfig, sharing: {strategy: MPS, "
     "timeSlicingConfig: {interval: Short}}}}]}", "1.36", "CFG006",
     ".config.0.parameters.sharing.timeSlicingConfig", "error", "strategy: TimeSlicing"),
    ("{deviceClass: t4, config: [{parameters: {NVIDIA, kind: GpuConfig, sharing: {strategy: MPS, "
     "mpsConfig: {defaultActiveThreadPercentage: 101}}}}]}", "1.36", "CFG006",
     ".config.0.parameters.sharing.mpsConfig.defaultActiveThreadPercentage", "error", "0 to 100"),
    ("{deviceClass: t4, config: [{parameters: {NVIDIA, kind: GpuConfig, sharing: {strategy: MPS, "
     "mpsConfig: {defaultPinnedDeviceMemoryLimit: 100Ki}}}}]}", "1.36", "CFG006",
     ".config.0.parameters.sharing.mpsConfig.defaultPinnedDeviceMemoryLimit", "error", "1Mi"),
    ("{deviceClass: t4, config: [{parameters: {NVIDIA, kind: GpuConfig, sharng: {}}}]}", "1.36", "CFG006",
     ".config.0.parameters.sharng", "error", "did you mean sharing?"),
    ("{deviceClass: h100-nvl-1g.12gb, config: [{parameters: {NVIDIA, kind: MigDeviceConfig, sharing: {strategy: MPS, "
     "timeSlicingConfig: {interval: Short}}}}]}", "1.36", "CFG006",
     ".config.0.parameters.sharing.timeSlicingConfig", "error", "cannot be time-sliced"),
    ("{deviceClass: t4, config: [{parameters: {apiVersion: gpu.nvidia.com/v1, kind: GpuConfig}}]}", "1.36", "CFG006",
     ".config.0.parameters.apiVersion", "error", "resource.nvidia.com/v1beta1"),
    ("{deviceClass: t4, config: [{driver: x.example.com, requests: [gpu], parameters: {}}]}", "1.36", "CFG007",
     ".config.0.requests", "error", "another driver"),
    ("{deviceClass: h100-nvl-1g.12gb, config: [{parameters: {NVIDIA, kind: GpuConfig}}]}", "1.36", "CFG008",
     ".config.0.parameters.kind", "error", "write kind: MigDeviceConfig"),
    ("{firstAvailable: [{deviceClass: h100-nvl-1g.12gb}, {deviceClass: t4}], config: [{parameters: {NVIDIA, "
     "kind: MigDeviceConfig}}]}", "1.36", "CFG008", ".config.0.parameters.kind", "error", "requests: [gpu/t4]"),
    ("{deviceClass: h100-nvl-1g.12gb, sharing: {mode: timeSlicing}}", "1.36", "CFG009", ".sharing", "error",
     "cannot be time-sliced"),
    ("{firstAvailable: [{deviceClass: h100-nvl-1g.12gb}, {deviceClass: t4}], sharing: {mode: timeSlicing}}", "1.36",
     "CFG009", ".sharing", "warning", "gpu/h100-nvl-1g-12gb"),
    ("{deviceClass: t4, config: [{driver: gpu.nvidia.con, parameters: {}}]}", "1.36", "CFG010", ".config.0.driver",
     "warning", "the devices are of driver gpu.nvidia.com, so nobody reads this config: did you mean gpu.nvidia.com?"),
    ("{raw: {devices: {requests: [{name: gpu, exactly: {deviceClassName: t4}}], "
     "config: [{opaque: {driver: x.example.com, parameters: {}}}]}}}", "1.36", "CFG010",
     ".raw.devices.config.0.opaque.driver", "warning", "nobody reads this config"),
    ("{deviceClass: t4, config: [{parameters: {NVIDIA, kind: GpuConfig, sharing: {strategy: MPS, "
     "mpsConfig: {multiUser: 'true'}}}}]}", "1.36", "CFG006", ".config.0.parameters.sharing.mpsConfig.multiUser",
     "error", "write true, without quotes"),
    ("{deviceClass: t4, config: [{parameters: {NVIDIA, kind: GpuConfig, sharing: {strategy: MPS, "
     "mpsConfig: {defaultPerDevicePinnedMemoryLimit: 4Gi}}}}]}", "1.36", "CFG006",
     ".config.0.parameters.sharing.mpsConfig.defaultPerDevicePinnedMemoryLimit", "error", '{"0": 4Gi}'),
    # classes and devices
    ("{deviceClass: compute-domain-daemon.nvidia.com}", "1.36", "CLM007", ".deviceClass", "error",
     "resources.computeDomains.enabled"),
    ("{deviceClass: t4, count: 2}", "1.36", "CLM009", ".count", "error", "no node has more than 1 devices"),
    ("{firstAvailable: [{deviceClass: t4, count: 2}, {deviceClass: t4}]}", "1.36", "CLM009",
     ".firstAvailable.0.count", "warning", "no node has more than 1 devices"),
    ("{requests: {a: {deviceClass: a100-80gb}, b: {deviceClass: t4}}}", "1.36", "CLM013", "", "error", "one node"),
    ("{requests: {a: {deviceClass: a100-80gb, count: 2}, b: {deviceClass: gpu.nvidia.com}}}", "1.36", "CLM013", "",
     "error", "together"),
    ("{deviceClass: t4, cel: [\"device.attributes['gpu.nvidia.com'].architecture == 'Hopper'\"]}", "1.36", "CLM014",
     ".cel", "error", "no device of class t4 meets these conditions; nearest is Tesla T4 16384Mi: "
     "architecture == 'Hopper': it has architecture Turing"),
    # hand-written CEL, after the selectors of its class
    ("{deviceClass: t4, cel: [\"device.attributes['gpu.nvidia.com'].memory == '16Gi'\"]}", "1.36", "CLM017", ".cel.0",
     "error", "memory is a capacity"),
    ("{deviceClass: t4, cel: [\"device.attributes['nvidia.com'].type == 'gpu'\"]}", "1.36", "CLM017", ".cel.0", "error",
     "did you mean gpu.nvidia.com?"),
    ("{deviceClass: gpu.nvidia.com, cel: [\"device.attributes['gpu.nvidia.com'].productname == 'Tesla T4'\"]}", "1.36",
     "CLM017", ".cel.0", "error", "did you mean productName?"),
    ("{firstAvailable: [{deviceClass: gpu.nvidia.com, cel: [\"device.attributes['gpu.nvidia.com'].profile == 'x'\"]}]}",
     "1.36", "CLM017", ".firstAvailable.0.cel.0", "error", "profile is missing"),
    ("{deviceClass: a100-80gb, cel: [\"device.attributes['gpu.nvidia.com'].uuid == 'GPU-1'\"]}", "1.36", "CLM017",
     ".cel.0", "warning", "a replaced node has another"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("claim", "version", "code", "below", "severity", "words"),
    REFUSED,
    ids=[f"{c[2]}-{n}" for n, c in enumerate(REFUSED)],
)
def test_finding(tmp_path: Path, claim: str, version: str, code: str, below: str, severity: str, words: str) -> None:
    said = findings(tmp_path, claim.replace("NVIDIA", NVIDIA), version)
    assert (code, HERE + below) in said, said
    assert said[code, HERE + below].startswith(severity)
    assert words in said[code, HERE + below]


ACCEPTED = [
    ("{deviceClass: a100-80gb, all: true}", "1.34"),
    ("{firstAvailable: [{deviceClass: a100-80gb, all: true}]}", "1.36"),
    ("{firstAvailable: [{deviceClass: a100-80gb}, {deviceClass: t4}]}", "1.34"),
    ("{deviceClass: t4, tolerations: [{key: a, value: b}, {operator: Exists}]}", "1.36"),
    ("{deviceClass: t4, capacity: {memory: 1Gi}}", "1.36"),
    ("{deviceClass: t4, capacity: {memory: 16Gi}}", "1.36"),
    ("{deviceClass: t4, constraints: [{matchAttribute: gpu.nvidia.com/uuid}]}", "1.36"),
    ("{deviceClass: a100-80gb, count: 2, constraints: [{matchAttribute: gpu.nvidia.com/driverVersion}]}", "1.36"),
    ("{deviceClass: a100-80gb, count: 2, constraints: [{matchAttribute: gpu.nvidia.com/productName}]}", "1.36"),
    ("{deviceClass: mig.nvidia.com, all: true, constraints: [{matchAttribute: resource.kubernetes.io/pciBusID}]}",
     "1.36"),
    ("{requests: {a: {deviceClass: a100-80gb}, b: {firstAvailable: [{deviceClass: a100-80gb}]}}, "
     "constraints: [{matchAttribute: gpu.nvidia.com/uuid}]}", "1.36"),
    ("{deviceClass: mig.nvidia.com, count: 2, constraints: [{matchAttribute: gpu.nvidia.com/parentUUID}]}", "1.34"),
    ("{deviceClass: mig.nvidia.com, count: 2, constraints: [{distinctAttribute: gpu.nvidia.com/uuid}]}", "1.36"),
    ("{requests: {a: {deviceClass: a100-80gb}, b: {deviceClass: gpu.nvidia.com}}}", "1.36"),
    ("{requests: {a: {deviceClass: a100-80gb}, b: {firstAvailable: [{deviceClass: t4}, {deviceClass: a100-80gb}]}}}",
     "1.36"),
    # Behind the class's own selectors the profile is always there.
    ("{deviceClass: mig.nvidia.com, cel: [\"device.attributes['gpu.nvidia.com'].profile == '1g.12gb'\"]}", "1.36"),
    ("{deviceClass: t4, config: [{parameters: {NVIDIA, kind: GpuConfig, sharing: {strategy: TimeSlicing, "
     "timeSlicingConfig: {interval: Long}}}}]}", "1.36"),
    ("{deviceClass: h100-nvl-1g.12gb, config: [{parameters: {NVIDIA, kind: MigDeviceConfig, sharing: {strategy: MPS, "
     "mpsConfig: {defaultPinnedDeviceMemoryLimit: 1Mi}}}}]}", "1.36"),
    ("{deviceClass: t4, config: [{parameters: {NVIDIA, kind: GpuConfig, sharing: null}}]}", "1.36"),
    ("{firstAvailable: [{deviceClass: a100-80gb}, {deviceClass: t4}], config: [{requests: [gpu/a100-80gb], "
     "parameters: {NVIDIA, kind: GpuConfig}}]}", "1.36"),
]  # fmt: skip


@pytest.mark.parametrize(("claim", "version"), ACCEPTED)
def test_accepted(tmp_path: Path, claim: str, version: str) -> None:
    assert findings(tmp_path, claim.replace("NVIDIA", NVIDIA), version) == {}


LARGE = """
aks-dra:pools:
  nd: {vmSize: Standard_ND96asr_v4, sharing: {mode: mig, layout: all-1g.5gb}}
  nc: {vmSize: Standard_NC24ads_A100_v4, sharing: {mode: mig, layout: all-1g.10gb}}
"""
DYNAMIC = "aks-dra:pools: {h: {vmSize: Standard_NC80adis_H100_v5, sharing: {mode: dynamicMig}}}"
NEVER_ALL = [
    (LARGE, "{deviceClass: a100-40gb-1g.5gb, all: true}", "error", ".all",
     "a node of pool nd has 56 of them, so the claim is never allocated"),
    (LARGE, "{deviceClass: mig.nvidia.com, all: true}", "warning", ".all",
     "a node of pool nd has 56 of them, and a claim too large ends its pod's scheduling as soon as the scheduler looks "
     "at such a node"),
    (LARGE, "{firstAvailable: [{deviceClass: a100-40gb-1g.5gb, all: true}, {deviceClass: mig.nvidia.com}]}", "warning",
     ".firstAvailable.0.all", "a node of pool nd has 56 of them, so this alternative is never taken"),
    (DYNAMIC, "{deviceClass: h100-nvl-1g.12gb.me, all: true}", "error", ".all",
     "of the 14 that a node of pool h publishes, only 2 can exist at once, so the claim is never allocated"),
]  # fmt: skip


@pytest.mark.parametrize(("pools", "claim", "severity", "below", "said"), NEVER_ALL)
def test_every_device_or_none(tmp_path: Path, pools: str, claim: str, severity: str, below: str, said: str) -> None:
    listed = [f for f in found(tmp_path, f"{pools}\naks-dra:claims: {{ml: {{c: {claim}}}}}") if f.code == "CLM021"]
    rule = "all means every device that matches, at most 32 in a claim: "
    assert [(f.severity, f.path, f.message) for f in listed] == [(severity, HERE + below, rule + said)]


@pytest.mark.parametrize(
    ("pools", "claim"),
    [
        (LARGE, "{deviceClass: a100-80gb-1g.10gb, all: true}"),
        (LARGE, "{firstAvailable: [{deviceClass: mig.nvidia.com, all: true}]}"),
        (DYNAMIC, "{deviceClass: h100-nvl-1g.12gb, all: true}"),
        (DYNAMIC, "{deviceClass: h100-nvl, all: true}"),
    ],
)
def test_every_device_where_a_node_can_give_all(tmp_path: Path, pools: str, claim: str) -> None:
    assert found(tmp_path, f"{pools}\naks-dra:claims: {{ml: {{c: {claim}}}}}") == []


def test_nothing_is_left_beside_every_device(tmp_path: Path) -> None:
    both = "{requests: {a: {deviceClass: a100-80gb, all: true}, b: {deviceClass: a100-80gb}}}"
    assert set(findings(tmp_path, both)) == {("CLM013", HERE)}
    other = "{requests: {a: {deviceClass: t4, all: true}, b: {deviceClass: gpu.nvidia.com, adminAccess: true}}}"
    labelled = "aks-dra:namespaces: {ml: {adminAccess: true}}"
    assert findings(tmp_path, other, more=labelled) == {}


def test_partitions_that_no_gpu_has_room_for_have_no_parent_in_common(tmp_path: Path) -> None:
    claim = "{deviceClass: h100-nvl-3g.47gb, count: %d, constraints: [{matchAttribute: gpu.nvidia.com/parentUUID}]}"
    assert found(tmp_path, f"{DYNAMIC}\naks-dra:claims: {{ml: {{c: {claim % 2}}}}}") == []
    (said,) = found(tmp_path, f"{DYNAMIC}\naks-dra:claims: {{ml: {{c: {claim % 3}}}}}")
    assert (said.code, said.message) == (
        "CON016",
        "no node has 3 devices for request gpu that have the same gpu.nvidia.com/parentUUID: no node has more than 2 "
        "that go together",
    )


SHARED = """
aks-dra:devices:
  nic: {driver: nic.example.com, pools: [t4], allowMultipleAllocations: true, capacity: {bandwidth: 100G}}
aks-dra:deviceClasses: {nic: {driver: nic.example.com}}
"""


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("{deviceClass: nic, count: 5, capacity: {bandwidth: 20G}}", {}),
        ("{deviceClass: nic, count: 5}", {}),
        (
            "{deviceClass: nic, count: 6, capacity: {bandwidth: 20G}}",
            {
                ("CLM009", HERE + ".count"): "error: no node has room for more than 5 devices of class nic, and a "
                "claim is allocated on one node: write 5 or less, or take a larger VM size"
            },
        ),
        (
            "{deviceClass: nic, capacity: {bandwidth: 200G}}",
            {
                ("CON015", HERE + ".capacity.bandwidth"): "error: no device that request gpu can get has more than "
                "100G of bandwidth, so none is taken: write 100G or less, or name a class of larger devices"
            },
        ),
    ],
)
def test_a_device_that_is_shared_is_taken_more_than_once(
    tmp_path: Path, claim: str, said: dict[tuple[str, str], str]
) -> None:
    assert findings(tmp_path, claim, more=SHARED) == said


def test_a_condition_on_pcie_root_only_warns(tmp_path: Path) -> None:
    """That Azure has none is inferred, so nobody is kept from trying."""
    text = "device.attributes['resource.kubernetes.io'].?pcieRoot.orValue('') == 'pci0'"
    for_claim = findings(tmp_path, f'{{deviceClass: t4, cel: ["{text}"]}}')
    assert {key: said.partition(":")[0] for key, said in for_claim.items()} == {("CLM017", HERE + ".cel.0"): "warning"}
    more = f'aks-dra:deviceClasses: {{root: {{cel: ["{text}"]}}}}'
    of_class = findings(tmp_path, "{deviceClass: t4}", more=more)
    assert {key: said.partition(":")[0] for key, said in of_class.items()} == {
        ("CLS004", "aks-dra:deviceClasses.root.cel.0"): "warning"
    }


NEAREST = [
    ('require: {memory: ">=20Gi", type: mig}', "NVIDIA H100 NVL 1g.12gb: memory >= 20Gi: it has memory 11008Mi"),
    ("require: {product: A100-80GB}", "NVIDIA A100 80GB PCIe 81920Mi: productName.lowerAscii().matches("
     "r'\\ba100-80gb\\b'): it has productName NVIDIA A100 80GB PCIe"),
    ("cel: [\"device.attributes['gpu.nvidia.com'].productName.contains('t4')\"]",
     "Tesla T4 16384Mi: productName.contains('t4'): it has productName Tesla T4"),
    ("require: {profile: 1g.10gb, product: A100}", "NVIDIA A100 80GB PCIe 81920Mi: it has no profile"),
    ("cel: ['false']", ""),
]  # fmt: skip


@pytest.mark.parametrize(("conditions", "nearest"), NEAREST)
def test_a_class_that_matches_nothing_names_the_nearest_device(tmp_path: Path, conditions: str, nearest: str) -> None:
    (said,) = found(tmp_path, f"{POOLS}\naks-dra:deviceClasses: {{x: {{{conditions}}}}}")
    rule = "this class matches no device of any DRA pool, so its pods would stay Pending for ever"
    assert (said.code, said.message) == ("CLS005", rule + (f"; nearest is {nearest}" if nearest else ""))


def test_the_limit_of_devices_is_32(tmp_path: Path) -> None:
    """No VM here has so many GPUs, so another finding comes instead."""
    [(code, path)] = findings(tmp_path, "{deviceClass: t4, count: 32}")
    assert (code, path) == ("CLM009", HERE + ".count")


CHART_OFF = "aks-dra:gpu: {charts: {draDriver: {values: {resources: {gpus: {enabled: false}}}}}}"


def test_the_charts_class_is_missing_where_its_values_leave_it_out(tmp_path: Path) -> None:
    said = findings(tmp_path, "{deviceClass: gpu.nvidia.com}", more=CHART_OFF)
    assert "resources.gpus.enabled" in said["CLM007", HERE + ".deviceClass"]
    assert ("CLM007", HERE + ".deviceClass") not in findings(tmp_path, "{deviceClass: gpu.nvidia.com}")


def test_without_a_dra_pool_there_is_no_chart_and_no_class(tmp_path: Path) -> None:
    body = "aks-dra:claims: {ml: {a: {deviceClass: gpu.nvidia.com}, b: {deviceClass: t4}}}"
    assert [(f.code, f.path, f.remedy) for f in found(tmp_path, body)] == [
        ("CLM007", "aks-dra:claims.ml.a.deviceClass",
         "NVIDIA's DRA chart makes gpu.nvidia.com: add a pool with allocation: dra"),
        ("CLM007", "aks-dra:claims.ml.b.deviceClass",
         "add a pool whose devices it is for, or a class to deviceClasses"),
    ]  # fmt: skip


LABELS = [
    ("{resource.k8s.io/admin-access: 'true'}", "CLM015", "resource.k8s.io/admin-access"),
    ("{resource.kubernetes.io/admin-access: 'True'}", "CLM016", "resource.kubernetes.io/admin-access"),
    ("{resource.kubernetes.io/admin-access: yes please}", "CLM016", "resource.kubernetes.io/admin-access"),
]


@pytest.mark.parametrize(("labels", "code", "key"), LABELS)
def test_labels_that_do_not_give_admin_access(tmp_path: Path, labels: str, code: str, key: str) -> None:
    more = f"aks-dra:namespaces: {{ml: {{labels: {labels}}}}}"
    said = findings(tmp_path, "{deviceClass: t4, adminAccess: true}", more=more)
    assert set(said) == {(code, f"aks-dra:namespaces.ml.labels.{key}"), ("CLM004", HERE + ".adminAccess")}


def test_admin_access_of_a_raw_claim_needs_the_label_too(tmp_path: Path) -> None:
    raw = "{raw: {devices: {requests: [{name: gpu, exactly: {deviceClassName: t4, adminAccess: true}}]}}}"
    assert set(findings(tmp_path, raw)) == {("CLM004", HERE + ".raw.devices.requests.0.exactly.adminAccess")}
    right = "aks-dra:namespaces: {ml: {labels: {resource.kubernetes.io/admin-access: 'true'}}}"
    assert findings(tmp_path, raw, more=right) == {}


def test_every_finding_names_a_line_of_the_file(tmp_path: Path) -> None:
    claim = "    c:\n      requests:\n        a:\n          deviceClass: t4\n          count: 2\n"
    body = f"{POOLS}aks-dra:claims:\n  ml:\n{claim}"
    [finding] = found(tmp_path, body)
    lines = (tmp_path / "stacks" / "Pulumi.test.yaml").read_text().splitlines()
    assert lines[finding.line - 1].strip() == "count: 2"
    assert HEAD.splitlines()[0] == lines[0]
