"""Well-known rows of the tables, as whole values."""

from __future__ import annotations

from types import MappingProxyType

import pytest

from aks_dra.facts import (
    Chart,
    ChartValue,
    ChartVersion,
    Feature,
    Gate,
    Gpu,
    KubernetesVersion,
    MigProfile,
    PoolField,
    VmSize,
    load_facts,
)

FACTS = load_facts()


def test_t4() -> None:
    assert FACTS.gpus["t4"] == Gpu(
        key="t4", product_name="Tesla T4", class_name="t4", memory_mib=16384,
        memory_mib_range=(15360, 16384), brand="Nvidia", architecture="Turing", compute_capability="7.5.0", mig="",
        vgpu=False, verified=True,
        source="ResourceSlice of an AKS node (Standard_NC4as_T4_v3, AKS 1.35.6, driver 580.159.04; public post, "
        "2026-08); 15Gi with ECC seen elsewhere",
    )  # fmt: skip


def test_a100_80gb_1g() -> None:
    assert FACTS.families["a100-80gb"].profiles["1g.10gb"] == MigProfile(
        key="1g.10gb", name="1g.10gb", gi_profile_id=19, compute=1, memory=1, max=7, memory_mib=9728,
        placements=(0, 1, 2, 3, 4, 5, 6), multiprocessors=14, copy_engines=1, decoders=1, encoders=0,
        jpeg_engines=0, ofa_engines=0, verified=True,
        source="ResourceSlice of an AKS node, A100 80GB PCIe (dra-driver-nvidia-gpu#719)",
    )  # fmt: skip


def test_layouts_of_the_h100_nvl() -> None:
    assert FACTS.families["h100-nvl"].layouts == {
        "all-1g.12gb": {"1g.12gb": 7},
        "all-1g.12gb.me": {"1g.12gb+me": 1},
        "all-1g.24gb": {"1g.24gb": 4},
        "all-2g.24gb": {"2g.24gb": 3},
        "all-3g.47gb": {"3g.47gb": 2},
        "all-4g.47gb": {"4g.47gb": 1},
        "all-7g.94gb": {"7g.94gb": 1},
        "all-balanced": {"1g.12gb": 2, "2g.24gb": 1, "3g.47gb": 1},
    }


def test_profiles_that_were_seen_in_slices() -> None:
    seen = {
        f"{family.key}/{profile.name}": (profile.memory_mib, profile.multiprocessors)
        for family in FACTS.families.values()
        for profile in family.profiles.values()
        if profile.verified
    }
    assert seen == {
        "a100-40gb/1g.5gb": (4864, 14),
        "a100-80gb/1g.10gb": (9728, 14),
        "h100-80gb/3g.40gb": (40448, 60),
        "h100-80gb/4g.40gb": (40448, 64),
    }


def test_vm_size_in_any_case() -> None:
    expected = VmSize(
        key="Standard_NC48ads_A100_v4", gpu="a100-80gb-pcie", gpus=2, vcpus=48, memory_gib=440,
        mig=True, gpu_instance_profile=True, arch="amd64", grid=False, aks_driver="cuda",
        family="NCadsA100_v4", verified=True,
        source="MicrosoftDocs/azure-compute-docs sizes/gpu-accelerated/nca100v4-series.md",
    )  # fmt: skip
    assert FACTS.vm_size("standard_nc48ADS_a100_V4") == FACTS.vm_sizes["Standard_NC48ads_A100_v4"] == expected
    assert FACTS.vm_size("Standard_NC48") is None
    assert FACTS.family(expected) is FACTS.families["a100-80gb"]


