"""What the components register for a plan, in which order, and how they log in."""

from __future__ import annotations

import dataclasses
import json

import pulumi
import pytest
import yaml

from aks_dra.resources import access
from tests.resources.hand_made import CLUSTER, POOL, make_plan, whole_cluster
from tests.resources.stand_in import CLUSTER_ID, KUBECONFIG, kubelogin, resolved, run  # noqa: F401


def test_everything_is_registered_under_names_that_begin_with_the_components() -> None:
    engine, _ = run(whole_cluster())
    assert sorted(engine.names()) == sorted(
        [
            "aks-dra:index:DraCluster gpu",
            "aks-dra:index:AksCluster gpu-cluster",
            "azure-native:resources:ResourceGroup gpu-cluster-resource-group",
            "azure-native:containerservice:ManagedCluster gpu-cluster-aks",
            "pulumi:providers:kubernetes gpu-cluster-kubernetes",
            "aks-dra:index:GpuPool gpu-pool-a100",
            "azure-native:containerservice:AgentPool gpu-pool-a100-agent-pool",
            "aks-dra:index:GpuPool gpu-pool-t4",
            "azure-native:containerservice:AgentPool gpu-pool-t4-agent-pool",
            "aks-dra:index:Namespaces gpu-namespaces",
            "kubernetes:core/v1:Namespace gpu-namespaces-namespace-gpu-operator",
            "kubernetes:core/v1:Namespace gpu-namespaces-namespace-ml",
            "aks-dra:index:GpuOperator gpu-gpu-operator",
            "kubernetes:helm.sh/v3:Release gpu-gpu-operator-gpu-operator",
            "aks-dra:index:DraDriver gpu-dra-driver",
            "kubernetes:helm.sh/v3:Release gpu-dra-driver-dra-driver-nvidia-gpu",
            "aks-dra:index:DevicePlugin gpu-device-plugin",
            "kubernetes:core/v1:ConfigMap gpu-device-plugin-configmap-plugin",
            "kubernetes:helm.sh/v3:Release gpu-device-plugin-nvidia-device-plugin",
            "aks-dra:index:DeviceClasses gpu-classes",
            "kubernetes:resource.k8s.io/v1:DeviceClass gpu-classes-deviceclass-a100-80gb",
            "kubernetes:resource.k8s.io/v1:DeviceClass gpu-classes-deviceclass-none",
            "aks-dra:index:Claims gpu-claims",
            "kubernetes:resource.k8s.io/v1:ResourceClaim gpu-claims-claim-ml-one",
        ]
    )


def test_a_pool_reaches_azure_as_planned_with_camel_case_at_every_level() -> None:
    engine, _ = run(whole_cluster())
    pool = engine.named("gpu-pool-a100-agent-pool")
    assert pool.inputs == {
        **POOL.inputs,
        "agentPoolName": "a100",
        "resourceGroupName": "rg-t",
        "resourceName": "t",
    }
    assert pool.raw.protect
    assert pool.raw.deleteBeforeReplace
    assert list(pool.raw.ignoreChanges) == ["count"]
    assert list(pool.raw.replaceOnChanges) == ["vmSize", "gpuProfile"]
    assert pool.raw.customTimeouts.delete == "90m"
    assert not engine.named("gpu-pool-t4-agent-pool").raw.protect


def test_the_cluster_reaches_azure_as_planned() -> None:
    engine, _ = run(whole_cluster())
    cluster = engine.one(":ManagedCluster")
    assert cluster.inputs == {
        **CLUSTER.inputs,
        "identity": {"type": "UserAssigned", "userAssignedIdentities": ["/id/a", "/id/b"]},
        "location": "swedencentral",
        "tags": {"cost_center": "ml"},
        "resourceGroupName": "rg-t",
        "resourceName": "t",
    }
    assert cluster.raw.protect
    assert cluster.raw.deleteBeforeReplace
    assert list(cluster.raw.ignoreChanges) == ["agentPoolProfiles[0].count"]
    assert engine.one(":ResourceGroup").inputs["resourceGroupName"] == "rg-t"


