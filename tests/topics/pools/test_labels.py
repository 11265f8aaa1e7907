"""Names, labels, taints, zones and versions of pools: what AKS takes, what it would undo, what is sent each time."""

from __future__ import annotations

from pathlib import Path

import pulumi
import pytest

from aks_dra.resources import DraClusterArgs
from tests.resources.hand_made import make_plan, whole_cluster
from tests.resources.stand_in import failing, kubelogin, run  # noqa: F401
from tests.stacks import check, planned


def pool(rest: str, name: str = "a100", size: str = "Standard_NC24ads_A100_v4") -> str:
    return f"aks-dra:pools: {{{name}: {{vmSize: {size}, {rest}}}}}\n"


def codes(tmp_path: Path, body: str) -> list[tuple[str, str]]:
    return [(finding.code, finding.severity) for finding in check(tmp_path, body)]


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("node-restriction.kubernetes.io/tier", [("LAB002", "error")]),
        ("kubernetes.io/tier", [("LAB002", "error")]),
        ("scheduling.k8s.io/tier", [("LAB002", "error")]),
        ("kubernetes.azure.com/tier", [("LAB002", "error")]),
        ("node.kubernetes.io/tier", []),
        ("kubelet.kubernetes.io/tier", []),
        ("example.com/tier", []),
        ("notkubernetes.io/tier", []),
        ("nvidia.com/mig.config", [("MIG019", "error")]),  # "a" is no layout
        ("nvidia.com/anything", []),
        ("nvidia.com/gpu.deploy.operands", []),
        ("nvidia.com/gpu.deploy.device-plugin", [("LAB004", "warning")]),
        ("feature.node.kubernetes.io/pci", [("LAB004", "warning")]),
        ("aks-dra.dev/allocation", [("LAB003", "error")]),
    ],
)
def test_label_keys(tmp_path: Path, label: str, expected: list[tuple[str, str]]) -> None:
    assert codes(tmp_path, pool(f"labels: {{{label}: a}}")) == expected


def test_a_mig_label_of_the_users_reaches_the_pool_where_the_package_sets_none(tmp_path: Path) -> None:
    labels = planned(tmp_path, pool("labels: {nvidia.com/mig.config: all-1g.10gb}")).pools[0].inputs["nodeLabels"]
    assert labels["nvidia.com/mig.config"] == "all-1g.10gb"


def test_a_spot_pool_sends_azures_label_and_taint_with_those_of_the_user(tmp_path: Path) -> None:
    spot = pool('spot: true, labels: {team: vision}, taints: ["sku=gpu:NoSchedule"]', "t4spot", "Standard_NC4as_T4_v3")
    inputs = planned(tmp_path, spot).pools[0].inputs
    assert inputs["nodeLabels"].items() >= {
        "team": "vision", "kubernetes.azure.com/scalesetpriority": "spot", "aks-dra.dev/allocation": "dra",
    }.items()  # fmt: skip
    assert inputs["nodeTaints"] == ["sku=gpu:NoSchedule", "kubernetes.azure.com/scalesetpriority=spot:NoSchedule"]
    own = '"kubernetes.azure.com/scalesetpriority=spot:NoSchedule"'
    twice = planned(tmp_path, pool(f"spot: true, taints: [{own}]", "t4spot", "Standard_NC4as_T4_v3"))
    assert twice.pools[0].inputs["nodeTaints"] == ["kubernetes.azure.com/scalesetpriority=spot:NoSchedule"]
    assert twice.findings == ()


def test_labels_and_taints_change_in_place_and_the_rest_as_azure_says(tmp_path: Path) -> None:
    before = planned(tmp_path, pool("labels: {team: a}")).pools[0]
    after = planned(tmp_path, pool('labels: {team: b}, taints: ["sku=gpu:NoSchedule"]')).pools[0]
    changed = {key for key in {**before.inputs, **after.inputs} if before.inputs.get(key) != after.inputs.get(key)}
    assert changed == {"nodeLabels", "nodeTaints"}
    assert changed.isdisjoint(after.replace_on_changes)
    engine, _ = run(whole_cluster())
    sent = list(engine.named("gpu-pool-a100-agent-pool").raw.replaceOnChanges)
    assert not {"nodeLabels", "nodeTaints"} & set(sent)


def test_zones_are_left_out_unless_they_are_asked_for(tmp_path: Path) -> None:
    assert "availabilityZones" not in planned(tmp_path, pool("maxPods: 50")).pools[0].inputs
    asked = planned(tmp_path, pool('zones: ["1", "2", "3"]'))
    assert [(f.code, f.severity) for f in asked.findings] == [("SIZ009", "warning")]
    assert asked.pools[0].inputs["availabilityZones"] == ["1", "2", "3"]


@pytest.mark.parametrize("name", ["GPU-Pool", "gpu-enabled", "1t4", "averyverylong1", "t4_a", "ünicode"])
def test_pool_names_that_azure_refuses_are_not_mended(tmp_path: Path, name: str) -> None:
    (finding,) = check(tmp_path, pool("maxPods: 50", name))
    assert (finding.code, finding.path, finding.value) == ("NAM001", f"aks-dra:pools.{name}", name)
    assert "1 to 12 lowercase letters and digits" in finding.message


def test_the_longest_pool_name_that_azure_takes(tmp_path: Path) -> None:
    plan = planned(tmp_path, pool("maxPods: 50", "t4inference1"))
    assert ([p.name for p in plan.pools], plan.findings) == (["t4inference1"], ())