def test_every_size_of_azure_in_one_view() -> None:
    sizes = {
        size.name.removeprefix("Standard_"): (size.gpus, size.gpu)
        for size in FACTS.vm_sizes.values()
        if not size.retired
    }
    rtx = {
        f"NC{vcpus}{kind}_xl_RTXPRO6000BSE_v6": value
        for kind in ("ds", "lds")
        for vcpus, value in {
            144: (1, "rtxpro6000"), 288: (2, "rtxpro6000"), 72: (1, "rtxpro6000-vgpu-48gb"),
            36: (1, "rtxpro6000-vgpu-24gb"),
        }.items()
    }  # fmt: skip
    assert sizes == {
        "NC4as_T4_v3": (1, "t4"),
        "NC8as_T4_v3": (1, "t4"),
        "NC16as_T4_v3": (1, "t4"),
        "NC64as_T4_v3": (4, "t4"),
        "NV6ads_A10_v5": (1, "a10-vgpu-4gb"),
        "NV12ads_A10_v5": (1, "a10-vgpu-8gb"),
        "NV18ads_A10_v5": (1, "a10-vgpu-12gb"),
        "NV36ads_A10_v5": (1, "a10"),
        "NV36adms_A10_v5": (1, "a10"),
        "NV72ads_A10_v5": (2, "a10"),
        "NC24ads_A100_v4": (1, "a100-80gb-pcie"),
        "NC48ads_A100_v4": (2, "a100-80gb-pcie"),
        "NC96ads_A100_v4": (4, "a100-80gb-pcie"),
        "ND96asr_v4": (8, "a100-40gb-sxm4"),
        "ND96amsr_A100_v4": (8, "a100-80gb-sxm4"),
        "NC40ads_H100_v5": (1, "h100-nvl"),
        "NC80adis_H100_v5": (2, "h100-nvl"),
        "ND96isr_H100_v5": (8, "h100-80gb-sxm"),
        "ND96isr_H200_v5": (8, "h200"),
        "ND128isr_NDR_GB200_v6": (4, "gb200"),
        "ND128isr_GB300_v6": (4, "gb300"),
        "ND128isrG5_GB300_v6": (4, "gb300"),
        "NC24lds_xl_RTXPRO6000BSE_v6": (1, "rtxpro6000-vgpu-24gb"),
        **rtx,
    }


def test_kubernetes_136() -> None:
    kubernetes = FACTS.kubernetes
    assert (kubernetes.floor, kubernetes.default) == ("1.34.2", "1.36")
    assert kubernetes.versions["1.36"] == KubernetesVersion(
        key="1.36", preview="2026-05-31", ga="2026-06-30", eol="2027-06-30", lts_eol="2028-06-30",
        latest_patch="1.36.2", lts_only=False, verified=True,
        source="MicrosoftDocs/azure-aks-docs supported-kubernetes-versions.md (2026-08-21); patch: AKS release notes "
        "2026-07-17; GA: release notes 2026-06-19",
    )  # fmt: skip


def test_extended_resources_come_with_136() -> None:
    kubernetes = FACTS.kubernetes
    assert kubernetes.features["extended_resource"] == Feature(
        key="extended_resource", gate="DRAExtendedResource", ga="1.37", default_since="1.36",
        what="extendedResourceName of a class; below it the API server drops the field silently",
        source="k8s.io/kubernetes v1.37.2 pkg/features/kube_features.go", verified=True,
    )  # fmt: skip
    assert (FACTS.since("dynamic_mig"), FACTS.since("first_available")) == ((1, 36), (1, 34))


def test_dynamic_mig_gate() -> None:
    assert FACTS.gates["DynamicMIG"] == Gate(
        key="DynamicMIG", default=False, since="25.12.0",
        excludes=("PassthroughSupport", "NVMLDeviceHealthCheck", "MPSSupport"), needs=(), documented_excludes=(),
        kubernetes_need="dynamic_mig", what="MIG instances made when a claim asks; destroys unknown ones at start",
        source="NVIDIA DRA driver pkg/featuregates/featuregates.go @ 9593204", verified=True,
    )  # fmt: skip


def test_default_charts() -> None:
    assert {
        name: (chart.default_version, chart.oci or chart.repo, chart.namespace, chart.release)
        for name, chart in FACTS.charts.items()
    } == {
        "gpu-operator": ("v26.7.0", "https://helm.ngc.nvidia.com/nvidia", "gpu-operator", "gpu-operator"),
        "dra-driver-nvidia-gpu": (
            "0.5.0", "oci://registry.k8s.io/dra-driver-nvidia/charts/dra-driver-nvidia-gpu", "dra-driver-nvidia-gpu",
            "dra-driver-nvidia-gpu",
        ),
        "nvidia-device-plugin": (
            "0.20.0", "https://nvidia.github.io/k8s-device-plugin", "gpu-operator", "nvidia-device-plugin",
        ),
    }  # fmt: skip
    assert FACTS.charts["dra-driver-nvidia-gpu"].versions["0.4.1"] == ChartVersion(
        key="0.4.1", chart_name="dra-driver-nvidia-gpu", released="2026-06-30",
        features=("resourceV1", "resourceApiVersion", "extendedResourceName", "preferredControllerAffinity",
                  "gpuTaintTolerated"),
        components=MappingProxyType({"driver-minimum": "565"}), verified=True,
        source="kubernetes-sigs/dra-driver-nvidia-gpu tag v0.4.1",
    )  # fmt: skip


