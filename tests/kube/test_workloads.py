"""Workload files: what they come to, and what is refused with which text."""

from __future__ import annotations

import json
from typing import Any

import pytest

from aks_dra.kube.asks import extended_resources, tolerates
from aks_dra.kube.devices import Device, Version
from aks_dra.kube.reading import WorkloadError, read_text
from aks_dra.kube.workloads import Workloads, workloads
from aks_dra.matching.conditions import attempt, in_words, parts
from aks_dra.simulate.pods import daemon_pod, pod_manifest

POD = "{spec: {containers: [{name: main, image: app}]}}"


def read(text: str) -> Workloads:
    return workloads(read_text(text, "w.yaml"))


def pods_of(kind: str, version: str, spec: str) -> list[str]:
    found = read(f"apiVersion: {version}\nkind: {kind}\nmetadata: {{name: x}}\nspec: {spec}\n")
    return [f"{pod.namespace}/{pod.name}" for group in found.groups for pod in group.pods]


@pytest.mark.parametrize(
    ("kind", "version", "spec", "names"),
    [
        ("Pod", "v1", "{containers: [{name: main}]}", ["default/x"]),
        ("Deployment", "apps/v1", f"{{template: {POD}}}", ["default/x-0"]),
        ("Deployment", "apps/v1", f"{{replicas: 0, template: {POD}}}", []),
        ("StatefulSet", "apps/v1", f"{{replicas: 2, template: {POD}}}", ["default/x-0", "default/x-1"]),
        ("ReplicaSet", "apps/v1", f"{{replicas: 2, template: {POD}}}", ["default/x-0", "default/x-1"]),
        ("Job", "batch/v1", f"{{template: {POD}}}", ["default/x-0"]),
        ("Job", "batch/v1", f"{{parallelism: 3, completions: 2, template: {POD}}}", ["default/x-0", "default/x-1"]),
        ("Job", "batch/v1", f"{{parallelism: 2, completions: 9, template: {POD}}}", ["default/x-0", "default/x-1"]),
        ("Job", "batch/v1", f"{{parallelism: 2, template: {POD}}}", ["default/x-0", "default/x-1"]),
        ("Job", "batch/v1", f"{{suspend: true, parallelism: 2, template: {POD}}}", []),
        ("CronJob", "batch/v1", f"{{jobTemplate: {{spec: {{parallelism: 1, template: {POD}}}}}}}", ["default/x-0"]),
    ],
)
def test_pods_that_run_at_the_same_time(kind: str, version: str, spec: str, names: list[str]) -> None:
    assert pods_of(kind, version, spec) == names


def claim(request: str, version: str = "resource.k8s.io/v1") -> str:
    head = f"apiVersion: {version}\nkind: ResourceClaim\nmetadata: {{name: c}}\n"
    return f"{head}spec: {{devices: {{requests: [{request}]}}}}"


