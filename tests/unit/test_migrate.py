"""The road of a pool from the device plugin to DRA: edits in place, stack files that follow each other, workloads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from aks_dra.cli import app
from aks_dra.migrate.command import migrate
from aks_dra.migrate.document import document
from aks_dra.migrate.edit import Drop, Edit, EditError, Put, edited, flow
from aks_dra.migrate.steps import MigrateError, Road, road
from aks_dra.planning.from_file import plan_file
from aks_dra.planning.previous import previous_of
from aks_dra.simulate.reading import WorkloadError, read_text
from tests.unit.planning_help import stack

pytestmark = pytest.mark.unit

TEXT = """\
# head
config:
  azure-native:location: swedencentral   # here
  aks-dra:pools:
    # first
    t4: {vmSize: X}  # tail
    old:
      vmSize: Y   # y
      nodes:
        count: 1
    # about the last
    z: {a: 1,
        b: 2}

  # after
  aks-dra:gpu: {}
  aks-dra:tags:
encryptionsalt: v1:abc
"""
AT = ("config", "aks-dra:pools")
EDITS: list[tuple[Edit, dict[int, list[str]]]] = [
    (Put((*AT, "new"), {"vmSize": "S", "v": "1.36", "on": True}),
     {13: ["        b: 2}", '    new: {vmSize: S, v: "1.36", "on": true}']}),
    (Put((*AT, "t4", "protect"), False), {6: ["    t4: {vmSize: X, protect: false}  # tail"]}),
    (Put((*AT, "old", "protect"), False), {10: ["        count: 1", "      protect: false"]}),
    (Put((*AT, "old", "nodes"), {"count": 0}), {9: ["      nodes: {count: 0}"], 10: []}),
    (Put((*AT, "z", "c"), [1, "two"]), {13: ["        b: 2, c: [1, two]}"]}),
    (Put(("config", "aks-dra:gpu", "legacyRequests"), "dra"), {16: ["  aks-dra:gpu: {legacyRequests: dra}"]}),
    (Put(("config", "aks-dra:tags", "a"), "yes"), {17: ['  aks-dra:tags: {a: "yes"}']}),
    (Put(("config", "aks-dra:claims", "ml", "x"), {"deviceClass": "t4"}),
     {17: ["  aks-dra:tags:", "  aks-dra:claims: {ml: {x: {deviceClass: t4}}}"]}),
    (Drop((*AT, "old")), {7: [], 8: [], 9: [], 10: []}),
    (Drop((*AT, "t4")), {6: []}),
    (Drop((*AT, "z", "a")), {12: ["    z: {b: 2}"], 13: []}),
    (Drop((*AT, "z", "b")), {12: ["    z: {a: 1}"], 13: []}),
    (Drop((*AT, "absent")), {}),
]  # fmt: skip


@pytest.mark.parametrize(("edit", "lines"), EDITS)
def test_an_edit_changes_its_lines_and_no_other(edit: Edit, lines: dict[int, list[str]]) -> None:
    expected = [new for number, line in enumerate(TEXT.splitlines(), 1) for new in lines.get(number, [line])]
    assert edited(TEXT, [edit]).splitlines() == expected


@pytest.mark.parametrize(
    "text",
    [
        "config:\n  x: &pools {t4: {}}\n  aks-dra:pools: *pools\n",
        "config:\n  aks-dra:pools: &p {t4: {}}\n",
        "config:\n  aks-dra:pools: '{\"t4\": {}}'\n",
        "- config\n",
        "config: {\n",
    ],
)
def test_what_cannot_be_edited_in_place_is_refused(text: str) -> None:
    with pytest.raises(EditError):
        edited(text, [Put((*AT, "new"), {})])


def test_a_value_on_one_line_reads_as_what_it_was() -> None:
    value = {"a": "1.40", "b": ["no", "~", "x: y", "#", ""], "c": {"on": 0, "d": None}, "e": -1.0, "f": 'q"'}
    assert yaml.safe_load(flow(value)) == value


POOLS = """
aks-dra:cluster: {access: {azureRbac: true}, kubernetesVersion: "%s"}
aks-dra:pools:
  a100: {vmSize: Standard_NC24ads_A100_v4}  # stays
  # the old one
  old: {vmSize: %s, nodes: {min: 0, max: 3}, allocation: devicePlugin%s}
