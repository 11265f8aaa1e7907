"""What claims find among the devices of the pools: all of them, shared ones, the nearest, the limit."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.stacks import check
from tests.topics.claims.one_claim import DYNAMIC, HERE, LARGE, POOLS, findings

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
    listed = [f for f in check(tmp_path, f"{pools}\naks-dra:claims: {{ml: {{c: {claim}}}}}") if f.code == "CLM021"]
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
    assert check(tmp_path, f"{pools}\naks-dra:claims: {{ml: {{c: {claim}}}}}") == []


def test_nothing_is_left_beside_every_device(tmp_path: Path) -> None:
    both = "{requests: {a: {deviceClass: a100-80gb, all: true}, b: {deviceClass: a100-80gb}}}"
    assert set(findings(tmp_path, both)) == {("CLM013", HERE)}
    other = "{requests: {a: {deviceClass: t4, all: true}, b: {deviceClass: gpu.nvidia.com, adminAccess: true}}}"
    labelled = "aks-dra:namespaces: {ml: {adminAccess: true}}"
    assert findings(tmp_path, other, more=labelled) == {}


def test_partitions_that_no_gpu_has_room_for_have_no_parent_in_common(tmp_path: Path) -> None:
    claim = "{deviceClass: h100-nvl-3g.47gb, count: %d, constraints: [{matchAttribute: gpu.nvidia.com/parentUUID}]}"
    assert check(tmp_path, f"{DYNAMIC}\naks-dra:claims: {{ml: {{c: {claim % 2}}}}}") == []
    (said,) = check(tmp_path, f"{DYNAMIC}\naks-dra:claims: {{ml: {{c: {claim % 3}}}}}")
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
    (said,) = check(tmp_path, f"{POOLS}\naks-dra:deviceClasses: {{x: {{{conditions}}}}}")
    rule = "this class matches no device of any DRA pool, so its pods would stay Pending for ever"
    assert (said.code, said.message) == ("CLS005", rule + (f"; nearest is {nearest}" if nearest else ""))


def test_the_limit_of_devices_is_32(tmp_path: Path) -> None:
    """No VM here has so many GPUs, so another finding comes instead."""
    [(code, path)] = findings(tmp_path, "{deviceClass: t4, count: 32}")
    assert (code, path) == ("CLM009", HERE + ".count")
