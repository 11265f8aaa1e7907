"""Hand-written selectors: each mistake, what is said of it, and what to write instead."""

from __future__ import annotations

import pytest

from aks_dra.cel import SelectorProblem, lint
from aks_dra.facts import load_facts
from aks_dra.kube.devices import Device
from aks_dra.topics.devices.nvidia import gpu_device, mig_device

A = "device.attributes['gpu.nvidia.com']"
C = "device.capacity['gpu.nvidia.com']"
FACTS = load_facts()
A100 = FACTS.gpus["a100-80gb-pcie"]
FAMILY = FACTS.families[A100.mig]
WHOLE = (gpu_device(FACTS.gpus["t4"], 0), gpu_device(A100, 0))
MIG = tuple(mig_device(A100, FAMILY, FAMILY.profiles["1g.10gb"], 0, start) for start in range(7))
FPGA = Device("f", "fpga.example.com", {"family": "agilex"}, {"luts": "900k"})


def problems(text: str, *devices: Device, before: tuple[str, ...] | None = None) -> dict[str, SelectorProblem]:
    text = text.replace("$A", A).replace("$C", C)
    given = devices or (*WHOLE, *MIG)
    found = lint(text, given) if before is None else lint(text, given, before=before)
    return {problem.kind: problem for problem in found}


@pytest.mark.parametrize(
    ("text", "kind", "severity", "remedy"),
    [
        ("$A.memory == '16Gi'", "is_capacity", "error", "device.capacity['gpu.nvidia.com'].memory.compareTo(quantity"),
        ("'type' in $C", "is_attribute", "error", "device.attributes['gpu.nvidia.com'].type"),
        ("device.attributes['nvidia.com'].type == 'gpu'", "unknown_domain", "error", "did you mean gpu.nvidia.com?"),
        ("device.attributes['gpu.nvidia.io'].type == 'gpu'", "unknown_domain", "error", "did you mean gpu.nvidia.com?"),
        ("$A.productname == 'Tesla T4'", "unknown_attribute", "error", "did you mean productName?"),
        ("$A.migProfile == 'x'", "unknown_attribute", "error", "did you mean profile?"),
        ("cel.bind(a, $A, a.architectur == 'x')", "unknown_attribute", "error", "did you mean architecture?"),
        ("$A.pciBusID == 'x'", "unknown_attribute", "error", "device.attributes['resource.kubernetes.io'].pciBusID"),
        ("$A.index == 0", "unknown_attribute", "error", "gpu.nvidia.com has: addressingMode"),
        ("$A.profile == '1g.10gb'", "unguarded", "error", "type == 'mig' &&"),
        ("$A.addressingMode == 'HMM'", "unguarded", "error", "'addressingMode' in device.attributes['gpu.nvidia.com']"),
        ("device.attributes['resource.kubernetes.io'].pcieRoot == 'x'", "unguarded", "error",
         "'pcieRoot' in device.attributes['resource.kubernetes.io']"),
        ("device.attributes['resource.kubernetes.io'].?pcieRoot.orValue('') == 'x'", "pcie_root", "warning", ""),
        ("$C.memory >= quantity('20Gi')", "no_quantity", "error", ".compareTo(quantity('20Gi')) >= 0"),
        ("$C.memory > 20", "no_quantity", "error", "write $C.memory.compareTo(quantity('20Gi')) > 0"),
        ("$C.memory == '20Gi'", "no_quantity", "error", "write $C.memory.compareTo(quantity('20Gi')) == 0"),
        ("$C.multiprocessors >= 80", "no_quantity", "error", "$C.multiprocessors.compareTo(quantity('80')) >= 0"),
        ("quantity('24Gi') <= $C.memory", "no_quantity", "error", "write .compareTo(quantity('24Gi')) >= 0"),
        ("cel.bind(m, $C.memory, m < quantity('2Gi'))", "no_quantity", "error", "write .compareTo(quantity('2Gi')) < 0"),
        ("$A.memory >= quantity('40Gi')", "no_quantity", "error", "write $C.memory.compareTo(quantity('40Gi')) >= 0"),
        ("$A.memory >= 40", "is_capacity", "error", "write $C.memory.compareTo(quantity('40Gi')) >= 0"),
        ("$A.memory.isGreaterThan(quantity('40Gi'))", "is_capacity", "error", "$C.memory.compareTo(quantity('40Gi')) > 0"),
        ("$A.memory == '40Gi'", "is_capacity", "error", "write $C.memory.compareTo(quantity('40Gi')) == 0"),
        ("$C.memory.compareTo('20Gi') >= 0", "no_quantity", "error", ".compareTo(quantity('20Gi')) >= 0"),
        ("$A.driverVersion == '580.159.04'", "version_as_string", "error", "compareTo(semver('580.159.4')) == 0"),
        ("$A.cudaComputeCapability in ['8.0', '9.0']", "version_as_string", "error", "semver('8.0.0')"),
        ("$A.productName", "non_boolean", "error", "compare"),
        ("device.driver", "non_boolean", "error", "compare"),
        ("$A.productName > 3", "raises", "error", "test the type"),
        ("device.pool == 'gpu'", "unknown_field", "error", "nodeSelector"),
        ("$A.type == 'gpu' &&", "refused", "error", "Kubernetes would refuse"),
        ("$A.type == 'vfio'", "matches_nothing", "warning", "add a pool"),
        ("$A.brand == 'Nvidia'", "matches_everything", "warning", "say what"),
        ("$C.memory.isLessThan(quantity('20Gi'))", "mixes_types", "warning", "type == 'gpu', or 'mig'"),
        ("$A.uuid == 'GPU-4404041a'", "uuid_pinned", "warning", "pin a pod to a pool"),
        ("$A.parentUUID in ['GPU-1'] || true", "uuid_pinned", "warning", "pin a pod to a pool"),
        ("$A.driverVersion.major() >= 570", "undecided", "warning", "kubectl get resourceslices"),
    ],
)  # fmt: skip
def test_each_mistake_has_its_remedy(text: str, kind: str, severity: str, remedy: str) -> None:
    found = problems(text)
    assert kind in found, found
    assert found[kind].severity == severity
    assert remedy.replace("$C", C) in found[kind].remedy