"""
T4, A100 = "Standard_NC4as_T4_v3", "Standard_NC24ads_A100_v4"
DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: ml}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: main, image: x, resources: {limits: {RESOURCE: 1, memory: 1Gi}, requests: {RESOURCE: 1}}}
"""


def made(folder: Path, body: str, workloads: str = "", **options: Any) -> Road:
    file = stack(folder, body, access="aks-dra:cluster" not in body)
    return road(file, options.pop("pool", "old"), manifests=read_text(workloads, "w.yaml"), **options)


def pools_of(text: str) -> Any:
    return yaml.safe_load(text)["config"]["aks-dra:pools"]


def test_four_stack_files_that_follow_each_other(tmp_path: Path) -> None:
    found = made(tmp_path, POOLS % ("1.36", T4, ""))
    add, move, shrink, remove = (step.text for step in found.steps)
    a100 = {"vmSize": A100}
    old = {"vmSize": T4, "nodes": {"min": 0, "max": 3}, "allocation": "devicePlugin"}
    new = {"vmSize": T4, "nodes": {"min": 1, "max": 3}, "allocation": "dra"}
    assert pools_of(add) == {"a100": a100, "old": old, "old2": new}
    assert move == add
    assert pools_of(shrink) == {"a100": a100, "old": {**old, "nodes": {"count": 0}, "protect": False}, "old2": new}
    assert pools_of(remove) == {"a100": a100, "old2": new}
    assert all("  # stays\n" in text and "# the old one\n" in text for text in (add, move, shrink, remove))
    assert [step.changed for step in found.steps] == [True, False, True, True]


SHARINGS = [
    (T4, ", sharing: {mode: timeSlicing, replicas: 4, rename: true}", {"mode": "timeSlicing", "interval": "Default"}),
    (T4, ", sharing: {mode: mps, replicas: 4}", {"mode": "mps"}),
    (A100, ", sharing: {mode: mig, layout: all-1g.10gb, strategy: mixed}", {"mode": "mig", "layout": "all-1g.10gb"}),
    (T4, "", None),
]


@pytest.mark.parametrize(("size", "sharing", "expected"), SHARINGS)
@pytest.mark.parametrize("version", ["1.35", "1.36"])
def test_every_step_passes_check_and_replaces_nothing(
    tmp_path: Path, size: str, sharing: str, expected: dict[str, Any] | None, version: str
) -> None:
    found = made(tmp_path, POOLS % (version, size, sharing))
    assert pools_of(found.steps[0].text)["old2"].get("sharing") == expected
    file = found.file
    previous = previous_of(found.before)
    strangers = [pool for pool in found.before.pools if pool.name == "a100"]
    for step in found.steps:
        file.write_text(step.text)
        plan, findings = plan_file(file, previous=previous)
        assert plan is not None
        assert plan.errors == ()
        codes = {finding.code for finding in findings if finding.code.startswith("CHG")}
        assert codes <= ({"CHG008", "CHG017", "CHG018"} if step.name == "4-remove" else set())
        assert [pool for pool in plan.pools if pool.name == "a100"] == strangers
        assert plan.cluster == found.before.cluster
        previous = previous_of(plan)
    assert codes >= {"CHG008", "CHG017"}  # of the last step


def test_a_pool_of_a_base_file_is_taken_back_in_the_stack_file(tmp_path: Path) -> None:
    file = stack(tmp_path, "aks-dra:base: [common.yaml]")
    base = (
        f"config: {{aks-dra:pools: {{old: {{vmSize: {T4}, nodes: {{min: 1, max: 2}}, allocation: devicePlugin}}}}}}\n"
    )
    (file.parent / "common.yaml").write_text(base)
    found = road(file, "old")
    shrink, remove = (pools_of(step.text) for step in found.steps[2:])
    assert shrink["old"] == {"nodes": {"count": 0, "min": None, "max": None}, "protect": False}
    assert remove["old"] is None
    assert [pool.name for pool in found.steps[3].plan.pools] == ["old2"]
    assert found.steps[2].plan.pools[0].nodes == "0"


