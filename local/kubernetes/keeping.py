"""What the control plane keeps between two starts: its port, its tokens, the key for service accounts.

A stack in Pulumi's state holds the kubeconfig; if any of these changed on a restart, the next preview would
plan changes. So each is made once. The API server writes its own serving certificate, which is also its CA;
that one is left alone too, until its year is nearly over.
"""

from __future__ import annotations

import base64
import json
import secrets
import socket
import time
from dataclasses import dataclass
from pathlib import Path

from local.kubernetes.processes import holder, write_private

CERTIFICATE_DAYS = 300
"""The API server's own certificate lasts 365 days; a start after this many makes a new one."""

USERS = {
    "admin": "system:masters",
    "kube-controller-manager": "system:masters",  # it acts for every controller, without an account for each
    "kube-scheduler": "",  # the user system:kube-scheduler has roles of its own
    "kwok": "system:masters",
    "nodes": "system:masters",
}


class PortTakenError(Exception):
    """The recorded port belongs to another program."""


@dataclass(frozen=True)
class Secrets:
    """The folder `kubernetes/` of one state folder."""

    folder: Path

    @property
    def certificate(self) -> Path:
        return self.folder / "pki" / "apiserver.crt"

    @property
    def service_account_key(self) -> Path:
        return self.folder / "pki" / "service-accounts.key"

    @property
    def token_file(self) -> Path:
        return self.folder / "tokens.csv"

    @property
    def ports_file(self) -> Path:
        return self.folder / "ports.json"

    def kubeconfig(self, user: str) -> Path:
        return self.folder / ("kubeconfig" if user == "admin" else f"{user}.kubeconfig")

    def prepare(self) -> None:
        (self.folder / "pki").mkdir(parents=True, exist_ok=True, mode=0o700)
        self.folder.chmod(0o700)
        if not self.service_account_key.exists():
            write_private(self.service_account_key, elliptic_key(secrets.token_bytes(32)))
        known = self.tokens()
        if set(known) != set(USERS):
            tokens = {user: known.get(user) or secrets.token_urlsafe(32) for user in USERS}
            rows = (f'{tokens[user]},system:{user},{user},"{group}"\n' for user, group in USERS.items())
            write_private(self.token_file, "".join(rows))
        if self.certificate.exists() and time.time() - self.certificate.stat().st_mtime > CERTIFICATE_DAYS * 86400:
            self.certificate.unlink()
            self.certificate.with_suffix(".key").unlink(missing_ok=True)

    def tokens(self) -> dict[str, str]:
        if not self.token_file.exists():
            return {}
        rows = [line.split(",") for line in self.token_file.read_text().splitlines()]
        return {row[2]: row[0] for row in rows if len(row) == 4}

    def recorded_port(self) -> int | None:
        try:
            return int(json.loads(self.ports_file.read_text())["kube-apiserver"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def port(self, running: bool) -> int:
        """The API server's port, chosen at the first start. `running`: our own server holds it now."""
        recorded = self.recorded_port()
        if recorded is None:
            chosen = free_port()
            write_private(self.ports_file, json.dumps({"kube-apiserver": chosen}))
            return chosen
        if not running and not becomes_free(recorded):
            raise PortTakenError(
                f"port {recorded} of the local Kubernetes API server is held by {holder(recorded)}. "
                f"End that program and try again; or delete {self.ports_file} to have another port chosen: "
                "kubeconfigs made before then point to the old port, and the next `make up` renews the stack's."
            )
        return recorded

    def server(self) -> str:
        return f"https://127.0.0.1:{self.recorded_port()}"

    def write_kubeconfigs(self) -> None:
        authority = base64.b64encode(self.certificate.read_bytes()).decode()
        tokens = self.tokens()
        for user in USERS:
            cluster = {"server": self.server(), "certificate-authority-data": authority}
            content = {
                "apiVersion": "v1",
                "kind": "Config",
                "clusters": [{"name": "aks-dra-local", "cluster": cluster}],
                "users": [{"name": user, "user": {"token": tokens[user]}}],
                "contexts": [{"name": "aks-dra-local", "context": {"cluster": "aks-dra-local", "user": user}}],
                "current-context": "aks-dra-local",
            }
            text = json.dumps(content, indent=2) + "\n"
            path = self.kubeconfig(user)
            if not path.exists() or path.read_text() != text:
                write_private(path, text)


def elliptic_key(number: bytes) -> str:
    """A P-256 private key in SEC 1 form; Kubernetes derives the public half. No key tool is needed for it."""
    body = bytes.fromhex("020101") + b"\x04\x20" + number + bytes.fromhex("a00a06082a8648ce3d030107")
    text = base64.encodebytes(b"\x30" + bytes([len(body)]) + body).decode()
    return f"-----BEGIN EC PRIVATE KEY-----\n{text}-----END EC PRIVATE KEY-----\n"


def free_port() -> int:
    """Below the range from which the system gives ports to outgoing connections: one of those could sit on it."""
    for _ in range(1000):
        port = 20000 + secrets.randbelow(10000)
        if is_free(port):
            return port
    raise PortTakenError("no port between 20000 and 29999 is free on this machine")


def becomes_free(port: int) -> bool:
    """The kernel closes a killed server's socket a little after its process counts as dead."""
    deadline = time.monotonic() + 3
    while not (free := is_free(port)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return free


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True
