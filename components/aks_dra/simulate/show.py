"""The report in a terminal, within 100 columns, and as plain data. Pods of one workload with one fate share a row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from aks_dra.simulate.model import Got, PodResult, Report

WIDTH = 100
STYLE = {"placed": "green", "not placed": "red", "cannot": "red", "may": "yellow"}
MOST_NAMES = 4


def as_document(report: Report) -> dict[str, Any]:
    """Keys are stable and camelCase."""
    return {
        "stack": report.stack,
        "scheduled": report.scheduled,
        "kubernetesVersion": report.kubernetes,
        "allPlaced": report.good if report.scheduled else None,
        "pods": [_pod_document(pod) for pod in report.pods],
        "notes": list(report.notes),
    }


def _pod_document(pod: PodResult) -> dict[str, Any]:
    return {
        "workload": pod.workload,
        "namespace": pod.namespace,
        "name": pod.name,
        "status": {"not placed": "notPlaced"}.get(pod.status, pod.status),
        "pool": pod.pool or None,
        "node": pod.node or None,
        "devices": [
            {
                "claim": got.claim or None,
                "request": got.request,
                "driver": got.driver,
                "device": got.device,
                "node": got.node,
                "description": got.description,
                "shared": got.shared,
            }
            for got in pod.devices
        ],
        "extendedResources": dict(pod.resources),
        "possiblePools": list(pod.possible),
        "reasons": [{"code": item.code, "text": item.text, "remedy": item.remedy or None} for item in pod.reasons],
        "scheduler": pod.scheduler or None,
        "notes": list(pod.notes),
    }


def print_report(console: Console, report: Report) -> None:
    who = "the scheduler's word" if report.scheduled else "necessary conditions only"
    console.print(f"[bold]{escape(report.stack)}[/bold]: Kubernetes {report.kubernetes}, {who}\n")
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold cyan", show_edge=False)
    table.add_column("pod", overflow="fold", max_width=34)
    table.add_column("answer", no_wrap=True)
    table.add_column("pool", overflow="fold", max_width=14)
    table.add_column("devices" if report.scheduled else "why", overflow="fold")
    for pods in rows(report.pods):
        first = pods[0]
        style = STYLE[first.status]
        title = f"{first.namespace}/{first.name}" if len(pods) == 1 else f"{title_of(first)} ({len(pods)} pods)"
        pool = first.pool or ", ".join(first.possible) or "-"
        table.add_row(escape(title), f"[{style}]{first.status}[/{style}]", escape(pool), escape(said(pods)))
    console.print(table, width=min(WIDTH, console.width))
    console.print()
    for note in report.notes:
        console.print(f"note: {escape(note)}", soft_wrap=False, width=min(WIDTH, console.width))
    counted = Counter(pod.status for pod in report.pods)
    console.print(", ".join(f"{number} {status}" for status, number in counted.items()) or "no pods")


def title_of(pod: PodResult) -> str:
    kind, _, name = pod.workload.partition(" ")
    return f"{name} {kind}" if kind != "Pod" else name


def rows(pods: Iterable[PodResult]) -> list[list[PodResult]]:
    """Pods that follow each other, of one workload, with the same answer."""
    found: list[list[PodResult]] = []
    for pod in pods:
        last = found[-1][-1] if found else None
        if last and _fate(last) == _fate(pod):
            found[-1].append(pod)
        else:
            found.append([pod])
    return found


def _fate(pod: PodResult) -> tuple[object, ...]:
    kinds = tuple(sorted(Counter(got.description for got in pod.devices).items()))
    return (pod.workload, pod.status, pod.pool, kinds, pod.resources, pod.reasons, pod.notes, pod.possible)


def said(pods: list[PodResult]) -> str:
    """What the pods got, or why they did not."""
    first = pods[0]
    lines = []
    if first.devices:
        lines += devices([got for pod in pods for got in pod.devices])
    for name, number in first.resources:
        lines.append(f"{number * len(pods)}x {name} (device plugin)")
    if first.status == "placed" and not lines:
        lines.append("no devices asked for")
    for reason in first.reasons:
        lines.append(reason.text)
        if reason.remedy:
            lines.append(f"  fix: {reason.remedy}")
    if first.status == "may":
        lines.append("nothing stands in the way on an empty fleet" if first.possible else "asks for no devices")
    lines += first.notes
    return "\n".join(lines)


def devices(got: list[Got]) -> list[str]:
    """ "2x Tesla T4 16384Mi: gpu-0 on aks-t4-vmss000000, …"; a device of a shared claim counts once."""
    by_kind: dict[tuple[str, bool], dict[str, list[str]]] = {}
    for item in got:
        nodes = by_kind.setdefault((item.description or item.driver, item.shared), {})
        names = nodes.setdefault(item.node, [])
        if not (item.shared and item.device in names):
            names.append(item.device)
    lines = []
    for (kind, shared), nodes in by_kind.items():
        total = sum(map(len, nodes.values()))
        places = [f"{_some(sorted(names))} on {node}" for node, names in sorted(nodes.items())]
        lines.append(f"{total}x {kind}{' (shared)' if shared else ''}: {_some(places)}")
    return lines


def _some(texts: list[str]) -> str:
    return ", ".join(texts[:MOST_NAMES]) + (f" and {len(texts) - MOST_NAMES} more" if len(texts) > MOST_NAMES else "")
