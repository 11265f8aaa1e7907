"""What a change does to device classes, claims, namespaces and whoever names them."""

from __future__ import annotations

from pathlib import Path

from tests.stacks import changes, summary
from tests.topics.changes.bodies import CLUSTER, T4, TRAIN


def test_the_only_pool_of_a_class_that_claims_still_name(tmp_path: Path) -> None:
    objects = (
        "\naks-dra:deviceClasses: {a100-train: {require: {memory: '>=70Gi'}}}"
        "\naks-dra:claims: {ml: {big: {deviceClass: a100-train}, small: {deviceClass: t4}}}"
    )
    gone = "aks-dra:pools: {t4inf: {vmSize: Standard_NC4as_T4_v3}}"
    [found] = changes(tmp_path, TRAIN % "" + objects, gone + objects)
    assert (found.code, found.severity, found.path) == ("CHG008", "warning", "aks-dra:pools.train")
    assert found.message.endswith(
        "no other pool has devices for classes a100-80gb, a100-train, which the claim ml/big still names"
    )
    assert "write protect: false for train and run `pulumi up` once" in found.remedy
    assert "kubectl drain -l kubernetes.azure.com/agentpool=train" in found.remedy


def test_the_last_device_plugin_pool_goes(tmp_path: Path) -> None:
    two = "aks-dra:pools: {t4: {vmSize: Standard_NC4as_T4_v3}, old: {vmSize: Standard_NC4as_T4_v3, allocation: %s}}"
    found = changes(tmp_path, two % "devicePlugin", T4 % "")
    assert summary(found) == [
        ("CHG017", "warning", "aks-dra:pools"),
        ("CHG008", "warning", "aks-dra:pools.old"),
    ]
    assert found[0].message == (
        "the last device-plugin pool goes: pods that ask for nvidia.com/gpu are served by DRA from now on (class "
        "aks-dra-legacy-requests), with a whole GPU of any DRA pool that they tolerate"
    )
    below = CLUSTER.replace("1.36", "1.35") % ""
    [nobody] = [f for f in changes(tmp_path, below + two % "devicePlugin", below + T4 % "") if f.code == "CHG017"]
    assert "nobody serves nvidia.com/gpu any more" in nobody.message


def test_requests_for_gpus_come_under_the_lists(tmp_path: Path) -> None:
    two = "aks-dra:pools: {t4: {vmSize: Standard_NC4as_T4_v3}, old: {vmSize: Standard_NC4as_T4_v3, allocation: %s}}"

    def said(spaces: str) -> list[str]:
        spaces = f"\naks-dra:namespaces: {{{spaces}}}"
        found = changes(tmp_path, two % "devicePlugin" + spaces, T4 % "" + spaces)
        return [f.message for f in found if f.code == "CHG031"]

    [message] = said("ml: {allow: [t4]}, web: {}, old: {allow: [aks-dra-legacy-requests]}, kube-public: {}")
    assert "are refused in namespaces ml, web, and in all that this file does not name" in message
    assert said("ml: {}") == []
    assert said("ml: {allow: [t4, aks-dra-legacy-requests]}") == []


def test_a_class_that_is_renamed_lists_who_names_it(tmp_path: Path) -> None:
    text = (
        T4 % ""
        + "\naks-dra:deviceClasses: {%s: {require: {type: gpu}}}\naks-dra:claims: {ml: {one: {deviceClass: %s}}}"
    )
    found = changes(tmp_path, text % ("small", "small"), text % ("mig-small", "mig-small"))
    [renamed] = [f for f in found if f.code == "CHG018"]
    assert renamed.path == "aks-dra:deviceClasses.small"
    assert renamed.message.startswith("class small becomes mig-small: ")
    assert renamed.message.endswith("in this stack ml/one")
    assert "keep small beside mig-small until no claim names it" in renamed.remedy


def test_claims_that_go_are_renamed_or_become_another_object(tmp_path: Path) -> None:
    before = (
        T4 % ""
        + "\naks-dra:claims: {ml: {gone: {deviceClass: t4, count: 1}, kept: {deviceClass: t4}, x: {deviceClass: t4}}}"
    )
    after = T4 % "" + "\naks-dra:claims: {ml: {kept: {deviceClass: t4}, x: {deviceClass: t4, shareAcross: pods}}}"
    assert summary(changes(tmp_path, before, after)) == [
        ("CHG019", "warning", "aks-dra:claims.ml.gone"),
        ("CHG020", "warning", "aks-dra:claims.ml.x.shareAcross"),
    ]
    named = T4 % "" + "\naks-dra:claims: {ml: {%s: {deviceClass: t4, shareAcross: pods}}}"
    [renamed] = changes(tmp_path, named % "one", named % "other")
    assert renamed.message.startswith("claim ml/one becomes ml/other: ")
    [fixed] = changes(tmp_path, named % "one", named.replace("pods", 'pods, cel: ["true"]') % "one")
    assert (fixed.code, fixed.path) == ("CHG020", "aks-dra:claims.ml.one")


def test_a_namespace_that_leaves_stays_in_the_cluster(tmp_path: Path) -> None:
    found = changes(tmp_path, T4 % "" + "\naks-dra:namespaces: {ml: {}}", T4 % "")
    assert summary(found) == [("CHG021", "warning", "aks-dra:namespaces.ml")]
    others = "\naks-dra:namespaces: {ml: {create: false, labels: {team: a}}}"
    assert changes(tmp_path, T4 % "" + others, T4 % "") == []
