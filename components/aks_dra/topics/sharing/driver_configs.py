"""What NVIDIA's DRA driver reads as config of a claim or a class, and what it does not take.

The driver decodes strictly and looks at a config only when a pod is prepared on the node: a misspelt word there is
a pod that never starts. Its webhook would say so earlier and is off by default. So the same rules stand here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from aks_dra.findings.build import nearest
from aks_dra.kube import quantity

API = "resource.nvidia.com/v1beta1"
SOURCE = "NVIDIA DRA driver: api/nvidia.com/resource/v1beta1, strict decoding on the node"
# Kind of config to the value of the attribute `type` of the devices that it is for.
DEVICE_TYPES = {"GpuConfig": "gpu", "MigDeviceConfig": "mig", "VfioDeviceConfig": "vfio"}
OTHER_KINDS = ("ComputeDomainChannelConfig", "ComputeDomainDaemonConfig")
STRATEGIES = ("TimeSlicing", "MPS")
INTERVALS = ("Default", "Short", "Medium", "Long")
GATES = {"TimeSlicing": "TimeSlicingSettings", "MPS": "MPSSupport"}
LEAST_PINNED = "1Mi"

_MPS = (
    "defaultActiveThreadPercentage",
    "defaultPinnedDeviceMemoryLimit",
    "defaultPerDevicePinnedMemoryLimit",
    "multiUser",
)
_FIELDS: dict[str, dict[str, Any]] = {
    "GpuConfig": {
        "sharing": {"strategy": None, "timeSlicingConfig": {"interval": None}, "mpsConfig": dict.fromkeys(_MPS)}
    },
    "MigDeviceConfig": {"sharing": {"strategy": None, "mpsConfig": dict.fromkeys(_MPS)}},
    "VfioDeviceConfig": {"iommu": {"backendPolicy": None, "enableAPIDevice": None}},
}


@dataclass(frozen=True)
class ConfigProblem:
    """What the driver would refuse; `path` is below the parameters, "" for all of them."""

    path: str
    value: Any
    message: str
    remedy: str
    severity: Literal["error", "warning"] = "error"


def strategy(parameters: Mapping[str, Any]) -> str:
    """The sharing strategy that a config asks for, "" for none."""
    sharing = parameters.get("sharing")
    return str(sharing.get("strategy", "")) if isinstance(sharing, Mapping) else ""


def config_problems(parameters: Mapping[str, Any]) -> Iterator[ConfigProblem]:
    """Everything that is wrong with the parameters of one config for NVIDIA's driver."""
    version, kind = parameters.get("apiVersion"), parameters.get("kind")
    if version != API:
        yield ConfigProblem("apiVersion", version, f"NVIDIA's driver reads {API}", f"write apiVersion: {API}")
    if kind in OTHER_KINDS:
        rule = "the compute-domain controller writes this kind itself"
        yield ConfigProblem("kind", kind, rule, "ask for a ComputeDomain instead")
        return
    if not isinstance(kind, str) or kind not in _FIELDS:
        yield ConfigProblem("kind", kind, "NVIDIA's driver knows no such config", _nearest(kind, _FIELDS))
        return
    yield from _unknown(parameters, {"apiVersion": None, "kind": None, **_FIELDS[kind]}, "", kind)
    sharing = parameters.get("sharing")
    if isinstance(sharing, Mapping) and kind != "VfioDeviceConfig":
        yield from _sharing(sharing, kind)


def _unknown(value: Mapping[str, Any], known: Mapping[str, Any], above: str, kind: str) -> Iterator[ConfigProblem]:
    for key, held in value.items():
        path = f"{above}.{key}" if above else str(key)
        if key not in known:
            if kind == "MigDeviceConfig" and key == "timeSlicingConfig":
                rule = "a MIG device cannot be time-sliced: MigDeviceConfig has no timeSlicingConfig"
                yield ConfigProblem(path, held, rule, "remove it")
            else:
                yield ConfigProblem(path, held, f"{kind} has no such field", _nearest(key, known))
        elif isinstance(known[key], Mapping) and held is not None:  # null is a field that is not there
            if isinstance(held, Mapping):
                yield from _unknown(held, known[key], path, kind)
            else:
                yield ConfigProblem(path, held, "a map is needed", f"fields: {', '.join(known[key])}")


