"""A stack file in a project of its own, for the loader's tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from aks_dra.stackfile.loader import Loaded, load_stack_file

PROJECT = "name: aks-dra\nruntime: python\nstackConfigDir: stacks\n"

Load = Callable[..., Loaded]


def loader_in(folder: Path) -> Load:
    """Writes a stack file, and others by name, into a project in `folder`; loads the stack file."""

    def run(text: str | bytes, project: str = PROJECT, **others: str) -> Loaded:
        (folder / "Pulumi.yaml").write_text(project)
        (folder / "stacks").mkdir(exist_ok=True)
        for name, content in others.items():
            (folder / "stacks" / f"{name}.yaml").write_text(content)
        file = folder / "stacks" / "Pulumi.dev.yaml"
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return load_stack_file(file)

    return run


def codes(loaded: Loaded) -> list[str]:
    return [problem.code for problem in loaded.problems]


def value(loaded: Loaded, name: str = "aks-dra:v") -> Any:
    return loaded.config[name]


EXAMPLE = """\
# a comment
config:
  azure-native:location: swedencentral
  aks-dra:cluster:
    kubernetesVersion: "1.36"
  aks-dra:pools:
    t4: &t4
      vmSize: Standard_NC4as_T4_v3
      nodes: {count: 2}
    t4b:
      <<: *t4
      taints: [a, b]
"""
