"""Lists and quotas of namespaces: what is refused, and what counts more than one may think."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.stacks import check
from tests.topics.tenants.bodies import FPGA, POOLS

CASES = [
    ("aks-dra:namespaces: {gpu-operator: {allow: [t4]}}", "TEN001", "aks-dra:namespaces.gpu-operator.allow", "remove"),
    ("aks-dra:namespaces: {kube-system: {allow: []}}", "TEN001", "aks-dra:namespaces.kube-system.allow", "remove"),
    (
        "aks-dra:testPool: {enabled: true}\naks-dra:namespaces: {gpu-test: {allow: [t4]}}",
        "TEN001",
        "aks-dra:namespaces.gpu-test.allow",
        "remove",
    ),
    (FPGA + "aks-dra:namespaces: {ml: {allow: [t4, fpga]}}", "TEN002", "aks-dra:namespaces.ml.allow.1", "remove it"),
    (
        "aks-dra:namespaces: {ml: {allow: [t4, h100-nv]}}",
        "TEN003",
        "aks-dra:namespaces.ml.allow.1",
        "did you mean h100-nvl? Where somebody else makes h100-nv, set aks-dra:deviceClasses.h100-nv: {driver: …, ",
    ),
    (
        "aks-dra:namespaces: {ml: {allow: [t4]}}\n"
        "aks-dra:claims: {ml: {a: {firstAvailable: [{deviceClass: t4}, {deviceClass: gpu.nvidia.com}]}}}",
        "TEN004",
        "aks-dra:claims.ml.a",
        "set aks-dra:namespaces.ml.allow: [gpu.nvidia.com, t4]",
    ),
    (
        "aks-dra:namespaces: {ml: {allow: [t4]}}\naks-dra:claims: {other: {a: {deviceClass: t4}}}",
        "TEN004",
        "aks-dra:claims.other.a",
        "set aks-dra:namespaces.other.allow: [t4]",
    ),
    ("aks-dra:namespaces: {ml: {quota: {t4: -1}}}", "TEN005", "aks-dra:namespaces.ml.quota.t4", "write 0"),
    (
        "aks-dra:namespaces: {ml: {quota: {t4: 0}}}\naks-dra:claims: {ml: {a: {deviceClass: t4}}}",
        "TEN006",
        "aks-dra:claims.ml.a",
        "set aks-dra:namespaces.ml.quota.t4: 1",
    ),
    (
        "aks-dra:namespaces: {ml: {quota: {t4: 1, h100-nvl: 1}}}\n"
        "aks-dra:claims: {ml: {a: {firstAvailable: [{deviceClass: h100-nvl}, {deviceClass: t4}]}}}",
        "TEN007",
        "aks-dra:claims.ml.a",
        "leave room for it in each of these quotas",
    ),
    (
        "aks-dra:namespaces: {ml: {quota: {t4: 1}}}\n"
        "aks-dra:claims: {ml: {a: {deviceClass: t4, shareAcross: pods}, b: {deviceClass: t4, shareAcross: pods}}}",
        "TEN008",
        "aks-dra:namespaces.ml.quota.t4",
        "write 2 or more",
    ),
    (
        "aks-dra:namespaces: {ml: {allow: [t4, gpu.nvidia.com, h100-nvl], quota: {t4: 2, h100-nvl: 1}}}",
        "TEN009",
        "aks-dra:namespaces.ml.quota",
        "set aks-dra:namespaces.ml.quota.gpu.nvidia.com as well (0 for none), or take it out of allow",
    ),
    ("aks-dra:testPool: {enabled: true, namespace: Gpu_Test}", "TST001", "aks-dra:testPool.namespace", "gpu-test"),
    ("aks-dra:testPool: {enabled: true, namespace: kube-system}", "TST002", "aks-dra:testPool.namespace", "gpu-test"),
    (
        "aks-dra:testPool: {enabled: true, smokeTest: {timeoutSeconds: 0}}",
        "TST003",
        "aks-dra:testPool.smokeTest.timeoutSeconds",
        "e.g. 900",
    ),
    ("aks-dra:testPool: {enabled: true, nodes: {count: 0}}", "TST004", "aks-dra:testPool.nodes", "enabled: false"),
    (
        "aks-dra:testPool: {enabled: true}\naks-dra:namespaces: {gpu-test-admin: {quota: {t4: 1}}}",
        "TST005",
        "aks-dra:namespaces.gpu-test-admin.quota",
        "remove the quota",
    ),
]


@pytest.mark.parametrize(("body", "code", "path", "remedy"), CASES, ids=[f"{c[1]}-{c[2]}" for c in CASES])
def test_findings(tmp_path: Path, body: str, code: str, path: str, remedy: str) -> None:
    findings = [f for f in check(tmp_path, POOLS + body) if f.code.startswith(("TEN", "TST"))]
    assert [(f.code, f.path, f.severity) for f in findings] == [
        (code, path, "warning" if code in ("TEN007", "TEN009") else "error")
    ]
    assert remedy in findings[0].remedy
    assert findings[0].source
    assert findings[0].line


def test_what_counts_more_than_one_may_think_is_said(tmp_path: Path) -> None:
    body = POOLS + (
        "aks-dra:namespaces: {ml: {quota: {t4: 1, h100-nvl: 8}}}\n"
        "aks-dra:claims:\n"
        "  ml:\n"
        "    ranked: {firstAvailable: [{deviceClass: h100-nvl}, {deviceClass: t4, count: 2}]}\n"
        "    every: {deviceClass: h100-nvl, all: true}\n"
    )
    said = {(f.code, f.path.rpartition(".")[2]): f.message for f in check(tmp_path, body) if f.code.startswith("TEN")}
    assert said[("TEN006", "ranked")] == (
        "such a claim counts 2 against the quota of t4, which is 1, so it is always refused, also while an earlier "
        "alternative is free: each alternative counts"
    )
    assert said[("TEN006", "every")] == (
        "such a claim counts 32 against the quota of h100-nvl, which is 8, so it is always refused: all devices count "
        "32, the most that a claim can hold"
    )
    assert said[("TEN007", "ranked")].endswith("also of those that it does not get: h100-nvl 1, t4 2")


def test_what_is_allowed_and_fits_says_nothing(tmp_path: Path) -> None:
    body = (
        POOLS
        + FPGA
        + (
            "aks-dra:testPool: {enabled: true}\n"
            "aks-dra:namespaces: {ml: {allow: [t4], quota: {t4: 2}}, watch: {adminAccess: true}}\n"
            "aks-dra:claims:\n"
            "  ml: {a: {deviceClass: t4, count: 1}, f: {deviceClass: fpga}}\n"
            "  watch: {w: {deviceClass: gpu.nvidia.com, adminAccess: true}}\n"
        )
    )
    assert [f for f in check(tmp_path, body) if f.code.startswith(("TEN", "TST"))] == []


SHARED = "aks-dra:pools: {t4: {vmSize: Standard_NC4as_T4_v3, sharing: {mode: timeSlicing}}}\n"


HOLES = [
    ("allow: [t4, t4-timesliced], quota: {t4: 2}", "the quota of t4 can be got round: t4-timesliced matches"),
    (
        "allow: [t4, gpu.nvidia.com, t4-timesliced, aks-dra-legacy-requests], quota: {t4: 2}",
        "the quota of t4 can be got round: gpu.nvidia.com, t4-timesliced, aks-dra-legacy-requests match devices of the "
        "same pools (t4), are allowed and without a quota",
    ),
    ("allow: [t4, t4-timesliced], quota: {t4: 2, t4-timesliced: 2}", ""),
    ("allow: [t4, mig.nvidia.com], quota: {t4: 2}", ""),
    ("allow: [t4, aks-dra-legacy-requests], quota: {t4: 2, aks-dra-legacy-requests: 1}", ""),
    ("allow: [t4, t4-timesliced]", ""),
    ("allow: [t4], quota: {gpu.nvidia.com: 0}", ""),
    ("allow: [t4-timesliced], quota: {t4: 2}", ""),
    ("quota: {t4: 2}", ""),
]


@pytest.mark.parametrize(("entry", "text"), HOLES)
def test_a_class_beside_a_quota_that_reaches_the_same_devices(tmp_path: Path, entry: str, text: str) -> None:
    body = SHARED + f"aks-dra:namespaces: {{ml: {{{entry}}}}}"
    said = [f.message for f in check(tmp_path, body) if f.code.startswith(("TEN", "CLM"))]
    assert len(said) == bool(text)
    assert all(message.startswith(text) for message in said)


def test_a_list_is_proposed_without_names_that_do_not_exist(tmp_path: Path) -> None:
    body = (
        POOLS
        + FPGA
        + ("aks-dra:namespaces: {ml: {allow: [t4, fpga, nothing]}}\naks-dra:claims: {ml: {a: {deviceClass: h100-nvl}}}")
    )
    [refused] = [f for f in check(tmp_path, body) if f.code == "TEN004"]
    assert refused.remedy == "set aks-dra:namespaces.ml.allow: [h100-nvl, t4]"
