"""Runs of `aks-dra simulate` in a process of their own, and what they answer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from aks_dra.simulate.cluster import KINDS, RUN_LABEL, Cluster

ROOT = Path(__file__).resolve().parents[2]
T4 = "Tesla T4 16384Mi"


def simulate(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "aks_dra.cli", "simulate", *map(str, arguments)]
    return subprocess.run(command, env=variables(**environment), capture_output=True, text=True, check=False)


def variables(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'components'}", **more}


def marked(cluster: Cluster) -> list[str]:
    return [
        f"{kind} {item['metadata']['name']}" for kind in KINDS for item in cluster.items(kind, labelSelector=RUN_LABEL)
    ]


def answers(text: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for pod in json.loads(text)["pods"]:
        name = f"{pod['namespace']}/{pod['name']}"
        if pod["status"] == "placed":
            found[name] = (pod["pool"], *(got["description"] for got in pod["devices"]))
        else:
            (first, *_) = pod["reasons"]
            found[name] = (first["code"], first["text"], first["remedy"] or "")
    return found