def test_one_thing_waits_for_the_other() -> None:
    engine, _ = run(whole_cluster())
    foundation = {
        "gpu-cluster-aks", "gpu-cluster-resource-group", "gpu-pool-a100-agent-pool", "gpu-pool-t4-agent-pool",
    }  # fmt: skip
    namespaces = {"gpu-namespaces-namespace-gpu-operator", "gpu-namespaces-namespace-ml"}
    operator, driver = "gpu-gpu-operator-gpu-operator", "gpu-dra-driver-dra-driver-nvidia-gpu"
    plugin = engine.named("gpu-device-plugin-nvidia-device-plugin")
    assert engine.behind(engine.named("gpu-pool-a100-agent-pool")) >= {"gpu-cluster-aks"}
    assert engine.behind(engine.named("gpu-namespaces-namespace-ml")) >= foundation
    assert engine.behind(engine.named(operator)) >= foundation | namespaces
    assert engine.behind(engine.named(driver)) >= foundation | namespaces | {operator}
    assert engine.behind(plugin) >= namespaces | {operator, "gpu-device-plugin-configmap-plugin"}
    assert driver not in engine.behind(plugin)
    classes = {"gpu-classes-deviceclass-a100-80gb", "gpu-classes-deviceclass-none"}
    assert engine.behind(engine.named("gpu-classes-deviceclass-none")) >= {driver, operator}
    assert engine.behind(engine.named("gpu-claims-claim-ml-one")) >= classes | namespaces | {driver}


def test_releases_are_pinned_named_and_rolled_back_when_they_fail() -> None:
    engine, _ = run(whole_cluster())
    release = engine.named("gpu-gpu-operator-gpu-operator")
    assert release.inputs.pop("compat") == "true"
    assert release.inputs == {
        "name": "gpu-operator",
        "namespace": "gpu-operator",
        "createNamespace": False,
        "chart": "gpu-operator",
        "version": "v26.7.0",
        "repositoryOpts": {"repo": "https://helm.example/nvidia"},
        "values": {"driver": {"enabled": True}},
        "atomic": True,
        "timeout": 1800,
    }
    assert release.raw.customTimeouts.create == "35m"
    packed = engine.named("gpu-device-plugin-nvidia-device-plugin").inputs
    assert packed["chart"] == "/charts/p.tgz"
    assert packed["values"]["tolerations"] == []
    assert "version" not in packed
    assert "repositoryOpts" not in packed


def test_objects_keep_what_is_inside_their_parameters() -> None:
    engine, _ = run(whole_cluster())
    planned = {o.key: o.manifest for o in make_plan().objects}
    assert engine.named("gpu-classes-deviceclass-a100-80gb").inputs == planned["deviceclass-a100-80gb"]
    assert engine.named("gpu-claims-claim-ml-one").inputs == planned["claim-ml-one"]


def test_a_new_cluster_takes_what_was_in_the_old_one_along() -> None:
    engine, _ = run(whole_cluster())
    inside = [request for request in engine.requests if request.type.startswith("kubernetes:")]
    replaced_with = {r.name: {urn.split("::")[-1] for urn in r.raw.replace_with} for r in inside}
    assert all("gpu-cluster-aks" in names for names in replaced_with.values())
    # Without this the engine deletes them one by one, and in the new cluster.
    assert {r.raw.deletedWith.split("::")[-1] for r in inside} == {"gpu-cluster-aks"}
    assert "gpu-dra-driver-dra-driver-nvidia-gpu" in replaced_with["gpu-classes-deviceclass-none"]
    assert "gpu-dra-driver-dra-driver-nvidia-gpu" not in replaced_with["gpu-classes-deviceclass-a100-80gb"]
    assert not engine.named("gpu-cluster-kubernetes").raw.replace_with


