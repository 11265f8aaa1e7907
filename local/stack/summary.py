"""The tables at the end of `make up` and in `make status`, read from the cluster and the stack's exports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from local.stack import cluster as api
from local.stack.cluster import Cluster
from local.stack.placement import Item, name_of
from local.stack.published import ClusterFacts, PoolReport, report

LAYOUTS = "/api/v1/namespaces/gpu-operator/configmaps/aks-dra-mig-layouts"
SIMULATED = (
    "Simulated: Azure, the nodes, the GPUs and what NVIDIA's software does on a node. No container is ever started: "
    "Running is the simulation's word.\n"
    "Real: the Pulumi engine, the Kubernetes API server, its controllers and its scheduler."
)


NARROWEST = 110  # a table that is folded into a log's 80 columns is no table


def make_console() -> Console:
    console = Console()
    return console if console.is_terminal else Console(width=max(console.width, NARROWEST))


def facts(cluster: Cluster) -> ClusterFacts:
    return ClusterFacts(
        tuple(cluster.items(api.NODES)),
        tuple(cluster.items(api.SLICES)),
        tuple(cluster.items(api.PODS)),
        tuple(cluster.items(api.DAEMONSETS)),
        ((cluster.request("GET", LAYOUTS) or {}).get("data") or {}).get("config.yaml"),
    )


def pool_reports(cluster: Cluster, exports: Mapping[str, Any]) -> list[PoolReport]:
    return report(exports.get("pools") or {}, facts(cluster))


def print_pools(console: Console, reports: Iterable[PoolReport]) -> None:
    table = table_of("Pool", "Nodes", "Handed out by", "Devices", "What they are", "Class")
    for pool in reports:
        devices = (
            str(pool.published) if pool.expected in {None, pool.published} else f"{pool.published}/{pool.expected}"
        )
        table.add_row(
            pool.name,
            str(pool.nodes),
            "DRA" if pool.allocation == "dra" else "device plugin",
            devices if not pool.gaps else f"[red]{devices}[/red]",
            "\n".join(f"{count} × {kind}" for kind, count in pool.kinds.items()) or "-",
            "\n".join(pool.classes) or "-",
        )
    console.print(table)


def print_classes_and_claims(console: Console, cluster: Cluster, reports: Iterable[PoolReport]) -> None:
    serves: dict[str, list[str]] = {}
    for pool in reports:
        for name in pool.classes:
            serves.setdefault(name, []).append(pool.name)
    classes = table_of("Device class", "Selectors", "Own class of pool", "Also for pods that ask for")
    for item in sorted(cluster.items(api.CLASSES), key=name_of):
        spec = item.get("spec") or {}
        classes.add_row(
            name_of(item),
            str(len(spec.get("selectors") or [])),
            ", ".join(serves.get(name_of(item), [])) or "-",
            str(spec.get("extendedResourceName") or "-"),
        )
    console.print(classes)
    claims = table_of("Claim", "Kind", "Asks for")
    for kind, path in (("template", api.TEMPLATES), ("claim", api.CLAIMS)):
        for item in sorted(cluster.items(path), key=name_of):
            meta = item["metadata"]
            if meta.get("ownerReferences"):
                continue  # made from a template for one pod
            spec = item["spec"]["spec"] if kind == "template" else item["spec"]
            claims.add_row(f"{meta['namespace']}/{meta['name']}", kind, asks(spec))
    if claims.row_count:
        console.print()
        console.print(claims)


def table_of(*columns: str) -> Table:
    table = Table(show_edge=False, header_style="bold", pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def asks(spec: Item) -> str:
    wanted = []
    for request in (spec.get("devices") or {}).get("requests") or []:
        choices = request.get("firstAvailable") or [request.get("exactly") or {}]
        wanted.append(" else ".join(f"{one.get('count', 1)} × {one.get('deviceClassName', '?')}" for one in choices))
    return ", ".join(wanted) or "-"


def print_gaps(console: Console, reports: Iterable[PoolReport]) -> int:
    """One line per node that lacks something. Returns how many there are."""
    gaps = [gap for pool in reports for gap in pool.gaps]
    for gap in gaps:
        console.print(gap, style="red", markup=False, highlight=False, soft_wrap=True)
    return len(gaps)


def print_farewell(console: Console, kubeconfig: Path, kubectl: Path) -> None:
    console.print(SIMULATED, markup=False, highlight=False, soft_wrap=True)
    console.print(f"A kubectl for it, if you have none: {kubectl}", markup=False, highlight=False, soft_wrap=True)
    console.print(f"export KUBECONFIG={kubeconfig}", markup=False, highlight=False, soft_wrap=True)
