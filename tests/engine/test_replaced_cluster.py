"""A cluster that is replaced: the new one has all that the old one had, and nothing was deleted in it.

Location and name are fixed when a cluster is made, so a change deletes it, with everything in it, and makes another.
Each simulated cluster has an empty API server and a key of its own; what is compared is what the API server holds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from local import kubernetes
from local.azure import kube, servers, types
from local.azure.arm import ArmError
from local.azure.service import Service
from local.azure.store import Store
from local.charts.pack import pack
from local.stack.cluster import Cluster
from local.tools.build import TOOLS, build
from tests.engine.tiny_project import ZERO, Tiny, make
from tests.local.azure.cloud import CLUSTER, GROUP

CHECKOUT = Path(__file__).resolve().parents[2]
UP = ("up", "--yes", "--skip-preview", "--stack", "dev")
PREVIEW = ("preview", "--refresh", "--expect-no-changes", "--stack", "dev")
# Charts, classes, claims, a quota and the policies of a list: something of every kind that the package lays down.
SETTINGS: dict[str, Any] = {
    "cluster": {"protect": False, "access": {"localAccounts": True}, "systemPool": {"nodes": {"count": 1}}},
    "pools": {"t4": {"vmSize": "Standard_NC4as_T4_v3", "nodes": {"count": 1}, "protect": False}},
    "namespaces": {"ml": {"allow": ["t4"], "quota": {"t4": 2}}},
    "claims": {"ml": {"one": {"deviceClass": "t4"}, "shared": {"deviceClass": "t4", "shareAcross": "pods"}}},
}
KINDS = (
    "/api/v1/namespaces",
    "/api/v1/resourcequotas",
    "/apis/apps/v1/daemonsets",
    "/apis/apps/v1/deployments",
    "/apis/resource.k8s.io/v1/deviceclasses",
    "/apis/resource.k8s.io/v1/resourceclaims",
    "/apis/resource.k8s.io/v1/resourceclaimtemplates",
    "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies",
    "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings",
)
RELEASES = "/api/v1/secrets"
OURS = """
import json, pulumi
from aks_dra import DraCluster
cluster = DraCluster("gpu", json.loads({settings!r}))
pulumi.export("id", cluster.cluster_id)
pulumi.export("kubeconfig", cluster.kubeconfig)
"""
PASSED = """
import json, pathlib, pulumi, pulumi_kubernetes
from aks_dra import DraCluster
text = pathlib.Path({kubeconfig!r}).read_text()
mine = pulumi_kubernetes.Provider("mine", kubeconfig=text, cluster_identifier="mine")
DraCluster("gpu", json.loads({settings!r}), pulumi.ResourceOptions(providers={{"kubernetes": mine}}))
"""


class Project(Tiny):
    """A project with a control plane behind its simulated Azure."""

    @property
    def state(self) -> Path:
        return self.root / "state"

    def write(self, template: str, **changes: Any) -> None:
        settings = {**SETTINGS, "gpu": {"charts": {"source": str(self.state / "charts")}}, **changes}
        kubeconfig = str(self.state / "kubernetes" / "kubeconfig")
        self.program(template.format(settings=json.dumps(settings), kubeconfig=kubeconfig))

    def contents(self, state: Path | None = None) -> dict[tuple[str, ...], str]:
        """Everything of the kinds that matter, and the uid of each."""
        cluster = Cluster((state or self.state) / "kubernetes" / "kubeconfig")
        found = [(kind.rpartition("/")[2], item["metadata"]) for kind in KINDS for item in cluster.items(kind)]
        for item in cluster.items(RELEASES, labelSelector="owner=helm,status=deployed"):
            found.append(("releases", item["metadata"]))
        return {
            (kind, meta.get("namespace", ""), meta["name"]): meta["uid"]
            for kind, meta in found
            if meta["name"] not in ("default", "kube-system", "kube-public", "kube-node-lease")
        }


def complete(found: dict[tuple[str, ...], str]) -> None:
    """The test's own expectation: an empty cluster would equal an empty cluster."""
    kinds = {kind for kind, _, _ in found}
    assert kinds == {kind.rpartition("/")[2] for kind in KINDS} | {"releases"}
    assert {name.split(".")[-2] for kind, _, name in found if kind == "releases"} == {
        "gpu-operator",
        "dra-driver-nvidia-gpu",
    }


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    made = make(tmp_path)
    project = Project(made.root, made.added)
    project.added["PYTHONPATH"] = f"{CHECKOUT}:{CHECKOUT / 'components'}"
    project.run("config", "set-all", "--plaintext", "azure-native:location=swedencentral",
                "--plaintext", f"azure-native:subscriptionId={ZERO}", "--stack", "dev")  # fmt: skip
    (tmp_path / "bin" / "pulumi-resource-kubernetes").symlink_to(build(TOOLS["kubernetes-provider"]))
    monkeypatch.setenv("AKS_DRA_LOCAL_STATE", str(project.state))
    pack(project.state / "charts")
    kubernetes.start(project.state, "1.36", durable=False)
    yield project
    kubernetes.stop(project.state)


