"""What the loader makes of a stack file, for its tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from aks_dra.stackfile.loader import Loaded, load_stack_file
from tests.stacks import PROJECT, write

Load = Callable[..., Loaded]


def loader_in(folder: Path) -> Load:
    """Writes a stack file, and others by name, into a project in `folder`; loads the stack file."""

    def run(content: str | bytes, project: str = PROJECT, **others: str) -> Loaded:
        return load_stack_file(write(folder, content, project=project, stack="dev", **others))

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
