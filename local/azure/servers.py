"""Which API server is behind a cluster, and the key that opens it as long as the cluster lives.

A cluster on Azure has an API server of its own, which is empty when the cluster is new and gone when the cluster is.
So each cluster here takes a control plane that no other has: the one of the state folder, or, for a second cluster at
the same time, the one that somebody started for it in `more/NAME`. Its kubeconfig holds a token of its own, of a
service account that ends with the cluster: a call that was meant for the old cluster fails in the new one, although
both have the same address.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from pathlib import Path
from typing import Any

from local import state
from local.azure import arm, kube, wipe
from local.azure.arm import ArmError
from local.azure.store import Store
from local.azure.types import CLUSTER

ACCOUNTS = "/api/v1/namespaces/kube-system/serviceaccounts"
BINDINGS = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
TEN_YEARS = 10 * 365 * 86400


def folder(store: Store, cluster_id: str) -> Path:
    """The control plane of a cluster; where none was ever started, the place where it would be."""
    with store.lock("servers"):
        path = note(store, cluster_id)
        if path.exists():
            return state.root() / str(json.loads(path.read_text(encoding="utf-8"))["folder"])
        own = state.root() / "more" / arm.name_of(cluster_id)
        place = own / "kubernetes" if kube.present(own / "kubernetes") else state.kubernetes()
        if not kube.present(place):
            return place
        name = str(place.relative_to(state.root()))
        others = (note(store, cluster.id) for cluster in store.all(CLUSTER))
        if name in {json.loads(other.read_text(encoding="utf-8"))["folder"] for other in others if other.exists()}:
            raise ArmError(
                409,
                "LocalControlPlaneTaken",
                "A cluster has an API server of its own, and the local control plane is another cluster's. Start one "
                f"for {arm.name_of(cluster_id)}: {state.VARIABLE}={own} python -m local.kubernetes start",
            )
        write(path, {"cluster": cluster_id, "folder": name})
        return place


def kubeconfig(store: Store, cluster_id: str) -> str:
    """The kubeconfig of a cluster, the same as long as the cluster lives."""
    place = folder(store, cluster_id)
    held: dict[str, Any] = json.loads(kube.kubeconfig(place))
    with store.lock("servers"):
        path = note(store, cluster_id)
        known = json.loads(path.read_text(encoding="utf-8"))
        if "token" not in known:
            known["account"] = f"azure-{secrets.token_hex(8)}"
            known["token"] = admit(place, known["account"])
            write(path, known)
    name = arm.name_of(cluster_id)
    return json.dumps(
        {
            **held,
            "clusters": [{"name": name, "cluster": held["clusters"][0]["cluster"]}],
            "users": [{"name": known["account"], "user": {"token": known["token"]}}],
            "contexts": [{"name": name, "context": {"cluster": name, "user": known["account"]}}],
            "current-context": name,
        },
        indent=2,
    )


def admit(place: Path, account: str) -> str:
    """A token that may do everything, until its account and the account's binding go."""
    subject = {"kind": "ServiceAccount", "namespace": "kube-system", "name": account}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
    with kube.client(place) as api:
        api("POST", ACCOUNTS, {"metadata": {"name": account}})
        api("POST", BINDINGS, {"metadata": {"name": account}, "roleRef": role, "subjects": [subject]})
        request = {"spec": {"expirationSeconds": TEN_YEARS}}
        return str(api("POST", f"{ACCOUNTS}/{account}/token", request)["status"]["token"])


def release(store: Store, cluster_id: str) -> None:
    """A cluster is gone: so are its contents, and the key to it."""
    path = note(store, cluster_id)
    if not path.exists():
        return
    known = json.loads(path.read_text(encoding="utf-8"))
    place = state.root() / known["folder"]
    if kube.present(place):
        with kube.client(place) as api:
            if "account" in known:
                # The binding first: the server remembers for some seconds who a token is, but not what they may do.
                wipe.attempt(api, f"{BINDINGS}/{known['account']}")
                wipe.attempt(api, f"{ACCOUNTS}/{known['account']}")
            wipe.everything(api)
    path.unlink(missing_ok=True)


def note(store: Store, cluster_id: str) -> Path:
    return store.root / "servers" / f"{hashlib.sha256(cluster_id.lower().encode()).hexdigest()[:32]}.json"


def write(path: Path, content: dict[str, Any]) -> None:
    """Readable by its owner only: it holds a token."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    temporary = path.with_suffix(f".{os.getpid()}")
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(json.dumps(content))
    temporary.replace(path)