def pod(container: str, more: str = "") -> str:
    return f"apiVersion: v1\nkind: Pod\nmetadata: {{name: x}}\nspec: {{containers: [{container}], {more}}}"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{a: &a [x, x], b: [*a, *a]}", "apiVersion and kind are missing"),
        (
            "x0: &x0 [a, a, a, a, a, a, a, a, a, a]\n"
            + "".join(f"x{n}: &x{n} [{', '.join([f'*x{n - 1}'] * 10)}]\n" for n in range(1, 9)),
            "w.yaml: more than 200000 values, aliases written out",
        ),
        ("[1, 2]", "w.yaml: a Kubernetes object is a map, this is a list"),
        ("just text", "w.yaml: a Kubernetes object is a map, this is a text"),
        ("a: [", "w.yaml:1: no YAML"),
        ("a: &a [*a]", "w.yaml: nested deeper than 60 levels, or within itself"),
        ("x: 1", "w.yaml: no Kubernetes object: apiVersion and kind are missing"),
        ("apiVersion: v1\nkind: List\nitems: 3", "w.yaml: items of a List are a list, this is a number"),
        ("apiVersion: v1\nkind: List\nitems: [4]", "w.yaml, items[0]: a Kubernetes object is a map"),
        (
            "apiVersion: extensions/v1beta1\nkind: Deployment\nmetadata: {name: x}",
            "w.yaml: Deployment of extensions/v1beta1 is not served; write apiVersion: apps/v1",
        ),
        ("apiVersion: v1\nkind: Pod\nmetadata: {}", "w.yaml: Pod without metadata.name"),
        ("apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec: 3", "w.yaml: Pod x has no pod with containers"),
        (
            f"apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: x}}\nspec: {{replicas: two, template: {POD}}}",
            "w.yaml: Deployment x: replicas is a whole number of 0 or more, this is 'two'",
        ),
        (
            f"apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: x}}\nspec: {{replicas: 3000, template: {POD}}}",
            "the files come to 2001 pods; at most 2000",
        ),
        (
            claim("{name: gpu, deviceClassName: t4, count: 2}"),
            "w.yaml: ResourceClaim c: request gpu has count, deviceClassName beside its name, as before "
            "resource.k8s.io/v1; write {name: gpu, exactly: {deviceClassName: t4, …}}",
        ),
        (
            claim("{name: gpu, exactly: {deviceClassName: t4}}", "resource.k8s.io/v1beta1"),
            "w.yaml: ResourceClaim of resource.k8s.io/v1beta1 is not served; write apiVersion: resource.k8s.io/v1",
        ),
        (claim("{name: gpu}"), "request gpu needs exactly or firstAvailable, one of the two"),
        (claim("{exactly: {deviceClassName: t4}}"), "every request needs a name"),
        (claim("{name: gpu, firstAvailable: [{deviceClassName: t4}]}"), "every alternative needs a name"),
        (
            claim("{name: gpu, exactly: {deviceClassName: t4, selectors: ['true']}}"),
            "write a selector as cel: {expression: …}",
        ),
        (
            "apiVersion: v1\nkind: Namespace\nmetadata: {name: x, labels: [a]}",
            "w.yaml: Namespace x: labels is a map, this is ['a']",
        ),
        (
            claim("{name: gpu, exactly: {deviceClass: t4}}"),
            "w.yaml: ResourceClaim c: request gpu has no deviceClassName; deviceClass is no such field",
        ),
        (
            claim("{name: gpu, firstAvailable: [{name: a, deviceClassName: t4}, {name: b}]}"),
            "w.yaml: ResourceClaim c: request gpu has no deviceClassName",
        ),
        (
            claim("{name: gpu, exactly: {deviceClassName: 4}}"),
            "request gpu: deviceClassName is the name of a device class, this is 4",
        ),
        (
            claim("{name: gpu, exactly: {deviceClassName: t4, allocationMode: All, count: 2}}"),
            "request gpu: allocationMode All takes every device, so remove count",
        ),
        (
            pod("{name: c, resources: {claims: [{name: gpu}]}}"),
            "w.yaml: Pod x: container c uses claim gpu, which is not among the pod's resourceClaims (none)",
        ),
        (
            pod("{name: c, resources: {claims: [{name: gpu}]}}", "resourceClaims: [{name: gpus}]"),
            "resourceClaims gpus names a claim (resourceClaimName) or a template (resourceClaimTemplateName)",
        ),
        (
            pod("{name: c, resources: {limits: {nvidia.com/gpu: 0.5}}}"),
            "w.yaml: Pod x: container c: nvidia.com/gpu is a whole number, this is 0.5",
        ),
        (
            pod("{name: c, resources: {requests: {nvidia.com/gpu: 1}}}"),
            "w.yaml: Pod x: container c: nvidia.com/gpu is asked for in limits; write it there, too",
        ),
        (
            "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: x}\nspec: text",
            "w.yaml: DeviceClass x: spec is a map, this is 'text'",
        ),
        ("apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec: {containers: [{}]}\n---\n" * 2, "is also in w.yaml"),
        ("a: " + "[" * 70 + "]" * 70, "nested deeper than 60 levels"),
    ],
)
def test_what_is_refused_and_how(text: str, said: str) -> None:
    with pytest.raises(WorkloadError) as error:
        read(text)
    assert said in str(error.value)


