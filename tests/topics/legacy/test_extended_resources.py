"""Pods that ask for nvidia.com/gpu or nvidia.com/mig-… and are served by DRA: which class carries which name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aks_dra.model.plan import Plan
from aks_dra.report import as_document
from tests.stacks import check, planned

H100 = "h100: {vmSize: Standard_NC40ads_H100_v5, sharing: {mode: mig, layout: all-1g.12gb}}"
A100 = (
    "a100: {vmSize: Standard_NC24ads_A100_v4, sharing: {mode: mig, layout: [{profiles: {1g.10gb+me: 1, 3g.40gb: 1}}]}}"
)
T4 = "t4: {vmSize: Standard_NC4as_T4_v3}"
PLUGIN = "old: {vmSize: Standard_NC4as_T4_v3, allocation: devicePlugin}"
MIXED = (
    "cut: {vmSize: Standard_NC40ads_H100_v5, allocation: devicePlugin, "
    "sharing: {mode: mig, layout: all-1g.12gb, strategy: mixed}}"
)


def body(*pools: str, gpu: str = "", classes: str = "", version: str = "1.36") -> str:
    lines = [
        f'aks-dra:cluster: {{kubernetesVersion: "{version}", access: {{azureRbac: true}}}}',
        f"aks-dra:pools: {{{', '.join(pools)}}}",
    ]
    lines += [f"aks-dra:gpu: {gpu}"] if gpu else []
    lines += [f"aks-dra:deviceClasses: {classes}"] if classes else []
    return "\n".join(lines)


def said(tmp_path: Path, text: str) -> list[tuple[str, str, str]]:
    listed = check(tmp_path, text)
    return [(f.severity, f.code, f.path) for f in listed if f.code not in ("ALL006", "ALL007")]


def named(plan: Plan) -> dict[str, str]:
    """Class to extendedResourceName in the manifests."""
    specs = {
        entry.manifest["metadata"]["name"]: entry.manifest["spec"]
        for entry in plan.objects
        if entry.kind == "DeviceClass"
    }
    return {name: spec["extendedResourceName"] for name, spec in specs.items() if "extendedResourceName" in spec}


def manifest(plan: Plan, name: str) -> dict[str, Any]:
    [found_one] = [dict(entry.manifest) for entry in plan.objects if entry.key == f"deviceclass-{name}"]
    return found_one


def test_every_mig_class_of_the_package_carries_the_device_plugins_name(tmp_path: Path) -> None:
    plan = planned(tmp_path, body(H100, A100, T4, gpu="{extendedResources: true}"))
    assert plan.errors == ()
    assert named(plan) == {
        "a100-80gb-1g.10gb.me": "nvidia.com/mig-1g.10gb.me",
        "a100-80gb-3g.40gb": "nvidia.com/mig-3g.40gb",
        "aks-dra-legacy-requests": "nvidia.com/gpu",
        "h100-nvl-1g.12gb": "nvidia.com/mig-1g.12gb",
    }
    spec = manifest(plan, "a100-80gb-1g.10gb.me")["spec"]
    assert "profile == '1g.10gb+me'" in spec["selectors"][0]["cel"]["expression"]
    classes = {entry["name"]: entry["extendedResource"] for entry in as_document(plan)["deviceClasses"]}
    assert (classes["h100-nvl-1g.12gb"], classes["t4"]) == ("nvidia.com/mig-1g.12gb", None)


def test_nothing_is_named_without_being_asked(tmp_path: Path) -> None:
    assert named(planned(tmp_path, body(H100, T4))) == {"aks-dra-legacy-requests": "nvidia.com/gpu"}
    assert named(planned(tmp_path, body(H100, T4, version="1.35"))) == {}


def test_single_classes_by_name(tmp_path: Path) -> None:
    gpu = "{extendedResources: {h100-nvl-1g.12gb: example.com/slice, t4: nvidia.com/t4}}"
    plan = planned(tmp_path, body(H100, T4, gpu=gpu))
    assert plan.errors == ()
    assert named(plan) == {
        "aks-dra-legacy-requests": "nvidia.com/gpu",
        "h100-nvl-1g.12gb": "example.com/slice",
        "t4": "nvidia.com/t4",
    }


def test_a_class_of_the_users(tmp_path: Path) -> None:
    classes = "{any: {require: {type: gpu}, extendedResourceName: example.com/gpu}}"
    plan = planned(tmp_path, body(T4, classes=classes))
    assert plan.errors == ()
    assert manifest(plan, "any") == {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": "any"},
        "spec": {
            "selectors": [
                {
                    "cel": {
                        "expression": "device.driver == 'gpu.nvidia.com' && 'type' in "
                        "device.attributes['gpu.nvidia.com'] && device.attributes['gpu.nvidia.com'].type == 'gpu'"
                    }
                }
            ],
            "extendedResourceName": "example.com/gpu",
        },
    }


def test_a_class_of_the_users_for_nvidia_com_gpu_and_the_packages_own_say_the_same(tmp_path: Path) -> None:
    """Whichever of the two is newer, the same devices are handed out."""
    classes = "{only-t4: {require: {product: T4, type: gpu}, extendedResourceName: nvidia.com/gpu}}"
    plan = planned(tmp_path, body(H100, T4, classes=classes))
    assert plan.errors == ()
    assert manifest(plan, "aks-dra-legacy-requests")["spec"] == manifest(plan, "only-t4")["spec"]


LEGACY = [
    ((T4,), "{}", True),
    ((T4, PLUGIN), "{}", False),
    ((T4, PLUGIN), "{legacyRequests: dra}", True),
]


@pytest.mark.parametrize(("pools", "gpu", "served"), LEGACY)
def test_one_class_decides_who_serves_nvidia_com_gpu(
    tmp_path: Path, pools: tuple[str, ...], gpu: str, served: bool
) -> None:
    plan = planned(tmp_path, body(*pools, gpu=gpu))
    expression = "device.driver == 'gpu.nvidia.com' && device.attributes['gpu.nvidia.com'].type == 'gpu'"
    assert manifest(plan, "aks-dra-legacy-requests") == {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": "aks-dra-legacy-requests"},
        "spec": {
            "selectors": [{"cel": {"expression": expression if served else "false"}}],
            "extendedResourceName": "nvidia.com/gpu",
        },
    }


SETTING = "aks-dra:gpu.extendedResources"
CLASS = "aks-dra:deviceClasses.c.extendedResourceName"


def of_class(name: str) -> str:
    return body(T4, classes=f"{{c: {{require: {{type: gpu}}, extendedResourceName: {name}}}}}")


FINDINGS = [
    (body(H100, gpu="{extendedResources: true}", version="1.35"), [("error", "ALL003", SETTING)]),
    (body(T4, classes="{c: {require: {type: gpu}, extendedResourceName: a.example.com/b}}", version="1.34"),
     [("error", "ALL003", CLASS)]),
    (of_class("nvidia.com/mig-1g.10gb+me"), [("error", "ALL004", CLASS)]),
    (of_class("gpu"), [("error", "EXT001", CLASS)]),
    (of_class("kubernetes.io/gpu"), [("error", "EXT001", CLASS)]),
    (of_class("gpu.kubernetes.io/gpu"), [("error", "EXT001", CLASS)]),
    (of_class("requests.example.com/gpu"), [("error", "EXT001", CLASS)]),
    (of_class("deviceclass.resource.kubernetes.io/t4"), [("error", "EXT001", CLASS)]),
    (of_class("example.com/" + "x" * 64), [("error", "EXT001", CLASS)]),
    (of_class("example.com/" + "x" * 63), []),
    (of_class("Example.com/gpu"), [("error", "EXT001", CLASS)]),
    (body(T4, classes="{a: {require: {type: gpu}, extendedResourceName: a.example.com/b}, "
                      "c: {require: {type: gpu}, extendedResourceName: a.example.com/b}}"),
     [("error", "ALL005", CLASS)]),
    # Two kinds of GPU have the profile, so the device plugin's one name would be two classes.
    (body("a: {vmSize: Standard_ND96amsr_A100_v4, sharing: {mode: mig, layout: all-1g.10gb}}",
          "h: {vmSize: Standard_ND96isr_H100_v5, sharing: {mode: mig, layout: all-1g.10gb}}",
          gpu="{extendedResources: true}"), [("error", "ALL005", SETTING)]),
    (body("a: {vmSize: Standard_ND96amsr_A100_v4, sharing: {mode: mig, layout: all-1g.10gb}}",
          "h: {vmSize: Standard_ND96isr_H100_v5, sharing: {mode: mig, layout: all-1g.10gb}}",
          gpu="{extendedResources: {h100-80gb-1g.10gb: nvidia.com/mig-1g.10gb}}"), []),
    (body(T4, gpu="{extendedResources: {t4: nvidia.com/gpu}}"), [("error", "EXT002", f"{SETTING}.t4")]),
    (body(T4, gpu="{extendedResources: {t44: nvidia.com/t4}}"), [("error", "EXT003", f"{SETTING}.t44")]),
    (body(T4, gpu="{extendedResources: {c: nvidia.com/t4}}", classes="{c: {require: {type: gpu}}}"),
     [("error", "EXT003", f"{SETTING}.c")]),
    (body(T4, gpu="{extendedResources: true}"), [("warning", "EXT004", SETTING)]),
    (body(T4, PLUGIN, classes="{c: {require: {type: gpu}, extendedResourceName: nvidia.com/gpu}}"),
     [("error", "EXT005", CLASS)]),
    (body(T4, PLUGIN, gpu="{legacyRequests: dra}"), [("warning", "EXT006", "aks-dra:gpu.legacyRequests")]),
    (body(H100, MIXED, gpu="{extendedResources: true}"), [("warning", "EXT006", SETTING)]),
    (body(H100, MIXED, gpu="{extendedResources: {h100-nvl-1g.12gb: example.com/slice}}"), []),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), FINDINGS, ids=[f"{n}" for n in range(len(FINDINGS))])
def test_findings(tmp_path: Path, text: str, expected: list[tuple[str, str, str]]) -> None:
    assert said(tmp_path, text) == expected
