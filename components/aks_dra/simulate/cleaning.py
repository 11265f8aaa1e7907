"""The end of a simulation: everything that carries its mark goes, in an order in which nothing waits for what follows.

A claim that is in use has a finalizer until its pods are gone; a namespace takes what is in it along, slowly. Claims
that were made for pods carry no mark, so they are known by their owners and waited for.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator

from aks_dra.simulate.cluster import RUN_LABEL, Cluster, earlier_runs
from aks_dra.simulate.model import SimulationError

POLL_SECONDS = 0.05
REMOVED = (
    "Pod", "ResourceClaim", "ResourceClaimTemplate", "ResourceQuota", "LimitRange", "ServiceAccount",
    "ValidatingAdmissionPolicyBinding", "ValidatingAdmissionPolicy", "PriorityClass", "DeviceClass", "ResourceSlice",
    "Node", "Namespace",
)  # fmt: skip


@contextlib.contextmanager
def leaving_nothing(cluster: Cluster, run: str, keep: bool = False, clean_first: bool = False) -> Iterator[None]:
    """What carries the run's mark is deleted, however the block is left; other runs' are refused, or deleted first."""
    for other in earlier_runs(cluster):
        if not clean_first:
            raise SimulationError(
                f"another simulation ({RUN_LABEL}={other}) is in {cluster.server}: wait for it, or, if it was "
                "killed, give --clean to delete what it left"
            )
        clean(cluster, other)
    try:
        yield
    finally:
        if not keep:
            clean(cluster, run)


def clean(cluster: Cluster, run: str) -> None:
    """Deletes what a run made, pods first, and waits until it is gone."""
    spaces = {item["metadata"]["name"] for item in cluster.ours("Namespace", run)}

    def remove(kinds: tuple[str, ...]) -> bool:
        return not sum([cluster.delete_ours(kind, run) for kind in kinds])

    uids = {item["metadata"]["uid"] for item in cluster.ours("Pod", run)}

    def without_claims() -> bool:
        owners = (
            str(owner["uid"])
            for claim in cluster.items("ResourceClaim")
            for owner in claim["metadata"].get("ownerReferences") or ()
        )
        return remove(("Pod", "ResourceClaim")) and uids.isdisjoint(owners)

    wait(without_claims, 20, 0.2)
    if not wait(lambda: remove(REMOVED), 60, 0.2):
        raise SimulationError(
            f"not everything could be deleted within a minute; what carries the label {RUN_LABEL}={run} is left"
            + (f", and namespaces {', '.join(sorted(spaces))}" if spaces else "")
        )


def wait(done: Callable[[], bool], seconds: float, pause: float = POLL_SECONDS) -> bool:
    deadline = time.monotonic() + seconds
    while not done():
        if time.monotonic() > deadline:
            return False
        time.sleep(pause)
    return True
