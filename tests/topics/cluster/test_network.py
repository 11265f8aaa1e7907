"""Ranges, outbound types, private clusters and authorised ranges: what is refused, where, and what to write instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.stacks import check, planned

SUB = "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg-net/providers"
VNET = f"{SUB}/Microsoft.Network/virtualNetworks/hub"
SUBNET = f"{VNET}/subnets/aks"
TABLE = f"{SUB}/Microsoft.Network/routeTables/rt"
ZONE = f"{SUB}/Microsoft.Network/privateDnsZones/privatelink.swedencentral.azmk8s.io"
T4 = "aks-dra:pools: {t4: {vmSize: Standard_NC4as_T4_v3, nodes: {count: 1}}}"


def cluster(network: str, *, access: str = "azureRbac: true", pools: str = T4) -> str:
    return f"aks-dra:cluster: {{access: {{{access}}}, network: {{{network}}}}}\n{pools}\n"


def told(tmp_path: Path, body: str) -> list[tuple[str, str, str, str]]:
    """(code, severity, path below the cluster, remedy) of every finding."""
    return [
        (f.code, f.severity, f.path.removeprefix("aks-dra:cluster.network."), f.remedy) for f in check(tmp_path, body)
    ]


@pytest.mark.parametrize(
    ("network", "expected"),
    [
        ("podCidr: 10.1.2.0/16", ("NET001", "error", "podCidr", "did you mean 10.1.0.0/16?")),
        ("podCidr: pods",
         ("NET001", "error", "podCidr", "write an address and a prefix length, for example 10.1.0.0/16")),
        ("serviceCidr: 10.1.0.1/16", ("NET001", "error", "serviceCidr", "did you mean 10.1.0.0/16?")),
        ("dnsServiceIp: 10.0.0.10/32", ("NET002", "error", "dnsServiceIp",
                                        "write one address of serviceCidr, without a prefix length")),
        ("dnsServiceIp: 10.9.0.10", ("NET003", "error", "dnsServiceIp", "write 10.0.0.10, or set serviceCidr")),
        ("serviceCidr: 10.1.0.0/16, dnsServiceIp: 10.0.0.10",
         ("NET003", "error", "dnsServiceIp", "write 10.1.0.10, or set serviceCidr")),
        ("dnsServiceIp: 10.0.0.1", ("NET003", "error", "dnsServiceIp", "write 10.0.0.10")),
        ("serviceCidr: 10.0.0.0/12, podCidr: 192.168.0.0/16",
         ("NET004", "error", "serviceCidr", "write 10.0.0.0/13 or a smaller range")),
        ("serviceCidr: 10.1.0.0/30", ("NET004", "error", "serviceCidr", "take /28 or larger")),
        ("podCidr: 10.0.0.0/14", ("NET005", "error", "podCidr", "take ranges that share no address")),
        ("serviceCidr: 10.244.128.0/20", ("NET005", "error", "serviceCidr", "take ranges that share no address")),
        ("podCidr: 172.30.0.0/16", ("NET006", "error", "podCidr", "take a range apart from it")),
        ("serviceCidr: 192.0.2.0/24", ("NET006", "error", "serviceCidr", "take a range apart from it")),
        ("plugin: azure, podCidr: 10.100.0.0/16",
         ("NET007", "error", "podCidr", "remove it, or set plugin: azureOverlay")),
        ("podCidr: 10.100.0.0/23", ("NET008", "error", "podCidr",
                                    "take a /22 or larger; leave room for the nodes that an upgrade adds")),
        ("plugin: none, dataplane: cilium",
         ("NET009", "error", "dataplane", "set plugin: azureOverlay, or remove dataplane and install cilium yourself")),
        ("outboundType: userAssignedNATGateway",
         ("NET010", "error", "outboundType",
          "set network.subnetId, or outboundType: loadBalancer or managedNATGateway")),
        (f"outboundType: managedNATGateway, subnetId: {SUBNET}",
         ("NET010", "error", "outboundType",
          "set outboundType: userAssignedNATGateway, with a NAT gateway on the subnet")),
        (f"outboundType: userDefinedRouting, subnetId: {SUBNET}",
         ("NET011", "error", "outboundType",
          "set network.routeTableId, so that the cluster's identity gets its rights on it")),
        (f"routeTableId: {TABLE}, subnetId: {SUBNET}",
         ("NET012", "error", "routeTableId", "set outboundType: userDefinedRouting, or remove it")),
        ("outboundType: none",
         ("NET013", "warning", "outboundType",
          "mirror charts and images (gpu.charts.source, gpu.images.registry), and set the bootstrap profile")),
        ("privateDnsZone: none", ("NET015", "error", "privateDnsZone", "set privateCluster: true, or remove it")),
        (f"privateCluster: true, subnetId: {SUBNET}, privateDnsZone: {{existing: {ZONE.replace('sweden', 'polen')}}}",
         ("NET016", "error", "privateDnsZone.existing", "name a zone privatelink.swedencentral.azmk8s.io")),
        (f"privateCluster: true, privateDnsZone: {{existing: {ZONE}}}",
         ("NET017", "error", "privateDnsZone.existing", "set network.subnetId")),
    ],
)  # fmt: skip
def test_a_network_that_cannot_work_is_one_finding(
    tmp_path: Path, network: str, expected: tuple[str, str, str, str]
) -> None:
    assert told(tmp_path, cluster(network)) == [expected]


@pytest.mark.parametrize(
    "network",
    [
        "podCidr: 10.100.0.0/22",
        "serviceCidr: 10.244.0.0/16, podCidr: 10.0.0.0/16",
        "serviceCidr: 10.244.0.0/16, plugin: azure",
        "serviceCidr: 172.16.0.0/16, dnsServiceIp: 172.16.0.53",
        f"outboundType: userDefinedRouting, subnetId: {SUBNET}, routeTableId: {TABLE}",
        f"outboundType: userAssignedNATGateway, subnetId: {SUBNET}",
        "outboundType: managedNATGateway",
        "plugin: azure, dataplane: cilium",
        "privateCluster: true, privateDnsZone: system",
        f"privateCluster: true, subnetId: {SUBNET}, privateDnsZone: {{existing: {ZONE}}}",
        f"privateCluster: true, subnetId: {SUBNET}, "
        f"privateDnsZone: {{existing: {ZONE.replace('privatelink', 'ml.privatelink')}}}",
    ],
)
def test_a_network_that_works_has_no_finding(tmp_path: Path, network: str) -> None:
    assert told(tmp_path, cluster(network)) == []


def test_user_defined_routing_alone_lacks_a_subnet_and_a_route_table(tmp_path: Path) -> None:
    assert [line[0] for line in told(tmp_path, cluster("outboundType: userDefinedRouting"))] == ["NET010", "NET011"]


def test_room_for_pods_counts_the_most_nodes_that_pools_may_have(tmp_path: Path) -> None:
    pools = "aks-dra:pools: {t4: {vmSize: Standard_NC4as_T4_v3, allocation: devicePlugin, nodes: {min: 0, max: 62}}}"
    (over,) = check(tmp_path, cluster("podCidr: 10.100.0.0/18", pools=pools))
    assert over.message == ("every node takes a /24 of it, so there is room for 64 nodes; the pools may have 65")
    assert over.remedy == "take a /17 or larger; leave room for the nodes that an upgrade adds"
    assert told(tmp_path, cluster("podCidr: 10.100.0.0/18", pools=pools.replace("62", "61"))) == []


@pytest.mark.parametrize(("own", "message"), [
    ("", "all pools are in one virtual network, and AKS makes one for this cluster"),
    (f"network: {{subnetId: {SUBNET}}}", f"all pools are in one virtual network; the cluster's is {VNET}"),
])  # fmt: skip
def test_a_pool_in_another_network_is_refused(tmp_path: Path, own: str, message: str) -> None:
    other = SUBNET.replace("hub", "spoke")
    body = f"""
        aks-dra:cluster: {{access: {{azureRbac: true}}, {own}}}
        aks-dra:pools: {{t4: {{vmSize: Standard_NC4as_T4_v3, subnetId: {other}}}}}
    """
    (finding,) = check(tmp_path, body)
    assert (finding.code, finding.path, finding.message) == ("NET014", "aks-dra:pools.t4.subnetId", message)


def test_a_pool_in_another_subnet_of_the_network_is_planned_there(tmp_path: Path) -> None:
    gpus = f"{VNET}/subnets/gpus"
    pools = f"aks-dra:pools: {{t4: {{vmSize: Standard_NC4as_T4_v3, subnetId: {gpus}}}}}"
    plan = planned(tmp_path, cluster(f"subnetId: {SUBNET}", pools=pools))
    assert plan.findings == ()
    assert plan.pools[0].inputs["vnetSubnetID"] == gpus
    assert plan.cluster.inputs["agentPoolProfiles"][0]["vnetSubnetID"] == SUBNET
    assert [(role.key, role.scope) for role in plan.cluster.roles] == [
        ("subnet-network-contributor", SUBNET),
        ("subnet-2-network-contributor", gpus),
    ]


@pytest.mark.parametrize(
    ("ranges", "expected"),
    [
        ("[1.2.3.4/24]", ("NET020", "error", "0", "did you mean 1.2.3.0/24?")),
        ("[office]", ("NET020", "error", "0", "write an address and a prefix length, for example 10.1.0.0/16")),
        ("[20.1.2.3, 10.1.0.0/16]", ("NET021", "warning", "1", "write the address behind your NAT")),
    ],
)
def test_authorised_ranges_are_public_ranges(tmp_path: Path, ranges: str, expected: tuple[str, str, str, str]) -> None:
    body = cluster("", access=f"azureRbac: true, authorizedIpRanges: {ranges}")
    path = "aks-dra:cluster.access.authorizedIpRanges."
    assert [(c, s, p.removeprefix(path), r) for c, s, p, r in told(tmp_path, body)] == [expected]


def test_authorised_ranges_that_azure_takes(tmp_path: Path) -> None:
    body = cluster("", access='azureRbac: true, authorizedIpRanges: [20.1.2.3, 73.140.245.0/24, "0.0.0.0/32"]')
    plan = planned(tmp_path, body)
    assert plan.findings == ()
    assert plan.cluster.inputs["apiServerAccessProfile"] == {
        "authorizedIPRanges": ["20.1.2.3", "73.140.245.0/24", "0.0.0.0/32"]
    }


def test_a_private_cluster_has_no_authorised_ranges_and_no_more_than_200_are_taken(tmp_path: Path) -> None:
    many = ", ".join(f"20.{n}.0.0/16" for n in range(201))
    body = cluster("privateCluster: true", access=f"azureRbac: true, authorizedIpRanges: [{many}]")
    assert [line[0] for line in told(tmp_path, body)] == ["NET018", "NET019"]


def test_a_service_range_of_ones_own_gets_its_tenth_address_for_dns(tmp_path: Path) -> None:
    plan = planned(tmp_path, cluster("serviceCidr: 172.16.4.0/22, dataplane: cilium"))
    assert plan.cluster.inputs["networkProfile"] == {
        "networkPlugin": "azure",
        "networkPluginMode": "overlay",
        "networkDataplane": "cilium",
        "networkPolicy": "cilium",
        "outboundType": "loadBalancer",
        "loadBalancerSku": "standard",
        "serviceCidr": "172.16.4.0/22",
        "dnsServiceIP": "172.16.4.10",
    }
