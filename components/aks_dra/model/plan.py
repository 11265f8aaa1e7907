"""The Plan: one immutable value that says everything a stack file comes to.

Everything else shows it (`report`), registers it (`resources`) or compares a cluster with it (`live`). The
same settings and the same facts give the same Plan, byte for byte.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from aks_dra.findings.finding import Finding
from aks_dra.kube.claims import Ask, Claim, Request
from aks_dra.kube.devices import Device


@dataclass(frozen=True)
class PlannedIdentity:
    """A user-assigned identity: one that exists (`existing`, its ARM id), or a new one of this name."""

    key: Literal["identity", "kubelet-identity"]
    name: str
    existing: str


@dataclass(frozen=True)
class PlannedRole:
    """A role assignment. `scope` is an ARM id, or the key of an identity of this plan."""

    key: str  # logical name, unique: subnet-network-contributor …
    role: str
    role_id: str
    scope: str
    principal: Literal["identity", "kubelet-identity", "kubelet"]  # kubelet: the one that AKS makes
    before_cluster: bool
    name: str  # the assignment's own name in Azure, a GUID that follows from the rest


@dataclass(frozen=True)
class PlannedWorkspace:
    """A Log Analytics workspace for the cluster's logs: one that exists, or a new one."""

    name: str
    existing: str
    retention_days: int


@dataclass(frozen=True)
class PlannedCluster:
    """The cluster's Azure inputs (ManagedCluster properties, camelCase as in Azure Resource Manager)."""

    name: str
    resource_group: str
    create_resource_group: bool
    location: str
    existing: str  # ARM id, or ""
    kubernetes_version: str
    inputs: Mapping[str, Any]
    tags: Mapping[str, str]
    protect: bool
    ignore_changes: tuple[str, ...]
    login: Literal["admin", "azurecli", "workloadidentity", "msi", "servicePrincipal"]
    # What is known only once it is made (the ids of new identities, of a new workspace) is not in `inputs`.
    identities: tuple[PlannedIdentity, ...] = ()
    roles: tuple[PlannedRole, ...] = ()
    workspace: PlannedWorkspace | None = None
    maintenance: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class PodSnippet:
    """What a pod needs to land on one pool: merged into its spec."""

    node_selector: Mapping[str, str]
    tolerations: tuple[Mapping[str, str], ...]


@dataclass(frozen=True)
class PlannedPool:
    """One GPU pool: its AgentPool inputs (camelCase) and what its nodes will publish."""

    name: str
    path: str  # in the stack file
    vm_size: str
    gpu: str  # key in the facts, "" when the size is unknown
    gpus_per_node: int
    nodes: str  # for people: "2" or "1-3"
    first_nodes: int  # nodes at creation
    allocation: Literal["dra", "devicePlugin"]
    sharing: str  # for people
    driver_owner: Literal["operator", "aks"]
    mig_owner: Literal["operator", "aks", "none"]
    mig_layout: str  # value of nvidia.com/mig.config, "" without MIG
    inputs: Mapping[str, Any]
    labels: Mapping[str, str]
    taints: tuple[str, ...]
    devices: tuple[Device, ...]  # of one node, in DRA terms; empty on device-plugin pools
    extended_resources: Mapping[str, int]  # of one node; empty on DRA pools
    device_classes: tuple[str, ...]  # the package's class for each kind of its devices
    pod: PodSnippet
    protect: bool
    ignore_changes: tuple[str, ...]
    replace_on_changes: tuple[str, ...]
    other_devices: tuple[Device, ...] = ()  # of one node, of drivers that are not NVIDIA's; on pools of either kind

    @property
    def all_devices(self) -> tuple[Device, ...]:
        return (*self.devices, *self.other_devices)


@dataclass(frozen=True)
class PlannedRelease:
    """One Helm release. `key` names it in `depends_on` of others."""

    key: str
    name: str
    namespace: str
    chart: str
    version: str
    repository: str  # "" for OCI and folders
    values: Mapping[str, Any]
    timeout_seconds: int
    depends_on: tuple[str, ...]


@dataclass(frozen=True)
class PlannedObject:
    """One Kubernetes object, whole, without empty lists or maps. `after` has keys of releases and objects before it."""

    key: str  # logical name, unique: deviceclass-t4, claim-ml-a100-or-t4 …
    manifest: Mapping[str, Any]
    after: tuple[str, ...] = ()
    retain: bool = False
    replace_with: tuple[str, ...] = ()  # release keys: replaced whenever one of these is
    patch: bool = False  # the object is somebody else's: only what the manifest says is laid over it
    timeout_seconds: int = 0  # how long it may take to become ready; 0: the provider's own limit

    @property
    def kind(self) -> str:
        return str(self.manifest["kind"])


@dataclass(frozen=True)
class ClassMatch:
    """Which pools' devices one class matches: pool name to number of devices per node.

    Where devices exclude each other (dynamic MIG), `pools` says how many can exist at once and `places` how many
    are published. `extended_resource` is the name that pods may ask for instead of a claim, "" for none.
    """

    device_class: str
    origin: Literal["package", "chart", "user"]
    selectors: tuple[str, ...]
    pools: Mapping[str, int]
    undecided: tuple[str, ...] = ()  # attributes only known on the node
    places: Mapping[str, int] = field(default_factory=dict)
    extended_resource: str = ""
    unknown: bool = False  # one of its conditions cannot be read, so nothing is known of what it matches
    create: bool = True  # False: the stack file knows it, and somebody else makes it

    @property
    def made_by(self) -> str:
        return self.origin if self.create else "elsewhere"

    @property
    def resource_served_by(self) -> Literal["dra", "devicePlugin", ""]:
        """Who serves the extended resource: a class that holds the name and matches nothing leaves it to the plugin."""
        if not self.extended_resource:
            return ""
        return "devicePlugin" if self.selectors == ("false",) else "dra"


@dataclass(frozen=True)
class PlannedAsk:
    """An ask, and the pools that publish enough devices for it."""

    ask: Ask
    pools: tuple[str, ...]
    unknown: bool = False  # a condition of its class or its own cannot be read


@dataclass(frozen=True)
class PlannedClaim:
    """A claim, and for each of its requests what it asks for, with the pools that have it."""

    claim: Claim
    requests: tuple[tuple[Request, tuple[PlannedAsk, ...]], ...]


@dataclass(frozen=True)
class Tenancy:
    """Which namespaces may use which device class, as the policies have it.

    `resources` are the extended resources that are not named after their class: name to class.
    """

    in_force: bool = False  # whether there are policies at all
    exempt: tuple[str, ...] = ()  # namespaces that no policy looks at
    lists: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    resources: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Plan:
    """Everything. See the parts."""

    project: str
    stack: str
    cluster: PlannedCluster
    pools: tuple[PlannedPool, ...] = ()
    namespaces: tuple[PlannedObject, ...] = ()
    releases: tuple[PlannedRelease, ...] = ()
    objects: tuple[PlannedObject, ...] = ()
    smoke_test: tuple[PlannedObject, ...] = ()
    matches: tuple[ClassMatch, ...] = ()
    legacy_match: ClassMatch | None = None  # the class that decides who serves nvidia.com/gpu, where there is one
    claims: tuple[PlannedClaim, ...] = ()
    tenancy: Tenancy = field(default=Tenancy())
    findings: tuple[Finding, ...] = field(default=())
    incomplete: tuple[str, ...] = ()  # paths of what could not be read, and is left out here

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.severity == "error")

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """Warnings that nobody has acknowledged."""
        return tuple(f for f in self.findings if f.severity == "warning" and not f.acknowledged)
