"""The smoke test: `pulumi up` succeeds only when a claim got a GPU on the test pool.

A release that returned says nothing about devices: a DaemonSet that selects no node counts as ready. So what waits for
the driver, its slices and the scheduler is a Job, and the provider waits for the Job. When it fails, or its time is up,
the reason is asked of the cluster and logged beside the provider's own words.
"""

from __future__ import annotations

from collections.abc import Mapping

import pulumi
from pulumi.runtime.proto import resource_pb2
from pulumi.runtime.settings import monitor_supports_feature

from aks_dra.model.plan import PlannedObject
from aks_dra.resources.args import Args, plan_of
from aks_dra.resources.part import Part
from aks_dra.resources.reasons import reasons


class SmokeTest(Part):
    """The Jobs of the test pool; nothing is registered without one.

    `jobs` has the Job of each namespace, for `kubectl logs`: what it got is in its log. `kubeconfig` is what the reason
    of a failure is asked with; without it the failure names the command to ask with.
    """

    jobs: dict[str, str]

    def __init__(
        self,
        name: str,
        args: Args,
        opts: pulumi.ResourceOptions | None = None,
        *,
        after: Mapping[str, pulumi.Resource] | None = None,
        cluster: pulumi.Resource | None = None,
        kubeconfig: pulumi.Output[str] | None = None,
    ) -> None:
        plan = plan_of(args)
        self._kubeconfig = kubeconfig
        super().__init__(name, plan, opts, objects=plan.smoke_test, after=after, cluster=cluster)
        jobs = [planned.manifest["metadata"] for planned in plan.smoke_test if planned.kind == "Job"]
        self.jobs = {str(job["namespace"]): str(job["name"]) for job in jobs}

    def _object(self, planned: PlannedObject, opts: pulumi.ResourceOptions) -> pulumi.Resource:
        if planned.kind == "Job" and monitor_supports_feature(resource_pb2.RESOURCE_MONITOR_FEATURE_ERROR_HOOKS):
            hook = pulumi.ErrorHook(f"{self._name_prefix}-{planned.key}-failed", self._explain(planned))
            opts.hooks = pulumi.ResourceHookBinding(on_error=[hook])
        return super()._object(planned, opts)

    def _explain(self, planned: PlannedObject) -> pulumi.ErrorHookFunction:
        metadata = planned.manifest["metadata"]
        namespace, job = str(metadata["namespace"]), str(metadata["name"])
        command = f"kubectl -n {namespace} describe pods -l job-name={job}"

        async def explain(_: pulumi.ErrorHookArgs) -> bool:
            said = [f"`{command}` says more"]
            try:
                if kubeconfig := await self._kubeconfig.future() if self._kubeconfig is not None else None:
                    said = [*await reasons(kubeconfig, namespace, job), *said]
            except Exception as error:  # whatever is wrong here must not hide the failure itself
                said.append(f"the reason could not be asked of the cluster: {error}")
            limit = planned.timeout_seconds
            head = f"the test pool's smoke test {namespace}/{job} did not succeed (limit: {limit} s)"
            pulumi.log.error("\n".join([head, *(f"  {line}" for line in said)]), self)
            return False  # no retry: the next `up` makes the Job anew

        return explain
