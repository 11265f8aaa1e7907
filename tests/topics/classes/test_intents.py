"""Intents become selectors that say the same and never raise; the package's classes match their own kind only."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aks_dra.cel import Program, RuntimeProblem, Undecided, compile_expression
from aks_dra.cel.kinds import kind_selector
from aks_dra.facts import load_facts
from aks_dra.kube.devices import GPU_DRIVER, MAYBE, UNKNOWN, Device, Version
from aks_dra.topics.classes.intents import KEYS, near_miss, problems, selectors
from aks_dra.topics.devices.nvidia import gpu_device, mig_device
from tests.oracle import table
from tests.topics.devices.kinds import known_device, whole_table

FACTS = load_facts()
KINDS = whole_table(FACTS)
# Devices of other drivers, passthrough devices, and NVIDIA's with nothing at all.
STRANGERS = (*table.devices().values(), Device("bare", GPU_DRIVER), Device("other", "x.example.com", {"type": "gpu"}))


def program(text: str) -> Program:
    compiled = compile_expression(text)
    assert isinstance(compiled, Program), (text, compiled)
    return compiled


def matches(require: dict[str, Any], device: Device) -> bool:
    answers = [program(text).evaluate(device) for text in selectors(require)]
    assert all(isinstance(answer, bool | Undecided) for answer in answers)
    return False not in answers


def matched(require: dict[str, Any]) -> set[str]:
    return {kind.class_name for kind in KINDS if matches(require, kind.device)}


def test_what_is_written() -> None:
    assert selectors({"memory": ">=20Gi"}) == (
        "device.driver == 'gpu.nvidia.com' && 'memory' in device.capacity['gpu.nvidia.com'] && "
        "device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('20Gi')) >= 0",
    )
    assert selectors({"driverVersion": ">=580.159.04"})[0].endswith(".compareTo(semver('580.159.4')) >= 0")
    assert selectors({"product": "A100*"})[0].endswith(r".productName.lowerAscii().matches(r'\ba100')")
    assert selectors({}) == ()


def test_the_order_of_keys_means_nothing() -> None:
    assert selectors({"type": "gpu", "memory": ">1Gi"}) == selectors({"memory": ">1Gi", "type": "gpu"})


@pytest.mark.parametrize(
    ("require", "classes"),
    [
        ({"product": "A10"}, {"a10", "a10-vgpu-4gb", "a10-vgpu-8gb", "a10-vgpu-12gb"}),
        ({"product": "A10", "memory": ">20Gi"}, {"a10"}),
        ({"product": "a10*", "type": "gpu"},
         {"a10", "a10-vgpu-4gb", "a10-vgpu-8gb", "a10-vgpu-12gb", "a100-40gb", "a100-80gb"}),
        ({"product": "A100*80GB", "type": "gpu"}, {"a100-80gb"}),
        ({"product": ["T4", "*NVL"], "type": "gpu"}, {"t4", "h100-nvl"}),
        ({"architecture": "turing"}, {"t4"}),
        ({"architecture": ["Turing", "Ampere"], "memory": "<=16Gi", "type": "gpu"},
         {"t4", "a10-vgpu-4gb", "a10-vgpu-8gb", "a10-vgpu-12gb"}),
        ({"profile": "1g.10gb", "computeCapability": "=9.0"}, {"h100-80gb-1g.10gb"}),
        ({"profile": ["1g.6gb", "2g.12gb"]}, {"a30-1g.6gb", "a30-2g.12gb"}),
        ({"computeCapability": ">=7.0 <8.0"}, {"t4"}),
        ({"computeCapability": ">7.5,<8.6", "type": "gpu"}, {"a30", "a100-40gb", "a100-80gb"}),
        ({"memory": ">=80Gi <90Gi", "type": "gpu"}, {"a100-80gb"}),
        ({"memory": "=16Gi", "type": "gpu"}, {"t4"}),
    ],
)  # fmt: skip
def test_what_intents_match(require: dict[str, Any], classes: set[str]) -> None:
    assert matched(require) == classes


def test_the_drivers_version_is_known_only_on_the_node() -> None:
    [text] = selectors({"driverVersion": ">=570"})
    assert program(text).evaluate(gpu_device(FACTS.gpus["t4"], 0)) == Undecided(("gpu.nvidia.com/driverVersion",))


COMPARISON = st.sampled_from([">=", ">", "<=", "<", "="])
INTENTS = st.fixed_dictionaries(
    {},
    optional={
        "memory": st.builds("{}{}".format, COMPARISON, st.sampled_from(["20Gi", "80Gi", "1500m", "1e9", "16384Mi"])),
        "computeCapability": st.builds("{}{}".format, COMPARISON, st.sampled_from(["8", "8.0", "9.0.0", "12.0"])),
        "driverVersion": st.builds("{}{}".format, COMPARISON, st.sampled_from(["570", "580.159.04"])),
        "product": st.text("AaT14 0*?+.(-)", min_size=1, max_size=8).filter(lambda glob: glob.strip(" *") != ""),
        "architecture": st.sampled_from(["Ampere", "hopper", ["Turing", "Blackwell"]]),
        "profile": st.sampled_from(["1g.10gb", "1g.10gb+me", ["1g.5gb", "7g.80gb"]]),
        "type": st.just("mig"),
    },
)


@given(INTENTS)
def test_no_intent_raises_on_any_device_of_any_driver(require: dict[str, Any]) -> None:
    assert problems(require) == ()
    texts = selectors(require)
    assert len(texts) == len(require)
    for text in texts:
        compiled = program(text)
        for device in (*STRANGERS, *(kind.device for kind in KINDS[::7])):
            assert not isinstance(compiled.evaluate(device), RuntimeProblem), text


@pytest.mark.parametrize(
    ("require", "key", "remedy"),
    [
        ({"memory": "20Gi"}, "memory", '">=20Gi"'),
        ({"memory": 20}, "memory", 'write ">=20Gi"'),
        ({"memory": ">=20GB"}, "memory", 'write e.g. ">=20Gi"'),
        ({"memory": ">=20 GiB"}, "memory", "write e.g."),
        ({"memory": ""}, "memory", "write e.g."),
        ({"memory": ">= or so"}, "memory", "write e.g."),
        ({"memory": ">=20Gi')) >= 0 || true || quantity(('1"}, "memory", "write e.g."),
        ({"computeCapability": 8.0}, "computeCapability", 'write ">=8.0"'),
        ({"computeCapability": ">=8.x"}, "computeCapability", '">=8.0"'),
        ({"driverVersion": ">=latest"}, "driverVersion", '">=570"'),
        ({"product": "*"}, "product", "leave the key out"),
        ({"product": []}, "product", '"A100*"'),
        ({"product": "A100' || true || '"}, "product", '"A100*"'),
        ({"architecture": "Am*"}, "architecture", '"Ampere"'),
        ({"profile": "1g10"}, "profile", '"1g.10gb"'),
        ({"profile": "all-1g.10gb"}, "profile", '"1g.10gb"'),
        ({"type": "vgpu"}, "type", "write gpu for whole GPUs"),
        ({"type": "gpu", "profile": "1g.10gb"}, "profile", "write type: mig"),
        ({"memori": ">=20Gi"}, "memori", "did you mean memory?"),
        ({"productName": "A100"}, "productName", "did you mean product?"),
        ({"cudaComputeCapability": ">=8.0"}, "cudaComputeCapability", "did you mean computeCapability?"),
        ({"colour": "green"}, "colour", "say it in CEL"),
    ],
)
def test_bad_intents_are_said_with_what_to_write(require: dict[str, Any], key: str, remedy: str) -> None:
    [problem] = problems(require)
    assert problem.key == key
    assert problem.value == str(require[key])
    assert remedy in problem.remedy


def test_all_problems_at_once() -> None:
    assert [p.key for p in problems({"memory": "x", "type": "y", "nope": 1})] == ["memory", "type", "nope"]
    assert set(KEYS) == {"type", "memory", "computeCapability", "driverVersion", "product", "architecture", "profile"}


def test_nominal_memory_that_passes_a_device_by_is_named() -> None:
    h100, a100 = gpu_device(FACTS.gpus["h100-80gb-sxm"], 0), gpu_device(FACTS.gpus["a100-80gb-pcie"], 0)
    [missed] = near_miss({"memory": ">=80Gi", "type": "gpu"}, [h100, h100, a100])
    assert (missed.device, missed.asked, missed.reported) == (h100, "80Gi", "81559Mi")
    assert near_miss({"memory": ">=79Gi"}, [h100]) == ()
    assert near_miss({"memory": ">=120Gi"}, [h100]) == ()
    assert near_miss({"memory": "<80Gi"}, [h100]) == ()
    assert near_miss({"memory": ">=80Gi", "architecture": "Ampere"}, [h100]) == ()
    assert near_miss({"memory": "80"}, [h100]) == ()


def test_every_default_class_matches_exactly_its_own_kind() -> None:
    written: dict[str, set[str]] = {}
    for kind in KINDS:
        written.setdefault(kind.class_name, set()).add(kind_selector(kind.gpu, kind.profile, FACTS))
    for name, texts in written.items():
        [text] = texts  # kinds that share a class share its selector
        compiled = program(text)
        assert {kind.class_name for kind in KINDS if compiled.evaluate(kind.device) is not False} == {name}
        for device in STRANGERS:
            assert isinstance(compiled.evaluate(device), bool)


def test_the_products_name_is_asked_only_where_it_tells_two_kinds_apart() -> None:
    naming = {kind.class_name for kind in KINDS if "productName" in kind_selector(kind.gpu, kind.profile, FACTS)}
    assert "t4" not in naming
    assert {"a10", "rtx-a5000"} <= naming
    assert len(naming) < 10, naming


def test_memory_that_was_seen_elsewhere_is_still_the_same_class() -> None:
    t4 = FACTS.gpus["t4"]
    compiled = program(kind_selector(t4, None, FACTS))
    device = known_device(gpu_device(t4, 0))
    for memory, matching in (("15Gi", True), ("16Gi", True), ("14Gi", False), ("24Gi", False)):
        seen = Device("gpu-0", device.driver, device.attributes, {"memory": memory})
        assert compiled.evaluate(seen) is matching


def test_whole_gpus_are_published_as_the_driver_does() -> None:
    device = gpu_device(FACTS.gpus["t4"], 2)
    assert (device.name, device.driver, dict(device.capacity)) == ("gpu-2", "gpu.nvidia.com", {"memory": "16384Mi"})
    assert device.attributes == {
        "type": "gpu", "uuid": UNKNOWN, "productName": "Tesla T4", "brand": "Nvidia", "architecture": "Turing",
        "cudaComputeCapability": Version("7.5.0"), "driverVersion": UNKNOWN, "cudaDriverVersion": UNKNOWN,
        "resource.kubernetes.io/pciBusID": UNKNOWN, "resource.kubernetes.io/numaNode": MAYBE, "addressingMode": MAYBE,
    }  # fmt: skip


def test_mig_devices_are_published_as_the_driver_does() -> None:
    a100 = FACTS.gpus["a100-80gb-pcie"]
    family = FACTS.families[a100.mig]
    device = mig_device(a100, family, family.profiles["1g.10gb"], 0, 2)
    assert device.name == "gpu-0-mig-1g10gb-19-2"
    assert device.attributes["profile"] == "1g.10gb"
    assert device.attributes["parentUUID"] is UNKNOWN
    assert (device.capacity["memory"], device.capacity["multiprocessors"]) == ("9728Mi", "14")
    assert device.capacity["memorySlice2"] == "1"
    extra = mig_device(a100, family, family.profiles["1g.10gb+me"], 1, 0)
    assert extra.name.startswith("gpu-1-mig-1g10gb-me-")
    assert extra.attributes["profile"] == "1g.10gb+me"
    three = mig_device(a100, family, family.profiles["3g.40gb"], 0, 4)
    assert [name for name in three.capacity if name.startswith("memorySlice")] == [
        f"memorySlice{i}" for i in range(4, 8)
    ]
    possible = mig_device(a100, family, family.profiles["1g.10gb"], 0, 2, created=False)
    assert "uuid" not in possible.attributes
    assert "memorySlice2" not in possible.capacity


@pytest.mark.parametrize(
    ("require", "remedy"),
    [
        ({"memory": "40Gi"}, 'write ">=40Gi"'),
        ({"memory": "40GB"}, 'write ">=40Gi"'),
        ({"memory": 40}, 'write ">=40Gi"'),
        ({"memory": ">=40gib"}, 'write e.g. ">=40Gi"'),
        ({"memory": ">=40G"}, ""),
        ({"computeCapability": 8.9}, 'write ">=8.9"'),
        ({"computeCapability": "9.0"}, 'write ">=9.0"'),
        ({"driverVersion": 570}, 'write ">=570"'),
        ({"memory": None}, 'write it as text, e.g. ">=20Gi"'),
        ({"memory": True}, 'write it as text, e.g. ">=20Gi"'),
        ({"architecture": "Hopper*"}, 'write e.g. "Hopper"'),
    ],
)
def test_the_remedy_says_what_was_meant(require: dict[str, Any], remedy: str) -> None:
    assert [problem.remedy for problem in problems(require)] == ([remedy] if remedy else [])