def test_a_workload_with_a_whole_gpu_is_carried_unchanged(tmp_path: Path) -> None:
    found = made(tmp_path, POOLS % ("1.36", T4, ""), DEPLOYMENT.replace("RESOURCE", "nvidia.com/gpu"))
    [advice] = found.advice
    assert (advice.kind, advice.title, advice.files) == ("unchanged", "Deployment ml/web", {})
    add, move, shrink, remove = (yaml.safe_load(step.text)["config"].get("aks-dra:gpu") for step in found.steps)
    assert (add, move, shrink, remove) == (None, {"legacyRequests": "dra"}, {"legacyRequests": "dra"}, None)
    assert found.by_mapping
    assert "CHG017" in {finding.code for finding in found.steps[1].findings}


CLAIMS = [
    ("1.35", T4, "", "nvidia.com/gpu", {}, "t4", {"deviceClass": "t4"}, "below Kubernetes 1.36"),
    ("1.36", T4, "", "nvidia.com/gpu", {"claims": True}, "t4", {"deviceClass": "t4"}, "what was asked for"),
    (
        "1.36", T4, ", sharing: {mode: timeSlicing, replicas: 4}", "nvidia.com/gpu", {}, "web-gpu",
        {"deviceClass": "t4-timesliced", "shareAcross": "pods"}, "one of 4 shares of a GPU",
    ),
    (
        "1.36", T4, ", sharing: {mode: timeSlicing, replicas: 4, rename: true}", "nvidia.com/gpu.shared", {}, "web-gpu",
        {"deviceClass": "t4-timesliced", "shareAcross": "pods"}, "nvidia.com/gpu.shared is a name of the device plugin",
    ),
    (
        "1.36", A100, ", sharing: {mode: mig, layout: all-1g.10gb}", "nvidia.com/gpu", {}, "a100-80gb-1g.10gb",
        {"deviceClass": "a100-80gb-1g.10gb"}, "is a MIG partition there",
    ),
    (
        "1.36", A100, ", sharing: {mode: mig, layout: all-balanced}", "nvidia.com/mig-2g.20gb", {}, "a100-80gb-2g.20gb",
        {"deviceClass": "a100-80gb-2g.20gb"}, "nvidia.com/mig-2g.20gb is a name of the device plugin alone",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("version", "size", "sharing", "resource", "options", "name", "claim", "reason"), CLAIMS)
def test_a_workload_that_needs_a_claim(
    tmp_path: Path, version: str, size: str, sharing: str, resource: str, options: dict[str, Any], name: str,
    claim: dict[str, Any], reason: str,
) -> None:  # fmt: skip
    found = made(tmp_path, POOLS % (version, size, sharing), DEPLOYMENT.replace("RESOURCE", resource), **options)
    [advice] = found.advice
    assert advice.kind == "claim"
    assert reason in advice.text
    assert yaml.safe_load(found.steps[1].text)["config"]["aks-dra:claims"] == {"ml": {name: claim}}
    key = "resourceClaimName" if "shareAcross" in claim else "resourceClaimTemplateName"
    reference = {"name": "gpu", key: name}
    assert advice.patch == {"spec": {"template": {"spec": {
        "containers": [{"name": "main", "resources": {
            "limits": {resource: None}, "claims": [{"name": "gpu"}], "requests": {resource: None},
        }}],
        "resourceClaims": [reference],
    }}}}  # fmt: skip
    spec = advice.manifest["spec"]["template"]["spec"] if advice.manifest else {}
    assert spec["resourceClaims"] == [reference]
    assert spec["containers"][0]["resources"] == {"limits": {"memory": "1Gi"}, "claims": [{"name": "gpu"}]}


def test_two_containers_get_two_devices_and_what_is_fixed_is_written_whole(tmp_path: Path) -> None:
    pod = """
apiVersion: v1
kind: Pod
metadata: {name: two}
spec:
  nodeSelector: {kubernetes.azure.com/agentpool: old}
  containers:
  - {name: one, image: x, resources: {limits: {nvidia.com/gpu: 1}}}
  - {name: other, image: x, resources: {limits: {nvidia.com/gpu: 2}}}
"""
    found = made(tmp_path, POOLS % ("1.36", "Standard_NC64as_T4_v3", ""), pod)
    [advice] = found.advice
    assert advice.patch is None
    assert advice.manifest is not None
    assert list(advice.files) == ["default-pod-two.manifest.yaml"]
    assert advice.claims == {"t4": {"deviceClass": "t4"}, "t4-x2": {"deviceClass": "t4", "count": 2}}
    assert advice.manifest["spec"] == {
        "nodeSelector": {"kubernetes.azure.com/agentpool": "old2"},
        "containers": [
            {"name": "one", "image": "x", "resources": {"claims": [{"name": "gpu"}]}},
            {"name": "other", "image": "x", "resources": {"claims": [{"name": "gpu-2"}]}},
        ],
        "resourceClaims": [
            {"name": "gpu", "resourceClaimTemplateName": "t4"},
            {"name": "gpu-2", "resourceClaimTemplateName": "t4-x2"},
        ],
    }


def test_workloads_of_other_pools_and_without_gpus_are_left_alone(tmp_path: Path) -> None:
    pinned = DEPLOYMENT.replace("RESOURCE", "nvidia.com/gpu").replace(
        "    spec:\n", "    spec:\n      nodeSelector: {kubernetes.azure.com/agentpool: elsewhere}\n"
    )
    plain = DEPLOYMENT.replace("RESOURCE", "cpu")
    foreign = DEPLOYMENT.replace("RESOURCE", "nvidia.com/mig-1g.10gb")
    odd = "apiVersion: v1\nkind: Pod\nmetadata: {name: odd}\n"
    odd += "spec: {containers: [3, {resources: [x]}, {resources: {limits: 1}}]}"
    found = made(tmp_path, POOLS % ("1.36", T4, ""), "---\n".join([pinned, plain, foreign, odd]))
    assert [(a.kind, a.text) for a in found.advice] == [
        ("stays", "is not touched: it is pinned to pool elsewhere"),
        ("stays", "is not touched: old has no nvidia.com/mig-1g.10gb"),
    ]
    assert found.steps[1].changed is False


def test_a_claim_that_the_pod_has_keeps_its_name(tmp_path: Path) -> None:
    has = DEPLOYMENT.replace("RESOURCE", "nvidia.com/gpu").replace(
        "    spec:\n", "    spec:\n      resourceClaims: [{name: gpu, resourceClaimName: nic}]\n"
    )
    [advice] = made(tmp_path, POOLS % ("1.36", T4, ""), has, claims=True).advice
    assert advice.manifest is not None
    assert advice.manifest["spec"]["template"]["spec"]["resourceClaims"] == [
        {"name": "gpu", "resourceClaimName": "nic"},
        {"name": "gpu-moved", "resourceClaimTemplateName": "t4"},
    ]


def test_workloads_of_one_name_do_not_come_to_share_a_gpu(tmp_path: Path) -> None:
    one = DEPLOYMENT.replace("RESOURCE", "nvidia.com/gpu")
    found = made(
        tmp_path,
        POOLS % ("1.36", T4, ", sharing: {mode: timeSlicing, replicas: 4}"),
        one + "---" + one.replace("Deployment", "StatefulSet"),
    )
    assert [list(advice.claims) for advice in found.advice] == [["web-gpu"], ["web-gpu-moved"]]


JOB = """
apiVersion: batch/v1
kind: Job
metadata: {generateName: train-}
spec: {template: {spec: {restartPolicy: Never, containers: [{CONTAINER resources: {limits: {nvidia.com/gpu: 1}}}]}}}
---
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: big}
"""


def test_a_generated_name_is_no_name_to_delete_and_unknown_kinds_are_named(tmp_path: Path) -> None:
    found = made(tmp_path, POOLS % ("1.36", T4, ""), JOB.replace("CONTAINER", "name: c,"), claims=True)
    assert [advice.title for advice in found.advice] == ["Job default/train"]
    said = "PyTorchJob big (w.yaml, document 2) is not looked at: which pods it makes is not known here"
    assert found.notes[1:] == (said,)
    text = document(found, Path("out"))
    assert "# delete job train-… when it is done: kubectl get jobs -n default shows its whole name\n" in text
    assert "kubectl create -n default -f out/workloads/default-job-train.manifest.yaml\n" in text
    assert "kubectl delete job" not in text


@pytest.mark.parametrize(
    "damage",
    [
        ("requests: {nvidia.com/gpu: 1}", "requests: [1]"),
        ("    spec:\n", "    spec:\n      resourceClaims: 3\n"),
        ("      containers:", "      initContainers: text\n      containers:"),
        ("requests: {nvidia.com/gpu: 1}", "claims: 7"),
        ("memory: 1Gi", "7: 1Gi"),
    ],
)
def test_damage_beside_what_changes_ends_in_no_traceback(tmp_path: Path, damage: tuple[str, str]) -> None:
    text = DEPLOYMENT.replace("RESOURCE", "nvidia.com/gpu").replace(*damage)
    assert text != DEPLOYMENT.replace("RESOURCE", "nvidia.com/gpu")
    [advice] = made(tmp_path, POOLS % ("1.36", T4, ""), text, claims=True).advice
    assert advice.manifest is not None
    spec = advice.manifest["spec"]["template"]["spec"]
    assert spec["resourceClaims"] == [{"name": "gpu", "resourceClaimTemplateName": "t4"}]


def test_a_container_without_a_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        WorkloadError, match=r"w\.yaml, document 1: Job train: it and each of its containers need a name"
    ):
        made(tmp_path, POOLS % ("1.36", T4, ""), JOB.replace("CONTAINER", ""), claims=True)