@pytest.mark.parametrize(
    "container",
    [
        "{name: c, resources: {limits: {nvidia.com/gpu: '2', cpu: 0.5}, requests: {nvidia.com/gpu: 2, cpu: 100m}}}",
        "{name: c, resources: {requests: {deviceclass.resource.kubernetes.io/t4: 1}}}",
        "{name: c, resources: {limits: {example.com/x: 2k}}}",
    ],
)
def test_resources_that_kubernetes_takes(container: str) -> None:
    assert len(read(pod(container)).groups) == 1


def test_a_claim_that_no_container_uses_is_noted() -> None:
    claims = "resourceClaims: [{name: gpu, resourceClaimName: one}, {name: nic, resourceClaimTemplateName: nic}]"
    found = read(pod("{name: c, resources: {claims: [{name: nic, request: a}]}}", claims))
    assert found.notes == ("w.yaml: Pod x: no container uses claim gpu, so its devices are seen in none",)


def test_scalars_mean_what_they_mean_to_kubectl() -> None:
    (found,) = read_text(
        "apiVersion: v1\nkind: X\nday: 2026-11-30\ntime: 12:30\non: yes\nmode: 0644\nnone: ~\nfloat: 1.5", "w.yaml"
    )
    assert found.content == {
        "apiVersion": "v1",
        "kind": "X",
        "day": "2026-11-30",
        "time": "12:30",
        True: True,
        "mode": 420,
        "none": None,
        "float": 1.5,
    }


def test_json_lists_and_documents_are_taken_and_the_rest_is_named() -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "a"}, "spec": {"containers": [{}]}}
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}}
    custom = {"apiVersion": "example.com/v1", "kind": "TrainJob", "metadata": {"name": "t"}}
    found = read(json.dumps({"apiVersion": "v1", "kind": "List", "items": [pod, service, custom]}))
    assert [(group.title, len(group.pods)) for group in found.groups] == [("Pod a/p", 1)]
    assert found.notes == ("TrainJob t was left out: aks-dra does not know what pods it makes",)


def test_a_pod_keeps_what_decides_and_loses_what_would_wait() -> None:
    (group,) = read(
        """
        {apiVersion: v1, kind: Pod, metadata: {name: p, labels: {app: x}}, spec: {
          serviceAccountName: s, runtimeClassName: nvidia, priorityClassName: high,
          nodeSelector: {a: b}, volumes: [{name: v, persistentVolumeClaim: {claimName: c}}],
          containers: [{name: main, image: app, volumeMounts: [{name: v, mountPath: /v}]}]}}
        """
    ).groups
    made = pod_manifest(group.pods[0], {"mark": "1"})
    assert made["metadata"] == {"name": "p", "namespace": "default", "labels": {"app": "x", "mark": "1"}}
    assert made["spec"] == {
        "priorityClassName": "high",
        "nodeSelector": {"a": "b"},
        "volumes": [{"name": "v", "emptyDir": {}}],
        "containers": [{"name": "main", "image": "app", "volumeMounts": [{"name": "v", "mountPath": "/v"}]}],
        "automountServiceAccountToken": False,
        "terminationGracePeriodSeconds": 0,
    }


def test_a_daemon_set_s_pod_is_pinned_and_keeps_its_own_affinity() -> None:
    term = "{matchExpressions: [{key: a, operator: Exists}]}"
    required = f"{{requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: [{term}]}}}}"
    (group,) = read(
        "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: agent}\nspec: {template: {spec: "
        f"{{affinity: {{nodeAffinity: {required}}}, containers: [{{name: main}}]}}}}}}"
    ).groups
    made = daemon_pod(group.pods[0], "node-1")
    assert made.name == "agent-node-1"
    affinity = made.spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert affinity["nodeSelectorTerms"] == [
        {
            "matchExpressions": [{"key": "a", "operator": "Exists"}],
            "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-1"]}],
        }
    ]


