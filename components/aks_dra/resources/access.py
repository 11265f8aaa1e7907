"""How the components log in to the cluster: credentials, kubelogin, and the in-cluster provider.

The kubeconfig comes from an output invoke that depends on the cluster's id alone: the id is unknown only before
the cluster exists, so a later change to the cluster leaves the kubeconfig known, and nothing in the cluster is
planned for replacement. `clusterIdentifier` keeps the provider's identity when the server or the credentials
change. Azure's user kubeconfig asks for a device code, which no unattended run can answer: its kubelogin block
is rewritten to the chosen login.
"""

from __future__ import annotations

import base64
import re
import shutil
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import pulumi
import yaml

from aks_dra.model.plan import Plan

# kubelogin's own names of the login modes.
KUBELOGIN_MODES = {
    "azurecli": "azurecli",
    "workloadidentity": "workloadidentity",
    "msi": "msi",
    "servicePrincipal": "spn",
}
# What each mode keeps of Azure's arguments. The client id there is that of Azure's own device-code application, and
# the Azure CLI refuses a tenant when it is logged in by a managed identity; all else comes from the environment.
_KEPT_ARGUMENTS = {"spn": ("--server-id", "--tenant-id", "--environment")}
_KEPT_BY_DEFAULT = ("--server-id",)

_CLUSTER_ID = re.compile(
    r"^/subscriptions/(?P<subscription>[^/]+)/resourceGroups/(?P<resource_group>[^/]+)"
    r"/providers/Microsoft\.ContainerService/managedClusters/(?P<name>[^/]+)$",
    re.IGNORECASE,
)

_CLUSTERS: WeakKeyDictionary[pulumi.ProviderResource, pulumi.Resource] = WeakKeyDictionary()


class ClusterId(NamedTuple):
    """An AKS cluster's ARM id, taken apart."""

    subscription: str
    resource_group: str
    name: str


def parse_cluster_id(text: str) -> ClusterId:
    """Takes the ARM id of a cluster apart; refuses anything else."""
    match = _CLUSTER_ID.match(text)
    if match is None:
        raise pulumi.RunError(
            f"aks-dra:cluster.existing: {text!r} is not the id of an AKS cluster. Write what "
            "`az aks show -g GROUP -n NAME --query id` prints: /subscriptions/…/resourceGroups/…/providers/"
            "Microsoft.ContainerService/managedClusters/…"
        )
    return ClusterId(match["subscription"], match["resource_group"], match["name"])


def require_kubelogin(plan: Plan) -> None:
    """Says at once that kubelogin is missing, not in the middle of an update."""
    if plan.cluster.login == "admin" or shutil.which("kubelogin"):
        return
    raise pulumi.RunError(
        f"kubelogin is not on PATH, and aks-dra:cluster.access.login is {plan.cluster.login}: without it nothing in "
        "the cluster can be created. Install it (`az aks install-cli`, or https://azure.github.io/kubelogin/), or "
        "pass a Kubernetes provider of your own. Nothing was registered."
    )


def asked_later(parent: pulumi.Resource, cluster: pulumi.Resource | None) -> pulumi.InvokeOutputOptions:
    """For questions about a cluster: they wait until the program has made it, if it does."""
    return pulumi.InvokeOutputOptions(parent=parent, depends_on=[cluster] if cluster is not None else None)


def kubeconfig_of(
    cluster_id: pulumi.Input[str], login: str, parent: pulumi.Resource, cluster: pulumi.Resource | None = None
) -> pulumi.Output[str]:
    """The cluster's kubeconfig as a secret, keyed on its id alone."""
    from pulumi_azure_native import containerservice

    parts = pulumi.Output.from_input(cluster_id).apply(parse_cluster_id)
    group, name = parts.apply(lambda p: p.resource_group), parts.apply(lambda p: p.name)
    options = asked_later(parent, cluster)
    if login == "admin":
        text = containerservice.list_managed_cluster_admin_credentials_output(
            resource_group_name=group, resource_name=name, opts=options
        ).apply(lambda credentials: _decoded(credentials.kubeconfigs))
    else:
        text = containerservice.list_managed_cluster_user_credentials_output(
            format="exec", resource_group_name=group, resource_name=name, opts=options
        ).apply(lambda credentials: with_login(_decoded(credentials.kubeconfigs), login))
    return pulumi.Output.secret(text)