BUDGETS = [
    ("minAvailable: 2", "", None, "allows 0 of 2 to be away; its rollout takes 0 away"),
    ("minAvailable: 50%", "strategy: {type: Recreate}", True, "allows 1 of 2 to be away, its own strategy 2"),
    ("maxUnavailable: 0", "strategy: {rollingUpdate: {maxUnavailable: 1}}", True, "allows 0 of 2"),
]


@pytest.mark.parametrize(("budget", "strategy", "gentle", "note"), BUDGETS)
def test_a_rollout_keeps_the_disruption_budget(
    tmp_path: Path, budget: str, strategy: str, gentle: bool | None, note: str
) -> None:
    deployment = DEPLOYMENT.replace("RESOURCE", "nvidia.com/gpu").replace("  replicas", f"  {strategy}\n  replicas")
    text = f"""{deployment}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{name: web, namespace: ml}}
spec: {{{budget}, selector: {{matchLabels: {{app: web}}}}}}
"""
    [advice] = made(tmp_path, POOLS % ("1.36", T4, ""), text, claims=True).advice
    assert advice.patch is not None
    assert note in advice.notes[0]
    expected = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}}
    found = advice.patch["spec"].get("strategy")
    assert found == ({"$retainKeys": ["type", "rollingUpdate"], **expected} if gentle else None)


