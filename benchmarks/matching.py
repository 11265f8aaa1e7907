"""How long matching takes, by pools, classes and kinds of devices, and how fast its CEL engine is beside another.

    python benchmarks/matching.py --other PYTHON

PYTHON is an interpreter that has cel-python (`make bench` makes one). Times of the matching are the best of three, in
seconds of the processor, on fleets that use each VM size and MIG layout of the tables in turn.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from aks_dra.cel import Program, compile_expression
from aks_dra.facts import Facts, load_facts
from aks_dra.kube.devices import GPU_DRIVER, Device, Version, distinct
from aks_dra.matching.matcher import Matcher
from aks_dra.model.classes import PlannedClass
from aks_dra.model.plan import PlannedPool, PodSnippet
from aks_dra.settings import Sharing
from aks_dra.topics.devices.published import planned_devices

MINOR = (1, 36)
RUNS = 3
SECONDS = 1.0
A = f"device.attributes['{GPU_DRIVER}']"
# Without Kubernetes' own functions, which the other package does not have.
SELECTORS = (
    f"device.driver == '{GPU_DRIVER}'",
    f"device.driver == '{GPU_DRIVER}' && 'type' in {A} && {A}.type == 'gpu' && {A}.architecture == 'Ampere'",
    f"'profile' in {A} && {A}.profile in ['1g.10gb', '1g.12gb', '1g.18gb']",
    f"{A}.productName.matches('.*A100.*') || {A}.productName.startsWith('Tesla')",
)


def nodes(facts: Facts) -> list[tuple[Device, ...]]:
    """What one node publishes, for every VM size of the tables, whole and in every layout."""
    found = []
    for size in facts.vm_sizes.values():
        family = facts.family(size)
        layouts = [Sharing(mode="mig", layout=name) for name in family.layouts] if family else []
        found += [planned_devices(facts, size, sharing) for sharing in (Sharing(), *layouts)]
    return [devices for devices in found if devices]


def pool(number: int, devices: tuple[Device, ...]) -> PlannedPool:
    return PlannedPool(
        name=f"pool{number}",
        path="",
        vm_size="",
        gpu="",
        gpus_per_node=1,
        nodes="1",
        first_nodes=1,
        allocation="dra",
        sharing="",
        driver_owner="operator",
        mig_owner="none",
        mig_layout="",
        inputs={},
        labels={},
        taints=(),
        devices=devices,
        extended_resources={},
        device_classes=(),
        pod=PodSnippet({}, ()),
        protect=False,
        ignore_changes=(),
        replace_on_changes=(),
    )


def device_class(number: int) -> PlannedClass:
    """Every class has a bound of its own, so that no answer of another can be used again."""
    guard = f"device.driver == '{GPU_DRIVER}' && 'memory' in device.capacity['{GPU_DRIVER}']"
    bound = f"device.capacity['{GPU_DRIVER}'].memory.compareTo(quantity('{number * 97 + 1}Mi')) >= 0"
    return PlannedClass(f"class{number}", "user", (f"{guard} && {bound}", f"{A}.type == 'gpu' || {A}.type == 'mig'"))


def best(action: Callable[[], object]) -> float:
    taken = []
    for _ in range(RUNS):
        start = time.process_time()
        action()
        taken.append(time.process_time() - start)
    return min(taken)


def match_all(pools: list[PlannedPool], classes: list[PlannedClass]) -> Callable[[], object]:
    def action() -> object:
        matcher = Matcher(pools, MINOR)
        return [matcher.match(entry) for entry in classes]

    return action


def matching(console: Console, facts: Facts) -> None:
    offered = nodes(facts)
    table = Table("pools", "classes", "kinds of devices", "CPU seconds", "µs for each kind and class", title="Matching")
    for pools_count, classes_count in ((10, 10), (100, 100), (1000, 1000), (1000, 100)):
        pools = [pool(number, offered[number % len(offered)]) for number in range(pools_count)]
        classes = [device_class(number) for number in range(classes_count)]
        _row(table, pools, classes)
    console.print(table)
    table = Table("pools", "classes", "kinds of devices", "CPU seconds", "µs for each kind and class",
                  title="Matching when no two pools are alike")  # fmt: skip
    for count in (10, 100, 1000):
        pools = [pool(number, (_own_device(number),)) for number in range(count)]
        _row(table, pools, [device_class(number) for number in range(100)])
    console.print(table)


def _row(table: Table, pools: list[PlannedPool], classes: list[PlannedClass]) -> None:
    kinds = len(Matcher(pools, MINOR).devices)
    seconds = best(match_all(pools, classes))
    each = seconds * 1e6 / (kinds * len(classes))
    table.add_row(str(len(pools)), str(len(classes)), str(kinds), f"{seconds:.3f}", f"{each:.1f}")


def _own_device(number: int) -> Device:
    """Memory that no other device has: a selector on it tells all of them apart."""
    return Device("gpu-0", GPU_DRIVER, {"type": "gpu"}, {"memory": f"{16384 + number}Mi"})


def plain(devices: tuple[Device, ...]) -> list[dict[str, Any]]:
    """Devices for the other package: plain data, without what only the node knows."""

    def value(held: object) -> object:
        return held.text if isinstance(held, Version) else held

    def known(domains: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
        return {
            domain: {n: value(v) for n, v in held.items() if isinstance(v, str | int | bool | Version)}
            for domain, held in domains.items()
        }

    return [
        {
            "driver": device.driver,
            "attributes": known(device.qualified_attributes()),
            "capacity": known(device.qualified_capacity()),
        }
        for device in devices
    ]


def own_rates(devices: tuple[Device, ...]) -> Iterator[tuple[float, int]]:
    """For each selector evaluations per second, and how many devices it matches."""
    for text in SELECTORS:
        program = compile_expression(text, MINOR)
        assert isinstance(program, Program), program
        matched = sum(program.evaluate(device) is True for device in devices)
        done, start = 0, time.perf_counter()
        while time.perf_counter() - start < SECONDS:
            for device in devices:
                program.evaluate(device)
            done += len(devices)
        yield done / (time.perf_counter() - start), matched


def evaluation(console: Console, facts: Facts, other: Path) -> bool:
    devices = distinct(device for node in nodes(facts) for device in node)
    question = {"selectors": SELECTORS, "devices": plain(devices), "seconds": SECONDS}
    script = Path(__file__).with_name("cel_python_rates.py")
    answer = subprocess.run([other, script], input=json.dumps(question), capture_output=True, text=True, check=False)
    if answer.returncode:
        print(f"cel-python could not be asked with {other}:\n{answer.stderr}", file=sys.stderr)
        return False
    theirs = json.loads(answer.stdout)
    table = Table("selector", "here, per second", f"{theirs['package']}, per second", "times", title="Evaluations")
    same = True
    for text, own, their in zip(SELECTORS, own_rates(devices), theirs["rates"], strict=True):
        same = same and own[1] == their[1]
        table.add_row(text, f"{own[0]:,.0f}", f"{their[0]:,.0f}", f"{own[0] / their[0]:.1f}")
    console.print(table)
    if not same:
        print("the two do not match the same devices", file=sys.stderr)
    return same


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--other", type=Path, required=True, help="a Python that has cel-python")
    arguments = parser.parse_args()
    console, facts = Console(width=150), load_facts()
    matching(console, facts)
    return 0 if evaluation(console, facts, arguments.other) else 1


if __name__ == "__main__":
    sys.exit(main())
