"""The tables agree with each other, and their reader loads nothing heavy."""

from __future__ import annotations

import ast
import itertools
import re
import subprocess
import sys
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

import aks_dra.facts
from aks_dra.facts import Gpu, fits, load_facts, minor
from aks_dra.facts.fact import TABLES

FACTS = load_facts()
FOLDER = Path(aks_dra.facts.__file__).parent
FAMILIES = sorted(FACTS.families)


def test_every_table_has_rows_and_is_shown() -> None:
    assert {row.table for row in FACTS.rows()} == {*TABLES, "kubernetes", "profile", "chart_version"}


def test_every_vm_size_names_a_known_gpu_and_its_driver() -> None:
    for size in FACTS.vm_sizes.values():
        gpu = FACTS.gpus[size.gpu]
        driver = FACTS.aks_drivers[size.aks_driver]
        assert size.grid == driver.image.startswith("grid"), size.name
        assert size.vcpus == int(re.findall(r"\d+", size.name)[0]), size.name
        assert not (size.mig and not gpu.mig), f"{size.name}: a GPU without MIG cannot be partitioned"
        assert not (size.gpu_instance_profile and not size.mig), size.name


def test_every_mig_family_is_used_and_exists() -> None:
    assert {gpu.mig for gpu in FACTS.gpus.values() if gpu.mig} == set(FACTS.families)


@pytest.mark.parametrize("name", FAMILIES)
def test_no_full_layout_takes_another_instance(name: str) -> None:
    family = FACTS.families[name]
    assert "all-balanced" in family.layouts
    for profile in family.profiles.values():
        assert family.layouts[profile.layout] == {profile.name: profile.max}
        assert max(profile.placements) + profile.memory <= family.memory_slices
        more = {**family.profiles, profile.name: replace(profile, max=profile.max + 1)}
        assert "+" in profile.name or not fits(replace(family, profiles=more), {profile.name: profile.max + 1})
        assert profile.compute == int(profile.name.partition("g.")[0])
    assert len({profile.gi_profile_id for profile in family.profiles.values()}) == len(family.profiles)


@pytest.mark.parametrize("name", FAMILIES)
def test_profiles_of_one_gpu_never_promise_more_memory_than_it_has(name: str) -> None:
    family = FACTS.families[name]
    smallest = min(gpu.memory_mib_range[1] for gpu in FACTS.gpus.values() if gpu.mig == name)
    for layout, counts in family.layouts.items():
        assert sum(family.profiles[key].memory_mib * count for key, count in counts.items()) <= smallest, layout


def test_an_exclusion_of_gates_holds_both_ways() -> None:
    for gate in FACTS.gates.values():
        for other in gate.excludes:
            assert gate.key in FACTS.gates[other].excludes


def test_kubernetes_versions_and_stages_are_in_order() -> None:
    kubernetes = FACTS.kubernetes
    for version in kubernetes.versions.values():
        days = [date.fromisoformat(day) for day in (version.preview, version.ga, version.eol, version.lts_eol)]
        assert days == sorted(days), version.key
        assert version.latest_patch in ("", *(f"{version.key}.{patch}" for patch in range(40)))
    for feature in kubernetes.features.values():
        assert feature.default_since, feature.key
        assert not feature.ga or minor(feature.default_since) <= minor(feature.ga), feature.key
    for need in kubernetes.needs.values():
        assert need.minimum == kubernetes.features[need.feature].default_since, need.key
    assert kubernetes.default in kubernetes.versions


def test_chart_versions_are_in_the_order_of_release() -> None:
    for chart in FACTS.charts.values():
        dated = [version.released for version in chart.versions.values() if version.released]
        assert dated == sorted(dated), chart.key
        names = list(chart.versions)
        assert all(chart.at_least(later, earlier) for earlier, later in itertools.pairwise(names)), chart.key
        assert not any(chart.at_least(earlier, later) for earlier, later in itertools.pairwise(names)), chart.key


def test_name_rules_are_patterns_that_azure_examples_pass() -> None:
    rules = FACTS.name_rules
    assert rules["linux_pool"].allows("h100")
    assert not rules["linux_pool"].allows("aksMigNode")
    assert rules["cluster"].allows("aks-dra-dev")
    assert not rules["cluster"].allows("aks-dra-dev-")
    for rule in rules.values():
        assert rule.allows("a" * rule.longest)
        assert not rule.allows("a" * (rule.longest + 1))


def test_class_memory_and_capability_tell_kinds_apart() -> None:
    """Rows of one class must not contradict each other: they share its selector."""
    seen: dict[str, Gpu] = {}
    for gpu in FACTS.gpus.values():
        other = seen.setdefault(gpu.class_name, gpu)
        assert (other.memory_mib_range, other.compute_capability, other.mig) == (
            gpu.memory_mib_range, gpu.compute_capability, gpu.mig,
        )  # fmt: skip


def test_the_facts_import_no_pulumi_and_no_pydantic() -> None:
    for path in FOLDER.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not any(name.split(".")[0].startswith(("pulumi", "pydantic")) for name in names), path.name
    code = (
        "import sys, aks_dra.facts; aks_dra.facts.load_facts(); print(sorted({m.split('.')[0] for m in sys.modules}))"
    )
    run = subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": str(FOLDER.parent.parent)}, text=True,
                         capture_output=True, check=True)  # fmt: skip
    assert not {"pulumi", "pydantic"} & set(ast.literal_eval(run.stdout))


def test_rows_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        FACTS.gpus["t4"].memory_mib = 1  # type: ignore[misc]
    for mapping in (FACTS.gpus, FACTS.families["a30"].layouts, FACTS.families["a30"].layouts["all-balanced"]):
        with pytest.raises(TypeError):
            mapping["x"] = 1  # type: ignore[index]
