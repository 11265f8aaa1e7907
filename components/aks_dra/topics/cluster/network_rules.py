"""The cluster's network: ranges that fit each other and the pools, what an outbound type or a private cluster needs."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from typing import Any

from aks_dra.context.context import Context
from aks_dra.findings.build import finding
from aks_dra.findings.finding import Finding
from aks_dra.settings import Existing
from aks_dra.topics.cluster.identity import network_of, own_zone
from aks_dra.topics.cluster.network import DEFAULT_POD_CIDR, DEFAULT_SERVICE_CIDR, Net, dns_service_ip, parsed

PATH = "aks-dra:cluster.network"
PLANNING = "AKS: plan IP addresses (concepts-network-ip-address-planning, concepts-network-azure-cni-overlay)"
EGRESS = "AKS: outbound types (egress-outboundtype)"
PRIVATE = "AKS: private clusters (private-clusters)"
ZONE = re.compile(r"(?P<sub>[a-z0-9-]{1,32}\.)?(?P<kind>privatelink|private)\.(?P<region>[a-z0-9]+)\.azmk8s\.io")


def shapes(context: Context) -> Iterator[Finding]:
    network = context.settings.cluster.network
    for name, text in (("podCidr", network.pod_cidr), ("serviceCidr", network.service_cidr)):
        if text is not None and parsed(text) is None:
            yield _error("NET001", name, text, "this is not an address range", _range_remedy(text), PLANNING)
    if network.dns_service_ip is not None and _address(network.dns_service_ip) is None:
        remedy = "write one address of serviceCidr, without a prefix length"
        yield _error("NET002", "dnsServiceIp", network.dns_service_ip, "this is not an address", remedy, PLANNING)


def service_range(context: Context) -> Iterator[Finding]:
    network = context.settings.cluster.network
    services = parsed(network.service_cidr or DEFAULT_SERVICE_CIDR)
    if services is None:
        return
    shortest = context.facts.limits["service_cidr_prefix"]
    if services.version == 4 and services.prefixlen < shortest.value:
        message = f"a service range is smaller than /12, so its prefix length is {shortest.value} or more"
        remedy = f"write {services.network_address}/{shortest.value} or a smaller range"
        yield _error("NET004", "serviceCidr", network.service_cidr, message, remedy, shortest.source)
    address = _address(network.dns_service_ip)
    if address is None:
        if network.service_cidr and dns_service_ip(network) is None:
            message = "the range is too small for an address of the DNS service"
            yield _error("NET004", "serviceCidr", network.service_cidr, message, "take /28 or larger", PLANNING)
        return
    if address not in services or services.num_addresses < 4:
        message = f"the DNS service's address is not in the service range {services}"
        remedy = f"write {services[min(10, services.num_addresses - 1)]}, or set serviceCidr"
        yield _error("NET003", "dnsServiceIp", address, message, remedy, PLANNING)
    elif address in (services[0], services[1]) or (services.version == 4 and address == services[-1]):
        message = "the first address of the range is that of kubernetes.default, and its ends belong to nobody"
        yield _error("NET003", "dnsServiceIp", address, message, f"write {services[10]}", PLANNING)


def overlaps(context: Context) -> Iterator[Finding]:
    network = context.settings.cluster.network
    services = parsed(network.service_cidr or DEFAULT_SERVICE_CIDR)
    pods = parsed(network.pod_cidr or DEFAULT_POD_CIDR) if network.plugin == "azureOverlay" else None
    if services and pods and services.version == pods.version and services.overlaps(pods):
        name, text = ("podCidr", network.pod_cidr) if network.pod_cidr else ("serviceCidr", network.service_cidr)
        other = f"serviceCidr {services}" if name == "podCidr" else f"podCidr {pods}"
        default = "" if network.pod_cidr and network.service_cidr else " (AKS's default)"
        message = f"the ranges of pods and of services overlap: {other}{default}"
        yield _error("NET005", name, text, message, "take ranges that share no address", PLANNING)
    for name, text, net in (
        ("podCidr", network.pod_cidr, parsed(network.pod_cidr)),
        ("serviceCidr", network.service_cidr, parsed(network.service_cidr)),
    ):
        for row in context.facts.reserved_ranges.values():
            if isinstance(net, ipaddress.IPv4Network) and net.overlaps(ipaddress.IPv4Network(row.cidr)):
                message = f"AKS keeps {row.cidr} for itself"
                yield _error("NET006", name, text, message, "take a range apart from it", row.source)


def pod_range(context: Context) -> Iterator[Finding]:
    network = context.settings.cluster.network
    if network.pod_cidr is not None and network.plugin != "azureOverlay":
        message = f"with plugin {network.plugin} pods get no addresses from podCidr"
        remedy = "remove it, or set plugin: azureOverlay"
        yield _error("NET007", "podCidr", network.pod_cidr, message, remedy, PLANNING)
        return
    pods = parsed(network.pod_cidr)
    node = context.facts.limits["overlay_node_prefix"]
    if pods is None or pods.version != 4:
        return
    room = 2 ** (node.value - pods.prefixlen) if pods.prefixlen <= node.value else 0
    most = _most_nodes(context)
    if most > room:
        needed = node.value - (most - 1).bit_length()
        message = (
            f"every node takes a /{node.value} of it, so there is room for {room} nodes; the pools may have {most}"
        )
        remedy = f"take a /{needed} or larger; leave room for the nodes that an upgrade adds"
        yield _error("NET008", "podCidr", network.pod_cidr, message, remedy, node.source)


def _most_nodes(context: Context) -> int:
    sizes = [context.settings.cluster.system_pool.nodes, *(pool.nodes for _, _, pool in context.pools())]
    return sum(max(nodes.max or 0, nodes.count or 0, nodes.initial or 0) for nodes in sizes)


def plugins(context: Context) -> Iterator[Finding]:
    network = context.settings.cluster.network
    if network.dataplane == "cilium" and network.plugin == "none":
        message = "AKS runs cilium only with its own network plugin"
        remedy = "set plugin: azureOverlay, or remove dataplane and install cilium yourself"
        yield _error("NET009", "dataplane", "cilium", message, remedy, "AKS: Azure CNI powered by Cilium")


def outbound(context: Context) -> Iterator[Finding]:
    network = context.settings.cluster.network
    kind = network.outbound_type
    if kind in ("userDefinedRouting", "userAssignedNATGateway") and not network.subnet_id:
        message = f"{kind} works only in a subnet of your own"
        remedy = "set network.subnetId, or outboundType: loadBalancer or managedNATGateway"
        yield _error("NET010", "outboundType", kind, message, remedy, EGRESS)
    if kind == "managedNATGateway" and network.subnet_id:
        message = "AKS attaches a NAT gateway of its own only in a network that it makes"
        remedy = "set outboundType: userAssignedNATGateway, with a NAT gateway on the subnet"
        yield _error("NET010", "outboundType", kind, message, remedy, EGRESS)
    if kind == "userDefinedRouting" and not network.route_table_id:
        message = "user-defined routing needs a route table on the subnet, with a route for 0.0.0.0/0"
        remedy = "set network.routeTableId, so that the cluster's identity gets its rights on it"
        yield _error("NET011", "outboundType", kind, message, remedy, EGRESS)
    if network.route_table_id and kind != "userDefinedRouting":
        message = f"with outbound type {kind} the cluster does nothing with a route table"
        remedy = "set outboundType: userDefinedRouting, or remove it"
        yield _error("NET012", "routeTableId", network.route_table_id, message, remedy, EGRESS)
    if kind == "none":
        yield finding(
            "NET013",
            "warning",
            f"{PATH}.outboundType",
            kind,
            "nodes reach no registry but the one that azureInputs.bootstrapProfile names, NVIDIA's neither",
            "mirror charts and images (gpu.charts.source, gpu.images.registry), and set the bootstrap profile",
            "AKS: network isolated clusters",
        )


def subnets(context: Context) -> Iterator[Finding]:
    cluster = context.settings.cluster
    own = cluster.network.subnet_id
    for _, path, pool in context.pools():
        if not pool.subnet_id or cluster.existing:
            continue
        if own is None:
            yield finding(
                "NET014",
                "error",
                f"{path}.subnetId",
                pool.subnet_id,
                "all pools are in one virtual network, and AKS makes one for this cluster",
                "set cluster.network.subnetId to a subnet of the same network, or remove it",
                "AKS: node pools with unique subnets",
            )
        elif network_of(pool.subnet_id).lower() != network_of(own).lower():
            yield finding(
                "NET014",
                "error",
                f"{path}.subnetId",
                pool.subnet_id,
                f"all pools are in one virtual network; the cluster's is {network_of(own)}",
                "take a subnet of that network",
                "AKS: node pools with unique subnets",
            )


def private_cluster(context: Context) -> Iterator[Finding]:
    cluster = context.settings.cluster
    network = cluster.network
    if network.private_dns_zone is not None and not network.private_cluster:
        shown: Any = network.private_dns_zone
        shown = shown.existing if isinstance(shown, Existing) else shown
        message = "a DNS zone for the API server belongs to a private cluster"
        yield _error("NET015", "privateDnsZone", shown, message, "set privateCluster: true, or remove it", PRIVATE)
    zone = own_zone(context.settings)
    match = ZONE.fullmatch(zone.rstrip("/").rpartition("/")[2].lower()) if zone else None
    region = context.plan.cluster.location.lower().replace(" ", "")
    if zone and (match is None or (region and match["region"] != region)):
        message = "AKS takes a zone of the form privatelink.REGION.azmk8s.io, with at most one name of 32 before it"
        remedy = f"name a zone privatelink.{region or 'REGION'}.azmk8s.io"
        yield _error("NET016", "privateDnsZone.existing", zone, message, remedy, PRIVATE)
    if zone and not network.subnet_id:
        message = "the zone is linked to the cluster's network, on which its identity needs rights first"
        remedy = "set network.subnetId"
        yield _error("NET017", "privateDnsZone.existing", zone, message, remedy, PRIVATE)


def authorized_ranges(context: Context) -> Iterator[Finding]:
    cluster = context.settings.cluster
    ranges = cluster.access.authorized_ip_ranges
    path = "aks-dra:cluster.access.authorizedIpRanges"
    source = "AKS: API server authorized IP ranges"
    if ranges and cluster.network.private_cluster:
        message = "authorised ranges guard the public API server, and a private cluster has none"
        yield finding("NET018", "error", path, ", ".join(ranges), message, "remove one of the two", source)
    limit = context.facts.limits["authorized_ip_ranges"]
    if len(ranges) > limit.value:
        message = f"at most {limit.value} ranges are taken"
        yield finding("NET019", "error", path, len(ranges), message, "join neighbouring ranges", limit.source)
    for index, text in enumerate(ranges):
        net = parsed(text)
        if net is None:
            message = "this is not an address range"
            yield finding("NET020", "error", f"{path}.{index}", text, message, _range_remedy(text), source)
        elif net.is_private and str(net) != "0.0.0.0/32":
            message = "the API server sees public addresses, so a private range lets nobody in"
            yield finding(
                "NET021", "warning", f"{path}.{index}", text, message, "write the address behind your NAT", source
            )


def _error(code: str, name: str, value: object, message: str, remedy: str, source: str) -> Finding:
    return finding(code, "error", f"{PATH}.{name}", value, message, remedy, source)


def _address(text: str | None) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text) if text else None
    except ValueError:
        return None


def _range_remedy(text: str) -> str:
    """The range that an address with host bits was meant to be, or the shape."""
    try:
        meant: Net = ipaddress.ip_network(text, strict=False)
    except ValueError:
        return "write an address and a prefix length, for example 10.1.0.0/16"
    return f"did you mean {meant}?"


RULES = (
    shapes,
    service_range,
    overlaps,
    pod_range,
    plugins,
    outbound,
    subnets,
    private_cluster,
    authorized_ranges,
)