REFUSED = [
    ({"pool": "a100"}, POOLS % ("1.36", T4, ""), "it is a DRA pool already; device-plugin pools: old"),
    ({"pool": "nothing"}, POOLS % ("1.36", T4, ""), "there is no such pool; device-plugin pools: old"),
    ({"to": "a100"}, POOLS % ("1.36", T4, ""), "there is a pool of this name already"),
    ({"to": "Not-a-name"}, POOLS % ("1.36", T4, ""), "NAM001"),
    ({}, POOLS % ("1.36", "Standard_NC4as_T4_v9", ""), "has errors of its own: SIZ001"),
    ({}, "x: 1\n" + POOLS % ("1.36", T4, ", labels: {x: {secure: v1abc}}"), "SET003"),
]


@pytest.mark.parametrize(("options", "body", "text"), REFUSED)
def test_what_has_no_road_is_refused_with_the_reason(
    tmp_path: Path, options: dict[str, Any], body: str, text: str
) -> None:
    with pytest.raises(MigrateError, match=text):
        made(tmp_path, body.removeprefix("x: 1\n"), **options)


def test_the_command_writes_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stack(tmp_path, POOLS % ("1.36", T4, ", sharing: {mode: timeSlicing, replicas: 4}"), access=False)
    (tmp_path / "w.yaml").write_text(DEPLOYMENT.replace("RESOURCE", "nvidia.com/gpu"))
    monkeypatch.chdir(tmp_path)
    run = CliRunner().invoke(app, ["migrate", "test", "--pool", "old", "--workloads", "w.yaml"])
    assert run.exit_code == 0, run.output
    folder = tmp_path / "migrate-test-old"
    assert sorted(str(path.relative_to(folder)) for path in folder.rglob("*.*")) == [
        "1-add.yaml", "2-move.yaml", "3-shrink.yaml", "4-remove.yaml", "README.md",
        "workloads/ml-deployment-web.manifest.yaml", "workloads/ml-deployment-web.patch.yaml",
    ]  # fmt: skip
    text = (folder / "README.md").read_text()
    for line in (
        "cp migrate-test-old/1-add.yaml stacks/Pulumi.test.yaml",
        "aks-dra check stacks/Pulumi.test.yaml --against HEAD",
        "kubectl cordon -l kubernetes.azure.com/agentpool=old",
        "kubectl patch deployment web -n ml --type strategic --patch-file "
        "migrate-test-old/workloads/ml-deployment-web.patch.yaml",
        "kubectl rollout status deployment/web -n ml",
        "kubectl drain -l kubernetes.azure.com/agentpool=old --ignore-daemonsets --delete-emptydir-data",
        "`old` was the last device-plugin pool: `nvidia.com/gpu` turns to DRA with this step (class "
        "aks-dra-legacy-requests). From now on a pod that asks for it gets a whole GPU of any DRA pool that it "
        "tolerates.",
    ):
        assert line in text.splitlines()
    again, _, written = migrate("test", "old", workloads=[Path("w.yaml")])
    assert len(written) == 7
    assert again.steps[0].text == (folder / "1-add.yaml").read_text()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["nowhere", "--pool", "old"], "there is no stack file nowhere"),
        (["test", "--pool", "old", "--workloads", "absent.yaml"], "absent.yaml"),
        (["test", "--pool", "a100"], "it is a DRA pool already"),
    ],
)
def test_the_command_refuses_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], text: str
) -> None:
    stack(tmp_path, POOLS % ("1.36", T4, ""), access=False)
    monkeypatch.chdir(tmp_path)
    run = CliRunner().invoke(app, ["migrate", *arguments])
    assert run.exit_code == 1
    assert text in run.output
    assert "Traceback" not in run.output


