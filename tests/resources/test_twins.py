"""Two components of one program that take the same thing: which are refused, with which words, and which are not."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pulumi
import pytest
import yaml

from aks_dra.resources import AksCluster, Claims, DraCluster, GpuOperator, GpuPool, Namespaces, hosted
from tests.resources.hand_made import EXISTING, make_plan
from tests.resources.stand_in import CLUSTER_ID, SUBSCRIPTION, Azure, Engine, kubelogin, run  # noqa: F401

KNOWN = {"azure-native:subscriptionId": SUBSCRIPTION.upper()}
REGISTRY = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/r/providers/Microsoft.ContainerRegistry/registries/images"
OTHER = "99999999-2222-3333-4444-555555555555"


class WithIds(Azure):
    """Every resource gets an id of Azure's form, which lookups take apart."""

    def new_resource(self, args: pulumi.runtime.MockResourceArgs) -> tuple[str | None, dict[Any, Any]]:
        resource_id, outputs = super().new_resource(args)
        given = str(resource_id).startswith("/") or not args.typ.startswith("azure-native:")
        made = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/g/providers/a/b/{args.name}"
        return resource_id if given else made, outputs

    def call(self, args: pulumi.runtime.MockCallArgs) -> Any:
        if args.token.endswith(":getUserAssignedIdentity"):
            return {"principalId": "p", "clientId": "c"}
        if args.token.endswith(":getWorkspace"):
            return {"location": "swedencentral"}
        return super().call(args)


def settings(**cluster: Any) -> dict[str, Any]:
    return {"cluster": {"location": "swedencentral", "access": {"localAccounts": True}, **cluster}}


def refused(program: Callable[[], Any], config: dict[str, str] | None = None) -> tuple[str, Engine]:
    """The text that ends the program, and what was registered until then."""
    engine = Engine(WithIds())
    with pytest.raises(pulumi.RunError) as error:
        run(program, config=config, engine=engine)
    return str(error.value), engine


def two(first: Any, second: Any) -> Callable[[], Any]:
    return lambda: (DraCluster("gpus", first), DraCluster("gpus2", second))


def azure(name: str, subscription: str = SUBSCRIPTION) -> Any:
    import pulumi_azure_native

    return pulumi_azure_native.Provider(name, subscription_id=subscription)


def kubernetes(name: str) -> Any:
    import pulumi_kubernetes

    return pulumi_kubernetes.Provider(name, kubeconfig="x")


# ---------------------------------------------------------------- names in Azure

DEFAULT_NAMES = f"""\
DraCluster "gpus2" has what DraCluster "gpus" of this program has already; nothing of DraCluster "gpus2" was registered:
  resource group /subscriptions/{SUBSCRIPTION}/resourceGroups/rg-aks-dra-t
  cluster /subscriptions/{SUBSCRIPTION}/resourceGroups/rg-aks-dra-t/providers/Microsoft.ContainerService/managedClusters/aks-dra-t
Each of these exists once: both components would write it, and removing one of them would delete it from the other.
Give the newer of the two names of its own, since other names for the older one replace what it has:
  in "gpus2": cluster: {{name: gpus2}}
  in "gpus": cluster: {{name: gpus}}"""


def test_two_clusters_with_default_names() -> None:
    text, engine = refused(two(settings(), settings()), KNOWN)
    assert text == DEFAULT_NAMES
    assert any(request.name == "gpus-cluster-aks" for request in engine.requests)
    assert not any(request.name.startswith("gpus2") for request in engine.requests)


def test_a_subscription_that_is_not_known_is_left_out_of_the_text() -> None:
    text, _ = refused(two(settings(), settings()))
    assert "\n  resource group /resourceGroups/rg-aks-dra-t\n" in text


def test_the_first_keeps_its_default_names_when_the_second_has_a_name() -> None:
    alone, _ = run(lambda: DraCluster("gpus", settings()))
    both, _ = run(two(settings(), settings(name="gpus2")))
    for name in ("gpus-cluster-aks", "gpus-cluster-resource-group"):
        assert both.named(name).inputs == alone.named(name).inputs
    assert len(both.of(":ManagedCluster")) == 2


