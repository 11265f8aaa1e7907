"""What Helm's own code makes of a packed chart: schema, refusals and every object, without a cluster."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from local.tools.build import Tool, build

TEMPLATE = Tool("helm-template", "aks-dra-helm-template", ".", 2, root=Path(__file__).parent)
DRA_APIS = ("resource.k8s.io/v1", "resource.k8s.io/v1/DeviceClass")


@dataclass(frozen=True)
class Rendered:
    """One rendering. `error` is what `helm install` would end with; then there are no manifests."""

    version: str
    values: dict[str, Any]
    crds: list[dict[str, Any]]
    manifests: list[dict[str, Any]]
    notes: str
    error: str

    def of(self, kind: str, name: str = "") -> dict[str, Any]:
        """The one object of a kind (and name)."""
        found = [
            item for item in self.manifests if item["kind"] == kind and (not name or item["metadata"]["name"] == name)
        ]
        assert len(found) == 1, (kind, name, self.names(), self.error)
        return found[0]

    def names(self) -> list[tuple[str, str]]:
        return [(item["kind"], item["metadata"]["name"]) for item in self.manifests]


def render(
    chart: Path,
    values: Mapping[str, Any] | None = None,
    *,
    name: str = "",
    namespace: str = "gpu",
    apis: Sequence[str] = DRA_APIS,
    kube_version: str = "v1.36.2",
) -> Rendered:
    """Renders a packed chart; the release is named after the chart unless said otherwise."""
    question = {
        "chart": str(chart),
        "name": name or chart.stem,
        "namespace": namespace,
        "kubeVersion": kube_version,
        "apiVersions": list(apis),
        "values": dict(values or {}),
    }
    run = subprocess.run(
        [str(build(TEMPLATE))], input=json.dumps(question), capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return Rendered(**json.loads(run.stdout))
