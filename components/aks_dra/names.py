"""Names that the package gives: labels, namespaces, releases, ConfigMaps. Changing one breaks living stacks."""

from __future__ import annotations

LABEL_ALLOCATION = "aks-dra.dev/allocation"
LABEL_MIG_OWNER = "aks-dra.dev/mig-owner"
LABEL_DRIVER_OWNER = "aks-dra.dev/driver-owner"

# AKS puts it on every node; it is what pins a pod to one pool.
LABEL_AGENT_POOL = "kubernetes.azure.com/agentpool"

# Before the cluster's name: the rule that sends its logs to a workspace.
COLLECTION_RULE = "dcr-"

LABEL_MIG_CONFIG = "nvidia.com/mig.config"
LABEL_MIG_STATE = "nvidia.com/mig.config.state"
LABEL_PLUGIN_CONFIG = "nvidia.com/device-plugin.config"
# Set by the operator on GPU nodes: its MIG and driver managers stop DaemonSets that select on it.
LABEL_CLIENT = "nvidia.com/gpu.deploy.client"

ALLOCATION_LABELS = {"dra": "dra", "devicePlugin": "device-plugin"}

SPOT_LABEL = ("kubernetes.azure.com/scalesetpriority", "spot")
SPOT_TAINT = "kubernetes.azure.com/scalesetpriority=spot:NoSchedule"
TEST_POOL_TAINT = "aks-dra.dev/test-pool=true:NoSchedule"

OPERATOR_NAMESPACE = "gpu-operator"
DRA_NAMESPACE = "dra-driver-nvidia-gpu"

OPERATOR_RELEASE = "gpu-operator"
DRA_RELEASE = "dra-driver-nvidia-gpu"
DEVICE_PLUGIN_RELEASE = {"operator": "nvidia-device-plugin", "aks": "nvidia-device-plugin-aks"}

DEVICE_PLUGIN_CONFIG_MAP = "aks-dra-device-plugin"
MIG_LAYOUTS_CONFIG_MAP = "aks-dra-mig-layouts"
# Their keys in the plan, by which releases depend on them.
CONFIG_MAP_KEYS = {
    DEVICE_PLUGIN_CONFIG_MAP: "configmap-device-plugin",
    MIG_LAYOUTS_CONFIG_MAP: "configmap-mig-layouts",
}
DEFAULT_CONFIG_KEY = "default"

LEGACY_RESOURCE = "nvidia.com/gpu"
# Sorts before the chart's gpu.nvidia.com: of two classes with one extended resource name the newest wins, and a
# tie within a second goes to the first name.
LEGACY_CLASS = "aks-dra-legacy-requests"

TEST_CLAIM = "gpu-test"
SMOKE_TEST = "gpu-smoke-test"
ADMIN_ACCESS_TEST = "gpu-admin-access-test"
# Admin access sees every device of the cluster, so the test pool's own namespace does not get it.
ADMIN_SUFFIX = "-admin"

ADMIN_ACCESS_LABEL = ("resource.kubernetes.io/admin-access", "true")
ALLOWED_CLASSES = "aks-dra.dev/allowed-device-classes"
CLASS_POLICY = "aks-dra-device-classes"
"""What the admission policies on device classes begin with, and their bindings."""