def _decoded(kubeconfigs: Sequence[Any]) -> str:
    if not kubeconfigs:
        raise pulumi.RunError("Azure returned no kubeconfig for the cluster: is its login allowed to list credentials?")
    return base64.b64decode(kubeconfigs[0].value).decode()


def with_login(kubeconfig: str, login: str) -> str:
    """The kubeconfig with every kubelogin block set to `login`; one without such a block is returned as it is."""
    config = yaml.safe_load(kubeconfig)
    blocks = [user["user"]["exec"] for user in config.get("users") or [] if (user.get("user") or {}).get("exec")]
    blocks = [block for block in blocks if "kubelogin" in str(block.get("command", ""))]
    if not blocks:
        return kubeconfig
    mode = KUBELOGIN_MODES[login]
    for block in blocks:
        given = list(block.get("args") or [])
        kept = _KEPT_ARGUMENTS.get(mode, _KEPT_BY_DEFAULT)
        pairs = [pair for pair in pairwise(given) if pair[0] in kept]
        block["args"] = ["get-token", "--login", mode, *(part for pair in pairs for part in pair)]
    return yaml.safe_dump(config, sort_keys=False)


KUBERNETES = "kubernetes:core/v1:Namespace"


def given_provider(component: pulumi.ComponentResource) -> pulumi.ProviderResource | None:
    """The Kubernetes provider that the program passed in the component's options, if any."""
    return component.get_provider(KUBERNETES)


def provider_in(opts: pulumi.ResourceOptions | None, member: str) -> pulumi.ProviderResource | None:
    """The provider that these options give to a component for `member`: what `get_provider` says once it is made."""
    if opts is None:
        return None
    many = opts.providers or []
    given = [*(many.values() if isinstance(many, Mapping) else many), opts.provider]
    own = next((p for p in given if p is not None and p.package == member.partition(":")[0]), None)
    return own if own is not None or opts.parent is None else opts.parent.get_provider(member)


def required_provider(component: pulumi.ComponentResource) -> pulumi.ProviderResource:
    """The Kubernetes provider that was passed; the ambient kubeconfig is never used in its place."""
    provider = given_provider(component)
    if provider is None:
        raise pulumi.RunError(
            f"{type(component).__name__} needs the cluster's provider: pass "
            "opts=pulumi.ResourceOptions(provider=…), e.g. that of an AksCluster. The kubeconfig of whoever runs "
            "the program is never used."
        )
    return provider


def cluster_behind(provider: pulumi.ProviderResource) -> pulumi.Resource | None:
    """The managed cluster that an in-cluster provider of ours leads to; None where it is not this program's."""
    return _CLUSTERS.get(provider)


def in_cluster_provider(
    name: str,
    identifier: str,
    kubeconfig: pulumi.Output[str],
    parent: pulumi.Resource,
    cluster: pulumi.Resource | None,
) -> pulumi.ProviderResource:
    """The provider for everything in the cluster. `cluster`: the resource, where this program makes it.

    `identifier` is plain, so that a replacement of the cluster is only an update of the provider: the engine closes
    a provider that it replaces together with its cluster before it has deleted what is in the cluster. So nothing in
    it may be deleted by a call of its own then: see `part`.
    """
    import pulumi_kubernetes

    provider: pulumi.ProviderResource = pulumi_kubernetes.Provider(
        name,
        kubeconfig=kubeconfig,
        cluster_identifier=identifier,
        # A changed ConfigMap is updated in place: deleting it first would take it from running pods.
        enable_config_map_mutable=True,
        opts=pulumi.ResourceOptions(parent=parent),
    )
    if cluster is not None:
        _CLUSTERS[provider] = cluster
    return provider
