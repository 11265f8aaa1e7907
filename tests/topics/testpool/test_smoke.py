"""The test pool's Jobs: what they are, when they run again, and that nothing else notices them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from aks_dra.model.plan import Plan
from aks_dra.resources import SmokeTest, reasons
from tests.resources.stand_in import kubelogin, run  # noqa: F401
from tests.stacks import check, planned

POOLS = "aks-dra:pools: {a100: {vmSize: Standard_NC24ads_A100_v4}}\n"
TEST = POOLS + "aks-dra:testPool: {enabled: true}\n"


def jobs(plan: Plan) -> dict[str, dict[str, Any]]:
    return {o.key: dict(o.manifest) for o in plan.smoke_test if o.kind == "Job"}


def names(plan: Plan) -> list[str]:
    return [job["metadata"]["name"] for job in jobs(plan).values()]


def test_the_two_jobs(tmp_path: Path) -> None:
    body = POOLS + (
        "aks-dra:testPool: {enabled: true, spot: true, smokeTest: {timeoutSeconds: 300, image: mirror.example/cuda:1}}"
    )
    plan = planned(tmp_path, body)
    assert [(o.key, o.after, o.timeout_seconds) for o in plan.smoke_test] == [
        ("smoke-test", ("gpu-operator", "dra-driver-nvidia-gpu", "deviceclass-t4", "claim-gpu-test-gpu-test"), 300),
        ("smoke-test-admin-claim", ("gpu-operator", "dra-driver-nvidia-gpu", "deviceclass-t4"), 0),
        (
            "smoke-test-admin-access",
            ("gpu-operator", "dra-driver-nvidia-gpu", "deviceclass-t4", "smoke-test-admin-claim"),
            300,
        ),
    ]
    job = jobs(plan)["smoke-test"]
    assert re.fullmatch(r"gpu-smoke-test-[0-9a-f]{8}", job["metadata"].pop("name"))
    labels = {"app.kubernetes.io/name": "gpu-smoke-test", "app.kubernetes.io/managed-by": "aks-dra"}
    assert job == {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "namespace": "gpu-test",
            "labels": labels,
            "annotations": {"pulumi.com/replaceUnready": "true"},
        },
        "spec": {
            "activeDeadlineSeconds": 360,
            "backoffLimit": 0,
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "automountServiceAccountToken": False,
                    "containers": [
                        {
                            "name": "gpu-smoke-test",
                            "image": "mirror.example/cuda:1",
                            "command": [
                                "sh",
                                "-c",
                                "nvidia-smi -L >/dev/termination-log; code=$?; cat /dev/termination-log; exit $code",
                            ],
                            "env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"}],
                            "resources": {"claims": [{"name": "gpu"}]},
                            "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
                            "terminationMessagePolicy": "FallbackToLogsOnError",
                        }
                    ],
                    "nodeSelector": {"kubernetes.azure.com/agentpool": "gputest"},
                    "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "gpu-test"}],
                    "restartPolicy": "Never",
                    "tolerations": [
                        {"key": "aks-dra.dev/test-pool", "operator": "Equal", "value": "true", "effect": "NoSchedule"},
                        {
                            "key": "kubernetes.azure.com/scalesetpriority",
                            "operator": "Equal",
                            "value": "spot",
                            "effect": "NoSchedule",
                        },
                    ],
                },
            },
        },
    }
    second = jobs(plan)["smoke-test-admin-access"]
    assert second["metadata"]["namespace"] == "gpu-test-admin"
    claim = next(o.manifest for o in plan.smoke_test if o.key == "smoke-test-admin-claim")
    exactly = {"deviceClassName": "t4", "allocationMode": "ExactCount", "count": 1, "adminAccess": True}
    assert claim == {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "gpu-test", "namespace": "gpu-test-admin"},
        "spec": {"spec": {"devices": {"requests": [{"name": "gpu", "exactly": exactly}]}}},
    }
    labelled = {o.manifest["metadata"]["name"]: o.manifest["metadata"].get("labels") for o in plan.namespaces}
    assert labelled["gpu-test-admin"] == {"resource.kubernetes.io/admin-access": "true"}
    assert labelled["gpu-test"] is None


def test_the_image_is_a_fact(tmp_path: Path) -> None:
    (container,) = jobs(planned(tmp_path, TEST))["smoke-test"]["spec"]["template"]["spec"]["containers"]
    assert container["image"].startswith("nvcr.io/nvidia/cuda:")


ON = "aks-dra:testPool: {enabled: true}\n"
AGAIN = {
    "another size": "aks-dra:testPool: {enabled: true, vmSize: Standard_NC8as_T4_v3}",
    "another time limit": "aks-dra:testPool: {enabled: true, smokeTest: {timeoutSeconds: 60}}",
    "another DRA driver": ON + "aks-dra:gpu: {charts: {draDriver: {version: 0.4.1}}}",
    "other values": ON + "aks-dra:gpu: {charts: {draDriver: {values: {logVerbosity: '6'}}}}",
    "another owner of the driver": ON + "aks-dra:gpu: {driver: aks}",
    "another claim": ON + "aks-dra:claims: {gpu-test: {gpu-test: {deviceClass: gpu.nvidia.com}}}",
}


@pytest.mark.parametrize("body", AGAIN.values(), ids=AGAIN)
def test_it_runs_again_when_what_it_tests_changes(tmp_path: Path, body: str) -> None:
    before = names(planned(tmp_path, TEST))
    assert before[0] != names(planned(tmp_path, POOLS + body))[0]


UNTOUCHED = {
    "the same": ON,
    "more nodes": "aks-dra:testPool: {enabled: true, nodes: {min: 1, max: 3}}",
    "tags": ON + "aks-dra:tags: {team: ml}",
    "a claim elsewhere": ON + "aks-dra:claims: {ml: {a: {deviceClass: t4}}}",
    "a mirror of the charts": ON + "aks-dra:gpu: {charts: {source: https://mirror.example}}",
}


@pytest.mark.parametrize("body", UNTOUCHED.values(), ids=UNTOUCHED)
def test_it_does_not_run_again_for_anything_else(tmp_path: Path, body: str) -> None:
    assert names(planned(tmp_path, TEST)) == names(planned(tmp_path, POOLS + body))


def test_a_second_pool_is_no_reason_to_run_again(tmp_path: Path) -> None:
    more = TEST.replace("{a100:", "{h100: {vmSize: Standard_NC40ads_H100_v5}, a100:")
    assert names(planned(tmp_path, TEST)) == names(planned(tmp_path, more))


def test_it_comes_and_goes_without_touching_anything_else(tmp_path: Path) -> None:
    without = planned(tmp_path, POOLS)
    for body in (TEST, POOLS + "aks-dra:testPool: {enabled: true, spot: true}"):
        with_it = planned(tmp_path, body)
        assert with_it.releases == without.releases
        assert [pool for pool in with_it.pools if pool.name != "gputest"] == list(without.pools)
        more = {o.key for o in with_it.objects} - {o.key for o in without.objects}
        assert more == {"deviceclass-t4", "claim-gpu-test-gpu-test"}
        assert {o.key: o for o in without.objects}.items() <= {o.key: o for o in with_it.objects}.items()
        test = next(pool for pool in with_it.pools if pool.name == "gputest")
        assert not test.protect
        assert test.taints[0] == "aks-dra.dev/test-pool=true:NoSchedule"
        assert test.vm_size == "Standard_NC4as_T4_v3"
    assert without.smoke_test == ()


def test_it_can_be_left_out(tmp_path: Path) -> None:
    plan = planned(tmp_path, POOLS + "aks-dra:testPool: {enabled: true, smokeTest: {enabled: false}}")
    assert plan.smoke_test == ()
    assert "gpu-test-admin" not in {o.manifest["metadata"]["name"] for o in plan.namespaces}


def test_a_size_that_does_not_exist_is_a_finding_and_no_job(tmp_path: Path) -> None:
    body = "aks-dra:testPool: {enabled: true, vmSize: Standard_NC4as_T4_v9}"
    assert "SIZ001" in {f.code for f in check(tmp_path, body)}
    assert planned(tmp_path, body).smoke_test == ()


def test_the_provider_waits_as_long_as_it_may_and_asks_why(tmp_path: Path) -> None:
    plan = planned(tmp_path, POOLS + "aks-dra:testPool: {enabled: true, smokeTest: {timeoutSeconds: 300}}")

    def program() -> SmokeTest:
        import pulumi
        from pulumi_kubernetes import Provider

        provider = Provider("k", kubeconfig="{}")
        return SmokeTest("smoke", plan, pulumi.ResourceOptions(provider=provider))

    engine, test = run(program)
    job = engine.named("smoke-smoke-test")
    assert job.inputs == jobs(plan)["smoke-test"]
    assert (job.raw.customTimeouts.create, job.raw.customTimeouts.update) == ("300s", "300s")
    assert list(job.raw.hooks.on_error) == ["smoke-smoke-test-failed"]
    claim = engine.named("smoke-smoke-test-admin-claim")
    assert not claim.raw.customTimeouts.create
    assert claim.name in engine.behind(engine.named("smoke-smoke-test-admin-access"))
    assert test.jobs == dict(zip(("gpu-test", "gpu-test-admin"), names(plan), strict=True))


def test_a_cluster_that_does_not_answer_hides_no_failure(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    import asyncio

    import pulumi

    plan = planned(tmp_path, TEST)

    def program() -> tuple[SmokeTest, pulumi.ErrorHookFunction]:
        from pulumi_kubernetes import Provider

        options = pulumi.ResourceOptions(provider=Provider("k", kubeconfig="{}"))
        test = SmokeTest("smoke", plan, options, kubeconfig=pulumi.Output.from_input("no: kubeconfig"))
        return test, test._explain(plan.smoke_test[0])

    _, (_, explain) = run(program)
    loop = asyncio.get_event_loop()
    args = pulumi.ErrorHookArgs("urn", "id", "n", "t", failed_operation="create", errors=["timed out"])
    assert loop.run_until_complete(explain(args)) is False
    said = caplog.text
    name = names(plan)[0]
    assert f"the test pool's smoke test gpu-test/{name} did not succeed (limit: 900 s)" in said
    assert f"`kubectl -n gpu-test describe pods -l job-name={name}` says more" in said
    assert "the reason could not be asked of the cluster: " in said


def test_reasons_come_from_conditions_containers_and_events(monkeypatch: pytest.MonkeyPatch) -> None:
    from kubernetes import client, config

    def pod(name: str, uid: str, **status: Any) -> client.V1Pod:
        return client.V1Pod(metadata=client.V1ObjectMeta(name=name, uid=uid), status=client.V1PodStatus(**status))

    def event(uid: str, reason: str, message: str, name: str = "") -> client.CoreV1Event:
        involved = client.V1ObjectReference(uid=uid, name=name)
        return client.CoreV1Event(
            metadata=client.V1ObjectMeta(name="e"), involved_object=involved, reason=reason, message=message
        )

    refused = client.V1PodCondition(type="PodScheduled", status="False", reason="Unschedulable", message="0/7 nodes")
    waiting = client.V1ContainerState(waiting=client.V1ContainerStateWaiting(reason="ErrImagePull", message="denied"))
    container = client.V1ContainerStatus(name="c", image="i", image_id="", ready=False, restart_count=0, state=waiting)
    pods = [
        pod("a", "1", conditions=[refused]),
        pod("b", "2", container_statuses=[container]),
        pod("c", "3"),
        pod("d", "4"),
    ]
    events = [
        event("1", "FailedScheduling", "0/7 nodes"),
        event("3", "FailedResourceClaimCreation", "exceeded quota"),
        event("9", "FailedCreate", "pods are forbidden", "job"),
    ]

    class Api:
        def __init__(self, _: object) -> None:
            pass

        def list_namespaced_pod(self, namespace: str, **_: object) -> client.V1PodList:
            return client.V1PodList(items=pods)

        def list_namespaced_event(self, namespace: str, **_: object) -> client.CoreV1EventList:
            return client.CoreV1EventList(items=events)

    monkeypatch.setattr(client, "CoreV1Api", Api)
    monkeypatch.setattr(config, "new_client_from_config_dict", lambda text: text)
    assert reasons._reasons("{}", "ns", "job") == [
        "pod ns/a: Unschedulable: 0/7 nodes",
        "pod ns/b: ErrImagePull: denied",
        "pod ns/c: FailedResourceClaimCreation: exceeded quota",
    ]
    pods.clear()
    assert reasons._reasons("{}", "ns", "job") == ["job ns/job: FailedCreate: pods are forbidden"]
