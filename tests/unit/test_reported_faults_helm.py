"""Faults that people met with Helm under Pulumi: addresses and versions of charts, nulls, and lists that replace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.stacks import DRA, OPERATOR, errors, only, planned, release, values

POOL = "aks-dra:pools: {t4: {vmSize: Standard_NC4as_T4_v3}}\n"
DRA_VALUES = "aks-dra:gpu.charts.draDriver.values"


def dra(given: str) -> str:
    return f"aks-dra:gpu: {{charts: {{draDriver: {{values: {given}}}}}}}"


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


# Nulls and lists


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ("{controller: {priorityClassName: null}}", "controller.priorityClassName"),
        ("{controller: ~}", "controller"),
        ("{webhook: {tolerations: null}}", "webhook.tolerations"),
        ("{controller: {tolerations: [{key: a, operator: Exists, effect: null}]}}", "controller.tolerations.0.effect"),
        ("{image: {tag: }}", "image.tag"),
    ],
)
def test_a_null_that_would_not_reach_helm_is_refused_with_its_path(tmp_path: Path, given: str, path: str) -> None:
    assert ("CHT010", f"{DRA_VALUES}.{path}") in errors(tmp_path, POOL + dra(given))


EXTRA: dict[str, Any] = {"key": "extra", "operator": "Exists"}
LISTS = [
    ("draDriver", "{kubeletPlugin: {tolerations: %s}}", DRA, ("kubeletPlugin", "tolerations")),
    ("operator", "{daemonsets: {tolerations: %s}}", OPERATOR, ("daemonsets", "tolerations")),
    ("operator", "{node-feature-discovery: {worker: {tolerations: %s}}}", OPERATOR,
     ("node-feature-discovery", "worker", "tolerations")),
]  # fmt: skip


@pytest.mark.parametrize(("chart", "given", "name", "keys"), LISTS, ids=[".".join(row[3]) for row in LISTS])
def test_one_more_toleration_is_added_to_those_that_are_needed(
    tmp_path: Path, chart: str, given: str, name: str, keys: tuple[str, ...]
) -> None:
    def tolerations(extra: str) -> list[dict[str, Any]]:
        found: Any = values(
            planned(tmp_path, POOL + f"aks-dra:gpu: {{charts: {{{chart}: {{values: {given % extra}}}}}}}"), name
        )
        for key in keys:
            found = found[key]
        return list(found)

    one = "[{key: extra, operator: Exists}]"
    before = tolerations("[]")
    assert {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"} in before
    assert tolerations(one) == [*before, EXTRA]
    assert errors(tmp_path, POOL + f"aks-dra:gpu: {{charts: {{{chart}: {{values: {given % one}}}}}}}") == []
    emptied = POOL + f"aks-dra:gpu: {{charts: {{{chart}: {{values: {given % '[]'}}}}}}}"
    assert [code for code, _ in errors(tmp_path, emptied)] == ["CHT005"]


def test_a_users_list_that_is_not_the_packages_is_passed_on_whole(tmp_path: Path) -> None:
    plan = planned(tmp_path, POOL + dra("{controller: {tolerations: [{key: extra, operator: Exists}]}}"))
    assert values(plan, DRA)["controller"]["tolerations"] == [EXTRA]
