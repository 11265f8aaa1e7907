"""Where charts come from, in which version and under which name."""

from __future__ import annotations

from pathlib import Path

import pytest

from aks_dra.facts import load_facts
from tests.stacks import DRA, check, errors, only, release

POOL = "aks-dra:pools: {t4: {vmSize: Standard_NC4as_T4_v3}}\n"
BAD_SOURCES = [
    ("nvidia/gpu-operator", "CHT003"), ("https://helm.ngc.nvidia.com/nvidia/gpu-operator", "CHT003"),
    ("https://example.com/gpu-operator/", "CHT003"), ("oci://example.com/charts/gpu-operator", "CHT003"),
    ("oci://example.com/charts:v26.7.0", "CHT003"), ("https://example.com/gpu-operator-v26.7.0.tgz", "CHT003"),
    ("OCI://example.com/charts", "CHT014"), ("s3://charts", "CHT014"), ("file:///charts", "CHT014"), ("''", "CHT014"),
    ("git+https://example.com/x", "CHT014"), ("' https://example.com'", "CHT014"), ("'https://'", "CHT014"),
    ("'oci:'", "CHT014"), ("'oci:///charts'", "CHT014"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "code"), BAD_SOURCES)
def test_a_source_that_helm_would_misread_is_refused(tmp_path: Path, source: str, code: str) -> None:
    for body, path in (
        (f"aks-dra:gpu: {{charts: {{operator: {{source: {source}}}}}}}", "aks-dra:gpu.charts.operator.source"),
        (f"aks-dra:gpu: {{charts: {{source: {source}}}}}", "aks-dra:gpu.charts.source"),
    ):
        assert errors(tmp_path, body) == [(code, path)]


@pytest.mark.parametrize(
    ("source", "shape"),
    [
        ("https://helm.ngc.nvidia.com/nvidia", ("gpu-operator", "v26.7.0", "https://helm.ngc.nvidia.com/nvidia")),
        ("http://mirror.local:8080/nvidia", ("gpu-operator", "v26.7.0", "http://mirror.local:8080/nvidia")),
        ("oci://example.com/charts", ("oci://example.com/charts/gpu-operator", "v26.7.0", "")),
        ("oci://example.com:5000/charts/", ("oci://example.com:5000/charts/gpu-operator", "v26.7.0", "")),
        ("./charts", ("./charts/gpu-operator.tgz", "", "")),
        ("/srv/charts/", ("/srv/charts/gpu-operator.tgz", "", "")),
        (".local/charts", (".local/charts/gpu-operator.tgz", "", "")),
    ],
)
def test_helm_gets_the_shape_that_it_wants(tmp_path: Path, source: str, shape: tuple[str, str, str]) -> None:
    body = POOL + f"aks-dra:gpu: {{charts: {{operator: {{source: '{source}'}}}}}}"
    found = release(tmp_path, body)
    assert (found.chart, found.version, found.repository) == shape
    assert errors(tmp_path, body) == []


def test_an_oci_registry_is_the_charts_address_and_never_a_repository(tmp_path: Path) -> None:
    default = release(tmp_path, POOL, DRA)
    registry = "oci://registry.k8s.io/dra-driver-nvidia/charts"
    own = release(tmp_path, POOL + f"aks-dra:gpu: {{charts: {{draDriver: {{source: {registry}}}}}}}", DRA)
    for found in (default, own):
        assert (found.chart, found.repository) == (f"{registry}/dra-driver-nvidia-gpu", "")
    for given in ("repo: 'oci://x'", "chart: nvidia/gpu-operator", "repositoryOpts: {}"):
        body = f"aks-dra:gpu: {{charts: {{draDriver: {{{given}}}}}}}"
        assert [code for code, _ in errors(tmp_path, body)] == ["SET001"]


VERSIONS = [
    ("operator", '"26.7"', "CHT001"), ("operator", '"v26.7"', "CHT001"), ("operator", "v26.7.0", ""),
    ("operator", '"26.7.0"', "CHT002"), ("operator", "V26.7.0", "CHT001"), ("operator", '"v26"', "CHT001"),
    ("operator", '">=26.0.0"', "CHT001"), ("operator", '"^v26.7.0"', "CHT001"), ("operator", "v26.7.x", "CHT001"),
    ("operator", "latest", "CHT001"), ("operator", "'*'", "CHT001"), ("operator", "''", "CHT001"),
    ("operator", "v26.7.0-rc.1", ""), ("operator", "'v26.7.0 '", "CHT001"), ("operator", "26.7", "SET002"),
    ("draDriver", "0.5.0", ""), ("draDriver", "v0.5.0", "CHT002"), ("draDriver", '"0.5"', "CHT001"),
    ("draDriver", '"~0.5.0"', "CHT001"), ("devicePlugin", "0.20.0", ""), ("devicePlugin", "v0.20.0", "CHT002"),
]  # fmt: skip


