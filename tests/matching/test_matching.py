"""Matching gives each device the answer that evaluating it alone would give, however few are evaluated."""

from __future__ import annotations

import dataclasses

import pytest

from aks_dra.cel import CompileError, Program, RuntimeProblem, compile_expression, project
from aks_dra.facts import load_facts
from aks_dra.kube.devices import Device
from aks_dra.matching.counters import most_at_once
from aks_dra.matching.matcher import Matcher
from aks_dra.model.plan import PlannedPool
from aks_dra.settings import Sharing
from aks_dra.topics.devices.published import planned_devices
from tests.oracle import table
from tests.resources.hand_made import POOL
from tests.topics.devices.kinds import whole_table

FACTS = load_facts()
DEVICES = (*table.devices().values(), *(kind.device for kind in whole_table(FACTS)))
EXPRESSIONS = sorted({row.expression for row in table.rows()})
MINOR = (1, 36)


def pool(name: str, *devices: Device) -> PlannedPool:
    return dataclasses.replace(POOL, name=name, devices=devices)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_devices_that_a_selector_cannot_tell_apart_get_one_answer(expression: str) -> None:
    program = compile_expression(expression, MINOR)
    if isinstance(program, CompileError):
        assert Matcher([pool("p", *DEVICES)], MINOR).matched((expression,)).kinds == frozenset()
        return
    answers: dict[object, object] = {}
    for device in DEVICES:
        answer = program.evaluate(device)
        assert answers.setdefault(project(device, program.reads), answer) == answer, device


@pytest.mark.parametrize(
    ("expression", "names"),
    [
        ("device.driver == 'gpu.nvidia.com'", set()),
        ("device.attributes['gpu.nvidia.com'].type == 'gpu'", {"type"}),
        ("'memory' in device.capacity['gpu.nvidia.com']", {"memory"}),
        ("has(device.attributes['gpu.nvidia.com'].profile)", {"profile"}),
        ("device.attributes['a']['b'] == 'x' && device.capacity['c'].d.isGreaterThan(quantity('1'))", {"b", "d"}),
        ("'gpu.nvidia.com' in device.attributes", set()),
        # The whole map matters, so nothing is left out.
        ("size(device.attributes['gpu.nvidia.com']) > 3", None),
        ("device.attributes['gpu.nvidia.com'] == device.attributes['x.example.com']", None),
        ("device.attributes.all(domain, domain != 'x')", None),
        ("device.attributes[device.driver].type == 'gpu'", None),
        ("cel.bind(a, device.attributes['gpu.nvidia.com'], a.type == 'gpu')", None),
        ("device.attributes['gpu.nvidia.com'].?type.orValue('') == 'gpu'", None),
        ("cel.bind(d, device, d.driver == 'x')", None),
    ],
)
def test_what_a_selector_reads(expression: str, names: set[str] | None) -> None:
    program = compile_expression(expression, MINOR)
    assert isinstance(program, Program)
    assert program.reads == (None if names is None else frozenset(names))


def test_matching_is_evaluating_one_by_one() -> None:
    pools = [pool(f"p{n}", device, device) for n, device in enumerate(DEVICES)]
    matcher = Matcher(pools, MINOR)
    for expression in EXPRESSIONS:
        program = compile_expression(expression, MINOR)
        expected = {
            entry.name: 2
            for entry in pools
            if isinstance(program, Program)
            and (answer := program.evaluate(entry.devices[0])) is not False
            and not isinstance(answer, RuntimeProblem)
        }
        assert dict(matcher.matched((expression,)).pools) == expected


def test_selectors_stop_at_the_first_that_is_false() -> None:
    """The second would raise on the device that the first keeps away."""
    nvidia, other = Device("a", "gpu.nvidia.com", {"type": "gpu"}), Device("b", "x.example.com")
    matcher = Matcher([pool("p", nvidia, other)], MINOR)
    selectors = ("device.driver == 'gpu.nvidia.com'", "device.attributes['gpu.nvidia.com'].type == 'gpu'")
    assert dict(matcher.matched(selectors).pools) == {"p": 1}


def test_dynamic_places_of_one_gpu_exclude_each_other() -> None:
    size = FACTS.vm_sizes["Standard_NC80adis_H100_v5"]
    devices = planned_devices(FACTS, size, Sharing(mode="dynamicMig"))
    by_profile: dict[str, list[Device]] = {}
    for device in devices:
        by_profile.setdefault(str(device.attributes.get("profile", "whole")), []).append(device)
    family = FACTS.family(size)
    assert family is not None
    assert {name: most_at_once(places, devices) for name, places in by_profile.items()} == {
        "whole": 2,
        **{
            name: 2 * min(profile.max, _fits(profile.placements, profile.memory))
            for name, profile in family.profiles.items()
        },
    }
    assert most_at_once(devices, devices) == 14


def _fits(placements: tuple[int, ...], memory: int) -> int:
    taken, fit = -1, 0
    for start in sorted(placements):
        if start > taken:
            taken, fit = start + memory - 1, fit + 1
    return fit


def test_devices_without_counters_all_count() -> None:
    assert most_at_once([Device(f"d{n}", "x.example.com") for n in range(5)]) == 5
