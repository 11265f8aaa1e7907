"""Requests in the forms that v1 has, and labels for admin access: another form is answered with the right one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.stacks import check, errors, planned

T4, A100, H100 = "Standard_NC4as_T4_v3", "Standard_NC24ads_A100_v4", "Standard_NC40ads_H100_v5"
POOL = f"aks-dra:pools: {{t4: {{vmSize: {T4}}}}}\n"


def raw(request: str) -> str:
    return POOL + f"aks-dra:claims: {{ml: {{one: {{raw: {{devices: {{requests: [{request}]}}}}}}}}}}"


@pytest.mark.parametrize(
    "request_text",
    ["{name: gpu, deviceClassName: t4}", "{name: gpu, deviceClassName: t4, count: 1, allocationMode: ExactCount}",
     "{name: gpu, deviceClassName: t4, selectors: [{cel: {expression: 'true'}}]}"],
)  # fmt: skip
def test_a_class_directly_on_the_request_is_refused_with_the_form_that_v1_takes(
    tmp_path: Path, request_text: str
) -> None:
    found = [f for f in check(tmp_path, raw(request_text)) if f.severity == "error"]
    assert len(found) == 1
    assert found[0].path.startswith("aks-dra:claims.ml.one.raw.devices.requests.0")
    assert "exactly" in found[0].remedy
    assert "deviceClassName: t4" in found[0].remedy


def test_exactly_and_first_available_exclude_each_other(tmp_path: Path) -> None:
    both = "{name: gpu, exactly: {deviceClassName: t4}, firstAvailable: [{name: a, deviceClassName: t4}]}"
    assert [path for _, path in errors(tmp_path, raw(both))] == ["aks-dra:claims.ml.one.raw.devices.requests.0"]
    neither = "{name: gpu}"
    assert errors(tmp_path, raw(neither)) != []
    typed = POOL + "aks-dra:claims: {ml: {one: {deviceClass: t4, firstAvailable: [{deviceClass: t4}]}}}"
    assert "CLM001" in {code for code, _ in errors(tmp_path, typed)}
    assert errors(tmp_path, raw("{name: gpu, exactly: {deviceClassName: t4}}")) == []


def test_the_package_itself_writes_exactly(tmp_path: Path) -> None:
    plan = planned(tmp_path, POOL + "aks-dra:claims: {ml: {one: {deviceClass: t4}}}")
    (claim,) = [o.manifest for o in plan.objects if o.kind == "ResourceClaimTemplate"]
    (request,) = claim["spec"]["spec"]["devices"]["requests"]
    assert request == {
        "name": "gpu", "exactly": {"deviceClassName": "t4", "allocationMode": "ExactCount", "count": 1},
    }  # fmt: skip


A100_POOL = "aks-dra:pools: {p: {vmSize: Standard_NC24ads_A100_v4, %s}}\n"


def test_ranked_alternatives_are_at_least_one(tmp_path: Path) -> None:
    body = A100_POOL % "" + "aks-dra:claims: {ml: {c: {raw: {devices: {requests: [{name: gpu, firstAvailable: []}]}}}}}"
    assert errors(tmp_path, body) == [("RAW006", "aks-dra:claims.ml.c.raw.devices.requests.0")]


@pytest.mark.parametrize(
    "key",
    [
        "resource.k8s.io/admin-access", "resource.kubernetes.io/adminAccess", "resource.kubernetes.io/admin_access",
        "kubernetes.io/admin-access", "admin-access", "Resource.kubernetes.io/admin-access", "adminaccess",
    ],
)  # fmt: skip
def test_a_misspelt_label_for_admin_access_is_refused(tmp_path: Path, key: str) -> None:
    body = f"aks-dra:namespaces: {{m: {{adminAccess: true, labels: {{{key}: 'true'}}}}}}"
    assert ("CLM015", f"aks-dra:namespaces.m.labels.{key}") in errors(tmp_path, body)


def test_other_labels_of_a_namespace_are_left_alone(tmp_path: Path) -> None:
    labels = "{resource.kubernetes.io/admin-access: 'true', team: admin, example.com/adminaccess: x}"
    assert check(tmp_path, f"aks-dra:namespaces: {{m: {{labels: {labels}}}}}") == []


def test_the_spec_of_a_claim_in_place_of_a_templates_is_told_from_it(tmp_path: Path) -> None:
    claim = "{devices: {requests: [{name: gpu, exactly: {deviceClassName: a100-80gb}}]}}"
    body = A100_POOL % "" + "aks-dra:claims: {ml: {c: {%s raw: {spec: %s}}}}"
    (found,) = check(tmp_path, body % ("", claim))
    assert (found.code, found.path) == ("RAW005", "aks-dra:claims.ml.c.raw.spec")
    assert found.remedy.startswith("write spec: {spec: {devices: …}}, or shareAcross: pods")
    assert check(tmp_path, body % ("shareAcross: pods,", claim)) == []
    assert check(tmp_path, body % ("", f"{{spec: {claim}}}")) == []


def one(size: str, sharing: str, allocation: str = "dra") -> str:
    return f"aks-dra:pools: {{p: {{vmSize: {size}, allocation: {allocation}, sharing: {sharing}}}}}\n"


@pytest.mark.parametrize("strategy", ["mps", "Mps", "timeSlicing", "timeslicing", "TIMESLICING"])
def test_a_strategy_in_raw_config_is_spelt_as_the_driver_reads_it(tmp_path: Path, strategy: str) -> None:
    parameters = f"{{apiVersion: resource.nvidia.com/v1beta1, kind: GpuConfig, sharing: {{strategy: {strategy}}}}}"
    body = one(T4, "{mode: exclusive}") + (
        f"aks-dra:deviceClasses: {{own: {{require: {{type: gpu}}, config: [{{parameters: {parameters}}}]}}}}"
    )
    found = [f for f in check(tmp_path, body) if f.severity == "error"]
    assert len(found) == 1
    assert found[0].path.startswith("aks-dra:deviceClasses.own.config.0.parameters.sharing.strategy")
    assert ("MPS" if "m" in strategy.lower()[:1] else "TimeSlicing") in found[0].remedy