KEYS = st.sampled_from(["a", "b", "aks-dra:pools", "no", "1.36", "with space"])
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-5, 5), st.text("ab #:{}[],&*'\"|>-\n", max_size=6))
TREES = st.recursive(
    SCALARS, lambda inner: st.dictionaries(KEYS, inner, max_size=3) | st.lists(inner, max_size=2), max_leaves=8
)


@given(st.dictionaries(KEYS, TREES, max_size=3), st.lists(KEYS, min_size=1, max_size=3), TREES, st.booleans())
def test_what_an_edit_says_is_what_yaml_reads(tree: dict[str, Any], path: list[str], value: Any, block: bool) -> None:
    text = yaml.safe_dump({"config": tree}, default_flow_style=not block, allow_unicode=True, sort_keys=False)
    expected = yaml.safe_load(text)
    inner = expected["config"]
    for key in path[:-1]:
        below = inner.get(key)
        if below is not None and not isinstance(below, dict):
            with pytest.raises(EditError):
                edited(text, [Put(("config", *path), value)])
            return
        if below is None:
            inner[key] = {}
        inner = inner[key]
    inner[path[-1]] = value
    put = edited(text, [Put(("config", *path), value)])
    assert yaml.safe_load(put) == expected
    del inner[path[-1]]
    assert yaml.safe_load(edited(put, [Drop(("config", *path))])) == expected