@pytest.mark.parametrize(
    "text",
    [
        "$A.type == 'mig' && $A.profile == '1g.10gb'",
        "device.driver == 'gpu.nvidia.com' && $A.type == 'mig' && $A.profile == '1g.10gb'",
        "has($A.profile) && $A.profile.startsWith('1g')",
        "$A.?profile.orValue('') == '1g.10gb'",
        "$A.type == 'gpu' && $A.productName.lowerAscii().matches('^.*a100.*$')",
        "$A.type == 'gpu' && $C.memory.isGreaterThan(quantity('40Gi'))",
        "$A.type == 'gpu' && $A.cudaComputeCapability.compareTo(semver('8.0.0')) >= 0",
        "cel.bind(a, $A, a.type == 'gpu' && a.architecture == 'Turing')",
        "device.attributes[device.driver].type == 'gpu'",
    ],
)
def test_sound_selectors_are_left_alone(text: str) -> None:
    assert problems(text) == {}


def test_an_unguarded_profile_is_said_even_where_only_mig_devices_are_planned() -> None:
    found = problems("$A.profile == '1g.10gb'", *MIG)
    assert found["unguarded"].severity == "warning"


def test_without_the_class_before_it_a_selector_must_test_the_driver() -> None:
    """The chart's compute-domain devices are there too, and have no attributes of GPUs."""
    text = "$A.type == 'gpu'"
    assert "unguarded" not in problems(text)
    assert "begin with device.driver ==" in problems(text, before=())["unguarded"].remedy
    assert "unguarded" not in problems(f"device.driver == 'gpu.nvidia.com' && {text}", before=())


def test_devices_that_the_user_describes_are_known_by_their_own_names() -> None:
    text = "device.attributes['fpga.example.com'].{} == 'agilex'"
    driver = ("device.driver == 'fpga.example.com'",)
    assert "unknown_attribute" not in problems(text.format("family"), *WHOLE, FPGA, before=driver)
    found = problems(text.format("familly"), *WHOLE, FPGA, before=driver)
    assert found["unknown_attribute"].remedy == "did you mean family?"
    assert "unknown_domain" not in problems(f"device.driver == 'fpga.example.com' && {text.format('family')}")


