"""The command line of each part of the control plane, and why each flag is there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from local.kubernetes.keeping import Secrets

PARTS = ("etcd", "kube-apiserver", "kube-scheduler", "kube-controller-manager", "kwok")
STAGES = Path(__file__).parent / "stages.yaml"
ETCD_SOCKET = "unix://etcd.sock"
"""A socket in the private folder instead of a port: etcd has no password, and nobody else may read secrets."""


def commands(program: Path, secrets: Secrets, port: int, emulate: str, durable: bool) -> Mapping[str, list[str]]:
    """Part to argv. Relative names are of the folder `kubernetes/`, where all of them run."""
    folder = secrets.folder
    versions = [f"--emulated-version=kube={emulate}"] if emulate else []
    return {
        "etcd": [
            str(program),
            "etcd",
            f"--data-dir={folder / 'etcd'}",
            f"--listen-client-urls={ETCD_SOCKET}",
            f"--advertise-client-urls={ETCD_SOCKET}",
            "--listen-peer-urls=unix://peer.sock",
            "--initial-advertise-peer-urls=unix://peer.sock",
            "--initial-cluster=default=unix://peer.sock",
            "--auto-compaction-retention=1h",
            "--log-level=warn",
            *([] if durable else ["--unsafe-no-fsync"]),
        ],
        "kube-apiserver": [
            str(program),
            "kube-apiserver",
            f"--etcd-servers={ETCD_SOCKET}",
            "--bind-address=127.0.0.1",
            f"--secure-port={port}",
            "--endpoint-reconciler-type=none",  # it refuses to advertise a loopback address
            f"--cert-dir={secrets.certificate.parent}",
            f"--token-auth-file={secrets.token_file}",
            "--anonymous-auth=false",
            "--authorization-mode=Node,RBAC",
            "--allow-privileged=true",  # NVIDIA's plugins are privileged containers
            "--service-cluster-ip-range=10.0.0.0/24",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={secrets.service_account_key}",
            f"--service-account-signing-key-file={secrets.service_account_key}",
            "--profiling=false",
            *versions,
        ],
        "kube-scheduler": [
            str(program),
            "kube-scheduler",
            f"--kubeconfig={secrets.kubeconfig('kube-scheduler')}",
            f"--authentication-kubeconfig={secrets.kubeconfig('kube-scheduler')}",
            f"--authorization-kubeconfig={secrets.kubeconfig('kube-scheduler')}",
            "--leader-elect=false",  # one scheduler: no 15 s wait for a dead predecessor's lease
            "--secure-port=0",
            *versions,
        ],
        "kube-controller-manager": [
            str(program),
            "kube-controller-manager",
            f"--kubeconfig={secrets.kubeconfig('kube-controller-manager')}",
            "--leader-elect=false",
            "--secure-port=0",
            f"--service-account-private-key-file={secrets.service_account_key}",
            f"--root-ca-file={secrets.certificate}",
            "--kube-api-qps=500",  # the defaults make the first service account come 4 s later
            "--kube-api-burst=1000",
            f"--flex-volume-plugin-dir={folder / 'volume-plugins'}",  # the default lies under /usr
            *versions,
        ],
        "kwok": [
            str(program),
            "kwok",
            f"--kubeconfig={secrets.kubeconfig('kwok')}",
            f"--config={STAGES}",
            "--manage-all-nodes=true",
            "--node-lease-duration-seconds=40",
        ],
    }
