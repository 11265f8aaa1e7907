"""Rows of TOML files of one's own, good and bad."""

from __future__ import annotations

from pathlib import Path

import pytest

from aks_dra.facts import Facts, FactsError, load_facts
from aks_dra.stack_plan import facts_problem

FACTS = load_facts()
SOURCED = 'source = "a test"\nverified = false\n'


def facts_with(tmp_path: Path, *texts: str) -> Facts:
    """The tables with these texts on top, in their order."""
    paths = []
    for index, text in enumerate(texts):
        paths.append(tmp_path / f"extra{index}.toml")
        paths[-1].write_text(text, encoding="utf-8")
    return load_facts(*paths)


def error_of(tmp_path: Path, text: str) -> str:
    """What is said about a bad file, without its folder."""
    with pytest.raises(FactsError) as caught:
        facts_with(tmp_path, text)
    return facts_problem(caught.value).replace(f"{tmp_path}/", "")


def test_own_rows_replace_key_by_key(tmp_path: Path) -> None:
    facts = facts_with(
        tmp_path,
        f'[gpu.t4]\nmemory_mib = 15360\n{SOURCED}',
        '[family.a30.layouts]\ntwo = { "2g.12gb" = 2 }\n[family.a30]\n' + SOURCED
        + f'[[family.a30.profile]]\nname = "1g.6gb"\nmemory_mib = 5000\n{SOURCED}',
        'default = "1.37"\n',
    )  # fmt: skip
    t4 = facts.gpus["t4"]
    assert (t4.memory_mib, t4.product_name, t4.source, t4.verified) == (15360, "Tesla T4", "a test", False)
    family = facts.families["a30"]
    assert family.layouts["two"] == {"2g.12gb": 2}
    assert family.profiles["1g.6gb"].memory_mib == 5000
    assert list(family.profiles) == list(FACTS.families["a30"].profiles)
    assert facts.kubernetes.default == "1.37"
    assert load_facts() is FACTS
    assert FACTS.gpus["t4"].memory_mib == 16384


def test_a_gpu_and_its_size_of_one_s_own(tmp_path: Path) -> None:
    facts = facts_with(
        tmp_path,
        '[gpu.v100]\nproduct_name = "Tesla V100-PCIE-16GB"\nclass_name = "v100"\n'
        'memory_mib = 16384\nmemory_mib_range = [16160, 16384]\nbrand = "Nvidia"\narchitecture = "Volta"\n'
        f'compute_capability = "7.0.0"\nmig = ""\nvgpu = false\n{SOURCED}'
        '[size.Standard_NC6s_v3]\ngpu = "v100"\ngpus = 1\nvcpus = 6\nmemory_gib = 112\nmig = false\n'
        'gpu_instance_profile = false\narch = "amd64"\ngrid = false\naks_driver = "cuda"\n'
        f'family = "NCv3"\n{SOURCED}',
    )
    size = facts.vm_size("standard_nc6s_v3")
    assert size is not None
    assert (size.gpu, facts.family(size)) == ("v100", None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[gpu.t4", "extra0.toml: is not TOML: "),
        ("[gpus.t4]\n", "extra0.toml: gpus: no such table; did you mean gpu? (known: gpu, family, "),
        ("gpu = 1\n", "extra0.toml: gpu: is not a table"),
        ("default = 1.36\n", "extra0.toml: default: 1.36 is not text"),
        ("[gpu.t4]\nmemory_mib = 1\n", "extra0.toml: gpu.t4: source is missing"),
        (f'[gpu.t4]\nmemory_mib = "16Gi"\n{SOURCED}', "extra0.toml: gpu.t4.memory_mib: '16Gi' is not a whole number"),
        (f"[gpu.t4]\nvgpu = 1\n{SOURCED}", "extra0.toml: gpu.t4.vgpu: 1 is not true or false"),
        (f"[gpu.t4]\nmemory_mib = true\n{SOURCED}", "extra0.toml: gpu.t4.memory_mib: True is not a whole number"),
        (f"[gpu.t4]\nmemory = 1\n{SOURCED}", "extra0.toml: gpu.t4: no such key: memory (known: "),
        (
            f"[gpu.t4]\nmemory_mib = 1\n{SOURCED}",
            "extra0.toml: gpu.t4: memory_mib_range is not [lowest, highest] around",
        ),
        (f'[gpu.x1]\nmig = ""\n{SOURCED}', "extra0.toml: gpu.x1: product_name is missing"),
        (f'[gpu.t4]\nmig = "t4"\n{SOURCED}', "extra0.toml: gpu.t4: mig: no such row: t4 (known: a30, "),
        ('[gpu.t4]\nsource = " "\nverified = true\n', "extra0.toml: gpu.t4.source: is empty"),
        (f'[gate.MPSSupport]\nsince = "0.4.9"\n{SOURCED}', "extra0.toml: gate.MPSSupport: since: no such row: 0.4.9"),
        (
            f'[size.Standard_NC4as_T4_v3]\narch = "x86"\n{SOURCED}',
            "extra0.toml: size.Standard_NC4as_T4_v3.arch: 'x86' is not one of",
        ),
        (
            '[family."a30".layouts]\nbad = { "1g.6gb" = 5 }\n[family.a30]\n' + SOURCED,
            "extra0.toml: family.a30: layout bad does not fit on one GPU: {'1g.6gb': 5}",
        ),
        (
            f'[family.a30]\n{SOURCED}[[family.a30.profile]]\nname = "1g.6gb"\nmax = 1.5\n{SOURCED}',
            "extra0.toml: family.a30.profile.1g.6gb.max: 1.5 is not a whole number",
        ),
        (
            f'[chart.gpu-operator]\n{SOURCED}[chart.gpu-operator.versions."v27.1.0"]\n{SOURCED}',
            "extra0.toml: chart.gpu-operator.versions.v27.1.0: chart_name is missing",
        ),
    ],
)
def test_a_bad_row_names_file_and_key(tmp_path: Path, text: str, message: str) -> None:
    assert error_of(tmp_path, text).startswith(message)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FactsError, match=r"none\.toml: cannot be read: No such file"):
        load_facts(tmp_path / "none.toml")
