"""Claims as Kubernetes writes them: what v1 takes is kept, what it does not is refused with what to write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from aks_dra.plan import plan
from aks_dra.settings.parse import settings_from_values
from tests.stacks import check, planned

RAW = "aks-dra:claims.ml.c.raw"


def said(tmp_path: Path, raw: str, beside: str = "") -> list[tuple[str, str, str]]:
    """(code, path, remedy) of every error."""
    body = f"""
aks-dra:pools: {{t4: {{vmSize: Standard_NC4as_T4_v3}}, a100: {{vmSize: Standard_NC24ads_A100_v4}}}}
aks-dra:claims: {{ml: {{c: {{raw: {raw}{beside}}}}}}}
"""
    return [(f.code, f.path, f.remedy) for f in check(tmp_path, body) if f.severity == "error"]


def request(text: str) -> str:
    return f"{{devices: {{requests: [{text}]}}}}"


@pytest.mark.parametrize(
    ("old", "right"),
    [
        ("{name: gpu, deviceClassName: t4}", {"name": "gpu", "exactly": {"deviceClassName": "t4"}}),
        (
            "{name: gpu, count: 1, allocationMode: ExactCount, deviceClassName: t4}",
            {"name": "gpu", "exactly": {"deviceClassName": "t4", "allocationMode": "ExactCount", "count": 1}},
        ),
        (
            "{deviceClassName: t4, name: gpu, selectors: [{cel: {expression: \"device.driver == 'gpu.nvidia.com'\"}}]}",
            {
                "name": "gpu",
                "exactly": {
                    "deviceClassName": "t4",
                    "selectors": [{"cel": {"expression": "device.driver == 'gpu.nvidia.com'"}}],
                },
            },
        ),
    ],
)
def test_the_shape_of_older_articles_is_rewritten(tmp_path: Path, old: str, right: dict[str, Any]) -> None:
    [(code, path, remedy)] = said(tmp_path, request(old))
    assert (code, path) == ("RAW001", f"{RAW}.devices.requests.0")
    assert yaml.safe_load(remedy.removeprefix("write ")) == right
    assert said(tmp_path, request(remedy.removeprefix("write "))) == []


def test_further_faults_of_the_old_shape_are_found_as_well(tmp_path: Path) -> None:
    raw = (
        "{apiVersion: resource.k8s.io/v1beta1, kind: ResourceClaimTemplate, "
        "spec: {spec: {devices: {requests: [{name: gpu, deviceClassName: t44, count: 40}]}}}}"
    )
    where = f"{RAW}.spec.spec.devices.requests.0"
    assert [(code, path) for code, path, _ in said(tmp_path, raw)] == [
        ("RAW002", f"{RAW}.apiVersion"),
        ("RAW001", where),
        ("CLM006", f"{where}.exactly.count"),
        ("CLM007", f"{where}.exactly.deviceClassName"),
    ]


FAULTS = [
    (request("{name: gpu, exactly: {deviceClassName: t4}, firstAvailable: []}"), "RAW006", "devices.requests.0",
     "keep"),
    (request("{name: gpu}"), "RAW006", "devices.requests.0", "exactly:"),
    (request("{name: gpu, exactly: {deviceClassName: t4}, count: 2}"), "RAW001", "devices.requests.0", "move them"),
    (request("{exactly: {deviceClassName: t4}}"), "RAW005", "devices.requests.0", "add name"),
    (request("{name: gpu, exactly: {}}"), "RAW005", "devices.requests.0.exactly", "add deviceClassName"),
    (request("{name: gpu, exactly: {deviceClass: t4}}"), "RAW005", "devices.requests.0.exactly.deviceClass",
     "did you mean deviceClassName?"),
    (request("{name: gpu, exactly: {deviceClassName: t4, count: '1'}}"), "RAW005", "devices.requests.0.exactly.count",
     "write 1, without quotes"),
    (request("{name: gpu, exactly: {deviceClassName: t4, adminAccess: 'true'}}"), "RAW005",
     "devices.requests.0.exactly.adminAccess", "write true, without quotes"),
    (request("{name: gpu, exactly: {deviceClassName: t4, selectors: [{cel: 'true'}]}}"), "RAW005",
     "devices.requests.0.exactly.selectors.0.cel", "write {expression: …}"),
    (request("{name: gpu, exactly: {deviceClassName: t4, selectors: [{cel: {}}]}}"), "RAW005",
     "devices.requests.0.exactly.selectors.0.cel", "write a selector as cel: {expression: …}"),
    (request("{name: gpu, exactly: {deviceClassName: t4, allocationMode: all}}"), "RAW005",
     "devices.requests.0.exactly.allocationMode", "All"),
    (request("{name: gpu, exactly: {deviceClassName: t4, capacity: {requests: {memory: 1}}}}"), "RAW005",
     "devices.requests.0.exactly.capacity.requests.memory", 'write "1"'),
    (request("{name: gpu, firstAvailable: [{name: a, deviceClassName: t4, adminAccess: true}]}"), "RAW005",
     "devices.requests.0.firstAvailable.0.adminAccess", "fields here"),
    (request("{name: a, exactly: {deviceClassName: t4}}, {name: a, exactly: {deviceClassName: t4}}"), "CLM020",
     "devices.requests.1", "rename one"),
    (request("x"), "RAW005", "devices.requests.0", "write {name: …, exactly: …, firstAvailable: …}"),
    ("{devices: {requests: {}}}", "RAW005", "devices.requests", "begin each entry"),
    ("{devices: []}", "RAW005", "devices", "write {requests: …, constraints: …, config: …}"),
    ("{device: {}}", "RAW005", "device", "did you mean devices?"),
    ("{kind: ResourceClaims, spec: {}}", "RAW003", "kind", "ResourceClaim, ResourceClaimTemplate"),
    ("{kind: ResourceClaim, status: {}, spec: {}}", "RAW005", "status", "remove it"),
    ("{kind: ResourceClaim, metadata: {uid: x}, spec: {}}", "RAW005", "metadata.uid", "remove it"),
    ("{kind: ResourceClaim, metadata: {name: d}, spec: {}}", "RAW004", "metadata.name", "remove name"),
    ("{apiVersion: resource.k8s.io/v1beta2, kind: ResourceClaim, spec: {}}", "RAW002", "apiVersion",
     "resource.k8s.io/v1"),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "code", "below", "remedy"), FAULTS, ids=[f"{f[1]}-{n}" for n, f in enumerate(FAULTS)])
def test_faults_of_shape(tmp_path: Path, raw: str, code: str, below: str, remedy: str) -> None:
    matching = [entry for entry in said(tmp_path, raw) if entry[:2] == (code, f"{RAW}.{below}")]
    assert len(matching) == 1, said(tmp_path, raw)
    assert remedy in matching[0][2]


def test_a_template_has_its_claim_one_level_below(tmp_path: Path) -> None:
    devices = request("{name: gpu, exactly: {deviceClassName: t4}}")
    right = "write spec: {spec: {devices: …}}"
    assert said(tmp_path, f"{{kind: ResourceClaimTemplate, spec: {devices}}}") == [("RAW005", f"{RAW}.spec", right)]
    assert said(tmp_path, f"{{spec: {devices}}}") == [
        ("RAW005", f"{RAW}.spec", f"{right}, or shareAcross: pods, which makes one ResourceClaim of it")
    ]
    assert said(tmp_path, f"{{kind: ResourceClaim, spec: {devices}}}") == []


def test_a_selector_without_an_expression_is_said_once(tmp_path: Path) -> None:
    raw = request("{name: gpu, exactly: {deviceClassName: t4, selectors: [{cel: {expression: ''}}]}}")
    where = f"{RAW}.devices.requests.0.exactly.selectors.0.cel"
    assert said(tmp_path, raw) == [("RAW005", where, "write a selector as cel: {expression: …}")]


def test_null_is_a_field_that_is_not_there(tmp_path: Path) -> None:
    """kubectl create --dry-run and kustomize write creationTimestamp: null."""
    ask = "{deviceClassName: t4, selectors: null, tolerations: null, count: null}"
    raw = (
        "{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {creationTimestamp: null, labels: null}, "
        f"status: null, spec: {{devices: {{requests: [{{name: gpu, exactly: {ask}}}], constraints: null}}}}}}"
    )
    assert said(tmp_path, raw) == []
    body = f"aks-dra:pools: {{t4: {{vmSize: Standard_NC4as_T4_v3}}}}\naks-dra:claims: {{ml: {{c: {{raw: {raw}}}}}}}"
    (claim,) = [entry.manifest for entry in planned(tmp_path, body).objects if entry.kind == "ResourceClaim"]
    exactly = {"deviceClassName": "t4", "allocationMode": "ExactCount", "count": 1}
    assert claim == {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "c", "namespace": "ml"},
        "spec": {"devices": {"requests": [{"name": "gpu", "exactly": exactly}]}},
    }


def test_a_claim_of_another_namespace_is_refused(tmp_path: Path) -> None:
    """Pods find claims of their own namespace only, so each namespace has its own."""
    raw = (
        "{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {namespace: other}, "
        "spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: t4}}]}}}"
    )
    assert said(tmp_path, raw) == [
        ("RAW004", f"{RAW}.metadata.namespace", "remove namespace, or move the claim to claims.other.c")
    ]


def test_the_kind_and_share_across_do_not_contradict_each_other(tmp_path: Path) -> None:
    raw = "{kind: ResourceClaim, spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: t4}}]}}}"
    assert said(tmp_path, raw, ", shareAcross: pods") == []
    [(code, path, _)] = said(tmp_path, raw, ", shareAcross: containers")
    assert (code, path) == ("RAW003", f"{RAW}.kind")


KEYS = st.sampled_from(
    ["apiVersion", "kind", "metadata", "spec", "devices", "requests", "name", "exactly", "firstAvailable", "count",
     "deviceClassName", "selectors", "cel", "expression", "allocationMode", "tolerations", "capacity", "constraints",
     "matchAttribute", "config", "opaque", "parameters", "sharing", "strategy", "driver", "x"]
)  # fmt: skip
SCALARS = st.sampled_from([None, True, 0, 33, 1.5, "", "t4", "gpu", "All", "ResourceClaim", "gpu.nvidia.com", "16Gi"])
ANYTHING = st.recursive(
    SCALARS, lambda held: st.lists(held, max_size=3) | st.dictionaries(KEYS, held, max_size=4), max_leaves=25
)
REQUEST = st.dictionaries(KEYS, ANYTHING, max_size=4)
DEVICES = st.fixed_dictionaries({}, optional={"requests": st.lists(REQUEST, max_size=3) | ANYTHING,
                                              "constraints": ANYTHING, "config": ANYTHING})  # fmt: skip


@given(st.fixed_dictionaries({"devices": DEVICES | ANYTHING}) | st.dictionaries(KEYS, ANYTHING, min_size=1, max_size=4))
@settings(max_examples=300, deadline=None)
def test_nothing_that_is_written_there_ends_in_a_traceback(raw: dict[str, Any]) -> None:
    values = {
        "cluster": {"access": {"azureRbac": True}},
        "pools": {"t4": {"vmSize": "Standard_NC4as_T4_v3"}},
        "claims": {"ml": {"c": {"raw": raw}}},
    }
    read, problems = settings_from_values(values)
    assert read is not None, problems
    planned = plan(read, project="p", stack="s", location="swedencentral")
    for finding in planned.findings:
        assert finding.path.startswith("aks-dra:")
        assert finding.remedy
        assert finding.message
    again = plan(read, project="p", stack="s", location="swedencentral")
    assert again.findings == planned.findings
