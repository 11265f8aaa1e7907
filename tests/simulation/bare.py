"""A control plane without any node and without the simulated NVIDIA programs, as `make simulate` starts one."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from aks_dra.simulate.cluster import Cluster
from local import kubernetes


@contextmanager
def bare_cluster(version: str = "1.36") -> Iterator[tuple[Path, Cluster]]:
    """Its kubeconfig, and a connection by it."""
    root = Path(tempfile.gettempdir()) / f"aks-dra-bare-{os.getuid()}-{os.getpid()}-{version}"
    try:
        kubeconfig = kubernetes.start(root, version, durable=False)
        yield kubeconfig, Cluster(kubeconfig)
    finally:
        kubernetes.stop(root)
        shutil.rmtree(root, ignore_errors=True)