def replaced(project: Project, before: dict[tuple[str, ...], str]) -> dict[tuple[str, ...], str]:
    """The cluster is another one, as full as the first."""
    after = project.contents()
    assert after.keys() == before.keys()
    assert not set(after.values()) & set(before.values())
    return after


def test_another_location_then_another_name(project: Project) -> None:
    project.write(OURS)
    project.run(*UP)
    before = project.contents()
    complete(before)
    store = Store(project.state / "azure")
    (cluster,) = store.all(types.CLUSTER)
    key = kube.connect(servers.kubeconfig(store, cluster.id), project.state)
    key("GET", "/api/v1/namespaces")

    project.run("config", "set", "azure-native:location", "westeurope", "--stack", "dev")
    project.run(*UP)
    before = replaced(project, before)
    with pytest.raises(kube.Refused, match=r"40[13]"):
        key("GET", "/api/v1/namespaces")

    project.write(OURS, cluster={**SETTINGS["cluster"], "name": "renamed"})
    project.run(*UP)
    replaced(project, before)
    (cluster,) = store.all(types.CLUSTER)
    assert cluster.id.endswith("/renamed")
    project.run(*PREVIEW)
    project.run("destroy", "--yes", "--skip-preview", "--stack", "dev")
    assert project.contents() == {}


def test_with_a_provider_of_the_program(project: Project) -> None:
    project.write(PASSED)
    project.run(*UP)
    before = project.contents()
    complete(before)
    project.run("config", "set", "azure-native:location", "westeurope", "--stack", "dev")
    project.run(*UP)
    replaced(project, before)
    project.run(*PREVIEW)


def test_from_one_existing_cluster_to_another(project: Project) -> None:
    other = project.state / "more" / "two"
    kubernetes.start(other, "1.36", durable=False)
    try:
        azure = Service(Store(project.state / "azure"))
        azure.create(types.TYPES[types.GROUP], GROUP)
        first, second = (
            azure.create(types.TYPES[types.CLUSTER], {**CLUSTER, "resourceName": name})[0] for name in ("one", "two")
        )
        with pytest.raises(ArmError, match="the local control plane is another cluster's"):
            azure.create(types.TYPES[types.CLUSTER], {**CLUSTER, "resourceName": "three"})
        project.write(OURS, cluster={**SETTINGS["cluster"], "existing": first})
        project.run(*UP)
        before = project.contents()
        complete(before)
        assert project.contents(other) == {}

        project.write(OURS, cluster={**SETTINGS["cluster"], "existing": second})
        project.run(*UP)
        assert project.contents(other).keys() == before.keys()
        # What the stack does not delete: the namespaces, which others may use.
        assert {kind for kind, _, _ in project.contents()} == {"namespaces"}
        project.run(*PREVIEW)
        project.run("destroy", "--yes", "--skip-preview", "--stack", "dev")
        assert {kind for kind, _, _ in project.contents(other)} == {"namespaces"}
    finally:
        kubernetes.stop(other)