@pytest.mark.parametrize(("chart", "version", "code"), VERSIONS)
def test_a_charts_version_is_exact_and_has_a_v_where_the_chart_has_one(
    tmp_path: Path, chart: str, version: str, code: str
) -> None:
    body = f"aks-dra:gpu: {{charts: {{{chart}: {{version: {version}}}}}}}"
    assert [found for found, _ in errors(tmp_path, body)] == ([code] if code else [])
    if code == "CHT002":
        right = only(tmp_path, body, code).remedy.removeprefix("write ")
        assert errors(tmp_path, body.replace(version, right)) == []


T4 = "{vmSize: Standard_NC4as_T4_v3}"


def test_a_registry_without_its_scheme_is_said(tmp_path: Path) -> None:
    body = "aks-dra:gpu: {charts: {draDriver: {source: %s}}}\naks-dra:pools: {p: " + T4 + "}\n"
    finding = only(tmp_path, body % "registry.k8s.io/dra-driver-nvidia/charts", "CHT014")
    assert (finding.severity, finding.remedy) == (
        "warning",
        "write oci://registry.k8s.io/dra-driver-nvidia/charts, or ./registry.k8s.io/dra-driver-nvidia/charts for a "
        "folder of this name",
    )
    for folder in (".local/charts", "charts", "./a.b/charts", "/srv/a.io/charts", "charts.1/x"):
        assert check(tmp_path, body % folder) == []


def test_a_charts_version_has_no_leading_zero(tmp_path: Path) -> None:
    body = "aks-dra:gpu: {charts: {operator: {version: v26.07.0}}}\n"
    assert errors(tmp_path, body) == [("CHT001", "aks-dra:gpu.charts.operator.version")]


FACTS = load_facts()
DRA_VALUES = "aks-dra:gpu.charts.draDriver.values"


def dra_driver(given: str, version: str = "") -> str:
    chosen = f"version: {version}, " if version else ""
    return f"aks-dra:gpu: {{charts: {{draDriver: {{{chosen}values: {given}}}}}}}"


CHART = FACTS.charts["dra-driver-nvidia-gpu"]
OLD = [version for version, row in CHART.versions.items() if "preferredControllerAffinity" not in row.features]
NEW = [version for version in CHART.versions if version not in OLD]


def test_the_table_has_both_kinds_of_charts() -> None:
    assert {"25.3.0", "25.8.1", "25.12.0"} <= set(OLD)
    assert NEW == ["0.4.0", "0.4.1", "0.5.0"]


@pytest.mark.parametrize("version", OLD)
def test_a_version_that_had_another_name_is_not_looked_for_where_it_is_not(tmp_path: Path, version: str) -> None:
    bare = POOL + f"aks-dra:gpu: {{charts: {{draDriver: {{version: {version}}}}}}}"
    assert ("CHT015", "aks-dra:gpu.charts.draDriver.version") in errors(tmp_path, bare)
    assert release(
        tmp_path, POOL + bare.split("\n")[1].replace("}}}", ", source: 'oci://example.com/charts'}}}"), DRA
    ).chart == ("oci://example.com/charts/nvidia-dra-driver-gpu")


@pytest.mark.parametrize(
    ("version", "name", "refused"),
    [
        ("0.4.0", "nvidia-dra-driver-gpu", True),
        ("0.4.0", "gpu-driver", False),
        ("0.4.1", "nvidia-dra-driver-gpu", False),
        ("0.5.0", "nvidia-dra-driver-gpu", False),
    ],
)
def test_the_old_name_of_the_chart_is_refused_where_it_renders_a_key_twice(
    tmp_path: Path, version: str, name: str, refused: bool
) -> None:
    expected = [("CHT011", f"{DRA_VALUES}.nameOverride")] if refused else []
    assert errors(tmp_path, POOL + dra_driver(f"{{nameOverride: {name}}}", version)) == expected
