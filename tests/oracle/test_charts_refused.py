"""What the stand-in charts refuse, in full, and their schema against the check that planning makes."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

from aks_dra.topics.charts.values import check_values
from local.charts import schema
from local.charts.pack import CHARTS, pack
from tests.tools.helm import Rendered, render

OVERRIDE: dict[str, Any] = {"gpuResourcesEnabledOverride": True}
DRA, OPERATOR, PLUGIN = "dra-driver-nvidia-gpu", "gpu-operator", "nvidia-device-plugin"


@pytest.fixture(scope="module")
def charts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return pack(tmp_path_factory.mktemp("charts"))


def refusal(rendered: Rendered) -> str:
    """The chart's own words, without Helm's frame around them."""
    assert rendered.manifests == []
    return re.sub(r"^execution error at \(.+?\): ", "", rendered.error)


BOTH_PLUGINS = (
    "resources.gpus.enabled is true: this driver cannot be deployed alongside the GPU device plugin on one node. "
    "Where no node has both, say so with gpuResourcesEnabledOverride=true"
)
NO_DRA = (
    "the cluster serves no version of resource.k8s.io that this chart knows (v1, v1beta2, v1beta1): "
    "it has no Dynamic Resource Allocation, or set resourceApiVersion"
)
DEFAULT_NAMESPACE = 'the release is in the namespace "default": name another one, or set allowDefaultNamespace=true'
ISSUER = {"mode": "cert-manager", "certManager": {"issuerType": "issuer"}}
GPU_CLUSTER = {"clusterPolicy": {"deployCR": False}, "gpuCluster": {"deployCR": True}}
REFUSALS: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    (DRA, {}, {}, BOTH_PLUGINS),
    (DRA, OVERRIDE, {"apis": ()}, NO_DRA),
    (DRA, OVERRIDE, {"namespace": "default"}, DEFAULT_NAMESPACE),
    (
        DRA,
        {**OVERRIDE, "resources": {"computeDomains": {"imex": {"mode": "hostManaged"}}}},
        {},
        "resources.computeDomains.imex.mode is hostManaged: that needs featureGates.HostManagedIMEXDaemon=true",
    ),
    (
        DRA,
        {**OVERRIDE, "resources": {"computeDomains": {"imex": {"mode": "none"}}}},
        {},
        'resources.computeDomains.imex.mode is "none": write driverManaged or hostManaged',
    ),
    (
        DRA,
        {**OVERRIDE, "resources": {"computeDomains": {"imex": {"isolation": "channel"}}}},
        {},
        'resources.computeDomains.imex.isolation is "channel": only domain is implemented',
    ),
    (
        DRA,
        {**OVERRIDE, "webhook": {"enabled": True, "tls": {"mode": "none"}}},
        {},
        'webhook.tls.mode is "none": write cert-manager or secret',
    ),
    (
        DRA,
        {**OVERRIDE, "webhook": {"enabled": True, "tls": {"mode": "secret"}}},
        {},
        "webhook.tls.mode is secret, but webhook.tls.secret.name is empty",
    ),
    (
        DRA,
        {**OVERRIDE, "webhook": {"enabled": True, "tls": ISSUER}},
        {},
        "webhook.tls.certManager.issuerType is issuer, but webhook.tls.certManager.issuerName is empty",
    ),
    (
        OPERATOR,
        {"gpuCluster": {"deployCR": True}},
        {},
        "clusterPolicy.deployCR and gpuCluster.deployCR are both true, but a cluster has only one of the two: "
        "set one of them to false",
    ),
    (
        OPERATOR,
        GPU_CLUSTER,
        {},
        "gpuCluster.deployCR is true and the operator installs the driver: "
        "set driver.nvidiaDriverCRD.enabled=true, or driver.enabled=false",
    ),
    (
        OPERATOR,
        {**GPU_CLUSTER, "driver": {"enabled": False}},
        {"apis": ()},
        "gpuCluster.deployCR is true, but this cluster serves no DeviceClass of resource.k8s.io",
    ),
    (
        OPERATOR,
        {"devicePlugin": {"config": {"create": True, "name": "x"}}},
        {},
        "devicePlugin.config.create is true, but devicePlugin.config.data is empty",
    ),
    (
        OPERATOR,
        {"devicePlugin": {"config": {"create": True, "data": {"a": "version: v1"}}}},
        {},
        "devicePlugin.config.create is true, but devicePlugin.config.name is empty",
    ),
    (
        OPERATOR,
        {"cdi": {"nriPluginEnabled": True}, "toolkit": {"enabled": False}},
        {},
        "cdi.nriPluginEnabled needs toolkit.enabled=true",
    ),
    (PLUGIN, {}, {"namespace": "default"}, DEFAULT_NAMESPACE),
    (
        PLUGIN,
        {"config": {"name": "a", "map": {"b": "version: v1"}}},
        {},
        "config.name and config.map are both set: name a ConfigMap that exists, or have this chart make one, not both",
    ),
    (
        PLUGIN,
        {"config": {"map": {"a": "version: v1", "b": "version: v1"}}},
        {},
        'config.map has 2 configs and none of them is the default: set config.default, or name one of them "default"',
    ),
]


@pytest.mark.parametrize(("chart", "values", "where", "text"), REFUSALS, ids=[row[3][:60] for row in REFUSALS])
def test_a_refusal_names_the_value_and_what_to_set(
    charts: dict[str, Path], chart: str, values: dict[str, Any], where: dict[str, Any], text: str
) -> None:
    assert refusal(render(charts[chart], values, **where)) == text


SCHEMA = "values don't meet the specifications of the schema(s) in the following chart(s):\n{chart}:\n{text}\n"
SCHEMA_REFUSALS: list[tuple[dict[str, Any], str]] = [
    (
        {"resources-computeDomains": {"enabled": False}},
        "- at '': additional properties 'resources-computeDomains' not allowed",
    ),
    ({"gpuResourcesEnabledOverride": "true"}, "- at '/gpuResourcesEnabledOverride': got string, want null or boolean"),
    ({"webhook": None}, "- at '': missing property 'webhook'"),
]


@pytest.mark.parametrize(("values", "text"), SCHEMA_REFUSALS, ids=[row[1] for row in SCHEMA_REFUSALS])
def test_the_schema_refuses_what_nvidias_chart_would_pass_over(
    charts: dict[str, Path], values: dict[str, Any], text: str
) -> None:
    rendered = render(charts[DRA], {**OVERRIDE, **values})
    assert rendered.error.strip() == SCHEMA.format(chart=DRA, text=text).strip()


def mutated(rng: random.Random, tree: dict[str, Any]) -> dict[str, Any]:
    """One value somewhere in the defaults, kept, changed in type, taken away or misspelt."""
    key = rng.choice([key for key in tree if not key.startswith("resources")] or list(tree))
    value = tree[key]
    if isinstance(value, dict) and value and rng.random() < 0.8:
        return {key: mutated(rng, value)}
    other = rng.choice([True, "true", "x", 7, 1.5, [], [1], {"a": "b"}, None, value])
    return {rng.choice([key, key, key, key + "s"]): other}


@pytest.mark.parametrize("chart", CHARTS)
def test_the_schema_and_the_planners_check_refuse_the_same_values(charts: dict[str, Path], chart: str) -> None:
    """Two readings of the same tables; their only difference would be a mistake in one of them."""
    rng = random.Random(chart)  # seeded by a text: the same values on every machine
    table = json.loads((schema.folder() / f"{chart}.json").read_text())
    for _ in range(80):
        values = mutated(rng, schema.defaults(chart))
        errors = [problem for problem in check_values(chart, values, table) if problem.severity == "error"]
        error = render(charts[chart], {**OVERRIDE, **values} if chart == DRA else values).error
        assert bool(errors) == ("schema(s)" in error), (values, errors, error)
