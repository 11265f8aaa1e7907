"""Raw Azure inputs: handed on where nothing else says it, refused where Azure would drop them or they contradict."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.stacks import check, planned

T4 = "aks-dra:pools: {t4: {vmSize: Standard_NC4as_T4_v3, nodes: {count: 1}}}"


def cluster(rest: str) -> str:
    return f"aks-dra:cluster: {{access: {{azureRbac: true}}, {rest}}}\n{T4}\n"


def pool(rest: str) -> str:
    return f"aks-dra:pools: {{a100: {{vmSize: Standard_NC24ads_A100_v4, nodes: {{count: 2}}, {rest}}}}}\n"


def told(tmp_path: Path, body: str) -> list[tuple[str, str, str, str]]:
    return [(f.code, f.severity, f.path, f.remedy) for f in check(tmp_path, body)]


RAW_GOOD = {
    "autoUpgradeProfile: {upgradeChannel: patch, nodeOSUpgradeChannel: NodeImage}": "autoUpgradeProfile",
    'autoScalerProfile: {expander: least-waste, scan-interval: "20"}': "autoScalerProfile",
    "azureMonitorProfile: {metrics: {enabled: true}}": "azureMonitorProfile",
    "bootstrapProfile: {artifactSource: Direct}": "bootstrapProfile",
}


@pytest.mark.parametrize("given", RAW_GOOD)
def test_raw_inputs_without_a_setting_are_handed_on(tmp_path: Path, given: str) -> None:
    plan = planned(tmp_path, cluster(f"azureInputs: {{{given}}}"))
    assert plan.findings == ()
    assert RAW_GOOD[given] in plan.cluster.inputs


def test_raw_inputs_below_one_of_the_packages_are_merged(tmp_path: Path) -> None:
    raw = "azureInputs: {networkProfile: {loadBalancerProfile: {managedOutboundIPs: {count: 2}}}}"
    profile = planned(tmp_path, cluster(raw)).cluster.inputs["networkProfile"]
    assert profile["loadBalancerProfile"] == {"managedOutboundIPs": {"count": 2}}
    assert profile["networkPluginMode"] == "overlay"


@pytest.mark.parametrize(
    ("given", "code", "path", "words"),
    [
        ("autoUpgradProfile: {upgradeChannel: patch}", "AZR001", "autoUpgradProfile",
         "did you mean autoUpgradeProfile?"),
        ("autoUpgradeProfile: {channel: patch}", "AZR001", "autoUpgradeProfile.channel",
         "did you mean upgradeChannel?"),
        ("autoUpgradeProfile: {upgradeChannel: patched}", "AZR002", "autoUpgradeProfile.upgradeChannel",
         "did you mean patch?"),
        ("autoScalerProfile: {scan-interval: 20}", "AZR002", "autoScalerProfile.scan-interval", 'write "20"'),
        ('azureMonitorProfile: {metrics: {enabled: "true"}}', "AZR002", "azureMonitorProfile.metrics.enabled",
         "write true"),
        ("schedulerProfile: {upstream: {}}", "AZR001", "schedulerProfile", "remove it"),
        ("tags: {team: ml}", "AZR003", "tags", "write tags in aks-dra:cluster"),
        ("agentPoolProfiles: []", "AZR003", "agentPoolProfiles", "write systemPool in aks-dra:cluster"),
        ("networkProfile: {networkPlugin: kubenet}", "ACC004", "networkProfile.networkPlugin",
         "remove it here, and change the setting in aks-dra:cluster that it follows from"),
    ],
)  # fmt: skip
def test_raw_inputs_that_azure_would_drop_or_that_contradict(
    tmp_path: Path, given: str, code: str, path: str, words: str
) -> None:
    lines = told(tmp_path, cluster(f"azureInputs: {{{given}}}"))
    assert lines == [(code, "error", f"aks-dra:cluster.azureInputs.{path}", words)]


def test_a_contradiction_names_both_sides_and_the_packages_stays(tmp_path: Path) -> None:
    body = pool("azureInputs: {mode: System, scaleDownMode: Deallocate}")
    (finding,) = check(tmp_path, body)
    assert finding.message == "the package sets mode to 'User', and this says 'System'"
    inputs = planned(tmp_path, body).pools[0].inputs
    assert (inputs["mode"], inputs["scaleDownMode"]) == ("User", "Deallocate")


@pytest.mark.parametrize(
    ("given", "setting"),
    [
        ('nodeTaints: ["sku=gpu:NoSchedule"]', "taints"),
        ("scaleSetPriority: Spot", "spot"),
        ("gpuInstanceProfile: MIG1g", "sharing.layout"),
        ("tags: {team: ml}", "tags"),
        ("maxPods: 50", "maxPods"),
    ],
)
def test_raw_inputs_from_which_other_things_follow_have_settings(tmp_path: Path, given: str, setting: str) -> None:
    (line,) = told(tmp_path, pool(f"azureInputs: {{{given}}}"))
    assert (line[0], line[3]) == ("AZR003", f"write {setting} in aks-dra:pools.a100")