EVERY_NAME = {
    "name": "x",
    "resourceGroup": "mine",
    "nodeResourceGroup": "mine-nodes",
    "identity": {"name": "mine-id"},
    "kubeletIdentity": {"name": "mine-kubelet"},
    "monitoring": {"logAnalytics": {"name": "mine-logs"}},
}
# What two different clusters have in common, and what the second is told to write.
NAMES: list[tuple[dict[str, Any], list[str], str]] = [
    ({"resourceGroup": "mine"}, ["resource group"], "{resourceGroup: rg-gpus2}"),
    ({"nodeResourceGroup": "n"}, ["node resource group"], "{nodeResourceGroup: gpus2-nodes}"),
    (
        EVERY_NAME,
        ["resource group", "cluster", "node resource group", "identity", "identity", "workspace"],
        "{resourceGroup: rg-gpus2, name: gpus2, nodeResourceGroup: gpus2-nodes, identity: {name: id-gpus2}, "
        "kubeletIdentity: {name: id-gpus2-kubelet}, monitoring: {logAnalytics: {name: log-gpus2}}}",
    ),
    (
        {"privateCluster": True, "fqdn": "api"},
        ["DNS name"],
        "{azureInputs: {fqdnSubdomain: gpus2}}",
    ),
]


def as_cluster(common: dict[str, Any], name: str) -> dict[str, Any]:
    if "fqdn" not in common:
        return settings(**{"name": name, **common})
    group = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/net/providers/Microsoft.Network"
    network = {
        "privateCluster": True,
        "subnetId": f"{group}/virtualNetworks/hub/subnets/aks",
        "privateDnsZone": {"existing": f"{group}/privateDnsZones/privatelink.swedencentral.azmk8s.io"},
    }
    return settings(name=name, network=network, azureInputs={"fqdnSubdomain": common["fqdn"]})


@pytest.mark.parametrize(("common", "taken", "write"), NAMES, ids=["group", "node group", "every name", "DNS name"])
def test_each_name_of_its_own_and_the_remedy_helps(common: dict[str, Any], taken: list[str], write: str) -> None:
    first, second = as_cluster(common, "one"), as_cluster(common, "two")
    text, _ = refused(two(first, second))
    lines = text.splitlines()
    shown = [line.strip().partition(" /")[0] for line in lines[1 : lines.index(next(t for t in lines if "once" in t))]]
    assert [name.partition(" api")[0] for name in shown] == taken
    assert f'  in "gpus2": cluster: {write}' in lines
    for key, value in yaml.safe_load(write).items():
        inner = second["cluster"].get(key)
        second["cluster"][key] = {**inner, **value} if isinstance(inner, dict) else value
    run(two(first, second), engine=Engine(WithIds()))


def test_a_name_that_is_not_free_is_not_proposed() -> None:
    def program() -> None:
        DraCluster("other", settings(name="my-gpus"))
        DraCluster("a", settings())
        DraCluster("my.gpus", settings())

    text, _ = refused(program)
    assert 'in "my.gpus": cluster: {name: my-gpus-2}' in text


def test_the_group_of_one_may_be_the_existing_group_of_the_other() -> None:
    group = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/rg-aks-dra-t"
    run(two(settings(), settings(name="b", resourceGroup={"existing": group})))


def test_the_node_group_of_one_may_not_be_the_group_of_the_other() -> None:
    nodes = "MC_rg-aks-dra-t_aks-dra-t_swedencentral"
    text, _ = refused(two(settings(), settings(name="b", resourceGroup=nodes.lower())))
    assert f"\n  resource group /resourceGroups/{nodes.lower()}\n" in text


def test_other_subscriptions_are_other_ids() -> None:
    def program(shared: bool, **cluster: Any) -> Callable[[], None]:
        def whole() -> None:
            one = azure("one")
            other = one if shared else azure("other", OTHER)
            for name, provider in (("gpus", one), ("gpus2", other)):
                opts = pulumi.ResourceOptions(providers={"azure-native": provider})
                DraCluster(name, settings(**cluster), opts)

        return whole

    run(program(False))
    assert "managedClusters/aks-dra-t" in refused(program(True))[0]
    # A role assignment's id begins with what it opens, so a registry of both is one place.
    text, _ = refused(program(False, registries=[REGISTRY], kubeletIdentity={}))
    assert re.search(rf"\n  role assignment [0-9a-f-]{{36}} \(AcrPull on {REGISTRY}\)\n", text)
    assert 'in "gpus2": cluster: {name: gpus2}' in text


# ---------------------------------------------------------------- clusters that exist, pools, and what is inside


def test_one_existing_cluster_has_one_dra_cluster() -> None:
    text, engine = refused(two(settings(existing=CLUSTER_ID), settings(existing=CLUSTER_ID.upper())))
    shown = CLUSTER_ID.replace("managedClusters/t", "MANAGEDCLUSTERS/T")
    assert text.splitlines()[1].lower() == f"  everything in the cluster {shown}".lower()
    assert text.endswith(
        "Put the pools, namespaces, device classes and claims of both into one DraCluster, or name another cluster in "
        "one of them."
    )
    assert not any(request.name.startswith("gpus2") for request in engine.requests)