def test_a_refusal_shows_the_place() -> None:
    found = problems("$A.type = 'gpu'")["refused"]
    assert "line 1, column" in found.text
    assert found.text.endswith("^")


@pytest.mark.parametrize(
    ("text", "kind", "remedy"),
    [
        ("$C.multiprocessors.compareTo(quantity('14')) >= 0", "unguarded",
         "test first that it is there: 'multiprocessors' in device.capacity['gpu.nvidia.com'] &&"),
        ("$A.addressingMode == 'HMM'", "unguarded",
         "test first that it is there: 'addressingMode' in device.attributes['gpu.nvidia.com'] &&"),
        ("device.attributes[device.driver].addressingMode == 'HMM'", "unguarded",
         "test first that it is there: 'addressingMode' in device.attributes[device.driver] &&"),
        ("$A.cudaComputeCapability >= '8.0'", "version_as_string",
         "write .cudaComputeCapability.compareTo(semver('8.0.0')) >= 0"),
        ("'8.0' < $A.cudaComputeCapability", "version_as_string",
         "write .cudaComputeCapability.compareTo(semver('8.0.0')) > 0"),
        ("$A.cudaComputeCapability.isGreaterThan(semver('8.0'))", "raises",
         "a version has three numbers: write semver('8.0.0')"),
        ("$A.driverVersion.isGreaterThan(semver('R570'))", "raises",
         "R570 is no version: write one of three numbers, e.g. semver('8.0.0')"),
        ("$C.memory.isGreaterThan(quantity('20 GB'))", "raises", "20 GB is no quantity: write quantity('20Gi')"),
        ("semver($A.cudaComputeCapability).isGreaterThan(semver('8.0.0'))", "raises",
         "the driver publishes a version or a quantity: leave semver() or quantity() around the attribute out"),
        ("20 < $C.memory", "no_quantity", "write .compareTo(quantity('20Gi')) > 0"),
        ("'>' != ' memory > 5' && $C['memory'] > 20", "no_quantity",
         "write device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('20Gi')) > 0"),
        ("'memory' in $A && 40 <= $A.memory", "is_capacity",
         "write device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('40Gi')) >= 0"),
        ("$A.type = 'gpu'", "refused", "an equality is written ==; Kubernetes would refuse the object"),
        ("$A.type == 'gpu' and $A.brand == 'Nvidia'", "refused",
         "'and' is written &&; Kubernetes would refuse the object"),
        ("$A.type == \u2018gpu\u2019", "refused",
         "write plain quotes (') instead of typographic ones; Kubernetes would refuse the object"),
        (" ", "refused", "write a condition, e.g. device.attributes['gpu.nvidia.com'].type == 'gpu'"),
    ],
)  # fmt: skip
def test_the_remedy_is_the_text_to_write(text: str, kind: str, remedy: str) -> None:
    assert problems(text)[kind].remedy == remedy


def test_the_operator_is_the_one_that_was_written() -> None:
    assert problems("$A.cudaComputeCapability >= '8.0'")["version_as_string"].text == (
        "cudaComputeCapability is a version: >= '8.0' compares it with a text, which raises and aborts scheduling on "
        "every node"
    )


def test_a_device_of_another_driver_that_lacks_its_own_attribute_is_not_told_to_be_nvidias() -> None:
    other = Device("g", "fpga.example.com", {}, {})
    text, driver = "device.attributes['fpga.example.com'].family == 'agilex'", "device.driver == 'fpga.example.com'"
    assert problems(text, FPGA, other, before=(driver,))["unguarded"].remedy == (
        "test first that it is there: 'family' in device.attributes['fpga.example.com'] &&"
    )


def test_the_version_is_heeded() -> None:
    [found] = lint("device.allowMultipleAllocations", WHOLE, (1, 35))
    assert found.kind == "unknown_field"
    assert "1.35" in found.remedy
