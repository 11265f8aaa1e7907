"""What the tests of the road to DRA share: pools, a workload, the road itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from aks_dra.kube.reading import read_text
from aks_dra.migrate.steps import Road, road
from tests.stacks import stack

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
    file = stack(folder, body)
    return road(file, options.pop("pool", "old"), manifests=read_text(workloads, "w.yaml"), **options)
