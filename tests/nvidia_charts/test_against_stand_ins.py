"""NVIDIA's own charts, as the user brings them, beside what this package knows and simulates of them.

`make test-nvidia-charts` runs it on the folder in AKS_DRA_NVIDIA_CHARTS. Helm's library renders both, with the values
that plans of many kinds come to. NVIDIA's must accept them, and whatever the stand-in has must be in NVIDIA's too: the
simulation rests on nothing else.
"""

from __future__ import annotations

import os
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from aks_dra.stack_plan import plan_file
from local.charts import schema
from local.charts.pack import CHARTS, pack
from local.stack.engine import NVIDIA_CHARTS
from tests.oracle.test_charts_refused import REFUSALS
from tests.stacks import stack
from tests.tools.helm import Rendered, render

ROOT = Path(__file__).resolve().parents[2]
T4, A100, H100 = "Standard_NC4as_T4_v3", "Standard_NC24ads_A100_v4", "Standard_NC40ads_H100_v5"
OLD = f"old: {{vmSize: {T4}, allocation: devicePlugin, sharing: {{mode: timeSlicing, replicas: 4}}}}"
BODIES = {
    "dra": f"aks-dra:pools: {{t4: {{vmSize: {T4}}}}}",
    "device plugin alone": f"aks-dra:pools: {{{OLD}}}",
    "both": f"aks-dra:pools: {{t4: {{vmSize: {T4}}}, {OLD}}}",
    "mig": f"aks-dra:pools: {{h100: {{vmSize: {H100}, sharing: {{mode: mig, layout: all-1g.12gb}}}}}}",
    "own layout": f"aks-dra:pools: {{a100: {{vmSize: {A100}, sharing: {{mode: mig, layout: "
    "[{devices: all, profiles: {3g.40gb: 1, 2g.20gb: 1}}]}}}",
    "mig by the device plugin": f"aks-dra:pools: {{a100: {{vmSize: {A100}, allocation: devicePlugin, "
    "sharing: {mode: mig, layout: all-balanced}}}",
    "dynamic mig": f"aks-dra:pools: {{h100: {{vmSize: {H100}, sharing: {{mode: dynamicMig}}}}}}",
    "time slices": f"aks-dra:pools: {{t4: {{vmSize: {T4}, sharing: {{mode: timeSlicing, interval: Short}}}}}}",
    "mps": f"aks-dra:pools: {{t4: {{vmSize: {T4}, sharing: {{mode: mps, activeThreadPercentage: 50}}}}, "
    f"old: {{vmSize: {T4}, allocation: devicePlugin, sharing: {{mode: mps, replicas: 2}}}}}}",
    "driver of aks": f"aks-dra:gpu: {{driver: aks}}\naks-dra:pools: {{t4: {{vmSize: {T4}}}, {OLD}}}",
    "operator stack": f"aks-dra:gpu: {{draStack: operator}}\naks-dra:pools: {{t4: {{vmSize: {T4}}}}}",
    "taints": f'aks-dra:pools: {{t4: {{vmSize: {T4}, taints: ["sku=gpu:NoSchedule", "team=ml:NoExecute"]}}, {OLD}}}',
    "own nfd": f"aks-dra:gpu: {{existingNfd: true}}\naks-dra:pools: {{t4: {{vmSize: {T4}}}}}",
    "mirror": "aks-dra:gpu: {images: {registry: mirror.example.com, pullSecrets: [pull]}}\n"
    f"aks-dra:pools: {{t4: {{vmSize: {T4}}}, {OLD}}}",
}


@pytest.fixture(scope="module")
def nvidia() -> dict[str, Path]:
    folder = Path(os.environ[NVIDIA_CHARTS])
    return {chart: folder / f"{chart}.tgz" for chart in CHARTS}


@pytest.fixture(scope="module")
def stand_ins(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return pack(tmp_path_factory.mktemp("charts"))


STACKS: list[Path | str] = [*sorted((ROOT / "stacks").glob("Pulumi.*.yaml")), *BODIES]


@pytest.mark.parametrize("which", STACKS, ids=[item if isinstance(item, str) else item.name for item in STACKS])
def test_nvidias_charts_take_the_values_and_make_what_the_stand_ins_make(
    nvidia: dict[str, Path], stand_ins: dict[str, Path], tmp_path: Path, which: Path | str
) -> None:
    planned, findings = plan_file(which if isinstance(which, Path) else stack(tmp_path, BODIES[which]))
    assert planned is not None, findings
    assert planned.errors == ()
    missing = {}
    for release in planned.releases:
        chart = release.chart.rpartition("/")[2].removesuffix(".tgz")
        where = {"name": release.name, "namespace": release.namespace}
        real, ours = (render(charts[chart], release.values, **where) for charts in (nvidia, stand_ins))
        assert (real.error, ours.error) == ("", "")
        missing[release.name] = [*absent(ours, real)]
    assert missing == {name: [] for name in missing}


@pytest.mark.parametrize(("chart", "values", "where", "text"), REFUSALS, ids=[row[3][:60] for row in REFUSALS])
def test_nvidias_charts_refuse_what_the_stand_ins_refuse(
    nvidia: dict[str, Path], chart: str, values: dict[str, Any], where: dict[str, Any], text: str
) -> None:
    rendered = render(nvidia[chart], values, **where)
    assert rendered.error != ""
    assert rendered.manifests == []


@pytest.mark.parametrize("chart", CHARTS)
def test_the_table_of_values_is_the_charts_own(nvidia: dict[str, Path], chart: str) -> None:
    with tarfile.open(nvidia[chart]) as tar:
        found = tar.extractfile(f"{chart}/values.yaml")
        assert found is not None
        values = yaml.safe_load(found.read())
    known = schema.defaults(chart)
    assert {*flat(known)} == {*flat(values)}


def flat(tree: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(tree, dict) and tree:
        for key, value in tree.items():
            yield from flat(value, (*path, str(key)))
    else:
        yield path, repr(tree)


def absent(ours: Rendered, real: Rendered) -> Iterator[str]:
    """What the stand-in's objects have and NVIDIA's have not."""
    of = {(item["kind"], item["metadata"]["name"]): item for item in real.manifests}
    for item in ours.manifests:
        where = f"{item['kind']}/{item['metadata']['name']}"
        twin = of.get((item["kind"], item["metadata"]["name"]))
        if twin is None:
            yield where
        else:
            yield from lacking(item, twin, where)


NOTHING: tuple[Any, ...] = ({}, [], "", None, False)
"""What a template may write or leave out: both say nothing."""


def lacking(ours: Any, real: Any, where: str) -> Iterator[str]:
    """Maps are compared key by key, lists of named things by name, everything else whole.

    A stand-in's version has a hash behind it, so the label with the chart's version differs.
    """
    if isinstance(ours, dict) and (isinstance(real, dict) or real is None):
        for key, value in ours.items():
            if key != "helm.sh/chart":
                yield from lacking(value, (real or {}).get(key), f"{where}.{key}")
    elif isinstance(ours, list) and ours and all(isinstance(item, dict) and "name" in item for item in ours):
        named = {item.get("name"): item for item in real or []}
        for item in ours:
            yield from lacking(item, named.get(item["name"]), f"{where}[{item['name']}]")
    elif ours != real and not (ours in NOTHING and real in NOTHING):
        yield f"{where}: {ours!r} here, {real!r} there"
