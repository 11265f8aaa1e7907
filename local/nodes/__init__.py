"""Simulated GPU nodes: what NVIDIA's programs would do on them, given what is really installed in the cluster.

    python -m local.nodes start | stop | status

A polling daemon. It never looks at a plan: a GPU shows up only when a pod of NVIDIA's plugin runs on the
node, and whether it runs there is decided by Kubernetes, from node selectors, taints and affinities.
Each pass is `reconcile(snapshot, memory) -> actions`, without any input or output of its own.
"""

from local.nodes.service import start, status, stop

__all__ = ["start", "status", "stop"]
