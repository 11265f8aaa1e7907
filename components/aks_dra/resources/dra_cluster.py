"""All of it: a cluster whose GPUs are handed out by DRA, from one set of settings.

Planning comes first and is plain Python, so that a mistake ends the run before a resource is registered. Then
the parts come in the order in which one needs the other; what is deleted goes in reverse.
"""

from __future__ import annotations

from typing import Any

import pulumi

from aks_dra.context.previous import as_plain, previous_of
from aks_dra.model.plan import Plan
from aks_dra.resources import access, guard, holdings, twins
from aks_dra.resources.aks_cluster import AksCluster
from aks_dra.resources.args import Args, plan_of
from aks_dra.resources.azure_inputs import check_names
from aks_dra.resources.early_claims import EarlyClaims
from aks_dra.resources.gpu_pool import GpuPool
from aks_dra.resources.objects import Claims, DeviceClasses, Namespaces
from aks_dra.resources.part import PACKAGE, Part
from aks_dra.resources.releases import PARTS, refuse_nulls
from aks_dra.resources.smoke_test import SmokeTest

# Logical names of the release parts below the component's own.
_PART_NAMES = {"GpuOperator": "gpu-operator", "DraDriver": "dra-driver", "DevicePlugin": "device-plugin"}


class DraCluster(pulumi.ComponentResource):
    """An AKS cluster with GPU pools, NVIDIA's software, device classes and claims.

    `args` are the settings (see `DraClusterArgs`) or a Plan. A Kubernetes provider in `opts` is used for
    everything in the cluster. Where the same program makes the cluster that `cluster.existing` names, pass the
    cluster's resource as `opts.deleted_with`: when it is replaced, its pools and all that is in it are made again.

    Outputs: `cluster_id`, `cluster_name`, `kubeconfig` (secret), `oidc_issuer`, `node_resource_group`, `pools` (labels,
    taints, device classes and pod snippet of each), `claims` (kind by namespace and name), `findings` (the number of
    warnings that nobody acknowledged) and `previous` (what the next run compares with). `plan` is the whole Plan.
    """

    def __init__(self, name: str, args: Args, opts: pulumi.ResourceOptions | None = None) -> None:
        guard.refuse_mixed_up_provider()
        self.plan: Plan = plan_of(args)
        check_names(self.plan)
        refuse_nulls(self.plan)
        provider = access.provider_in(opts, access.KUBERNETES)
        if provider is None:
            access.require_kubelogin(self.plan)
        place = holdings.place_of(self.plan.cluster, opts)
        twins.take(self, name, self.plan, opts, holdings.of_whole(self.plan, place, provider))
        super().__init__(f"{PACKAGE}:DraCluster", name, None, opts)
        self._name_prefix = name
        self._registered: dict[str, pulumi.Resource] = {}
        self._deleted_with = opts.deleted_with if opts else None

        self._create_cluster()
        self._create_pools()
        self._create_namespaces()
        self._install_software()
        self._create_classes_and_claims()
        self._test()
        self._describe()

    def _create_cluster(self) -> None:
        opts = pulumi.ResourceOptions(parent=self, deleted_with=self._deleted_with)
        self.cluster = AksCluster(f"{self._name_prefix}-cluster", self.plan, opts)

    def _create_pools(self) -> None:
        self.gpu_pools = [
            GpuPool(
                f"{self._name_prefix}-pool-{pool.name}",
                self.plan,
                pool.name,
                pulumi.ResourceOptions(parent=self, deleted_with=self._deleted_with),
                cluster=self.cluster,
            )
            for pool in self.plan.pools
        ]

    def _create_namespaces(self) -> None:
        pools: list[pulumi.Resource] = [pool.agent_pool for pool in self.gpu_pools]
        namespaces = Namespaces(
            f"{self._name_prefix}-namespaces",
            self.plan,
            self._in_cluster(pools),
            cluster=self.cluster.resource,
            policies_were_in=f"{self._name_prefix}-claims",
        )
        # Images may come from a registry that only role assignments open to the nodes.
        self._foundation = [*pools, *self.cluster.rights, *namespaces.registered.values()]
        self._keep(namespaces)

    def _install_software(self) -> None:
        early = EarlyClaims(self._name_prefix, self.plan, self.cluster.kubeconfig, self)
        self._before_classes = early.hook
        for part in PARTS:
            if not any(release.name.startswith(part.RELEASE) for release in self.plan.releases):
                continue
            name = f"{self._name_prefix}-{_PART_NAMES[part.__name__]}"
            self._keep(
                part(
                    name,
                    self.plan,
                    self._in_cluster(self._foundation),
                    after=self._registered,
                    cluster=self.cluster.resource,
                    before_classes=self._before_classes,
                )
            )

    def _create_classes_and_claims(self) -> None:
        classes = DeviceClasses(
            f"{self._name_prefix}-classes",
            self.plan,
            self._in_cluster(self._foundation),
            after=self._registered,
            cluster=self.cluster.resource,
            before_classes=self._before_classes,
        )
        self._keep(classes)
        before = [*self._foundation, *classes.registered.values()]
        claims = Claims(
            f"{self._name_prefix}-claims",
            self.plan,
            self._in_cluster(before),
            after=self._registered,
            cluster=self.cluster.resource,
        )
        self._keep(claims)

    def _test(self) -> None:
        if self.plan.smoke_test:
            test = SmokeTest(
                f"{self._name_prefix}-test-pool",
                self.plan,
                self._in_cluster(self._foundation),
                after=self._registered,
                cluster=self.cluster.resource,
                kubeconfig=self.cluster.kubeconfig,
            )
            self._keep(test)

    def _describe(self) -> None:
        self.cluster_id: pulumi.Output[str] = self.cluster.cluster_id
        self.cluster_name: pulumi.Output[str] = self.cluster.cluster_name
        self.kubeconfig: pulumi.Output[str] = self.cluster.kubeconfig
        self.oidc_issuer: pulumi.Output[str] = self.cluster.oidc_issuer
        self.node_resource_group: pulumi.Output[str] = self.cluster.node_resource_group
        self.pools: dict[str, dict[str, Any]] = {pool.planned.name: pool.description for pool in self.gpu_pools}
        self.claims: dict[str, dict[str, str]] = {}
        for claim in (planned.claim for planned in self.plan.claims):
            self.claims.setdefault(claim.namespace, {})[claim.name] = claim.kind
        # Without those of changes, which are gone in the next run.
        self.findings: int = sum(not finding.code.startswith("CHG") for finding in self.plan.warnings)
        self.previous: pulumi.Output[dict[str, Any]] = self._once_all_is_there(as_plain(previous_of(self.plan)))
        self.register_outputs(self.outputs())

    def outputs(self) -> dict[str, Any]:
        """All outputs by the names that other languages and stack outputs have."""
        return {
            "clusterId": self.cluster_id,
            "clusterName": self.cluster_name,
            "kubeconfig": self.kubeconfig,
            "oidcIssuer": self.oidc_issuer,
            "nodeResourceGroup": self.node_resource_group,
            "pools": self.pools,
            "claims": self.claims,
            "findings": self.findings,
            "previous": self.previous,
        }

    def _once_all_is_there(self, described: dict[str, Any]) -> pulumi.Output[dict[str, Any]]:
        """Resolved when every resource is: after a run that failed, the stack still says what it was before."""
        resources = [*(pool.agent_pool for pool in self.gpu_pools), *self._registered.values()]
        urns = [resource.urn for resource in resources] + [pulumi.Output.from_input(self.cluster.urn)]
        return pulumi.Output.all(*urns).apply(lambda _: described)

    def _in_cluster(self, depends_on: list[pulumi.Resource]) -> pulumi.ResourceOptions:
        return pulumi.ResourceOptions(parent=self, provider=self.cluster.provider, depends_on=depends_on)

    def _keep(self, part: Part) -> None:
        self._registered |= part.registered
