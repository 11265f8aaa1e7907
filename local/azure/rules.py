"""What AKS refuses of an agent pool, in its own codes: names, counts, spot, labels, taints, versions, immutable
fields.

Rules of the service, not of the provider: they hold for inline pools and for AgentPools alike, at create and at
update.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

from local import facts
from local.azure.arm import ArmError, Properties, change_not_allowed, invalid
from local.azure.types import POOL_NAME

SPOT_LABEL = "kubernetes.azure.com/scalesetpriority"
SPOT_TAINT = f"{SPOT_LABEL}=spot:NoSchedule"
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
# What a PUT may not change. The provider replaces the first two by itself; for the others a program has to ask for it.
IMMUTABLE = (
    "vmSize",
    "gpuInstanceProfile",
    "maxPods",
    "osType",
    "osDiskType",
    "osDiskSizeGB",
    "scaleSetPriority",
    "spotMaxPrice",
    "scaleSetEvictionPolicy",
    "gpuProfile.driver",
    "gpuProfile.driverType",
    "gpuProfile.nvidia",
    "vnetSubnetID",
    "podSubnetID",
    "availabilityZones",
    "type",
)
MOST_NODES = 1000
NAME_PART = re.compile(r"^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$")
PREFIX = re.compile(r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$")


def check_pool(name: str, pool: Properties, path: str = "agentPool") -> None:
    """Everything that can be said of a pool by itself, defaults already filled in."""
    check_name(name, pool, path)
    check_size(pool, path)
    check_counts(pool, path)
    check_spot(pool, path)
    for key, value in (pool.get("nodeLabels") or {}).items():
        check_label(key, value, f"{path}.nodeLabels")
    check_taints(pool, path)
    pods = int(pool.get("maxPods", 110))
    if not 10 <= pods <= 250:
        raise invalid(f"{path}.maxPods", f"maxPods must be between 10 and 250, not {pods}.")


def check_name(name: str, pool: Properties, path: str) -> None:
    windows = str(pool.get("osType", "Linux")).lower() == "windows"
    most = 6 if windows else 12
    if not re.match(POOL_NAME, name) or len(name) > most:
        raise invalid(
            f"{path}.name",
            f"Invalid agent pool name '{name}': it must start with a lowercase letter, have max "
            f"length of {most}, and only have "
            "characters a-z0-9. Please see https://aka.ms/aks-naming-rules for more details.",
        )


def check_size(pool: Properties, path: str) -> None:
    name = str(pool.get("vmSize", ""))
    if not name:
        raise ArmError(
            400, "InvalidParameter", f"Required parameter {path}.vmSize is missing (null).", f"{path}.vmSize"
        )
    try:
        size = facts.size(name)
    except facts.UnknownSize as error:
        raise ArmError(
            400,
            "BadRequest",
            f"The VM size of {name} is not allowed in your subscription in this location.",
            f"{path}.vmSize",
        ) from error
    if pool.get("gpuInstanceProfile") and not size.mig:
        raise invalid(f"{path}.gpuInstanceProfile", f"GPU instance profile is not supported for the VM size {name}.")


def check_counts(pool: Properties, path: str) -> None:
    system = pool.get("mode") == "System"
    least = 1 if system else 0
    count = int(pool.get("count", 1))
    if not least <= count <= MOST_NODES:
        raise invalid(
            f"{path}.count",
            f"{pool.get('mode', 'User')} node pool count must be between {least} and {MOST_NODES}, not {count}.",
        )
    low, high = pool.get("minCount"), pool.get("maxCount")
    if not pool.get("enableAutoScaling"):
        if low is not None or high is not None:
            raise invalid(
                f"{path}.enableAutoScaling", "minCount and maxCount may only be set when enableAutoScaling is true."
            )
        return
    if low is None or high is None:
        raise invalid(f"{path}.minCount", "minCount and maxCount must be set when enableAutoScaling is true.")
    if int(low) > int(high):
        raise invalid(f"{path}.minCount", f"minCount {int(low)} must not be greater than maxCount {int(high)}.")
    if not least <= int(low) or int(high) > MOST_NODES:
        raise invalid(f"{path}.minCount", f"minCount and maxCount must be between {least} and {MOST_NODES}.")
    if not int(low) <= count <= int(high):
        raise invalid(f"{path}.count", f"count {count} must be between minCount {int(low)} and maxCount {int(high)}.")


def check_spot(pool: Properties, path: str) -> None:
    spot = is_spot(pool)
    if spot and pool.get("mode") == "System":
        raise invalid(f"{path}.mode", "A spot node pool cannot be a system node pool.")
    if not spot and pool.get("scaleSetEvictionPolicy") is not None:
        raise invalid(
            f"{path}.scaleSetEvictionPolicy", "scaleSetEvictionPolicy may only be set when scaleSetPriority is Spot."
        )
    price = pool.get("spotMaxPrice")
    if price is None:
        return
    if not spot:
        raise invalid(f"{path}.spotMaxPrice", "spotMaxPrice may only be set when scaleSetPriority is Spot.")
    exact = Decimal(str(price))
    if exact != -1 and (exact <= 0 or exact != round(exact, 5)):
        raise invalid(
            f"{path}.spotMaxPrice", f"spotMaxPrice must be -1, or greater than zero with up to 5 decimals, not {price}."
        )


def is_spot(pool: Properties) -> bool:
    return str(pool.get("scaleSetPriority", "Regular")).lower() == "spot"


def check_key(key: str, path: str) -> str:
    """A label's or a taint's key by Kubernetes' grammar; returns its prefix."""
    prefix, slash, name = key.rpartition("/")
    if not NAME_PART.match(name) or (slash and (len(prefix) > 253 or not PREFIX.match(prefix))):
        raise invalid(path, f"'{key}' is not a valid label key.")
    return prefix