def test_a_cluster_that_one_makes_is_not_the_existing_one_of_another() -> None:
    made = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/rg-aks-dra-t/providers/Microsoft.ContainerService/managedClusters/aks-dra-t"
    text, _ = refused(two(settings(), settings(existing=made)), KNOWN)
    assert f"  everything in the cluster {made}" in text


def test_two_clusters_behind_one_provider_are_one() -> None:
    def program() -> None:
        mine, pools = kubernetes("mine"), {"pools": {"t4": {"vmSize": "Standard_NC4as_T4_v3"}}}
        for name, existing in (("gpus", CLUSTER_ID), ("gpus2", CLUSTER_ID + "2")):
            DraCluster(name, {**settings(existing=existing), **pools}, pulumi.ResourceOptions(provider=mine))

    text, _ = refused(program)
    assert "  Helm release gpu-operator/gpu-operator" in text
    assert "everything" not in text


def test_a_pool_is_registered_once() -> None:
    plan = make_plan()

    def program(second: str, system: str = "") -> Callable[[], None]:
        def parts() -> None:
            cluster = AksCluster("c", settings(systemPool={"name": system}) if system else plan)
            GpuPool("p", plan, "a100", cluster=cluster)
            GpuPool("q", plan, second, cluster=cluster)

        return parts

    run(program("t4"))
    text, _ = refused(program("a100"))
    assert text.startswith('GpuPool "q" has what GpuPool "p" of this program has already')
    assert "managedClusters/t/agentPools/a100" in text
    assert text.endswith("Register each pool once, or give the newer of the two another name.")
    # The cluster's inline pool has a name of the same kind.
    text, _ = refused(program("a100", "t4"))
    assert text.startswith('GpuPool "q" has what GpuPool "p"')
    text, _ = refused(program("t4", "t4"))
    assert text.startswith('GpuPool "q" has what AksCluster "c"')


def test_parts_in_one_cluster_and_in_two() -> None:
    def program(second: str) -> Callable[[], None]:
        def parts() -> None:
            providers = {name: pulumi.ResourceOptions(provider=kubernetes(name)) for name in ("a", "b")}
            GpuOperator("o", make_plan(), providers["a"])
            Namespaces("n", make_plan(), providers["a"])
            GpuOperator("o2", make_plan(), providers[second])

        return parts

    run(program("b"))
    text, engine = refused(program("a"))
    assert text == (
        'GpuOperator "o2" has what GpuOperator "o" of this program has already; nothing of GpuOperator "o2" was '
        "registered:\n  Helm release gpu-operator/gpu-operator\n"
        "Each of these exists once: both components would write it, and removing one of them would delete it from the "
        "other.\nLeave it out of one of them, pass `after=` with the `registered` of the part that has it, or pass the "
        "provider of another cluster."
    )
    assert not any(request.name.startswith("o2") for request in engine.requests)


def test_a_part_beside_the_whole_brings_only_what_is_new() -> None:
    def program(**plan: Any) -> Callable[[], None]:
        def parts() -> None:
            whole = DraCluster("gpus", make_plan(cluster=EXISTING))
            opts = pulumi.ResourceOptions(provider=whole.cluster.provider)
            Claims("more", make_plan(cluster=EXISTING, **plan), opts)

        return parts

    run(program(objects=()))
    text, _ = refused(program())
    assert text.startswith('Claims "more" has what DraCluster "gpus"')
    assert "  ResourceClaim ml/one\n" in text


# ---------------------------------------------------------------- one run, and many


def whole(kind: Any, component: str, **cluster: Any) -> Callable[[], Any]:
    return lambda: kind(component, settings(**cluster))


def test_every_run_of_a_process_begins_with_nothing() -> None:
    for name in ("one", "two"):
        run(whole(DraCluster, name))


def test_the_same_component_again_under_one_set_of_mocks_is_no_second() -> None:
    run(lambda: [DraCluster("gpus", settings()) for _ in range(2)])


def test_components_of_a_program_in_another_language_are_of_one_program() -> None:
    """Each comes in a request of its own, with settings of the engine that are new."""
    run(whole(hosted.DraCluster, "gpus"))
    text, _ = refused(whole(hosted.DraCluster, "gpus2"))
    assert text.startswith('DraCluster "gpus2" has what DraCluster "gpus" of this program has already')
    run(whole(hosted.DraCluster, "gpus2", name="other"))


class Environment(pulumi.ComponentResource):
    """A user's own component that makes a cluster, under a name that every environment repeats."""

    def __init__(self, name: str) -> None:
        super().__init__("users:index:Environment", name)
        DraCluster("gpus", settings(), pulumi.ResourceOptions(parent=self))


def test_clusters_of_one_name_below_different_parents_are_two() -> None:
    text, _ = refused(lambda: (Environment("dev"), Environment("prod")))
    assert text.startswith('DraCluster "gpus" has what DraCluster "gpus" of this program has already')
