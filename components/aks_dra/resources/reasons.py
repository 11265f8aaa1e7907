"""Why the pods of a Job do not run, in the words of the scheduler and of Kubernetes' controllers.

The Kubernetes provider says what a container said last, but not why a pod is still Pending: it only tells that the time
is up. For a claim that cannot be allocated, or that a quota refuses, that reason is all there is to know.
"""

from __future__ import annotations

import asyncio
from typing import Any

import yaml

SECONDS = 10.0


async def reasons(kubeconfig: str, namespace: str, job: str) -> list[str]:
    """One line for each pod of the Job that has not run: what its conditions and its warnings say."""
    return await asyncio.to_thread(_reasons, kubeconfig, namespace, job)


def _reasons(kubeconfig: str, namespace: str, job: str) -> list[str]:
    from kubernetes import client, config  # here: only a failed test needs it

    api: Any = client.CoreV1Api(config.new_client_from_config_dict(yaml.safe_load(kubeconfig)))  # type: ignore[no-untyped-call]
    found = []
    pods = api.list_namespaced_pod(namespace, label_selector=f"job-name={job}", _request_timeout=SECONDS)
    events = api.list_namespaced_event(namespace, field_selector="type=Warning", _request_timeout=SECONDS)
    for pod in pods.items:
        said = [*_conditions(pod.status), *_waiting(pod.status)]
        named = sorted((e for e in events.items if e.involved_object.uid == pod.metadata.uid), key=_when)
        said += [
            f"{event.reason}: {event.message}" for event in named[-1:] if not any(event.message in t for t in said)
        ]
        found += [f"pod {namespace}/{pod.metadata.name}: {'; '.join(said)}"] if said else []
    if not pods.items:
        of_the_job = [e for e in events.items if e.involved_object.name == job]
        found += [f"job {namespace}/{job}: {event.reason}: {event.message}" for event in of_the_job[-1:]]
    return found


def _conditions(status: Any) -> list[str]:
    conditions = status.conditions or []
    return [f"{c.reason}: {c.message}" for c in conditions if c.type == "PodScheduled" and c.status == "False"]


def _waiting(status: Any) -> list[str]:
    waiting = [c.state.waiting for c in status.container_statuses or [] if c.state and c.state.waiting]
    return [f"{state.reason}: {state.message or 'no details'}" for state in waiting if state.reason]


def _when(event: Any) -> str:
    return str(event.last_timestamp or event.event_time or event.metadata.creation_timestamp)
