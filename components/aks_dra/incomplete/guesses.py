"""What might stand where something could not be read: values that differ in what other settings see of them.

They need not be complete. Each one that is missing can leave a finding that only looks certain, and each one that is
odd takes one away that was; both are found by tests/unit/test_unread.py, which damages stacks at random.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from aks_dra.context.previous import Previous
from aks_dra.facts import Facts
from aks_dra.model.plan import Plan
from aks_dra.settings import Settings
from aks_dra.settings.samples import UNKNOWN_NAME, UNSET, samples
from aks_dra.settings.shape import Path, annotation_at, models_of, required
from aks_dra.topics.claims.written import REQUEST

SUBSCRIPTION = "/subscriptions/11111111-1111-1111-1111-111111111111/resourceGroups/unknown/providers"
CLUSTER_ID = f"{SUBSCRIPTION}/Microsoft.ContainerService/managedClusters/unknown"
GUID = "11111111-1111-1111-1111-111111111111"
ANY_DEVICE, NO_DEVICE = {"cel": ["true"]}, {"cel": ["false"]}
TAINTS = [f"{UNKNOWN_NAME}=x:NoSchedule", f"{UNKNOWN_NAME}=y:NoExecute"]
ADDRESSES = {
    "podCidr": ["10.244.0.0/16", "172.20.0.0/14"],
    "serviceCidr": ["10.0.0.0/16", "192.168.0.0/20"],
    "dnsServiceIp": ["10.0.0.10", "192.168.0.10"],
}
NODES: list[Any] = [{"count": 1}, {"min": 1, "max": 3}, {"count": 0}, {"count": 1000}]
DEVICE_PLUGIN = {"allocation": "devicePlugin", "sharing": {"mode": "timeSlicing", "replicas": 2}}


class Guesses:
    """Values for paths of one stack."""

    def __init__(
        self, settings: Settings, values: Mapping[str, Any], facts: Facts, shown: Plan, previous: Previous | None
    ) -> None:
        self.settings = settings
        self.values = values
        self.facts = facts
        self.classes = [match.device_class for match in shown.matches]
        self.taints = [taint for pool in shown.pools for taint in pool.taints]
        named = {name for entry in settings.devices.values() for name in entry.pools}
        self.pools = sorted({*settings.pools, *named, *(previous.pools if previous else ())})
        self.wanted = sorted({*_class_names(settings), *(previous.classes if previous else ())} - {*self.classes})
        drivers = {entry.driver for entry in settings.device_classes.values()} - {"gpu.nvidia.com"}
        self.drivers = sorted({*drivers, *(entry.driver for entry in settings.devices.values())})
        self.sizes = _one_of_each_gpu(facts)

    def of(self, path: Path) -> list[Any]:
        """What might stand there, the plainest first."""
        annotation = annotation_at(Settings, path)
        found = self._special(path)
        if found is None:
            found = samples(annotation) if annotation is not None else [UNKNOWN_NAME, True, 1, {}]
        if not required(Settings, path) and len(path) > 1 and not _entry(path):
            found = [UNSET, *found] if path[0] != "claims" else [*found, UNSET]
        return found

    def _special(self, path: Path) -> list[Any] | None:
        special = {
            "pools": self._pools, "testPool": self._pools, "deviceClasses": self._device_classes,
            "claims": self._claims, "namespaces": self._namespaces, "devices": self._devices,
            "cluster": self._cluster, "gpu": self._gpu,
        }.get(str(path[0]))  # fmt: skip
        found = special(path) if special is not None else None
        key = next((part for part in reversed(path) if isinstance(part, str)), "")
        if found is not None:
            return found
        if key in ADDRESSES:
            return ADDRESSES[key]
        if key == "kubernetesVersion":
            return list(self.facts.kubernetes.versions)
        if key == "nodes":
            return NODES
        if key == "taints":
            return list(TAINTS) if isinstance(path[-1], int) else [[], TAINTS[:1], TAINTS[1:]]
        if key == "existing" or key.endswith(("Id", "Group")):
            return [CLUSTER_ID]
        if key in ("source", "registry"):
            return ["oci://unknown.example.com/unknown" if key == "source" else "unknown.example.com"]
        return None

    def _pools(self, path: Path) -> list[Any] | None:
        if path[-1] == "vmSize":
            return list(self.sizes)
        if path == ("pools",):
            names = self.pools or [UNKNOWN_NAME]
            return [{name: {"vmSize": size} for name in names} for size in self.sizes[:4]] + [
                {name: {"vmSize": self.sizes[0], **DEVICE_PLUGIN} for name in names}
            ]
        if path == ("testPool",):
            return [{"enabled": True}, {"enabled": False}]
        if len(path) == 2 and path[0] == "pools":
            return [{"vmSize": size} for size in self.sizes] + [{"vmSize": self.sizes[0], **DEVICE_PLUGIN}]
        if path[-1] == "sharing":
            return [{}, {"mode": "timeSlicing"}, {"mode": "mps"}, {"mode": "dynamicMig"}] + [
                {"mode": "mig", "layout": layout} for layout in self._layouts(path)
            ]
        if path[-1] == "layout":
            return self._layouts(path)
        if "layout" in path and path[-1] == "profiles":
            return [{}, *({name: 1} for name in self._profiles(path))]
        if "layout" in path[-2:] and isinstance(path[-1], int):
            return [{"profiles": {}}, *({"profiles": {name: 1}} for name in self._profiles(path))]
        return None

    def _profiles(self, path: Path) -> list[str]:
        return [name for family in self._families(path) for name in list(self.facts.families[family].profiles)[:6]]

    def _layouts(self, path: Path) -> list[Any]:
        return [name for family in self._families(path) for name in list(self.facts.families[family].layouts)[:6]]

    def _families(self, path: Path) -> list[str]:
        pool = self.settings.pools.get(str(path[1])) if len(path) > 1 else None
        size = self.facts.vm_size(pool.vm_size) if pool else None
        family = self.facts.gpus[size.gpu].mig if size else ""
        return [family] if family else list(self.facts.families)[:3]

    def _device_classes(self, path: Path) -> list[Any] | None:
        if path == ("deviceClasses",):
            return [{}, *(dict.fromkeys(self.wanted, kind) for kind in (ANY_DEVICE, NO_DEVICE))]
        if len(path) == 2:
            driver = [{**ANY_DEVICE, "driver": name} for name in self.drivers]
            kinds = [{"require": {"type": kind}} for kind in ("gpu", "mig")]
            named = [{**ANY_DEVICE, "extendedResourceName": name} for name in ("example.com/unknown", "nvidia.com/gpu")]
            return [ANY_DEVICE, NO_DEVICE, *kinds, *driver, *named]
        if path[2] == "require":
            return [{"type": "gpu"}, {"type": "mig"}, {"memory": ">=1000Ti"}] if len(path) == 3 else [UNKNOWN_NAME]
        if path[2] == "cel":
            return ["true", "false"] if isinstance(path[-1], int) else [["true"], ["false"]]
        if path[2:] == ("driver",):
            return ["gpu.nvidia.com", *self.drivers]
        return self._common(path)

    def _common(self, path: Path) -> list[Any] | None:
        """What classes and claims both have."""
        if path[-1] == "sharing":
            return [None, {"mode": "timeSlicing"}, {"mode": "mps"}]
        if path[-1] == "extendedResourceName":
            return ["example.com/unknown", "nvidia.com/gpu"]
        return None

    def _claims(self, path: Path) -> list[Any] | None:
        names = self.classes or [UNKNOWN_NAME]
        claims: list[Any] = [{"deviceClass": name} for name in names]
        claims += [{"deviceClass": names[0], "adminAccess": True}, {"deviceClass": names[0], "shareAcross": "pods"}]
        if len(path) <= 2:
            inner = [{}, {UNKNOWN_NAME: claims[0]}, {UNKNOWN_NAME: claims[-2]}]
            return inner if len(path) == 2 else [{}, *({UNKNOWN_NAME: entry} for entry in inner[1:])]
        if len(path) == 3:
            return claims
        if path[3] == "raw":
            asks = [{"name": REQUEST, "exactly": {"deviceClassName": name}} for name in names]
            return [{"devices": {"requests": [ask]}} for ask in asks] if len(path) == 4 else None
        if path[-1] == "deviceClass":
            return list(names)
        if "requests" in path[4:] and path[3] in ("config", "constraints"):
            claim = self.settings.claims[str(path[1])].get(str(path[2])) if path[1] in self.settings.claims else None
            own = [*(claim.requests if claim else ()), REQUEST]
            own += [f"{REQUEST}/{name}" for name in _class_names(self.settings)]
            return own if isinstance(path[-1], int) else [[], *([name] for name in own)]
        if "firstAvailable" in path and path[-1] == "firstAvailable":
            return [[], *([{"deviceClass": name}] for name in names)]
        if path[-2] == "firstAvailable":
            return [{"deviceClass": name} for name in names]
        if path[-1] == "requests" and len(path) == 4:
            return [{}, *({UNKNOWN_NAME: entry} for entry in claims)]
        if len(path) == 5 and path[3] == "requests":
            return claims[:-1]
        if "cel" in path:
            return ["true", "false"] if isinstance(path[-1], int) else [[], ["true"], ["false"]]
        return self._common(path)

    def _namespaces(self, path: Path) -> list[Any] | None:
        every = dict.fromkeys(self.classes, 1000)
        if path[-1] == "allow":
            return [None, [], self.classes]
        if len(path) > 2 and path[-2] == "allow":
            return self.classes
        if path[-1] == "quota":
            return [{}, every, dict.fromkeys(self.classes, 1)]
        whole: list[Any] = [
            {}, {"create": False}, {"allow": []}, {"allow": self.classes, "quota": every}, {"adminAccess": True},
        ]  # fmt: skip
        if path == ("namespaces",):
            spaces = sorted({*self.settings.claims, self.settings.test_pool.namespace, UNKNOWN_NAME})
            return [{}, *(dict.fromkeys(spaces, entry) for entry in whole)]
        return whole if len(path) == 2 else None

    def _devices(self, path: Path) -> list[Any] | None:
        whole = [{"driver": name, "pools": self.pools} for name in [*self.drivers, "unknown.example.com"]]
        if path == ("devices",):
            return [{}, *({UNKNOWN_NAME: entry} for entry in whole)]
        if len(path) == 2:
            return whole
        if path[-1] == "driver":
            return [*self.drivers, "unknown.example.com"]
        if path[-1] == "pools":
            return [self.pools, self.pools[:1], []]
        if path[-2] == "pools":
            return self.pools or [UNKNOWN_NAME]
        if path[-2] == "attributes":
            return [{"knownOnNode": True}, "unknown", 1, True, {"version": "1.0.0"}]
        if path[-2] == "capacity":
            return ["1000Gi", "1"]
        return None

    def _cluster(self, path: Path) -> list[Any] | None:
        access: list[Any] = [{"azureRbac": True}, {"adminGroups": [GUID]}, {"localAccounts": True}]
        if path == ("cluster",):
            versions = [{"kubernetesVersion": version} for version in self.facts.kubernetes.versions]
            whole = samples(annotation_at(Settings, path))[1:]
            return [{"access": access[0]}, *({"access": access[0], **entry} for entry in (*versions, *whole))]
        if path[1:] == ("existing",):
            return [CLUSTER_ID]
        if path[1:] == ("access",):
            return [*access, {"azureRbac": True, "authorizedIpRanges": ["0.0.0.0/0"]}]
        if "adminGroups" in path:
            return [GUID] if isinstance(path[-1], int) else [[], [GUID]]
        if "authorizedIpRanges" in path:
            return ["0.0.0.0/0"] if isinstance(path[-1], int) else [[], ["0.0.0.0/0"], ["198.51.100.7/32"]]
        if path[-1] == "vmSize":
            return ["Standard_D4ds_v5", "Standard_D2ds_v5", "Standard_D16ds_v5"]
        return None

    def _gpu(self, path: Path) -> list[Any] | None:
        if path[1:2] == ("tolerations",):
            return self.taints or TAINTS if isinstance(path[-1], int) else [[], self.taints]
        if path[1:] == ("featureGates",):
            return [{}, *(dict.fromkeys(self.facts.gates, value) for value in (True, False))]
        if path[1:] == ("extendedResources",):
            return [False, True, dict.fromkeys(self.classes, "example.com/unknown")]
        return None


def more_pools(facts: Facts, world: Mapping[str, Any], paths: Iterable[Path], wanted: Iterable[str]) -> dict[str, Any]:
    """Pools with every device that a pool which could not be read may have: of its size, or else of every GPU.

    Shared and cut GPUs are among them where a class that is `wanted`, or the text of one, can be about these.
    """
    sizes: set[str] = set()
    for path in paths:
        if path[0] not in ("pools", "testPool"):
            continue
        pool = world["pools"].get(path[1]) if path[0] == "pools" and len(path) > 2 else world.get("testPool")
        size = pool.get("vmSize") or pool.get("vm_size") if isinstance(pool, Mapping) else None
        if path[-1] in ("vmSize", "vm_size") or len(path) < 3 or not isinstance(size, str):
            sizes.update(_one_of_each_gpu(facts))
        else:
            sizes.add(size)
    classes = str(world.get("deviceClasses") or world.get("device_classes") or "").lower()
    cut = "mig" in classes or "profile" in classes
    sharings = [(size, sharing) for size in sorted(sizes) for sharing in _sharings(facts, size, tuple(wanted), cut)]
    return {f"zz{number}": {"vmSize": size, "sharing": held} for number, (size, held) in enumerate(sharings)}


def _sharings(facts: Facts, name: str, wanted: tuple[str, ...], cut: bool) -> list[dict[str, str]]:
    """Every way to share that gives a device of another class that somebody may mean."""
    size = facts.vm_size(name)
    named = size is not None and any(entry.startswith(facts.gpus[size.gpu].class_name) for entry in wanted)
    if not (named or cut):
        return [{"mode": "exclusive"}]
    family = facts.families.get(facts.gpus[size.gpu].mig) if size and size.mig else None
    layouts = [layout for layout in family.layouts if layout.startswith("all-")] if family else []
    plain = [{"mode": mode} for mode in ("exclusive", "timeSlicing", "mps") if named or mode == "exclusive"]
    return [*plain, *({"mode": "mig", "layout": layout} for layout in layouts)]


def _one_of_each_gpu(facts: Facts) -> list[str]:
    """A VM size for each GPU, the one with the most of them."""
    most: dict[str, Any] = {}
    for size in facts.vm_sizes.values():
        if size.gpu not in most or size.gpus > most[size.gpu].gpus:
            most[size.gpu] = size
    return [size.name for size in most.values()]


def _class_names(settings: Settings) -> set[str]:
    """Every class that claims and namespaces name."""
    names: set[str | None] = set()
    for claims in settings.claims.values():
        for claim in claims.values():
            holders: list[Any] = [claim, *claim.requests.values()]
            holders += [ask for holder in tuple(holders) for ask in holder.first_available]
            names |= {holder.device_class for holder in holders}
    for space in settings.namespaces.values():
        names |= {*space.quota, *(space.allow or ())}
    extended = settings.gpu.extended_resources
    names |= set(extended) if isinstance(extended, Mapping) else set()
    return {name for name in names if name}


def _entry(path: Path) -> bool:
    """Whether it is an entry of a map that users name: it is there, whatever it says."""
    inside = annotation_at(Settings, path[:-1])
    return bool(models_of(annotation_at(Settings, path))) and not models_of(inside)
