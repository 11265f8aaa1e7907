"""The cluster's network profile, and the addresses that it comes to.

AKS fills in what is left out, so the checks compare with its defaults too. The address of the DNS service must lie in
the service range, so it follows from a range of one's own: the tenth address, as AKS takes it from its default range.
"""

from __future__ import annotations

import ipaddress
from typing import Any

from aks_dra.settings import Existing, Network

Net = ipaddress.IPv4Network | ipaddress.IPv6Network

# AKS's own where nothing is given.
DEFAULT_POD_CIDR = "10.244.0.0/16"
DEFAULT_SERVICE_CIDR = "10.0.0.0/16"
DNS_OFFSET = 10


def parsed(text: str | None) -> Net | None:
    """The range, or None where it is none; that has a finding of its own."""
    try:
        return ipaddress.ip_network(text) if text else None
    except ValueError:
        return None


def dns_service_ip(network: Network) -> str | None:
    """What is sent: the user's, or the tenth address of the user's service range."""
    if network.dns_service_ip is not None:
        return network.dns_service_ip
    services = parsed(network.service_cidr)
    if services is None or services.num_addresses <= DNS_OFFSET:
        return None
    return str(services[DNS_OFFSET])


def network_profile(network: Network) -> dict[str, Any]:
    profile: dict[str, Any] = {
        "networkPlugin": "azure" if network.plugin == "azureOverlay" else network.plugin,
        "outboundType": network.outbound_type,
        "loadBalancerSku": "standard",
    }
    if network.plugin == "azureOverlay":
        profile["networkPluginMode"] = "overlay"
    profile["networkDataplane"] = network.dataplane
    if network.dataplane == "cilium":
        profile["networkPolicy"] = "cilium"
    optional = {
        "podCidr": network.pod_cidr,
        "serviceCidr": network.service_cidr,
        "dnsServiceIP": dns_service_ip(network),
    }
    return profile | {key: value for key, value in optional.items() if value is not None}


def api_server_profile(network: Network, authorized: tuple[str, ...]) -> dict[str, Any]:
    profile: dict[str, Any] = {}
    if authorized:
        profile["authorizedIPRanges"] = list(authorized)
    if network.private_cluster:
        profile["enablePrivateCluster"] = True
        zone = network.private_dns_zone
        if zone is not None:
            profile["privateDNSZone"] = zone.existing if isinstance(zone, Existing) else zone
    return profile
