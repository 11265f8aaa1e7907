"""What pools are made of and how they are upgraded: what Azure gets, and what is refused with what to write instead."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.stacks import check, planned

SUB = "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg-shared/providers"


def pool(rest: str) -> str:
    return f"aks-dra:pools: {{a100: {{vmSize: Standard_NC24ads_A100_v4, nodes: {{count: 2}}, {rest}}}}}\n"


def told(tmp_path: Path, body: str) -> list[tuple[str, str, str, str]]:
    return [(f.code, f.severity, f.path, f.remedy) for f in check(tmp_path, body)]


def inputs_of(tmp_path: Path, rest: str) -> dict[str, Any]:
    plan = planned(tmp_path, pool(rest))
    assert plan.findings == ()
    return dict(plan.pools[0].inputs)


def test_how_a_pool_is_upgraded_reaches_azure_as_text_and_numbers(tmp_path: Path) -> None:
    rest = "maxSurge: 0, maxUnavailable: 1, drainTimeoutMinutes: 60, nodeSoakMinutes: 5, undrainableNodes: Cordon"
    assert inputs_of(tmp_path, rest)["upgradeSettings"] == {
        "maxSurge": "0",
        "maxUnavailable": "1",
        "drainTimeoutInMinutes": 60,
        "nodeSoakDurationInMinutes": 5,
        "undrainableNodeBehavior": "Cordon",
    }
    assert inputs_of(tmp_path, 'maxSurge: "33%"')["upgradeSettings"] == {"maxSurge": "33%"}
    assert "upgradeSettings" not in inputs_of(tmp_path, "maxPods: 60")


def test_disk_pods_reservation_and_fips_reach_azure(tmp_path: Path) -> None:
    reserved = f"{SUB}/Microsoft.Compute/capacityReservationGroups/gpus"
    rest = f"osDiskSizeGb: 256, osDiskType: Ephemeral, maxPods: 60, capacityReservationGroup: {reserved}"
    wanted = {"osDiskSizeGB": 256, "osDiskType": "Ephemeral", "maxPods": 60, "capacityReservationGroupID": reserved}
    assert inputs_of(tmp_path, rest).items() >= wanted.items()


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        ("osSku: Ubuntu2504", ("NOD001", "error", "osSku", "did you mean Ubuntu2404?")),
        ("osSku: Windows2022", ("NOD002", "error", "osSku", "write Ubuntu")),
        ("osSku: AzureLinux", ("NOD004", "warning", "osSku", "write Ubuntu, or try it first")),
        ("fips: true", ("NOD005", "error", "fips", "set osSku: AzureLinux3 or Ubuntu2204, or fips: false")),
        ("maxPods: 9", ("NOD007", "error", "maxPods", "write 10")),
        ("maxPods: 251", ("NOD007", "error", "maxPods", "write 250")),
        ("maxPods: 14", ("NOD007", "error", "maxPods", "write 15, or start with more nodes")),
        ("osDiskSizeGb: 4096", ("NOD008", "warning", "osDiskSizeGb", "write 2048, or leave the size to AKS")),
        ("osDiskSizeGb: -1", ("NOD008", "error", "osDiskSizeGb", "write 30, or leave the size to AKS")),
        ("spot: {maxPrice: 0}", ("NOD009", "error", "spot.maxPrice", "write -1, which is up to the regular price")),
        ("spot: {maxPrice: 0.123456}", ("NOD009", "error", "spot.maxPrice", "write 0.12346")),
        ("spot: {maxPrice: -2}", ("NOD009", "error", "spot.maxPrice", "write -1, which is up to the regular price")),
        (f"spot: true, capacityReservationGroup: {SUB}/Microsoft.Compute/capacityReservationGroups/g",
         ("NOD010", "error", "capacityReservationGroup", "remove one of the two")),
        ("spot: true, maxSurge: 1", ("NOD011", "warning", "maxSurge", "leave it out")),
        ('maxSurge: "10 %"', ("NOD012", "error", "maxSurge", 'write 1 or "10%"')),
        ('maxUnavailable: "120%"', ("NOD012", "error", "maxUnavailable", 'write 1 or "10%"')),
        ("maxSurge: 0", ("NOD013", "error", "maxSurge", "set maxUnavailable: 1 beside maxSurge: 0")),
        ("drainTimeoutMinutes: 2", ("NOD014", "error", "drainTimeoutMinutes", "write 5")),
        ("nodeSoakMinutes: 45", ("NOD014", "error", "nodeSoakMinutes", "write 30")),
        ("zones: [\"1\", \"2\", \"3\"]",
         ("SIZ009", "warning", "zones",
          "check `az vm list-skus --size Standard_NC24ads_A100_v4 --zone`, or leave zones out")),
    ],
)  # fmt: skip
def test_nodes_that_azure_or_the_operator_would_refuse(
    tmp_path: Path, rest: str, expected: tuple[str, str, str, str]
) -> None:
    lines = [(c, s, p.removeprefix("aks-dra:pools.a100."), r) for c, s, p, r in told(tmp_path, pool(rest))]
    assert lines == [expected]


@pytest.mark.parametrize("price", ["-1", "0.00001", "3.67", "1"])
def test_prices_that_azure_takes(tmp_path: Path, price: str) -> None:
    assert inputs_of(tmp_path, f"spot: {{maxPrice: {price}}}")["spotMaxPrice"] == float(price)


def test_an_image_has_bounds_by_kubernetes_version(tmp_path: Path) -> None:
    body = 'aks-dra:cluster: {kubernetesVersion: "1.37", access: {azureRbac: true}}\n' + pool("osSku: AzureLinux3")
    (finding,) = (f for f in check(tmp_path, body) if f.code.startswith("NOD"))
    assert (finding.code, finding.severity) == ("NOD003", "warning")
    assert finding.message == "AKS has this image for Kubernetes from 1.28 up to 1.36, and these nodes run 1.37"


def test_all_gpu_pools_run_one_image_whatever_its_name(tmp_path: Path) -> None:
    two = "aks-dra:pools: {{a: {{vmSize: Standard_NC4as_T4_v3, {}}}, b: {{vmSize: Standard_NC4as_T4_v3, {}}}}}"
    assert told(tmp_path, two.format("osSku: Ubuntu", "osSku: Ubuntu2404")) == []
    (other,) = check(tmp_path, two.format("osSku: Ubuntu", "osSku: Ubuntu2204"))
    assert (other.code, other.severity, other.path) == ("NOD006", "error", "aks-dra:pools.b.osSku")
    assert other.message == (
        "these nodes run Ubuntu2204, those of pool a run Ubuntu2404, and the operator serves one image"
    )
    older = check(tmp_path, two.format("osSku: Ubuntu", 'osSku: Ubuntu, kubernetesVersion: "1.34"'))
    assert [(f.code, f.path) for f in older] == [("NOD006", "aks-dra:pools.b.kubernetesVersion")]
    aks = "aks-dra:gpu: {driver: aks}\n" + two.format("osSku: Ubuntu", "osSku: Ubuntu2204")
    assert [(f.code, f.severity) for f in check(tmp_path, aks)] == [("NOD006", "warning")]


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ("{cost/center: ml}", ("NOD015", "tags.cost/center", "for example cost-center")),
        ("{Microsoft.owner: ml}", ("NOD015", "tags.Microsoft.owner", "rename it")),
        ("{note: " + "x" * 257 + "}", ("NOD016", "tags.note", "shorten it")),
        ("{team: a, Team: b}", ("NOD017", "tags.Team", "remove one of the two")),
        ("{" + ", ".join(f"t{n}: a" for n in range(51)) + "}", ("NOD018", "tags", "put several into one as JSON")),
    ],
)
def test_tags_that_azure_refuses(tmp_path: Path, tags: str, expected: tuple[str, str, str]) -> None:
    (line,) = told(tmp_path, pool(f"tags: {tags}"))
    assert (line[0], line[2].removeprefix("aks-dra:pools.a100."), line[3]) == expected


def test_a_pools_tags_and_those_of_the_stack_count_together(tmp_path: Path) -> None:
    stack = "aks-dra:tags: {" + ", ".join(f"s{n}: a" for n in range(30)) + "}\n"
    own = "tags: {" + ", ".join(f"t{n}: a" for n in range(20)) + "}"
    assert told(tmp_path, stack + pool(own)) == []
    (line,) = told(tmp_path, stack + pool(own.replace("}", ", more: a}")))
    assert (line[0], line[2]) == ("NOD018", "aks-dra:pools.a100.tags")