def test_faults_of_each_version_of_the_dra_chart() -> None:
    chart: Chart = FACTS.charts["dra-driver-nvidia-gpu"]
    old = {"controller-needs-control-plane", "gpu-taint-not-tolerated"}
    errors = {
        version: {fault.key for fault in FACTS.faults_of(chart.key, version) if fault.severity == "error"}
        for version in chart.versions
    }
    assert errors == {
        "25.3.0": old | {"classes-in-v1beta1"},
        "25.3.1": old | {"classes-in-v1beta1"},
        "25.3.2": old | {"classes-in-v1beta1"},
        "25.8.0": old,
        "25.8.1": old,
        "25.12.0": old | {"dynamic-mig-publishes-nothing"},
        "0.4.0": {"name-override-renders-twice"},
        "0.4.1": set(),
        "0.5.0": set(),
    }


def test_what_a_change_to_a_pool_does() -> None:
    by_change = {
        change: {name for name, row in FACTS.pool_fields.items() if row.change == change and "." not in name}
        for change in ("replace", "reimage", "update", "upgrade")
    }
    assert by_change == {
        "replace": {
            "vmSize", "gpuInstanceProfile", "gpuProfile", "osType", "osDiskType", "maxPods", "vnetSubnetID",
            "scaleSetPriority", "spotMaxPrice", "scaleSetEvictionPolicy", "nodePublicIPTags",
        },
        "reimage": {"osSKU", "enableFIPS"},
        "update": {
            "nodeLabels", "nodeTaints", "minCount", "maxCount", "upgradeSettings", "tags", "count", "enableAutoScaling",
            "mode", "scaleDownMode",
        },
        "upgrade": {"orchestratorVersion"},
    }  # fmt: skip
    assert set(FACTS.pool_fields_of("replace")) == by_change["replace"]
    assert FACTS.pool_fields["count"] == PoolField(
        key="count", change="update", moves_by_itself=True,
        source="AgentPool PUT in place; an autoscaler moves it", verified=True,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("label", "verdict"),
    [
        ("node-restriction.kubernetes.io/tier", "refuse"),
        ("node.kubernetes.io/tier", "allow"),
        ("kubelet.kubernetes.io/tier", "allow"),
        ("kubernetes.io/tier", "refuse"),
        ("x.k8s.io/tier", "refuse"),
        ("kubernetes.azure.com/mode", "refuse"),
        ("kubernetes.azure.com/scalesetpriority", "package"),
        ("nvidia.com/mig.config", "allow"),
        ("nvidia.com/gpu.deploy.operands", "allow"),
        ("nvidia.com/gpu.deploy.device-plugin", "warn"),
        ("feature.node.kubernetes.io/pci-10de.present", "warn"),
        ("aks-dra.dev/allocation", "package"),
        ("example.com/kubernetes.io", None),
        ("team", None),
    ],
)
def test_label_rules(label: str, verdict: str | None) -> None:
    rule = FACTS.label_rule(label)
    assert (rule.verdict if rule else None) == verdict


def test_limits() -> None:
    assert {name: FACTS.limit(name) for name in ("devices_per_claim", "first_available", "nodes_per_pool")} == {
        "devices_per_claim": 32, "first_available": 8, "nodes_per_pool": 1000,
    }  # fmt: skip


def test_chart_values() -> None:
    values = FACTS.chart_values("dra-driver-nvidia-gpu")
    assert values["gpuResourcesEnabledOverride"] == ChartValue("bool", False)
    assert FACTS.chart_values("dra-driver-nvidia-gpu") is values
    assert all(FACTS.chart_values(chart) for chart in FACTS.charts)
    with pytest.raises(KeyError):
        FACTS.chart_values("nginx")
