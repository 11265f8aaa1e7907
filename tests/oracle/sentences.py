"""Random selectors over the table's devices: names that exist and names that do not, right and wrong types.

Most of them are wrong somewhere, which is the point: what raises, is absorbed or is refused must be the same.
"""

from __future__ import annotations

import random

ATTRIBUTES = (
    "device.attributes['gpu.nvidia.com']",
    "device.attributes['fpga.example.com']",
    "device.attributes[device.driver]",
    "device.attributes['resource.kubernetes.io']",
    "device.attributes['nope.example.com']",
)
CAPACITY = (
    "device.capacity['gpu.nvidia.com']",
    "device.capacity['fpga.example.com']",
    "device.capacity[device.driver]",
)
NAMES = (
    "type", "uuid", "productName", "driverVersion", "cudaComputeCapability", "profile", "lanes", "secure", "family",
    "firmware", "iommuFDEnabled", "nope", "pcieRoot", "numaNode",
)  # fmt: skip
AMOUNTS = ("memory", "share", "bandwidth", "multiprocessors", "luts", "nope")
QUANTITIES = ("20Gi", "16Gi", "16384Mi", "500m", "0.5", "100G", "1e3", "81559Mi", "-1", "bad", "9728Mi")
VERSIONS = ("580.105.8", "8.0.0", "9.0.0", "7.5.0", "1.2.3-beta.2", "x", "7.5")
CONSTANTS = (
    "'gpu'", "'mig'", "1", "16", "16.0", "true", "false", "null", "'1g.10gb+me'", "0", "16u", "[1]", "''",
    "'580.105.8'",
)  # fmt: skip


class Sentences:
    """Draws selectors; the same seed gives the same ones."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def draw(self) -> str:
        return self._condition(self._random.choice((0, 1, 2, 3)))

    def _pick(self, items: tuple[str, ...]) -> str:
        return self._random.choice(items)

    def _quantity(self) -> str:
        return f"quantity('{self._pick(QUANTITIES)}')"

    def _version(self) -> str:
        if self._random.random() < 0.2:
            return "semver('7.5', true)"
        return f"semver('{self._pick(VERSIONS)}')"

    def _constant(self) -> str:
        luck = self._random.random()
        return self._quantity() if luck < 0.15 else self._version() if luck < 0.3 else self._pick(CONSTANTS)

    def _attribute(self) -> str:
        holder, name, luck = self._pick(ATTRIBUTES), self._pick(NAMES), self._random.random()
        if luck < 0.75:
            return f"{holder}.{name}"
        if luck < 0.85:
            return f"{holder}['{name}']"
        return f"{holder}.?{name}.orValue({self._constant()})" if luck < 0.95 else f"{holder}[?'{name}'].value()"

    def _amount(self) -> str:
        holder, name = self._pick(CAPACITY), self._pick(AMOUNTS)
        return f"{holder}.{name}" if self._random.random() < 0.8 else f"{holder}.?{name}.orValue({self._quantity()})"

    def _number(self) -> str:
        a, c = self._attribute(), self._amount()
        return self._pick(
            (
                f"{c}.asInteger()",
                f"{c}.compareTo({self._quantity()})",
                f"{a}.compareTo({self._version()})",
                f"{a}.major()",
                f"{a}.patch()",
                f"size({a})",
                f"sign({c})",
                str(self._random.randint(-2, 20)),
            )
        )

    def _value(self) -> str:
        text = self._pick(("device.driver", f"{self._attribute()}.lowerAscii()", f"{self._attribute()}.substring(1)"))
        return self._pick(
            (self._attribute(), self._attribute(), self._amount(), self._constant(), self._number(), text)
        )

    def _simple(self) -> str:
        a, holder, name, constant = self._attribute(), self._pick(ATTRIBUTES), self._pick(NAMES), self._constant()
        return self._pick(
            (
                f"{self._value()} {self._pick(('==', '!=', '<', '>=', '>'))} {self._value()}",
                f"{a} == {constant}",
                f"{self._number()} {self._pick(('==', '<', '>=', '!='))} {self._number()}",
                f"{self._amount()}.{self._pick(('isGreaterThan', 'isLessThan'))}({self._quantity()})",
                f"{a}.{self._pick(('isGreaterThan', 'isLessThan'))}({self._version()})",
                f"has({holder}.{name})",
                f"'{name}' in {holder}",
                f"{a} in [{constant}, {constant}]",
                f"{a}.{self._pick(('startsWith', 'contains', 'matches'))}('{self._pick(('g', 'Tesla', '^.*4$'))}')",
                f"{holder}.exists(k, k == '{name}')",
                f"{holder}.{self._pick(('exists', 'all'))}(k, v, v == {constant})",
                f"['{name}', 'type'].{self._pick(('all', 'exists', 'exists_one'))}(n, {holder}[n] == {constant})",
                f"cel.bind(a, {holder}, a.{name} == {constant})",
                f"cel.bind(a, {a}, a == {constant} || a == 'gpu')",
                a,
                "device.allowMultipleAllocations",
                f"{holder}.?{name}.hasValue()",
                f"{holder}.?{name}.optMap(x, x == 'gpu').orValue({self._pick(('true', 'false'))})",
                f"{self._number()} {self._pick(('+', '-', '*', '/', '%'))} {self._number()} == {self._number()}",
            )
        )

    def _condition(self, depth: int) -> str:
        luck = self._random.random()
        if depth <= 0 or luck < 0.35:
            return self._simple()
        one, other = self._condition(depth - 1), self._condition(depth - 1)
        if luck < 0.6:
            return f"({one} && {other})"
        if luck < 0.8:
            return f"({one} || {other})"
        return f"!({one})" if luck < 0.9 else f"({one} ? {other} : {self._condition(depth - 1)})"
