"""README.md of a road: what to run between the stack files, what each of them does, and how to go back."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from aks_dra import names
from aks_dra.facts import load_facts
from aks_dra.migrate.steps import Road, Step
from aks_dra.migrate.workloads import FIXED, MAPPING, Advice

LABEL = names.LABEL_AGENT_POOL
ROLLOUTS = ("Deployment", "StatefulSet", "DaemonSet")


def document(road: Road, folder: Path) -> str:
    """The whole text, Markdown."""
    add, move, shrink, remove = road.steps
    parts = [
        f"# {road.pool} to DRA, in four steps",
        "",
        f"Pool `{road.pool}` of stack `{road.stack}` is served by the device plugin. `{road.new_pool}` takes its "
        f"place, {road.new.vm_size}, served by DRA. Each step is one stack file here, ready to be copied over "
        f"`{road.file}`; each was planned against the one before: no errors, and no pool is replaced. Pods on other "
        "pools are not touched.",
        "",
        *(f"- {note}" for note in road.notes),
        *([""] if road.notes else []),
        "Between two steps: commit, look at `pulumi preview`, then `pulumi up`. Every step but the last can be "
        "taken back by copying the file before it.",
        "",
        *_section(road, add, folder),
        f"Wait until the devices of `{road.new_pool}` are there (class {_classes(road)}):",
        "",
        *_shell("kubectl get resourceslices", f"kubectl get nodes -l {LABEL}={road.new_pool}"),
        *_section(road, move, folder),
        *_workloads(road, folder),
        f"See that nothing of yours is left on `{road.pool}`, then drain it; a drain honours disruption budgets:",
        "",
        *_shell(f"kubectl drain -l {LABEL}={road.pool} --ignore-daemonsets --delete-emptydir-data"),
        *_section(road, shrink, folder),
        f"`{road.pool}` has no node left and is not protected any more. Until the next step it can come back: copy "
        f"`{move.name}.yaml`. Pods that nobody thought of show themselves as Pending:",
        "",
        *_shell("kubectl get pods -A --field-selector status.phase=Pending"),
        *_section(road, remove, folder),
        *_last_words(road),
    ]
    return "\n".join(parts).rstrip("\n") + "\n"


def _section(road: Road, step: Step, folder: Path) -> list[str]:
    number, _, _ = step.name.partition("-")
    lines = [f"## {number}. {step.title[0].upper()}{step.title[1:]}", ""]
    if not step.changed:
        return [*lines, "The stack file does not change.", ""]
    lines += _shell(
        f"cp {folder / step.name}.yaml {road.file}",
        f"aks-dra check {road.file} --against HEAD",
        f"pulumi preview -s {road.stack} --diff",
        f"pulumi up -s {road.stack}",
    )
    if step.releases:
        what = ", ".join(f"`{name}`" for name in step.releases)
        lines += [f"This updates what is installed ({what}); running pods keep their devices meanwhile.", ""]
    if step.notes:
        lines += ["This widens what may be used where:", "", *(f"- {note}" for note in step.notes), ""]
    warnings = [finding for finding in step.findings if finding.code.startswith("CHG")]
    if warnings:
        lines += ["`aks-dra check` says of this step, and it is meant:", ""]
        lines += [f"- {finding.code} `{finding.path}`: {finding.message}" for finding in warnings] + [""]
    return lines


def _workloads(road: Road, folder: Path) -> list[str]:
    lines = []
    if tried := [
        str(folder / "workloads" / name) for entry in road.advice for name in entry.files if "manifest" in name
    ]:
        lines += ["Try the new manifests on the planned fleet, before a pod moves:", ""]
        lines += _shell(f"aks-dra simulate {road.file} {' '.join(tried)}")
    lines += [f"No new pod shall come to `{road.pool}`:", "", *_shell(f"kubectl cordon -l {LABEL}={road.pool}")]
    if road.by_mapping:
        lines += [
            f"`nvidia.com/gpu` turns to DRA with this step (`gpu.legacyRequests: dra`, class {names.LEGACY_CLASS}): "
            "new pods that ask for it get a whole GPU of any DRA pool that they tolerate. Running pods stay where "
            "they are.",
            "",
        ]
    if not road.advice:
        lines += [
            "No manifests were given (`--workloads FILES`). Each workload that asks for what the device plugin "
            f"advertises ({', '.join(road.before_resources)}) needs a claim of class {_classes(road)}"
            + (
                ", or stays as it is where a whole GPU by `nvidia.com/gpu` is meant and `gpu.legacyRequests: dra` "
                "is set."
                if road.can_carry
                else f"; on Kubernetes {road.version}, or with this sharing, no extended resource is carried over to "
                "DRA."
            ),
            "",
        ]
    for entry in road.advice:
        lines += [f"### {entry.title}", "", f"{', '.join(entry.asks)}: {entry.text}.", ""]
        lines += [f"- {note}" for note in entry.notes] + ([""] if entry.notes else [])
        lines += _shell(*_commands(entry, folder)) if entry.kind != "stays" else []
    return lines


def _commands(entry: Advice, folder: Path) -> list[str]:
    kind, name, space = entry.workload.lower(), entry.name, entry.namespace
    files = {name.split(".")[-2]: str(folder / "workloads" / name) for name in entry.files}
    if entry.workload in FIXED:
        again = files.get("manifest", entry.where.partition(",")[0])
        delete = f"kubectl delete {kind} {name} -n {space} --wait"
        if entry.generated:
            delete = f"# delete {kind} {name}-… when it is done: kubectl get {kind}s -n {space} shows its whole name"
        return [delete, f"kubectl create -n {space} -f {again}"]
    rollout = entry.workload in ROLLOUTS
    commands = []
    if entry.patch is not None:
        commands.append(f"kubectl patch {kind} {name} -n {space} --type strategic --patch-file {files['patch']}")
    if entry.kind == "unchanged" and rollout:
        commands.append(f"kubectl rollout restart {kind}/{name} -n {space}")
    if rollout:
        commands.append(f"kubectl rollout status {kind}/{name} -n {space}")
    elif entry.workload != "CronJob":
        commands.append(f"# its pods are made anew as they are deleted, one at a time: {kind} {name} -n {space}")
    return commands


def _last_words(road: Road) -> list[str]:
    if not road.last:
        return [
            f"`{road.pool}` is gone; other pools still use the device plugin, so `nvidia.com/gpu` stays theirs.",
            "",
        ]
    if road.minor >= load_facts().since(MAPPING):
        when = "turned to DRA in step 2 already" if road.by_mapping else "turns to DRA with this step"
        return [
            f"`{road.pool}` was the last device-plugin pool: `nvidia.com/gpu` {when} (class {names.LEGACY_CLASS}). "
            "From now on a pod that asks for it gets a whole GPU of any DRA pool that it tolerates.",
            "",
        ]
    return [
        f"`{road.pool}` was the last device-plugin pool: nobody serves `nvidia.com/gpu` any more. Below Kubernetes "
        f"{load_facts().kubernetes.needs[MAPPING].minimum} DRA does not, and pods that ask for it stay Pending.",
        "",
    ]


def _classes(road: Road) -> str:
    return ", ".join(f"`{name}`" for name in road.new.device_classes) or "none"


def _shell(*commands: str) -> list[str]:
    return ["```", *_joined(commands), "```", ""]


def _joined(commands: Iterable[str]) -> list[str]:
    return [command for command in commands if command]
