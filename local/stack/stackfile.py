"""What `make up` must know of a stack file before the engine reads it: is it local, which Kubernetes?

A stack is local when its subscription is the zero one; the simulated Azure accepts no other and Azure knows
no such subscription, so neither can ever serve the other's stack. This is a reader of its own on purpose:
nothing under local/ shares code with the settings.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ZERO_SUBSCRIPTION = "00000000-0000-0000-0000-000000000000"


class StackError(Exception):
    """The stack cannot be brought up here. The text says why and what to do instead."""


@dataclass(frozen=True)
class StackFile:
    stack: str
    path: Path
    project: str
    subscription: str
    kubernetes_version: str
    dra_stack: str = "chart"


def read(checkout: Path, stack: str) -> StackFile:
    path = checkout / "stacks" / f"Pulumi.{stack}.yaml"
    if not path.is_file():
        known = sorted(file.name[len("Pulumi.") : -len(".yaml")] for file in path.parent.glob("Pulumi.*.yaml"))
        raise StackError(f"there is no {path}; stacks here: {', '.join(known) or 'none'}")
    project = load(checkout / "Pulumi.yaml")
    layers = list(config_layers(path, set()))
    return StackFile(
        stack,
        path,
        str(project.get("name", "")),
        str(first(layers, "azure-native:subscriptionId") or ""),
        str(first(layers, "aks-dra:cluster", "kubernetesVersion") or default_kubernetes(checkout)),
        str(first(layers, "aks-dra:gpu", "draStack") or "chart"),
    )


def refuse_unless_local(file: StackFile) -> None:
    if file.subscription != ZERO_SUBSCRIPTION:
        given = f"its subscription is {file.subscription}" if file.subscription else "it names no subscription"
        raise StackError(
            f"{file.path.name} is not a local stack: {given}, and only azure-native:subscriptionId "
            f"{ZERO_SUBSCRIPTION} is served here.\n"
            f"To see what it comes to:    make plan STACK={file.stack}\n"
            f"To bring it up in Azure:    pulumi up -s {file.stack}"
        )
    if file.dra_stack == "operator":
        raise StackError(
            f"{file.path.name} has the operator run the DRA driver (aks-dra:gpu.draStack: operator), and what the "
            "operator makes of a GPUCluster is not simulated: no node would publish a device.\n"
            f"To see what it comes to:    make plan STACK={file.stack}\n"
            "To try workloads here:      set draStack: chart; classes, claims and devices are the same"
        )


def config_layers(path: Path, seen: set[Path]) -> Iterator[Mapping[str, Any]]:
    """The file's config, then those of the files it builds on: what comes first wins."""
    if path in seen:
        return
    seen.add(path)
    document = load(path)
    config = document.get("config", document)
    if not isinstance(config, Mapping):
        return
    yield config
    bases = config.get("aks-dra:base")
    # The last of several bases overrules those before it.
    for base in reversed(bases if isinstance(bases, list) else []):
        for folder in (path.parent, path.parent.parent):
            if (folder / str(base)).is_file():
                yield from config_layers(folder / str(base), seen)
                break


def load(path: Path) -> Mapping[str, Any]:
    try:
        document = yaml.safe_load(path.read_text())
    except OSError as error:
        raise StackError(f"{path} cannot be read: {error.strerror}") from error
    except yaml.YAMLError as error:
        raise StackError(f"{path} is not YAML: {error}") from error
    return document if isinstance(document, Mapping) else {}


def first(layers: list[Mapping[str, Any]], *keys: str) -> Any:
    for layer in layers:
        value: Any = layer
        for key in keys:
            value = value.get(key) if isinstance(value, Mapping) else None
        if value is not None:
            return value
    return None


def default_kubernetes(checkout: Path) -> str:
    table = checkout / "components" / "aks_dra" / "facts" / "kubernetes.toml"
    return str(tomllib.loads(table.read_text())["default"])
