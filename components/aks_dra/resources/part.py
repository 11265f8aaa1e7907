"""The base of every part that lives in the cluster: it registers one slice of a plan in dependency order.

Pulumi creates in the order of dependencies and deletes in reverse, so the order here is also what takes claims
and classes away before the release of the driver that serves them. What a part depends on is given in two ways:
`after` holds registered resources by their key in the plan, `opts.depends_on` holds what everything in the part
waits for. A component's own `depends_on` does not reach its children, so it is put on each of them.

What is in a cluster goes with it: `deleted_with` keeps the engine from deleting the old cluster's objects one by one
when the cluster is replaced. It would do so when the provider leads to the new cluster already, and take away there
what it has just made. `replace_with` has them made in the new cluster, whatever else has changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from graphlib import TopologicalSorter

import pulumi

from aks_dra.model.plan import Plan, PlannedObject, PlannedRelease
from aks_dra.resources import kinds, twins
from aks_dra.resources.access import KUBERNETES, cluster_behind, provider_in, required_provider
from aks_dra.resources.holdings import in_cluster

PACKAGE = "aks-dra:index"
DEVICE_CLASS = "DeviceClass"
# Helm's own wait comes first and has the better text; the engine only has to be more patient than it.
_SLACK_MINUTES = 5


class Part(pulumi.ComponentResource):
    """A component whose children are planned objects and releases. `registered` has them by key."""

    plan: Plan
    registered: dict[str, pulumi.Resource]

    def __init__(
        self,
        name: str,
        plan: Plan,
        opts: pulumi.ResourceOptions | None,
        *,
        releases: Sequence[PlannedRelease] = (),
        objects: Sequence[PlannedObject] = (),
        after: Mapping[str, pulumi.Resource] | None = None,
        cluster: pulumi.Resource | None = None,
        before_classes: pulumi.ResourceHook | None = None,
    ) -> None:
        if (provider := provider_in(opts, KUBERNETES)) is not None:
            twins.take(self, name, plan, opts, in_cluster(objects, releases, twins.known_as(provider)))
        super().__init__(f"{PACKAGE}:{type(self).__name__}", name, None, opts)
        self.plan = plan
        self.registered = {}
        self._name_prefix = name
        self._after = dict(after or {})
        self._waits_for = pulumi.ResourceOptions(depends_on=opts.depends_on if opts else None)
        self._cluster = cluster
        self._before_classes = before_classes
        if releases or objects:
            self._provider = required_provider(self)
            self._cluster = cluster or cluster_behind(self._provider)
            self._register_in_order({release.key: release for release in releases}, {o.key: o for o in objects})
        self.register_outputs({})

    def _register_in_order(self, releases: Mapping[str, PlannedRelease], objects: Mapping[str, PlannedObject]) -> None:
        graph = {key: release.depends_on for key, release in releases.items()}
        graph |= {key: planned.after for key, planned in objects.items()}
        for key in TopologicalSorter(graph).static_order():
            if key in releases:
                self.registered[key] = self._release(releases[key], self._options(graph[key]))
            elif key in objects:
                self.registered[key] = self._object(objects[key], self._options(graph[key]))

    def _options(self, keys: Sequence[str]) -> pulumi.ResourceOptions:
        own = pulumi.ResourceOptions(
            parent=self,
            provider=self._provider,
            depends_on=self._known(keys),
            replace_with=[self._cluster] if self._cluster is not None else None,
            deleted_with=self._cluster,
        )
        return pulumi.ResourceOptions.merge(self._waits_for, own)

    def _known(self, keys: Sequence[str]) -> list[pulumi.Resource]:
        known = self._after | self.registered
        return [known[key] for key in keys if key in known]

    def _object(self, planned: PlannedObject, opts: pulumi.ResourceOptions) -> pulumi.Resource:
        opts.replace_with = [*(opts.replace_with or []), *self._known(planned.replace_with)] or None
        if planned.retain:
            # What somebody else put into it must outlive the stack; only the cluster's own end takes it along.
            opts.retain_on_delete = True
        if planned.timeout_seconds:
            limit = f"{planned.timeout_seconds}s"
            opts.custom_timeouts = pulumi.CustomTimeouts(create=limit, update=limit)
        if planned.kind == DEVICE_CLASS:
            self._ask_first(opts)
        return kinds.register(f"{self._name_prefix}-{planned.key}", planned, opts)

    def _release(self, planned: PlannedRelease, opts: pulumi.ResourceOptions) -> pulumi.Resource:
        from pulumi_kubernetes.helm.v3 import Release

        minutes = f"{planned.timeout_seconds // 60 + _SLACK_MINUTES}m"
        opts.custom_timeouts = pulumi.CustomTimeouts(create=minutes, update=minutes, delete=minutes)
        if any(planned.key in entry.after for entry in self.plan.objects if entry.kind == DEVICE_CLASS):
            self._ask_first(opts)  # it brings NVIDIA's own classes
        release: pulumi.Resource = Release(
            f"{self._name_prefix}-{planned.key}",
            name=planned.name,
            namespace=planned.namespace,
            create_namespace=False,
            chart=planned.chart,
            version=planned.version or None,  # a packed chart carries its own
            repository_opts={"repo": planned.repository} if planned.repository else None,
            values=planned.values,
            atomic=True,  # a failed first install leaves no half release that holds the name
            timeout=planned.timeout_seconds,
            opts=opts,
        )
        return release

    def _ask_first(self, opts: pulumi.ResourceOptions) -> None:
        if self._before_classes is not None:
            opts.hooks = pulumi.ResourceHookBinding(before_create=[self._before_classes])
