"""What Helm makes of the stand-in charts: the objects that decide where devices appear."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from local.charts.pack import CHARTS, pack
from tests.tools.helm import render

OVERRIDE: dict[str, Any] = {"gpuResourcesEnabledOverride": True}
DRA, OPERATOR, PLUGIN = "dra-driver-nvidia-gpu", "gpu-operator", "nvidia-device-plugin"
GPU_CLUSTER = {"clusterPolicy": {"deployCR": False}, "gpuCluster": {"deployCR": True}}


@pytest.fixture(scope="module")
def charts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return pack(tmp_path_factory.mktemp("charts"))


def test_the_plugin_of_the_dra_driver_in_full(charts: dict[str, Path]) -> None:
    values = {
        **OVERRIDE,
        "nvidiaDriverRoot": "/run/nvidia/driver",
        "featureGates": {"TimeSlicingSettings": True, "MPSSupport": False},
        "resources": {"computeDomains": {"enabled": False}},
        "kubeletPlugin": {
            "nodeSelector": {"aks-dra.dev/allocation": "dra"},
            "affinity": None,
            "tolerations": [{"key": "sku", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"}],
            "containers": {"gpus": {"env": [{"name": "EXTRA", "value": "1"}]}},
        },
    }
    rendered = render(charts[DRA], values)
    labels = {"app.kubernetes.io/name": DRA, "app.kubernetes.io/instance": DRA}
    root = {"name": "NVIDIA_DRIVER_ROOT", "value": "/run/nvidia/driver"}
    image = "registry.k8s.io/dra-driver-nvidia/dra-driver-nvidia-gpu:v0.5.0"
    found = rendered.of("DaemonSet")
    assert found == {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {
            "name": "dra-driver-nvidia-gpu-kubelet-plugin",
            "namespace": "gpu",
            "labels": {
                **labels,
                "app.kubernetes.io/managed-by": "Helm",
                "app.kubernetes.io/version": "0.5.0",
                "helm.sh/chart": f"{DRA}-{rendered.version.replace('+', '_')}",
            },
        },
        "spec": {
            "selector": {"matchLabels": {"dra-driver-nvidia-gpu-component": "kubelet-plugin"}},
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "100%"}},
            "template": {
                "metadata": {"labels": {**labels, "dra-driver-nvidia-gpu-component": "kubelet-plugin"}},
                "spec": {
                    "serviceAccountName": "dra-driver-nvidia-gpu-service-account-kubeletplugin",
                    "priorityClassName": "system-node-critical",
                    "initContainers": [{"name": "init-container", "image": image, "env": [root]}],
                    "containers": [
                        {
                            "name": "gpus",
                            "image": image,
                            "imagePullPolicy": "IfNotPresent",
                            "securityContext": {"privileged": True},
                            "env": [
                                {"name": "LOG_VERBOSITY", "value": "4"},
                                {"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"},
                                {"name": "FEATURE_GATES", "value": "MPSSupport=false,TimeSlicingSettings=true,"},
                                root,
                                {"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
                                {"name": "EXTRA", "value": "1"},
                            ],
                            "volumeMounts": [
                                {"name": "plugins", "mountPath": "/var/lib/kubelet/plugins"},
                                {"name": "driver-root", "mountPath": "/driver-root"},
                            ],
                        }
                    ],
                    "volumes": [
                        {"name": "plugins", "hostPath": {"path": "/var/lib/kubelet/plugins"}},
                        {
                            "name": "driver-root",
                            "hostPath": {"path": "/run/nvidia/driver", "type": "DirectoryOrCreate"},
                        },
                    ],
                    "nodeSelector": {"aks-dra.dev/allocation": "dra"},
                    "tolerations": [{"key": "sku", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"}],
                },
            },
        },
    }


def test_by_default_the_plugin_wants_one_of_five_labels_that_aks_does_not_set(charts: dict[str, Path]) -> None:
    pod = render(charts[DRA], OVERRIDE).of("DaemonSet")["spec"]["template"]["spec"]
    terms = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert [term["matchExpressions"][0]["key"] for term in terms] == [
        "feature.node.kubernetes.io/pci-10de.present",
        "feature.node.kubernetes.io/pci-0302_10de.present",
        "feature.node.kubernetes.io/pci-0300_10de.present",
        "feature.node.kubernetes.io/cpu-model.vendor_id",
        "nvidia.com/gpu.present",
    ]
    assert [container["name"] for container in pod["containers"]] == ["compute-domains", "gpus"]


CLASSES = ["gpu.nvidia.com", "mig.nvidia.com", "vfio.gpu.nvidia.com"]
DOMAINS = ["compute-domain-daemon.nvidia.com", "compute-domain-default-channel.nvidia.com"]


@pytest.mark.parametrize(
    ("api", "mapped"), [("resource.k8s.io/v1", True), ("resource.k8s.io/v1beta2", False), ("", True)]
)
def test_the_classes_and_which_of_them_maps_nvidia_com_gpu(charts: dict[str, Path], api: str, mapped: bool) -> None:
    apis = (api,) if api else ()
    values = OVERRIDE if api else {**OVERRIDE, "resourceApiVersion": "resource.k8s.io/v1"}
    found = [item for item in render(charts[DRA], values, apis=apis).manifests if item["kind"] == "DeviceClass"]
    assert [item["metadata"]["name"] for item in found] == CLASSES + DOMAINS
    assert {item["apiVersion"] for item in found} == {api or "resource.k8s.io/v1"}
    expression = "device.driver == 'gpu.nvidia.com' && device.attributes['gpu.nvidia.com'].type == 'gpu'"
    assert found[0]["spec"] == {
        "selectors": [{"cel": {"expression": expression}}],
        **({"extendedResourceName": "nvidia.com/gpu"} if mapped else {}),
    }
    assert all("extendedResourceName" not in item["spec"] for item in found[1:])


def test_compute_domains_bring_a_controller_and_classes_and_take_them_away(charts: dict[str, Path]) -> None:
    off = {"resources": {"computeDomains": {"enabled": False}}}
    kinds = {kind for kind, _ in render(charts[DRA], {**OVERRIDE, **off}).names()}
    assert kinds == {"ServiceAccount", "DaemonSet", "DeviceClass"}
    assert ("Deployment", "dra-driver-nvidia-gpu-controller") in render(charts[DRA], OVERRIDE).names()
    only = {"resources": {"gpus": {"enabled": False}}}  # needs no override
    names = render(charts[DRA], only).names()
    assert [name for kind, name in names if kind == "DeviceClass"] == DOMAINS


def test_the_cluster_policy_carries_the_values_and_nothing_that_only_the_chart_reads(charts: dict[str, Path]) -> None:
    rendered = render(
        charts[OPERATOR],
        {
            "driver": {"enabled": False},
            "toolkit": {"env": [{"name": "A", "value": "b"}]},
            "devicePlugin": {
                "enabled": False,
                "config": {"name": "c", "default": "d", "create": True, "data": {"d": "v"}},
            },
            "migManager": {"env": [{"name": "WITH_REBOOT", "value": "true"}]},
            "daemonsets": {"tolerations": [{"operator": "Exists"}]},
            "operator": {"runtimeClass": "nvidia-container-runtime"},
        },
    )
    spec = rendered.of("ClusterPolicy", "cluster-policy")["spec"]
    assert spec["operator"] == {"runtimeClass": "nvidia-container-runtime"}
    assert spec["mig"] == {"strategy": "single"}
    assert spec["hostPaths"] == {"rootFS": "/", "driverInstallDir": "/run/nvidia/driver"}
    assert spec["daemonsets"]["tolerations"] == [{"operator": "Exists"}]
    assert (spec["driver"]["enabled"], spec["driver"]["useNvidiaDriverCRD"]) == (False, False)
    assert "nvidiaDriverCRD" not in spec["driver"]
    assert spec["toolkit"]["env"] == [{"name": "A", "value": "b"}]
    assert spec["devicePlugin"]["config"] == {"name": "c", "default": "d"}
    assert spec["migManager"]["config"] == {"name": "", "default": "all-disabled"}
    assert spec["migManager"]["env"] == [{"name": "WITH_REBOOT", "value": "true"}]
    assert [part for part, value in spec.items() if isinstance(value, dict) and value.get("enabled") is True] == [
        "ccManager", "cdi", "dcgmExporter", "gfd", "kataSandboxDevicePlugin", "migManager", "sandboxDevicePlugin",
        "toolkit", "vfioManager", "vgpuDeviceManager",
    ]  # fmt: skip
    assert rendered.of("ConfigMap", "c")["data"] == {"d": "v"}
    assert sorted(item["metadata"]["name"] for item in rendered.crds) == [
        "clusterpolicies.nvidia.com", "gpuclusters.nvidia.com", "nvidiadrivers.nvidia.com",
    ]  # fmt: skip


def test_the_worker_of_nfd_has_the_labels_and_tolerations_that_decide_where_it_runs(charts: dict[str, Path]) -> None:
    wanted = [{"key": "sku", "operator": "Exists", "effect": "NoSchedule"}]
    rendered = render(charts[OPERATOR], {"node-feature-discovery": {"worker": {"tolerations": wanted}}}, name="op")
    found = rendered.of("DaemonSet", "op-node-feature-discovery-worker")
    assert found["spec"]["selector"]["matchLabels"] == {
        "app.kubernetes.io/name": "node-feature-discovery",
        "app.kubernetes.io/instance": "op",
        "role": "worker",
    }
    assert found["spec"]["template"]["metadata"]["labels"] == found["spec"]["selector"]["matchLabels"]
    assert found["spec"]["template"]["spec"]["tolerations"] == wanted
    default = render(charts[OPERATOR]).of("DaemonSet")["spec"]["template"]["spec"]["tolerations"]
    assert [item["key"] for item in default] == ["node-role.kubernetes.io/control-plane", "nvidia.com/gpu"]
    assert ("DaemonSet", "op-node-feature-discovery-worker") not in render(
        charts[OPERATOR], {"nfd": {"enabled": False}}, name="op"
    ).names()


def test_a_gpu_cluster_in_the_place_of_the_cluster_policy(charts: dict[str, Path]) -> None:
    values = {
        **GPU_CLUSTER,
        "driver": {"nvidiaDriverCRD": {"enabled": True}},
        "draDriver": {"featureGates": {"MPSSupport": True}},
    }
    rendered = render(charts[OPERATOR], values)
    assert "ClusterPolicy" not in {kind for kind, _ in rendered.names()}
    spec = rendered.of("GPUCluster", "gpu-cluster")["spec"]
    assert spec["draDriver"]["version"] == "v0.5.0"
    assert spec["draDriver"]["featureGates"] == {"MPSSupport": True}
    assert rendered.of("NVIDIADriver", "default")["spec"]["version"] == "595.91.07"
    assert "GPUCluster" in rendered.notes


def test_the_device_plugin_with_a_config_of_ones_own(charts: dict[str, Path]) -> None:
    values = {
        "config": {"name": "aks-dra-device-plugin", "default": "t4old"},
        "nvidiaDriverRoot": "/run/nvidia/driver",
        "runtimeClassName": "nvidia",
        "nodeSelector": {"aks-dra.dev/allocation": "device-plugin"},
        "failOnInitError": False,
    }
    found = render(charts[PLUGIN], values, name="nvidia-device-plugin-aks").of("DaemonSet", "nvidia-device-plugin-aks")
    pod = found["spec"]["template"]["spec"]
    labels = {"app.kubernetes.io/name": PLUGIN, "app.kubernetes.io/instance": "nvidia-device-plugin-aks"}
    assert found["spec"]["template"]["metadata"] == {"labels": labels}
    assert labels.items() <= found["metadata"]["labels"].items()
    environment = {item["name"]: item.get("value") for item in pod["initContainers"][0]["env"]}
    assert environment == {
        "ONESHOT": "true",
        "NODE_NAME": None,
        "NODE_LABEL": "nvidia.com/device-plugin.config",
        "CONFIG_FILE_SRCDIR": "/available-configs",
        "CONFIG_FILE_DST": "/config/config.yaml",
        "DEFAULT_CONFIG": "t4old",
        "FALLBACK_STRATEGIES": "named,single",
    }
    assert [container["name"] for container in pod["containers"]] == [
        "nvidia-device-plugin-sidecar",
        "nvidia-device-plugin-ctr",
    ]
    assert pod["containers"][1]["env"] == [
        {"name": "MPS_ROOT", "value": "/run/nvidia/mps"},
        {"name": "FAIL_ON_INIT_ERROR", "value": "false"},
        {"name": "NVIDIA_DRIVER_ROOT", "value": "/run/nvidia/driver"},
        {"name": "CONFIG_FILE", "value": "/config/config.yaml"},
    ]
    assert {"name": "available-configs", "configMap": {"name": "aks-dra-device-plugin"}} in pod["volumes"]
    assert pod["runtimeClassName"] == "nvidia"
    assert pod["nodeSelector"] == {"aks-dra.dev/allocation": "device-plugin"}
    assert [item["key"] for item in pod["tolerations"]] == ["CriticalAddonsOnly", "nvidia.com/gpu"]


def test_the_device_plugins_own_config_map_and_no_config_at_all(charts: dict[str, Path]) -> None:
    made = render(charts[PLUGIN], {"config": {"map": {"default": "version: v1\n"}}})
    assert made.of("ConfigMap", "nvidia-device-plugin-configs")["data"] == {"default": "version: v1\n"}
    pod = made.of("DaemonSet", "nvidia-device-plugin")["spec"]["template"]
    assert {"name": "available-configs", "configMap": {"name": "nvidia-device-plugin-configs"}} in pod["spec"][
        "volumes"
    ]
    assert "checksum/config" in pod["metadata"]["annotations"]  # another config restarts the pods
    plain = render(charts[PLUGIN]).of("DaemonSet", "nvidia-device-plugin")["spec"]["template"]["spec"]
    assert "initContainers" not in plain
    assert plain["containers"][0]["env"] == [{"name": "MPS_ROOT", "value": "/run/nvidia/mps"}]


def test_the_mps_control_daemon_waits_for_the_label_of_feature_discovery(charts: dict[str, Path]) -> None:
    values = {"config": {"name": "configs", "default": "plain"}, "nodeSelector": {"pool": "old"}}
    found = render(charts[PLUGIN], values).of("DaemonSet", "nvidia-device-plugin-mps-control-daemon")
    spec = found["spec"]["template"]["spec"]
    assert spec["nodeSelector"] == {"nvidia.com/mps.capable": "true", "pool": "old"}
    assert [item["name"] for item in spec["containers"]] == ["mps-control-daemon-ctr"]
    assert {"name": "available-configs", "configMap": {"name": "configs"}} in spec["volumes"]


@pytest.mark.parametrize("chart", CHARTS)
def test_the_notes_of_a_release_say_that_it_is_simulated(charts: dict[str, Path], chart: str) -> None:
    rendered = render(charts[chart], OVERRIDE if chart == DRA else {})
    assert "stand-in, simulated" in rendered.notes
    assert "no GPU is touched" in rendered.notes
