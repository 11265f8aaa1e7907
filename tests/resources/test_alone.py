"""What the components refuse, the parts alone, a cluster that exists, and other languages."""

from __future__ import annotations

import dataclasses
import json

import pulumi
import pytest
from pydantic.alias_generators import to_camel

from aks_dra.resources import (
    AksCluster,
    DraCluster,
    DraClusterArgs,
    GpuOperator,
    GpuPool,
    Namespaces,
    access,
    azure_inputs,
    guard,
)
from aks_dra.resources.args import describe
from aks_dra.settings import Settings
from tests.resources.hand_made import EXISTING, POOL, finding, make_plan, whole_cluster
from tests.resources.stand_in import CLUSTER_ID, SUBSCRIPTION, failing, kubelogin, resolved, run  # noqa: F401


def test_all_errors_come_at_once_and_nothing_is_registered() -> None:
    plan = make_plan(findings=(finding("E1", "error"), finding("W1", "warning"), finding("E2", "error")))
    text = failing(whole_cluster(plan))
    assert text.splitlines()[0] == "2 errors in the settings of stack t; nothing was registered:"
    for code in ("E1", "E2"):
        assert f"{code} aks-dra:{code}\n  {code} is wrong\n  write {code} otherwise" in text
    assert "W1" not in text


def test_a_finding_says_file_and_line_where_they_are_known() -> None:
    placed = dataclasses.replace(finding("E1", "error"), file="stacks/Pulumi.dev.yaml", line=7)
    assert describe(placed).splitlines()[0] == "E1 aks-dra:E1  (stacks/Pulumi.dev.yaml:7)"


def test_raw_inputs_that_azure_native_does_not_know_are_refused() -> None:
    pool = dataclasses.replace(POOL, inputs={**POOL.inputs, "gpuDriverr": 1, "resourceName": "other"})
    text = failing(whole_cluster(make_plan(pools=(pool,))))
    assert "aks-dra:pools.a100.azureInputs.gpuDriverr" in text
    assert "aks-dra:pools.a100.azureInputs.resourceName" in text


LOCAL = {"azure-native:subscriptionId": guard.ZERO_SUBSCRIPTION}


def test_null_chart_values_are_refused_with_their_path() -> None:
    operator, *others = make_plan().releases
    operator = dataclasses.replace(operator, values={"operator": {"priorityClassName": None}, "list": [{"a": None}]})
    text = failing(whole_cluster(make_plan(releases=(operator, *others))))
    assert "aks-dra:gpu.charts.operator.values.operator.priorityClassName" in text
    assert "aks-dra:gpu.charts.operator.values.list.0.a" in text


def test_a_local_stack_is_never_served_by_the_real_plugin() -> None:
    assert "is not the local stand-in" in failing(whole_cluster(), config=LOCAL, simulated=False)


def test_a_local_stack_asks_once_and_a_real_one_never() -> None:
    engine, _ = run(whole_cluster(), config=LOCAL)
    assert [call.token for call in engine.azure.calls].count(guard.QUESTION) == 1
    engine, _ = run(whole_cluster(), config={"azure-native:subscriptionId": SUBSCRIPTION}, simulated=False)
    assert guard.QUESTION not in [call.token for call in engine.azure.calls]


def test_outputs_are_refused_with_their_path() -> None:
    text = failing(lambda: DraClusterArgs(pools={"a": {"vm_size": pulumi.Output.from_input("x")}}))
    assert "pools.a.vm_size: is an Output" in text
    text = failing(lambda: DraClusterArgs(cluster={"name": f"c-{pulumi.Output.from_input('x')}"}))
    assert "cluster.name: is the text that Pulumi gives for str() of an Output" in text


def test_settings_come_as_a_mapping_in_both_spellings_or_as_keywords() -> None:
    spellings = [
        DraClusterArgs({"pools": {"a": {"vmSize": "X"}}, "testPool": {"enabled": True}}),
        DraClusterArgs({"pools": {"a": {"vm_size": "X"}}, "test_pool": {"enabled": True}}),
        DraClusterArgs({"pools": {"b": {"vmSize": "Y"}}}, pools={"a": {"vm_size": "X"}}, test_pool={"enabled": True}),
    ]
    assert {args.settings.model_dump_json() for args in spellings} == {spellings[0].settings.model_dump_json()}
    again = DraClusterArgs(spellings[0].settings, tags={"a": "b"}).settings
    assert again.tags == {"a": "b"}
    assert again.pools == spellings[0].settings.pools


def test_settings_with_mistakes_name_all_of_them() -> None:
    text = failing(lambda: DraClusterArgs({"pools": {"a": {"vmSiz": "X"}}, "gpu": {"driver": "me"}}))
    for path in ("aks-dra:pools.a.vmSize", "aks-dra:pools.a.vmSiz", "aks-dra:gpu.driver"):
        assert f" {path}\n" in text


# ---------------------------------------------------------------- parts alone, and a cluster that exists


