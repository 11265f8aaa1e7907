"""Small fleets with a workload each, drawn from a seed: pools, devices, classes, claims, and one or two pods.

Every fleet has labels, class names and resource names of its own, so that many can be in one cluster. The conditions
are such that more than half of the pods cannot be placed: counts near what there is, selectors that miss or raise,
taints, labels, names that are not there.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

from aks_dra.facts import load_facts
from aks_dra.kube.asks import PodAsks, pod_asks
from aks_dra.kube.devices import Device, Version
from aks_dra.model.plan import PlannedPool, PodSnippet
from aks_dra.simulate.classes import KnownClass
from aks_dra.simulate.necessary import Fleet
from aks_dra.topics.devices.nvidia import gpu_device, mig_device

NAMESPACE = "fleets"
FACTS = load_facts()
GPU = "device.driver == 'gpu.nvidia.com'"
HELD = "device.attributes['gpu.nvidia.com']"
SELECTORS = (
    GPU,
    "true",
    "false",
    f"{GPU} && {HELD}.type == 'gpu'",
    f"{GPU} && {HELD}.type == 'mig' && {HELD}.profile == '1g.10gb'",
    f"{GPU} && {HELD}.profile == '1g.10gb'",
    f"{GPU} && {HELD}.architecture == 'Turing'",
    f"{HELD}.productName.lowerAscii().matches('a100')",
    f"{GPU} && device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('20Gi')) >= 0",
    f"{GPU} && {HELD}.cudaComputeCapability.isGreaterThan(semver('7.5.0'))",
    f"{GPU} && {HELD}.addressingMode == 'HMM'",
    f"{GPU} && {HELD}.driverVersion.major() >= 570",
    f"{GPU} && {HELD}.driverVersion.major() < 570",
    "device.driver == 'fpga.example.com' && device.attributes['fpga.example.com'].family == 'agilex'",
    "device.attributes['fpga.example.com'].family == 'agilex'",
    "device.attributes[device.driver].?family.orValue('') == 'agilex'",
)
ATTRIBUTES = ("gpu.nvidia.com/parentUUID", "gpu.nvidia.com/productName", "resource.kubernetes.io/pcieRoot")


@dataclass
class Example:
    """One fleet: what is published, and what is asked of it."""

    number: int
    pools: list[PlannedPool] = field(default_factory=list)
    nodes: dict[str, int] = field(default_factory=dict)
    classes: list[tuple[int, dict[str, Any]]] = field(default_factory=list)  # rank, manifest
    claims: list[dict[str, Any]] = field(default_factory=list)
    pods: list[dict[str, Any]] = field(default_factory=list)

    def fleet(self) -> Fleet:
        known = {
            manifest["metadata"]["name"]: KnownClass(
                manifest["metadata"]["name"],
                tuple(item["cel"]["expression"] for item in manifest["spec"].get("selectors") or ()),
                manifest["spec"].get("extendedResourceName", ""),
                rank,
            )
            for rank, manifest in self.classes
        }
        return Fleet(self.pools, known)

    def asks(self, pod: dict[str, Any]) -> PodAsks:
        by_kind: dict[str, dict[tuple[str, str], Any]] = {"ResourceClaim": {}, "ResourceClaimTemplate": {}}
        for claim in self.claims:
            by_kind[claim["kind"]][NAMESPACE, claim["metadata"]["name"]] = claim
        name = pod["metadata"]["name"]
        return pod_asks(NAMESPACE, name, pod["spec"], by_kind["ResourceClaim"], by_kind["ResourceClaimTemplate"])


def example(seed: int, number: int) -> Example:
    """The fleet of this number; the same seed gives the same."""
    return _Draw(random.Random(f"{seed}/{number}"), number).example()


class _Draw:
    def __init__(self, draw: random.Random, number: int) -> None:
        self.draw, self.number, self.found = draw, number, Example(number)
        # two classes for one resource name, of which the newer serves the pods that ask for it
        self.rivals = draw.random() < 0.2

    def name(self, text: str) -> str:
        return f"f{self.number}-{text}"

    @property
    def resource(self) -> str:
        return f"fleet{self.number}.example.com/gpu"

    def example(self) -> Example:
        for index in range(self.draw.randint(1, 3)):
            self.pool(f"p{index}")
        for index in range(2 if self.rivals else self.draw.randint(1, 3)):
            self.device_class(f"c{index}")
        for index in range(self.draw.randint(1, 2)):
            self.claim(f"r{index}")
        for index in range(self.draw.choice((1, 1, 1, 2))):
            self.pod(f"pod{index}")
        return self.found

    def pool(self, name: str) -> None:
        plugin = self.draw.random() < 0.25
        taints = ("team=a:NoSchedule", "spot:NoSchedule", "soft=x:PreferNoSchedule")
        labels = {"fleet": str(self.number), "size": self.draw.choice(("small", "large"))}
        if self.draw.random() < 0.3:
            labels["only"] = "here"
        self.found.nodes[self.name(name)] = self.draw.choice((1, 1, 2))
        self.found.pools.append(
            PlannedPool(
                name=self.name(name), path="", vm_size="Standard_NC24ads_A100_v4", gpu="", gpus_per_node=0, nodes="",
                first_nodes=1, allocation="devicePlugin" if plugin else "dra", sharing="", driver_owner="aks",
                mig_owner="none", mig_layout="", inputs={}, labels=labels,
                taints=tuple(taint for taint in taints if self.draw.random() < 0.07),
                devices=() if plugin else tuple(self.devices()),
                extended_resources={self.resource: self.draw.randint(1, 4)} if plugin else {},
                device_classes=(), pod=PodSnippet({}, ()), protect=False, ignore_changes=(), replace_on_changes=(),
            )
        )  # fmt: skip

    def devices(self) -> list[Device]:
        found: list[Device] = []
        for index in range(self.draw.randint(1, 4)):
            kind = self.draw.choice(("t4", "a100-80gb-pcie", "mig", "fpga", "bare"))
            if kind == "mig":
                family = FACTS.families["a100-80gb"]
                profile = family.profiles["1g.10gb"]
                starts = range(self.draw.randint(1, 3))
                gpu = FACTS.gpus["a100-80gb-pcie"]
                found += [mig_device(gpu, family, profile, index, start) for start in starts]
            elif kind == "fpga":
                family_name = self.draw.choice(("agilex", "stratix"))
                shared = self.draw.random() < 0.2
                found.append(
                    Device(f"fpga-{index}", "fpga.example.com", {"family": family_name, "lanes": 4}, {}, shared)
                )
            elif kind == "bare":
                version = Version("9.0.0")
                found.append(Device(f"odd-{index}", "gpu.nvidia.com", {"cudaComputeCapability": version}))
            else:
                found.append(gpu_device(FACTS.gpus[kind], index))
        return found

    def device_class(self, name: str) -> None:
        chosen = self.draw.sample(SELECTORS[: 4 if self.draw.random() < 0.4 else None], self.draw.choice((0, 1, 1, 2)))
        spec: dict[str, Any] = {"selectors": [{"cel": {"expression": text}} for text in chosen]} if chosen else {}
        if self.rivals or self.draw.random() < 0.4:
            spec["extendedResourceName"] = self.resource
        metadata = {"name": self.name(name)}
        manifest = {
            "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": metadata, "spec": spec,
        }  # fmt: skip
        rank = len(self.found.classes) + 1 if self.rivals else self.draw.choice((1, 2))
        self.found.classes.append((rank, manifest))

    def ask(self) -> dict[str, Any]:
        names = [manifest["metadata"]["name"] for _, manifest in self.found.classes]
        name = self.name("none") if self.draw.random() < 0.03 else self.draw.choice(names)
        every = self.draw.random() < 0.1
        asks: dict[str, Any] = {"deviceClassName": name}
        if every:
            asks["allocationMode"] = "All"
        else:
            asks["count"] = 33 if self.draw.random() < 0.02 else self.draw.choice((1, 1, 1, 1, 2, 2, 3, 4))
        if self.draw.random() < 0.3:
            asks["selectors"] = [{"cel": {"expression": self.draw.choice(SELECTORS)}}]
        return asks

    def claim(self, name: str) -> None:
        requests: list[dict[str, Any]] = []
        for index in range(self.draw.choice((1, 1, 1, 2))):
            if self.draw.random() < 0.3:
                ranked = [{"name": f"a{number}", **self.ask()} for number in range(self.draw.randint(1, 3))]
                requests.append({"name": f"q{index}", "firstAvailable": ranked})
            else:
                requests.append({"name": f"q{index}", "exactly": self.ask()})
        devices: dict[str, Any] = {"requests": requests}
        if self.draw.random() < 0.15:
            constraint: dict[str, Any] = {"matchAttribute": self.draw.choice(ATTRIBUTES)}
            if self.draw.random() < 0.5:
                constraint["requests"] = ["q0"]
            devices["constraints"] = [constraint]
        template = self.draw.random() < 0.6
        self.found.claims.append(
            {
                "apiVersion": "resource.k8s.io/v1",
                "kind": "ResourceClaimTemplate" if template else "ResourceClaim",
                "metadata": {"name": self.name(name), "namespace": NAMESPACE},
                "spec": {"spec": {"devices": devices}} if template else {"devices": devices},
            }
        )

    def pod(self, name: str) -> None:
        limits: dict[str, str] = {}
        claims = []
        if self.rivals or self.draw.random() < 0.3:
            implicit = f"deviceclass.resource.kubernetes.io/{self.name('c0')}"
            limits[self.draw.choice((self.resource, self.resource, implicit))] = str(self.draw.choice((1, 1, 1, 2)))
        else:
            for index, claim in enumerate(self.draw.sample(self.found.claims, 1)):
                key = "resourceClaimTemplateName" if claim["kind"] == "ResourceClaimTemplate" else "resourceClaimName"
                missing = self.draw.random() < 0.04
                claims.append({"name": f"d{index}", key: self.name("gone") if missing else claim["metadata"]["name"]})
        selector = {"fleet": str(self.number)}
        if self.draw.random() < 0.15:
            key, value = self.draw.choice((("size", "large"), ("only", "here"), ("size", "huge")))
            selector[key] = value
        tolerations = []
        if self.draw.random() < 0.5:
            tolerations = [
                {
                    "key": "team",
                    "operator": "Equal",
                    "value": self.draw.choice(("a", "a", "b")),
                    "effect": "NoSchedule",
                },
                {"key": "spot", "operator": "Exists"},
            ]
        uses = {"claims": [{"name": entry["name"]} for entry in claims]} if claims else {"limits": limits}
        spec: dict[str, Any] = {
            "containers": [{"name": "main", "image": "example.invalid/none", "resources": uses}],
            "nodeSelector": selector,
            "tolerations": tolerations,
            "terminationGracePeriodSeconds": 0,
        }
        if claims:
            spec["resourceClaims"] = claims
        metadata = {"name": self.name(name), "namespace": NAMESPACE}
        self.found.pods.append({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
