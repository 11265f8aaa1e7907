"""Single values that break programs: numbers of thousands of digits, half characters, objects, endless lists."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aks_dra.settings.parse import settings_from_values
from tests.plan.test_bulk_input import from_file_twice, from_values_twice

T4 = "Standard_NC4as_T4_v3"
BIG, DIGITS = 10**5000, "1" * 5000
LOOP: list[Any] = []
LOOP += [LOOP, LOOP]


def tree(path: str, value: Any) -> dict[str, Any]:
    """Settings with one pool, and a value at a dotted path."""
    whole: dict[str, Any] = {"cluster": {"access": {"azureRbac": True}}, "pools": {"t4": {"vmSize": T4}}}
    here = whole
    *parents, last = path.split("/")
    for key in parents:
        here = here.setdefault(key, {})
    here[last] = value
    return whole


def classes(**entry: Any) -> dict[str, Any]:
    return tree("deviceClasses/a", entry)


def layout(*groups: dict[str, Any]) -> dict[str, Any]:
    return tree("pools/a", {"vmSize": "Standard_NC24ads_A100_v4", "sharing": {"mode": "mig", "layout": list(groups)}})


NUMBERS = [
    "pools/t4/nodes/count", "pools/t4/nodes/min", "pools/t4/maxPods", "pools/t4/maxSurge", "pools/t4/osDiskSizeGb",
    "pools/t4/sharing/replicas", "pools/t4/sharing/activeThreadPercentage", "namespaces/ml/quota/t4",
    "claims/ml/one/count", "gpu/charts/operator/timeoutSeconds", "gpu/charts/operator/values/driver/version",
    "cluster/azureInputs/x", "testPool/smokeTest/timeoutSeconds", "deviceClasses/a/require/memory", "tags/a",
]  # fmt: skip
TEXTS = [
    "cluster/kubernetesVersion", "pools/t4/kubernetesVersion", "pools/t4/maxSurge", "gpu/driverVersion",
    "pools/t4/vmSize", "pools/t4/sharing/pinnedMemoryLimit", "gpu/charts/draDriver/version",
    "cluster/network/podCidr", "tags/a", "facts", "pools/t4/labels/team", "deviceClasses/a/require/memory",
    "deviceClasses/a/require/computeCapability", "claims/ml/one", "gpu/charts/source", "cluster/existing",
    "testPool/namespace", "gpu/images/registry",
]  # fmt: skip


@pytest.mark.parametrize("path", NUMBERS)
@pytest.mark.parametrize(
    "number",
    [BIG, -BIG, 2**63, 10**18, 1e308, 1e-308, float("nan"), float("-inf")],
    ids=["big", "minus big", "65 bits", "60 bits", "large", "small", "nan", "minus infinity"],
)
def test_numbers(path: str, number: Any) -> None:
    from_values_twice(tree(path, number), "2026-11-30")


WORDS = {
    "digits": DIGITS, "minor": f"1.{DIGITS}", "patch": f"v1.{DIGITS}.0", "quantity": f">={DIGITS}Gi",
    "exponent": "1e999999999", "small": ">=1e-999999999", "arabic": "1.٣٦", "power": "²", "half": "\ud800",
    "nul": "\x00", "lines": "a\nb", "long": "x" * 100_000,
}  # fmt: skip


@pytest.mark.parametrize("path", TEXTS)
@pytest.mark.parametrize("text", WORDS.values(), ids=WORDS)
def test_texts(path: str, text: str) -> None:
    from_values_twice(tree(path, text), "2026-11-30")


OTHERS: dict[str, dict[Any, Any]] = {
    "keys": {1: 2, None: 3, (1,): 4, b"x": 5},
    "key in a map": tree("gpu/charts/operator/values", {"a": {1: 2}, "b": {(1, 2): 3}}),
    "half a key": tree("tags", {"\ud800": "x"}),
    "object": tree("gpu/charts/operator/values/x", object()),
    "set": tree("pools/t4/zones", {"1", "2"}),
    "bytes": tree("tags/a", b"\xff"),
    "pairs": {"pools": [("a", 1)]},
    "endless": tree("acknowledge", LOOP),
    "kind that is a list": tree("claims/ml/one", {
        "deviceClass": "t4", "config": [{"parameters": {"apiVersion": "resource.nvidia.com/v1beta1", "kind": []}}],
    }),
    "many": layout({"devices": list(range(90_000)), "profiles": {"1g.10gb": 1}}),
    "too many": layout({"devices": list(range(200_000)), "profiles": {"1g.10gb": 1}}),
    "many partitions": layout({"profiles": {"1g.10gb": 100_000}}),
    "no groups": layout(),
    "no partitions": layout({"profiles": {}}),
    "long cel": classes(cel=["device.driver == 'x' && " * 500 + "true"]),
    "deep cel": classes(cel=["(" * 2000 + "true" + ")" * 2000]),
    "lists in cel": classes(cel=["[" * 300 + "]" * 300]),
    "costly cel": classes(cel=["device.attributes['gpu.nvidia.com'].productName.matches('(a+)+$')"]),
    "number in cel": classes(cel=[f"{DIGITS} == 1"]),
    "version in cel": classes(cel=[f"semver('{'1' * 3000}.0.0').major() > 1"]),
    "quantity in cel": classes(cel=["quantity('1e999999999').isGreaterThan(quantity('1'))"]),
    "stars": classes(require={"product": "*" * 5000}),
    "marks": classes(require={"product": "?" * 200 + "x"}),
    "whole IPv6": tree("cluster/network", {"serviceCidr": "::/0", "dnsServiceIp": "::1"}),
    "tiny range": tree("cluster/network", {"serviceCidr": "10.0.0.0/31", "dnsServiceIp": "10.0.0.1"}),
}  # fmt: skip


@pytest.mark.parametrize("values", OTHERS.values(), ids=OTHERS)
def test_other_values(values: dict[Any, Any]) -> None:
    from_values_twice(values, "")


def test_what_is_no_setting_is_named_with_its_path() -> None:
    wrong = tree("gpu/charts/operator/values", {"a": [1, {"b": object()}]}) | {"tags": {1: "x"}}
    read, found = settings_from_values(wrong)
    assert read is None
    assert [(f.code, f.path) for f in found] == [
        ("SET004", "aks-dra:gpu.charts.operator.values.a.1.b"), ("SET004", "aks-dra:tags.1"),
    ]  # fmt: skip
    assert "this is a object" in found[0].message
    assert found[1].remedy == 'write "1"'


@pytest.mark.parametrize("number", [DIGITS, f"-{DIGITS}", f"0x{DIGITS}", f"1.{DIGITS}", "1e999999999", f"1e{DIGITS}"])
@pytest.mark.parametrize(
    "text",
    [
        "aks-dra:pools: {{t4: {{vmSize: Standard_NC4as_T4_v3, nodes: {{count: {}}}}}}}",
        "aks-dra:cluster: {{kubernetesVersion: {}}}",
        'aks-dra:pools: \'{{"t4": {{"nodes": {{"count": {}}}}}}}\'',
        "aks-dra:gpu: {{charts: {{operator: {{values: {{driver: {{version: {}}}}}}}}}}}",
    ],
    ids=["count", "version", "json", "chart value"],
)
def test_numbers_in_a_file(tmp_path: Path, text: str, number: str) -> None:
    from_file_twice(tmp_path, ("config:\n  azure-native:location: x\n  " + text.format(number) + "\n").encode(), "")