def test_an_existing_cluster_is_neither_made_nor_changed() -> None:
    engine, cluster = run(whole_cluster(make_plan(cluster=EXISTING)))
    assert engine.of(":ManagedCluster") == engine.of(":ResourceGroup") == []
    pool = engine.named("gpu-pool-a100-agent-pool").inputs
    assert (pool["resourceGroupName"], pool["resourceName"]) == ("rg-t", "t")
    assert resolved(cluster.oidc_issuer)[0] == "https://found"
    assert engine.named("gpu-cluster-kubernetes").inputs["clusterIdentifier"] == CLUSTER_ID


def test_a_given_provider_is_used_and_no_credentials_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    import pulumi_kubernetes

    monkeypatch.setattr("shutil.which", lambda program: None)

    def program() -> DraCluster:
        mine = pulumi_kubernetes.Provider("mine", kubeconfig="x")
        return DraCluster("gpu", make_plan(cluster=EXISTING), pulumi.ResourceOptions(provider=mine))

    engine, _ = run(program)
    assert [call.token.split(":")[-1] for call in engine.azure.calls] == ["getManagedCluster"]
    inside = [request for request in engine.requests if request.type.startswith("kubernetes:")]
    assert {request.raw.provider.split("::")[-2] for request in inside} == {"mine"}


def test_parts_work_alone() -> None:
    plan = make_plan(cluster=EXISTING)

    def program() -> None:
        cluster = AksCluster("c", plan)
        pool = GpuPool("p", plan, "t4")
        opts = pulumi.ResourceOptions(provider=cluster.provider, depends_on=[pool.agent_pool])
        Namespaces("n", plan, opts)
        GpuOperator("o", plan, opts)

    engine, _ = run(program)
    assert engine.named("p-agent-pool").inputs["resourceName"] == "t"
    assert "p-agent-pool" in engine.behind(engine.named("o-gpu-operator"))
    assert len(engine.of(":Release")) == 1


def test_a_part_alone_goes_with_the_cluster_behind_its_provider() -> None:
    plan = make_plan()

    def program() -> None:
        cluster = AksCluster("c", plan)
        GpuOperator("o", plan, pulumi.ResourceOptions(provider=cluster.provider))

    engine, _ = run(program)
    release = engine.named("o-gpu-operator").raw
    assert [urn.split("::")[-1] for urn in release.replace_with] == ["c-aks"]
    assert release.deletedWith.split("::")[-1] == "c-aks"


def test_what_is_in_a_cluster_of_the_program_goes_with_it() -> None:
    import pulumi_kubernetes

    def program() -> DraCluster:
        theirs = AksCluster("theirs", make_plan())
        mine = pulumi_kubernetes.Provider("mine", kubeconfig=theirs.kubeconfig)
        opts = pulumi.ResourceOptions(provider=mine, deleted_with=theirs.managed_cluster)
        return DraCluster("gpu", make_plan(cluster=EXISTING), opts)

    engine, _ = run(program)
    inside = [request for request in engine.requests if request.type.startswith("kubernetes:")]
    pools = engine.of(":AgentPool")
    assert len(pools) == 2
    for request in (*inside, *pools):
        assert "theirs-aks" in {urn.split("::")[-1] for urn in request.raw.replace_with}
        assert request.raw.deletedWith.split("::")[-1] == "theirs-aks"


def test_a_part_in_the_cluster_wants_a_provider_and_a_pool_its_name() -> None:
    with pytest.raises(pulumi.RunError, match="GpuOperator needs the cluster's provider"):
        run(lambda: GpuOperator("o", make_plan()))
    assert "the pools there are: a100, t4" in failing(lambda: GpuPool("p", make_plan(), "t5"))


def test_an_id_that_is_no_cluster_is_refused() -> None:
    with pytest.raises(pulumi.RunError, match="is not the id of an AKS cluster"):
        access.parse_cluster_id("/subscriptions/x/resourceGroups/y")


# ---------------------------------------------------------------- names of Azure's properties, other languages


def test_every_azure_property_has_the_python_name_that_azure_native_uses() -> None:
    from pulumi import _types
    from pulumi_azure_native import containerservice

    for args in (containerservice.ManagedClusterArgs, containerservice.AgentPoolArgs):
        names = _types.input_type_py_to_pulumi_names(args)
        assert names
        assert {azure_inputs.snake(camel): camel for camel in names.values()} == names


def test_other_languages_get_a_schema_and_their_numbers_back() -> None:
    from pulumi.provider.experimental.component import ComponentProvider

    from aks_dra.resources import hosted

    schema = json.loads(ComponentProvider([hosted.DraCluster], "aks-dra", None, "0.1.0").schema or "")
    component = schema["resources"]["aks-dra:index:DraCluster"]
    assert component["isComponent"]
    # Every setting; `base` is for stack files, which a program in another language has none of.
    assert set(component["inputProperties"]) == {to_camel(name) for name in Settings.model_fields} - {"base"}
    assert set(component["properties"]) == {
        "claims", "clusterId", "clusterName", "findings", "kubeconfig", "nodeResourceGroup", "oidcIssuer", "pools",
        "previous",
    }  # fmt: skip
    assert all(text["description"] for text in component["inputProperties"].values())
    assert hosted._with_integers({"a": [1.0, 1.5, {"b": 2.0}], "c": True}) == {"a": [1, 1.5, {"b": 2}], "c": True}
