"""Kubernetes' own CEL package is asked, and we give the same answers.

The oracle is a Go program of this repository on k8s.io/dynamic-resource-allocation; it is built once, into a cache
outside the tree.
"""

from __future__ import annotations

import random
from collections import Counter

import pytest

from aks_dra.cel import CompileError, compile_expression
from aks_dra.cel.kinds import kind_selector
from aks_dra.cel.refusals import is_across_numbers
from aks_dra.facts import load_facts
from aks_dra.kube.devices import Device, Version
from aks_dra.topics.classes.intents import selectors
from tests.oracle import sentences, table
from tests.topics.devices.kinds import known_device, whole_table

TOO_EXPENSIVE = "too expensive"
ACROSS_NUMBERS = "comparison of numbers of two types"


def test_the_recorded_answers_are_upstreams() -> None:
    assert table.ask_table() == table.recorded()


@pytest.mark.parametrize("seed", range(3))
def test_random_selectors_have_the_same_answer(seed: int) -> None:
    """But for cost, which is not counted here, and `1 < 1.5`: see the engine's docstring."""
    drawn = sentences.Sentences(seed)
    devices = list(table.devices().values())
    asked = [(drawn.draw(), device, True) for _ in range(800) for device in devices]
    answers: Counter[str] = Counter()
    for (expression, device, _), answer in zip(asked, table.ask(asked), strict=True):
        if answer.get("text") == TOO_EXPENSIVE:
            answers[TOO_EXPENSIVE] += 1
            continue
        program = compile_expression(expression)
        if isinstance(program, CompileError) and is_across_numbers(program):
            answers[ACROSS_NUMBERS] += 1
            continue
        answers[answer["answer"]] += 1
        assert table.our_answer(expression, device) == answer["answer"], f"{expression} on {device.name}: {answer}"
    assert answers[TOO_EXPENSIVE] + answers[ACROSS_NUMBERS] < len(asked) / 10
    assert min(answers[kind] for kind in ("true", "false", "runtime error", "compile error")) > 100, answers


def test_the_packages_own_classes_match_the_same_devices_upstream() -> None:
    """And cost little: far below the limit of a million."""
    facts = load_facts()
    kinds = whole_table(facts)
    written = {(kind.class_name, kind_selector(kind.gpu, kind.profile, facts)) for kind in kinds}
    asked = [(name, text, kind) for name, text in sorted(written) for kind in kinds]
    answers = table.ask((text, known_device(kind.device), True) for _, text, kind in asked)
    for (name, text, kind), answer in zip(asked, answers, strict=True):
        assert answer["answer"] == str(name == kind.class_name).lower(), f"{text} on {kind.device.name}: {answer}"
        assert answer["cost"] < 10_000


def test_intents_mean_the_same_upstream() -> None:
    require = {
        "memory": ">=9728Mi <=80Gi",
        "computeCapability": ">=8.0",
        "driverVersion": ">570, <590.0.1",
        "product": ["A100*", "Tesla T?", "*NVL"],
        "architecture": ["Ampere", "turing"],
        "profile": ["1g.10gb", "1g.10gb+me"],
    }
    texts = [*selectors(require), *selectors({"type": "mig"}), *selectors({"profile": "1g.10gb+me", "product": "a100"})]
    asked = [(text, device, True) for text in texts for device in table.devices().values()]
    for (text, device, _), answer in zip(asked, table.ask(asked), strict=True):
        assert answer["answer"] in {"true", "false"}
        assert table.our_answer(text, device) == answer["answer"], f"{text} on {device.name}"


def test_random_quantities_and_versions_are_read_alike() -> None:
    drawn = random.Random(5)
    device = Device("gpu-0", "gpu.nvidia.com", {"v": Version("1.2.3")}, {"memory": "1Gi"})

    def text(letters: str, longest: int) -> str:
        return "".join(drawn.choice(letters) for _ in range(drawn.randint(0, longest)))

    quantities = [text("0123456789.+-eEnumkKMGTPi", 6) for _ in range(1500)]
    versions = [text("0123456789..--+v a", 9) for _ in range(1500)] + [
        ".".join(text("0123456789", 2) for _ in range(3)) + text("-+.01ab", 4) for _ in range(1500)
    ]
    asked = [f"isQuantity('{q}')" for q in quantities]
    asked += [
        f"isQuantity('{one}') && quantity('{one}').{name}(quantity('{other}'))"
        for one, other in zip(quantities, [*quantities[1:], "1"], strict=True)
        for name in ("isLessThan", "isGreaterThan")
    ]
    asked += [f"isSemver('{v}'{flag})" for v in versions for flag in ("", ", true")]
    asked += [
        f"isSemver('{one}', true) && semver('{one}', true).isLessThan(semver('{other}', true))"
        for one, other in zip(versions, [*versions[1:], "1"], strict=True)
    ]
    for expression, answer in zip(asked, table.ask((e, device, True) for e in asked), strict=True):
        assert table.our_answer(expression, device) == answer["answer"], f"{expression}: {answer}"
