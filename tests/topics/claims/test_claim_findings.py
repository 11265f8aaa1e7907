"""What is refused in claims and what is not: both sides of each boundary."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.stacks import check
from tests.topics.claims.one_claim import HERE, POOLS, findings

NVIDIA = "apiVersion: resource.nvidia.com/v1beta1"


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


CHART_OFF = "aks-dra:gpu: {charts: {draDriver: {values: {resources: {gpus: {enabled: false}}}}}}"


def test_the_charts_class_is_missing_where_its_values_leave_it_out(tmp_path: Path) -> None:
    said = findings(tmp_path, "{deviceClass: gpu.nvidia.com}", more=CHART_OFF)
    assert "resources.gpus.enabled" in said["CLM007", HERE + ".deviceClass"]
    assert ("CLM007", HERE + ".deviceClass") not in findings(tmp_path, "{deviceClass: gpu.nvidia.com}")


def test_without_a_dra_pool_there_is_no_chart_and_no_class(tmp_path: Path) -> None:
    body = "aks-dra:claims: {ml: {a: {deviceClass: gpu.nvidia.com}, b: {deviceClass: t4}}}"
    assert [(f.code, f.path, f.remedy) for f in check(tmp_path, body)] == [
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
    [finding] = check(tmp_path, body)
    lines = (tmp_path / "stacks" / "Pulumi.test.yaml").read_text().splitlines()
    assert lines[finding.line - 1].strip() == "count: 2"
    assert lines[0] == "config:"