def versions(cluster: str, own: str) -> str:
    return (
        f'aks-dra:cluster: {{kubernetesVersion: "{cluster}", access: {{azureRbac: true}}}}\n'
        f'aks-dra:pools: {{h100: {{vmSize: Standard_NC40ads_H100_v5, kubernetesVersion: "{own}"}}}}\n'
    )


@pytest.mark.parametrize(
    ("cluster", "own", "expected"),
    [
        ("1.34", "1.35", ["VER004"]),
        ("1.36", "1.36", []),
        ("1.37", "1.36", []),
    ],
)
def test_no_pool_is_newer_than_its_cluster(tmp_path: Path, cluster: str, own: str, expected: list[str]) -> None:
    lines = check(tmp_path, versions(cluster, own))
    assert [f.code for f in lines if f.code.startswith("VER")] == expected
    assert all(f.path == "aks-dra:pools.h100.kubernetesVersion" for f in lines if f.code == "VER004")


def test_pools_come_after_their_cluster() -> None:
    engine, _ = run(whole_cluster(make_plan()))
    for name in ("gpu-pool-a100-agent-pool", "gpu-pool-t4-agent-pool"):
        assert "gpu-cluster-aks" in engine.behind(engine.named(name))


@pytest.mark.parametrize(
    ("version", "code", "remedy"),
    [
        ("1.33", "VER002", 'write "1.36"'),
        ("1.34.0", "VER002", 'write "1.36"'),
        ("1.34.1", "VER002", 'write "1.36"'),
        ("v1.34", "VER001", 'write "1.34"'),
        ("1.34", "", ""),
        ("1.34.2", "", ""),
        ("1.36", "", ""),
    ],
)
def test_the_floor_is_one_of_patches_and_a_minor_is_its_latest(
    tmp_path: Path, version: str, code: str, remedy: str
) -> None:
    body = f'aks-dra:cluster: {{kubernetesVersion: "{version}", access: {{azureRbac: true}}}}\n'
    assert [(f.code, f.remedy) for f in check(tmp_path, body)] == ([(code, remedy)] if code else [])


OUTPUT = "Calling __str__ on an Output[T] is not supported."


@pytest.mark.parametrize(
    ("body", "code", "path"),
    [
        (f'aks-dra:pools: {{"{OUTPUT}": {{vmSize: Standard_NC4as_T4_v3}}}}', "NAM006", "aks-dra:pools"),
        (f'aks-dra:pools: {{t4: {{vmSize: Standard_NC4as_T4_v3, subnetId: "{OUTPUT}"}}}}', "NAM006",
         "aks-dra:pools.t4.subnetId"),
        (f'aks-dra:tags: {{owner: "{OUTPUT}"}}', "NAM006", "aks-dra:tags.owner"),
        (f'aks-dra:gpu: {{charts: {{source: "{OUTPUT}"}}}}', "NAM006", "aks-dra:gpu.charts.source"),
        (f'aks-dra:pools: {{t4: {{vmSize: Standard_NC4as_T4_v3, labels: {{team: "{OUTPUT}"}}}}}}', "LAB001",
         "aks-dra:pools.t4.labels.team"),
    ],
)  # fmt: skip
def test_the_text_of_an_output_is_found_wherever_it_stands(tmp_path: Path, body: str, code: str, path: str) -> None:
    assert (code, path) in {(finding.code, finding.path) for finding in check(tmp_path, body)}


@pytest.mark.parametrize("where", ["pools", "device_classes", "claims", "namespaces"])
def test_an_output_as_a_name_is_refused_before_anything_is_registered(where: str) -> None:
    text = failing(lambda: DraClusterArgs({where: {pulumi.Output.from_input("x"): {}}}))
    assert f"{where} (a key): is an Output. Names and settings are plain values" in text


@pytest.mark.parametrize(
    ("body", "path", "remedy"),
    [
        (pool("labels: {ready: true}"), "aks-dra:pools.a100.labels.ready", 'write "true"'),
        (pool("labels: {tier: 1}"), "aks-dra:pools.a100.labels.tier", 'write "1"'),
        (pool("labels: {release: 1.10}"), "aks-dra:pools.a100.labels.release", 'write "1.10"'),
        ("aks-dra:tags: {billed: false}\n", "aks-dra:tags.billed", 'write "false"'),
        ("aks-dra:namespaces: {ml: {labels: {gpu: true}}}\n", "aks-dra:namespaces.ml.labels.gpu", 'write "true"'),
        ("aks-dra:deviceClasses: {big: {require: {type: gpu}, labels: {gpu: true}}}\n",
         "aks-dra:deviceClasses.big.labels.gpu", 'write "true"'),
        ("aks-dra:gpu: {charts: {operator: {values: {operator: {nodeSelector: {gpu: true}}}}}}\n",
         "aks-dra:gpu.charts.operator.values.operator.nodeSelector.gpu", 'write "true"'),
        ("aks-dra:gpu: {charts: {draDriver: {values: {controller: {podAnnotations: {scrape: 1}}}}}}\n",
         "aks-dra:gpu.charts.draDriver.values.controller.podAnnotations.scrape", 'write "1"'),
    ],
)  # fmt: skip
def test_labels_that_yaml_reads_as_no_text_are_shown_in_quotes(
    tmp_path: Path, body: str, path: str, remedy: str
) -> None:
    lines = [(f.path, f.remedy) for f in check(tmp_path, body) if f.path == path]
    assert lines == [(path, remedy)]
