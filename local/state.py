"""Where everything local lives: one folder that can be deleted as a whole.

`AKS_DRA_LOCAL_STATE` moves it (tests give each session its own); otherwise it is `.local` in the checkout.
Nothing outside this folder is written by the simulated Azure, the control plane or the simulated nodes.
"""

from __future__ import annotations

import os
from pathlib import Path

VARIABLE = "AKS_DRA_LOCAL_STATE"
CHECKOUT = Path(__file__).resolve().parent.parent


def root() -> Path:
    """The state folder, absolute; it need not exist yet."""
    return Path(os.environ.get(VARIABLE) or CHECKOUT / ".local").expanduser().absolute()


def kubernetes() -> Path:
    """etcd's data, keys, tokens, ports.json, pids and the kubeconfig of the local control plane."""
    return root() / "kubernetes"


def azure() -> Path:
    """The simulated Azure's own records."""
    return root() / "azure"


def charts() -> Path:
    """The packed stand-in charts."""
    return root() / "charts"


def logs() -> Path:
    return root() / "logs"


def pulumi_home() -> Path:
    return root() / "pulumi-home"


def backend() -> Path:
    """The file backend that holds the local stack's state."""
    return root() / "backend"