def test_namespaces_outlive_the_stack_but_not_the_cluster() -> None:
    engine, _ = run(whole_cluster())
    kept = engine.named("gpu-namespaces-namespace-gpu-operator").raw
    assert kept.retainOnDelete
    assert kept.deletedWith.endswith("::gpu-cluster-aks")
    assert not engine.named("gpu-namespaces-namespace-ml").raw.retainOnDelete


def test_everything_in_the_cluster_uses_its_provider() -> None:
    engine, _ = run(whole_cluster())
    inside = [request for request in engine.requests if request.type.startswith("kubernetes:")]
    assert len(inside) == 9
    assert {request.raw.provider.split("::")[-2] for request in inside} == {"gpu-cluster-kubernetes"}


def test_outputs() -> None:
    _, cluster = run(whole_cluster())
    assert resolved(cluster.cluster_id) == (CLUSTER_ID, True, False)
    assert resolved(cluster.oidc_issuer)[0] == "https://oidc"
    assert resolved(cluster.node_resource_group)[0] == "MC_rg-t_t"
    assert cluster.claims == {"ml": {"one": "ResourceClaim"}}
    assert cluster.findings == 1
    assert cluster.pools["a100"]["deviceClasses"] == ["a100-80gb"]
    assert cluster.pools["a100"]["pod"] == {
        "nodeSelector": {"kubernetes.azure.com/agentpool": "a100"},
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
    }
    assert set(cluster.outputs()) >= {"clusterId", "kubeconfig", "pools", "claims", "findings"}


# ---------------------------------------------------------------- login


def test_the_kubeconfig_is_a_secret_everywhere() -> None:
    engine, cluster = run(whole_cluster())
    text, known, secret = resolved(cluster.kubeconfig)
    assert known
    assert secret
    assert "azurecli" in text
    provider = engine.named("gpu-cluster-kubernetes")
    assert pulumi.runtime.rpc._special_secret_sig in json.dumps(provider.inputs["kubeconfig"])
    assert provider.inputs["clusterIdentifier"] == "rg-t/t"


def test_a_first_preview_asks_for_no_credentials() -> None:
    engine, cluster = run(whole_cluster(), preview=True)
    assert engine.azure.calls == []
    assert resolved(cluster.kubeconfig)[1:] == (False, True)
    assert len(engine.names()) == 24


def test_the_admin_login_asks_for_the_admin_credentials() -> None:
    plan = make_plan(cluster=dataclasses.replace(CLUSTER, login="admin"))
    engine, cluster = run(whole_cluster(plan))
    assert [call.token.split(":")[-1] for call in engine.azure.calls] == ["listManagedClusterAdminCredentials"]
    assert resolved(cluster.kubeconfig)[0] == KUBECONFIG


@pytest.mark.parametrize(
    ("login", "arguments"),
    [
        ("azurecli", ["--login", "azurecli", "--server-id", "S"]),
        ("msi", ["--login", "msi", "--server-id", "S"]),
        ("workloadidentity", ["--login", "workloadidentity", "--server-id", "S"]),
        (
            "servicePrincipal",
            ["--login", "spn", "--environment", "AzurePublicCloud", "--server-id", "S", "--tenant-id", "T"],
        ),
    ],
)
def test_kubelogin_gets_the_chosen_login(login: str, arguments: list[str]) -> None:
    text = access.with_login(KUBECONFIG, login)
    before, after = (yaml.safe_load(config) for config in (KUBECONFIG, text))
    assert after["users"][0]["user"]["exec"].pop("args") == ["get-token", *arguments]
    before["users"][0]["user"]["exec"].pop("args")
    assert before == after


def test_a_kubeconfig_without_kubelogin_stays_as_it_is() -> None:
    text = "users:\n- {name: u, user: {token: abc}} # as Azure wrote it\n"
    assert access.with_login(text, "azurecli") == text


def test_a_missing_kubelogin_is_said_before_anything_is_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda program: None)
    with pytest.raises(pulumi.RunError, match=r"kubelogin is not on PATH.*access\.login is azurecli"):
        run(whole_cluster())
    run(whole_cluster(make_plan(cluster=dataclasses.replace(CLUSTER, login="admin"))))