def test_resources_of_what_runs_at_the_same_time() -> None:
    def container(**limits: object) -> dict[str, Any]:
        return {"resources": {"limits": {name.replace("__", "/").replace("_", "."): n for name, n in limits.items()}}}

    spec = {
        "containers": [container(nvidia_com__gpu=1, cpu=4), container(nvidia_com__gpu="2")],
        "initContainers": [container(nvidia_com__gpu=5), container(amd_com__gpu=1)],
    }
    assert extended_resources(spec) == {"nvidia.com/gpu": 5, "amd.com/gpu": 1}


@pytest.mark.parametrize(
    ("toleration", "taint", "borne"),
    [
        ({"operator": "Exists"}, "a=b:NoSchedule", True),
        ({"key": "a", "operator": "Exists"}, "a=b:NoSchedule", True),
        ({"key": "a", "value": "b"}, "a=b:NoSchedule", True),
        ({"key": "a", "value": "b", "effect": "NoSchedule"}, "a=b:NoExecute", False),
        ({"key": "a", "value": "c"}, "a=b:NoSchedule", False),
        ({"key": "a"}, "a:NoSchedule", True),
        ({"value": "b"}, "a=b:NoSchedule", False),
        ({"key": "x"}, "a=b:PreferNoSchedule", True),
    ],
)
def test_taints_and_tolerations(toleration: dict[str, str], taint: str, borne: bool) -> None:
    assert tolerates((toleration,), taint) is borne


def test_the_part_that_fails_and_what_the_device_has() -> None:
    device = Device(
        "gpu-0",
        "gpu.nvidia.com",
        {"type": "gpu", "cudaComputeCapability": Version("7.5.0")},
        {"memory": "16Gi"},
    )
    held, memory = "device.attributes['gpu.nvidia.com']", "device.capacity['gpu.nvidia.com'].memory"
    chain = f"{held}.type == 'gpu' && {memory}.compareTo(quantity('20Gi')) >= 0 && false"
    found = attempt((chain,), device, (1, 36))
    assert (found.matches, found.held) == (False, 1)
    assert in_words(found.part, device) == "memory >= 20Gi: it has memory 16Gi"
    newer = f"{held}.cudaComputeCapability.isGreaterThan(semver('8.0.0'))"
    found = attempt(("true", newer), device, (1, 36))
    assert in_words(found.part, device) == "cudaComputeCapability > 8.0.0: it has cudaComputeCapability 7.5.0"
    older = f'{held}["type"] == "mig" || {memory}.isGreaterThan(quantity("20Gi"))'
    assert in_words(older, device) == (f'{held}["type"] == "mig" || memory > 20Gi: it has type gpu, memory 16Gi')
    assert in_words(f"type({memory}) == string", device) == "type(memory) == string: it has memory 16Gi"
    absent = attempt((f"'profile' in {held} && true",), device, (1, 36))
    assert in_words(absent.part, device) == "it has no profile"
    raised = attempt((f"{held}.profile == 'x'",), device, (1, 36))
    assert (raised.matches, raised.raises) == (False, "no such key: profile")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a && b", ("a", "b")),
        ("a && (b && c)", ("a", "b", "c")),
        ("((a || b) && c.d(')')) && (e)", ("(a || b)", "c.d(')')", "(e)")),
        ("a // && c\n && b", ("a // && c", "b")),
        ("a && (b || c) && 'x && y' == d", ("a", "(b || c)", "'x && y' == d")),
        ("a && b || c", ("a && b || c",)),
        ("a ? b && c : d", ("a ? b && c : d",)),
        ("m[?'x'].?y.orValue(true) && b", ("m[?'x'].?y.orValue(true)", "b")),
        ("'it\\'s && ' == a && b", ("'it\\'s && ' == a", "b")),
    ],
)
def test_chains_are_taken_apart_and_nothing_else(text: str, found: tuple[str, ...]) -> None:
    assert parts(text) == found
