"""Names of pools, and texts of Outputs in the place of a name."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.stacks import check, errors, only, planned

BAD_NAMES = [
    ("GPU-Pool", "for example gpupool"), ("gpu-enabled", "for example gpuenabled"), ("1t4", "for example t4"),
    ("averyverylong1", "for example averyverylon"), ("T4", "for example t4"), ("t4_a", "for example t4a"),
    ("gpü", "for example gp"), ("ünicode", "for example nicode"), ("-", "choose another name"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "remedy"), BAD_NAMES)
def test_a_pool_name_that_aks_refuses_is_refused_and_never_altered(tmp_path: Path, name: str, remedy: str) -> None:
    body = f"aks-dra:pools: {{{name}: {{vmSize: Standard_NC4as_T4_v3}}}}".replace("{-:", "{'-':")
    (finding,) = check(tmp_path, body)
    assert (finding.code, finding.severity) == ("NAM001", "error")
    assert (finding.path, finding.value) == (f"aks-dra:pools.{name}", name)
    assert "1 to 12 lowercase letters and digits and starts with a letter" in finding.message
    assert finding.remedy == remedy
    assert [entry.name for entry in planned(tmp_path, body).pools] == [name]


@pytest.mark.parametrize("name", ["t4inference", "t4inference1", "t", "a1", "abcdefghijkl"])
def test_a_pool_name_that_aks_takes_is_accepted(tmp_path: Path, name: str) -> None:
    assert check(tmp_path, f"aks-dra:pools: {{{name}: {{vmSize: Standard_NC4as_T4_v3}}}}") == []


def test_the_names_of_the_system_pool_and_the_test_pool_have_the_same_rule(tmp_path: Path) -> None:
    body = "aks-dra:cluster: {systemPool: {name: System}, access: {azureRbac: true}}\n"
    assert errors(tmp_path, body) == [("NAM001", "aks-dra:cluster.systemPool.name")]
    assert [code for code, _ in errors(tmp_path, "aks-dra:testPool: {enabled: true, name: GPU-Test}")] == ["NAM001"]


OUTPUT = "Calling __str__ on an Output[T] is not supported."


@pytest.mark.parametrize(
    ("body", "path"),
    [
        (f'aks-dra:pools: {{"{OUTPUT}": {{vmSize: Standard_NC4as_T4_v3}}}}', "aks-dra:pools"),
        (f'aks-dra:pools: {{t4: {{vmSize: Standard_NC4as_T4_v3, subnetId: "{OUTPUT}"}}}}', "aks-dra:pools.t4.subnetId"),
        (f'aks-dra:tags: {{owner: "{OUTPUT}"}}', "aks-dra:tags.owner"),
        (f'aks-dra:gpu: {{charts: {{source: "{OUTPUT}"}}}}', "aks-dra:gpu.charts.source"),
    ],
)  # fmt: skip
def test_the_text_of_an_output_is_found_wherever_it_stands(tmp_path: Path, body: str, path: str) -> None:
    assert ("NAM006", path) in {(finding.code, finding.path) for finding in check(tmp_path, body)}


T4_SIZE = "Standard_NC4as_T4_v3"


def test_the_text_of_an_output_is_found_in_a_stack_file_too(tmp_path: Path) -> None:
    body = f"aks-dra:pools: {{t4: {{vmSize: {T4_SIZE}, labels: {{team: 'Calling __str__ on an Output[T] is not supported'}}}}}}"
    assert errors(tmp_path, body) == [("LAB001", "aks-dra:pools.t4.labels.team")]
    assert "text of a Pulumi Output" in only(tmp_path, body, "LAB001").message


@pytest.mark.parametrize(
    "text", ["Calling [toString] on an [Output<T>] is not supported.", "Calling __str__ on an Output"]
)
def test_the_text_of_an_output_in_chart_values_is_refused_in_every_language(tmp_path: Path, text: str) -> None:
    body = f"aks-dra:gpu: {{charts: {{operator: {{values: {{driver: {{repository: '{text}'}}}}}}}}}}"
    assert errors(tmp_path, body) == [("NAM006", "aks-dra:gpu.charts.operator.values.driver.repository")]