def _sharing(sharing: Mapping[str, Any], kind: str) -> Iterator[ConfigProblem]:
    chosen = sharing.get("strategy")
    slices, mps = sharing.get("timeSlicingConfig"), sharing.get("mpsConfig")
    if chosen not in STRATEGIES:
        yield ConfigProblem(
            "sharing.strategy", chosen, "the strategies are TimeSlicing and MPS, spelt so", _nearest(chosen, STRATEGIES)
        )
    if chosen == "TimeSlicing" and kind == "MigDeviceConfig":
        rule = "time-slicing has no effect on a MIG device"
        yield ConfigProblem("sharing.strategy", chosen, rule, "remove the config, or write MPS", "warning")
    if chosen == "TimeSlicing" and mps is not None:
        rule = "mpsConfig does not go with strategy TimeSlicing"
        yield ConfigProblem("sharing.mpsConfig", mps, rule, "remove it, or write strategy: MPS")
    if chosen == "MPS" and slices is not None and kind == "GpuConfig":
        rule = "timeSlicingConfig does not go with strategy MPS"
        yield ConfigProblem("sharing.timeSlicingConfig", slices, rule, "remove it, or write strategy: TimeSlicing")
    if isinstance(slices, Mapping) and kind == "GpuConfig":
        if "interval" not in slices:
            rule = "timeSlicingConfig without an interval makes the driver fail"
            yield ConfigProblem("sharing.timeSlicingConfig", dict(slices), rule, "add interval: Default")
        elif slices["interval"] not in INTERVALS:
            rule = f"the intervals are {', '.join(INTERVALS)}"
            right = _nearest(slices["interval"], INTERVALS)
            yield ConfigProblem("sharing.timeSlicingConfig.interval", slices["interval"], rule, right)
    if isinstance(mps, Mapping):
        yield from _mps(mps)


def _mps(mps: Mapping[str, Any]) -> Iterator[ConfigProblem]:
    where = "sharing.mpsConfig"
    percentage = mps.get("defaultActiveThreadPercentage")
    if percentage is not None and (
        not isinstance(percentage, int) or isinstance(percentage, bool) or not 0 <= percentage <= 100
    ):
        path = f"{where}.defaultActiveThreadPercentage"
        yield ConfigProblem(path, percentage, "a percentage is a whole number from 0 to 100", "write one")
    limits = {"defaultPinnedDeviceMemoryLimit": mps.get("defaultPinnedDeviceMemoryLimit")}
    several = mps.get("multiUser")
    if several is not None and not isinstance(several, bool):
        yield ConfigProblem(f"{where}.multiUser", several, "true or false is needed", "write true, without quotes")
    each = mps.get("defaultPerDevicePinnedMemoryLimit")
    if each is not None and not isinstance(each, Mapping):
        path, rule = f"{where}.defaultPerDevicePinnedMemoryLimit", "a map of GPU index or uuid to a limit is needed"
        yield ConfigProblem(path, each, rule, 'write e.g. {"0": 4Gi}, or defaultPinnedDeviceMemoryLimit for all')
    if isinstance(each, Mapping):
        limits |= {f"defaultPerDevicePinnedMemoryLimit.{key}": value for key, value in each.items()}
    for name, limit in limits.items():
        if limit is None:
            continue
        if not isinstance(limit, str) or not quantity.is_quantity(limit):
            yield ConfigProblem(f"{where}.{name}", limit, "a memory limit is a quantity", 'write e.g. "4Gi"')
        elif quantity.parse(limit) < quantity.parse(LEAST_PINNED):
            rule = f"the driver refuses a limit below {LEAST_PINNED}"
            yield ConfigProblem(f"{where}.{name}", limit, rule, f'write "{LEAST_PINNED}" or more, e.g. "4Gi"')


def _nearest(value: Any, known: Mapping[str, Any] | tuple[str, ...]) -> str:
    close = nearest(str(value).replace("-", "").replace("_", ""), known)
    return f"did you mean {close}?" if close else f"write one of {', '.join(known)}"
