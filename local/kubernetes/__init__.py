"""A real Kubernetes control plane on this machine: etcd, API server, scheduler, controllers, and kwok for kubelets.

    python -m local.kubernetes start | stop | status

Nothing here is simulated except the nodes: kwok keeps them Ready and says Running for pods bound to them.
No container is ever started.
"""

from local.kubernetes.control_plane import ControlPlaneError, start, status, stop
from local.kubernetes.parts import PARTS

__all__ = ["PARTS", "ControlPlaneError", "start", "status", "stop"]
