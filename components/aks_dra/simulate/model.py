"""What a simulation answers: one result per pod, with the reason where it has no place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Status = Literal["placed", "not placed", "cannot", "may"]


class SimulationError(Exception):
    """The simulation cannot be done. The text says why and what to do."""


@dataclass(frozen=True)
class Got:
    """One device that a pod got."""

    claim: str  # as the pod names it; "" for one by an extended resource's name
    request: str
    device: str
    node: str  # the resource pool in Kubernetes' sense, which is the node
    driver: str
    description: str  # for people: "Tesla T4 16384Mi"
    shared: bool = False  # by a claim that other pods have too


@dataclass(frozen=True)
class Reason:
    """Why a pod has no place, and what to write instead. `code` is stable."""

    code: str
    text: str
    remedy: str = ""


@dataclass(frozen=True)
class PodResult:
    """One pod's end."""

    workload: str  # "Deployment ml/train"
    namespace: str
    name: str
    status: Status
    node: str = ""
    pool: str = ""
    devices: tuple[Got, ...] = ()
    resources: tuple[tuple[str, int], ...] = ()  # of a device plugin
    reasons: tuple[Reason, ...] = ()
    scheduler: str = ""  # its own words
    notes: tuple[str, ...] = ()
    possible: tuple[str, ...] = ()  # without a control plane: pools where nothing stands in the way


@dataclass(frozen=True)
class Report:
    """Everything. `scheduled` is False where only necessary conditions were looked at."""

    stack: str
    scheduled: bool
    kubernetes: str
    pods: tuple[PodResult, ...]
    notes: tuple[str, ...] = ()

    @property
    def good(self) -> bool:
        return all(pod.status in ("placed", "may") for pod in self.pods)
