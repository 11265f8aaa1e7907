"""The plan in a terminal: nothing is lost, and no line of a table is longer than 100 columns."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from aks_dra.report import print_plan
from tests.stacks import planned

LONG = "a-class-whose-name-goes-on-for-more-than-half-of-the-line-and-then-some.example.com"
BODY = f"""
aks-dra:pools:
  h100: {{vmSize: Standard_ND96isr_H100_v5, nodes: {{min: 1, max: 100}}, sharing: {{mode: dynamicMig}}}}
aks-dra:deviceClasses:
  {LONG}: {{require: {{driverVersion: ">=570"}}, extendedResourceName: example.com/a-long-name}}
aks-dra:claims:
  a-namespace-with-a-rather-long-name:
    a-claim-with-a-rather-long-name-as-well-to-be-sure:
      firstAvailable: [{{deviceClass: h100-80gb-1g.10gb}}, {{deviceClass: {LONG}, count: 4}}]
"""


@pytest.mark.parametrize("width", [100, 200])
def test_long_names_leave_room_for_what_stands_beside_them(tmp_path: Path, width: int) -> None:
    out = io.StringIO()
    print_plan(Console(file=out, width=width, highlight=False), planned(tmp_path, BODY))
    text = out.getvalue()
    for heading, column in (("Device classes", "pools (devices per node)"), ("Claims", "asks for")):
        table = text.partition(f"{heading}\n")[2].partition("\n\n")[0]
        assert column in table, table
    assert "56 of 208" in text
    assert "h100 else" in text
    assert text.count("a-class-whose-name-goes-on") == 2
    tables = text.partition("Would be created")[0].splitlines()
    assert max(len(line.rstrip()) for line in tables if "resource group" not in line) <= min(width, 100)