def check_label(key: str, value: Any, path: str) -> None:
    prefix = check_key(key, path)
    if not isinstance(value, str) or (value and not NAME_PART.match(value)):
        raise invalid(path, f"'{value}' is not a valid value of label '{key}'.")
    if within(prefix, "kubernetes.azure.com") and (key, value) != (SPOT_LABEL, "spot"):
        raise invalid(path, f"Label '{key}' is not allowed: the prefix kubernetes.azure.com/ is reserved.")
    reserved = within(prefix, "kubernetes.io") or within(prefix, "k8s.io")
    if reserved and not (within(prefix, "kubelet.kubernetes.io") or within(prefix, "node.kubernetes.io")):
        raise invalid(
            path,
            f"Label '{key}' is not allowed: in the namespaces kubernetes.io and k8s.io, only the "
            "prefixes kubelet.kubernetes.io "
            "and node.kubernetes.io may be set.",
        )


def within(prefix: str, domain: str) -> bool:
    return prefix == domain or prefix.endswith(f".{domain}")


def split_taint(text: str, path: str) -> tuple[str, str, str]:
    """`key=value:Effect` or `key:Effect`."""
    head, colon, effect = text.rpartition(":")
    key, _, value = head.partition("=")
    if not colon or effect not in EFFECTS or not key:
        raise invalid(path, f"Taint '{text}' must be key=value:effect with one of the effects {', '.join(EFFECTS)}.")
    return key, value, effect


def check_taints(pool: Properties, path: str) -> None:
    path, seen = f"{path}.nodeTaints", set()
    for text in pool.get("nodeTaints") or []:
        key, value, effect = split_taint(text, path)
        prefix = check_key(key, path)
        if value and not NAME_PART.match(value):
            raise invalid(path, f"'{value}' is not a valid value of taint '{key}'.")
        if within(prefix, "kubernetes.azure.com") and text != SPOT_TAINT:
            raise invalid(path, f"Taint '{text}' is not allowed: the prefix kubernetes.azure.com/ is reserved.")
        if (key, effect) in seen:
            raise invalid(path, f"Taint '{key}' with effect {effect} is given more than once.")
        seen.add((key, effect))
    if pool.get("mode") == "System":
        hard = [text for text in pool.get("nodeTaints") or [] if not text.endswith(":PreferNoSchedule")]
        if any(text != "CriticalAddonsOnly=true:NoSchedule" for text in hard):
            raise invalid(
                path,
                f"A system node pool may only have the taint CriticalAddonsOnly=true:NoSchedule, not "
                f"{', '.join(hard)}.",
            )


def check_change(new: Properties, old: Properties, path: str = "properties") -> None:
    """A PUT that leaves a property out leaves it as it is; one that changes a fixed one is refused."""
    for name in IMMUTABLE:
        given, had = look(new, name), look(old, name)
        if given is not None and given != had and str(given).lower() != str(had).lower():
            raise change_not_allowed(f"{path}.{name}")


def look(properties: Properties, dotted: str) -> Any:
    value: Any = properties
    for part in dotted.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value


def check_version(pool: str, cluster: str) -> None:
    """A pool is never newer than its control plane, and at most three minors older."""
    newer, older = minor(pool) > minor(cluster), minor(cluster) - minor(pool) > 3
    if newer or older:
        word = "bigger" if newer else "more than three smaller"
        raise ArmError(
            400,
            "NodePoolMcVersionIncompatible",
            f"Node pool version {pool} and control plane version {cluster} are incompatible. Minor "
            "version of node pool version "
            f"{minor(pool)} is {word} than control plane version {minor(cluster)}. For more information, please check "
            "https://aka.ms/version-skew-policy.",
        )


def minor(version: str) -> int:
    return int(version.split(".")[1])


def resolve_version(asked: str, location: str) -> str:
    """`1.36` is its latest patch; a full version must belong to a minor that is served."""
    served = facts.kubernetes_versions()
    parts = asked.split(".")
    short = ".".join(parts[:2])
    latest = served.get(short)
    well_formed = len(parts) in (2, 3) and all(part.isdigit() for part in parts)
    if not well_formed or latest is None or (len(parts) == 3 and int(parts[2]) > int(latest.split(".")[2])):
        raise ArmError(
            400,
            "K8sVersionNotSupported",
            f"Version {asked} is not supported in this region ({location}). "
            f"Served are {', '.join(sorted(served.values()))}. "
            "Please use [az aks get-versions] command to get the supported version list in this region.",
        )
    return latest if len(parts) == 2 else asked
