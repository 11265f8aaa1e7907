"""The tables agree with each other, and their reader loads nothing heavy."""

from __future__ import annotations

import ast
import itertools
import re
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

import aks_dra.facts
from aks_dra.facts import Gpu, fits, load_facts

FACTS = load_facts()
FOLDER = Path(aks_dra.facts.__file__).parent
FAMILIES = sorted(FACTS.families)


def test_every_row_says_where_it_comes_from() -> None:
    rows = FACTS.rows()
    assert [row.key for row in rows if not row.source.strip()] == []
    assert len({(row.table, row.key) for row in rows}) == len(rows)
    assert {row.table for row in rows} == {
        "aks_driver", "aks_fault", "chart", "chart_version", "cluster_field", "driver_minimum", "family", "fault",
        "feature", "gate", "gpu", "gpu_instance_profile", "image", "kubernetes", "label_rule", "limit", "name_rule", "need", "node_label", "os_sku",
        "pool_field", "profile", "reserved_range", "role", "size", "version",
    }  # fmt: skip


def test_every_vm_size_names_a_known_gpu_and_its_driver() -> None:
    for size in FACTS.vm_sizes.values():
        gpu = FACTS.gpus[size.gpu]
        driver = FACTS.aks_drivers[size.aks_driver]
        assert size.grid == driver.image.startswith("grid"), size.name
        assert size.vcpus == int(re.findall(r"\d+", size.name)[0]), size.name
        assert (size.gpu_fraction < 1) == gpu.vgpu, size.name
        assert not (size.mig and not gpu.mig), f"{size.name}: a GPU without MIG cannot be partitioned"
        assert not (size.gpu_instance_profile and not size.mig), size.name


def test_every_mig_family_is_used_and_exists() -> None:
    assert {gpu.mig for gpu in FACTS.gpus.values() if gpu.mig} == set(FACTS.families)


@pytest.mark.parametrize("name", FAMILIES)
def test_every_layout_fits_and_no_full_one_takes_another_instance(name: str) -> None:
    family = FACTS.families[name]
    assert "all-balanced" in family.layouts
    for layout, counts in family.layouts.items():
        assert set(counts) <= set(family.profiles), layout
        assert fits(family, counts), layout
    for profile in family.profiles.values():
        assert family.layouts[profile.layout] == {profile.name: profile.max}
        assert max(profile.placements) + profile.memory <= family.memory_slices
        assert not fits(family, {profile.name: profile.max + 1})
        assert profile.compute == int(profile.name.partition("g.")[0])
    assert len({profile.gi_profile_id for profile in family.profiles.values()}) == len(family.profiles)


@pytest.mark.parametrize("name", FAMILIES)
def test_profiles_of_one_gpu_never_promise_more_memory_than_it_has(name: str) -> None:
    family = FACTS.families[name]
    smallest = min(gpu.memory_mib_range[1] for gpu in FACTS.gpus.values() if gpu.mig == name)
    for layout, counts in family.layouts.items():
        assert sum(family.profiles[key].memory_mib * count for key, count in counts.items()) <= smallest, layout


def test_gates_name_known_versions_gates_and_needs() -> None:
    versions = FACTS.charts["dra-driver-nvidia-gpu"].versions
    for gate in FACTS.gates.values():
        assert gate.since in versions
        for other in gate.excludes:
            assert gate.key in FACTS.gates[other].excludes, "an exclusion holds both ways"
        assert set(gate.needs) <= set(FACTS.gates)


def test_kubernetes_versions_and_stages_are_in_order() -> None:
    kubernetes = FACTS.kubernetes
    for version in kubernetes.versions.values():
        days = [date.fromisoformat(day) for day in (version.preview, version.ga, version.eol, version.lts_eol)]
        assert days == sorted(days), version.key
        assert version.latest_patch in ("", *(f"{version.key}.{patch}" for patch in range(40)))
    for feature in kubernetes.features.values():
        stages = [stage for stage in (feature.alpha, feature.beta, feature.ga) if stage]
        assert [tuple(map(int, stage.split("."))) for stage in stages] == sorted(
            tuple(map(int, stage.split("."))) for stage in stages
        ), feature.key
        assert not (feature.ga and not feature.default_since), feature.key
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
        assert chart.default_version.startswith(chart.version_prefix)


def test_name_rules_are_patterns_that_azure_examples_pass() -> None:
    rules = {name: re.compile(rule.pattern) for name, rule in FACTS.name_rules.items()}
    assert rules["linux_pool"].match("h100")
    assert not rules["linux_pool"].match("aksMigNode")
    assert rules["windows_pool"].match("win001")
    assert not rules["windows_pool"].match("windows1")
    assert rules["cluster"].match("aks-dra-dev")
    assert rules["resource_group"].match("aks-dra-dev_(1)")
    assert not rules["resource_group"].match("ends.")


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
