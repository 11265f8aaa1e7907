"""Who holds what: devices by the claims that are allocated, extended resources by the pods on a node.

A device that nobody holds may still not be free: partitions of one GPU draw on the same counters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from aks_dra.kube import quantity
from aks_dra.kube.asks import extended_resources
from aks_dra.kube.claims import Ask
from aks_dra.kube.devices import Device
from aks_dra.matching.counters import most_at_once
from aks_dra.report.tables import describe_device
from aks_dra.simulate.fleet import counter_sets
from aks_dra.simulate.model import Reason
from aks_dra.simulate.necessary import Fleet
from aks_dra.simulate.run import Seen

MOST_HOLDERS = 5
DeviceKey = tuple[str, str, str]  # driver, node, device


class Holdings:
    """What is taken at the end of a run."""

    def __init__(self, fleet: Fleet, seen: Seen) -> None:
        self.fleet, self.seen = fleet, seen
        self.holders: dict[DeviceKey, list[str]] = {}
        for claim in seen.claims:
            for result in allocated(claim):
                if not result.get("adminAccess"):
                    self.holders.setdefault(device_key(result), []).extend(users(claim))
        self.used: dict[str, dict[str, int]] = {}
        for pod in seen.pods.values():
            node = str(pod["spec"].get("nodeName") or "")
            for name, number in extended_resources(pod["spec"]).items() if node else ():
                on_node = self.used.setdefault(node, {})
                on_node[name] = on_node.get(name, 0) + number

    def free(self, pool: str, node: str, matching: Iterable[Device]) -> list[Device]:
        """Those that nobody holds and that what is held leaves room for."""
        everything = self.fleet.pools[pool].all_devices
        room = {
            (entry["name"], counter): quantity.parse(held["value"])
            for entry in counter_sets(everything)
            for counter, held in entry["counters"].items()
        }
        for device in everything:
            if (device.driver, node, device.name) in self.holders:
                for name, counters in device.consumes.items():
                    for counter, amount in counters.items():
                        room[name, counter] -= quantity.parse(amount)
        return [
            device
            for device in matching
            if (device.driver, node, device.name) not in self.holders and _fits(device, room)
        ]

    def taken(self, pool: str, nodes: list[str], ask: Ask) -> Reason | None:
        """Who holds the devices of a pool that one request needs; None if enough are free."""
        matching = self.fleet.matching(pool, self.fleet.selectors(ask))
        most = max((most_at_once(self.free(pool, node, matching)) for node in nodes), default=0)
        wanted = len(matching) if ask.every else ask.count
        if most >= wanted:
            return None
        devices = self.fleet.pools[pool].all_devices
        held = [
            user
            for node in nodes
            for device in devices
            if device in matching or device.consumes
            for user in self.holders.get((device.driver, node, device.name), ())
        ]
        total = most_at_once(matching) * len(nodes)
        kinds = " or ".join(dict.fromkeys(describe_device(device) for device in matching))
        what = (
            f"the device that matches ({kinds}) is" if total == 1 else f"the {total} devices that match ({kinds}) are"
        )
        left = "none is free"
        if most:
            what = f"some of the {total} devices that match ({kinds}) are"
            left = f"{most} free on one node, {'all' if ask.every else wanted} asked for"
        text = f"pool {pool}, {node_count(nodes)}: {what} held by {_listed(sorted(held))}; {left}"
        return Reason("taken", text, f"more nodes in {pool}, or fewer pods")

    def users_of(self, nodes: list[str], resource: str) -> str:
        return _listed(
            f"{namespace}/{name}"
            for (namespace, name), pod in sorted(self.seen.pods.items())
            if pod["spec"].get("nodeName") in nodes and resource in extended_resources(pod["spec"])
        )


def _fits(device: Device, room: Mapping[tuple[str, str], Fraction]) -> bool:
    return all(
        quantity.parse(amount) <= room[name, counter]
        for name, counters in device.consumes.items()
        for counter, amount in counters.items()
    )


def allocated(claim: Mapping[str, Any]) -> list[dict[str, Any]]:
    allocation = (claim.get("status") or {}).get("allocation") or {}
    return list((allocation.get("devices") or {}).get("results") or ())


def users(claim: Mapping[str, Any]) -> list[str]:
    """The pods that a claim is reserved for; the claim itself while there is none."""
    namespace = claim["metadata"]["namespace"]
    reserved = [item for item in (claim.get("status") or {}).get("reservedFor") or () if item.get("resource") == "pods"]
    return [f"{namespace}/{item['name']}" for item in reserved] or [f"claim {namespace}/{claim['metadata']['name']}"]


def device_key(result: Mapping[str, Any]) -> DeviceKey:
    return str(result["driver"]), str(result["pool"]), str(result["device"])


def node_count(nodes: list[str]) -> str:
    return f"{len(nodes)} node{'s' if len(nodes) > 1 else ''}"


def _listed(names: Iterable[str]) -> str:
    each = list(dict.fromkeys(names))
    more = f" and {len(each) - MOST_HOLDERS} more" if len(each) > MOST_HOLDERS else ""
    return ", ".join(each[:MOST_HOLDERS]) + more or "nobody"
