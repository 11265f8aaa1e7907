"""A fact has one place: what the tables hold is asked of them by name, and nothing in them is read by nobody."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

import aks_dra
from aks_dra.facts import AksFault, DriverMinimum, Limit, NameRule, Need, load_facts
from aks_dra.facts.fact import TABLES, Fact
from aks_dra.facts.rows import ChartVersion, Image, MigProfile
from aks_dra.facts.rows_aks import Role

PACKAGE = Path(aks_dra.__file__).parent
CODE = {
    str(path.relative_to(PACKAGE)): path.read_text(encoding="utf-8")
    for path in sorted(PACKAGE.rglob("*.py"))
    if path.name not in ("rows.py", "rows_aks.py")
}
LOCAL = "\n".join(path.read_text(encoding="utf-8") for path in (PACKAGE.parents[1] / "local").rglob("*.py"))
FACTS = load_facts()
# Rows that code asks for one by one. Of limits some come in pairs: log_retention_lowest and log_retention_highest.
ASKED = (Limit, Need, NameRule, AksFault, Image, Role, DriverMinimum)
# Read by nobody but people: when a chart version came, in whose order the versions stand.
FOR_PEOPLE = {(ChartVersion, "released")}


@pytest.mark.parametrize("kind", ASKED, ids=lambda kind: kind.__name__)
def test_every_row_is_asked_for_by_name(kind: type[Fact]) -> None:
    code = "\n".join(CODE.values())
    needed = {gate.kubernetes_need for gate in FACTS.gates.values()}
    unread = [
        name
        for name in FACTS.table(kind)
        if f'"{name}"' not in code
        and not (name.endswith(("_lowest", "_highest")) and f'"{name.rpartition("_")[0]}_{{' in code)
        and name not in needed
    ]
    assert unread == []


@pytest.mark.parametrize("kind", [*TABLES.values(), MigProfile, ChartVersion], ids=lambda kind: kind.__name__)
def test_every_column_is_read(kind: type[Fact]) -> None:
    code = "\n".join(CODE.values())
    unread = [
        item.name
        for item in fields(kind)
        if not re.search(rf"\.{item.name}\b", code)
        and not re.search(rf'"{item.name}"', LOCAL)
        and f"self.{item.name}" not in (PACKAGE / "facts" / "rows.py").read_text(encoding="utf-8")
        and f"self.{item.name}" not in (PACKAGE / "facts" / "rows_aks.py").read_text(encoding="utf-8")
        and (kind, item.name) not in FOR_PEOPLE
    ]
    assert unread == []


def test_no_code_has_a_kubernetes_minor_or_a_model_of_its_own() -> None:
    for name, text in CODE.items():
        plain = re.sub(r'"""(.|\n)*?"""|#.*', "", text)
        assert not re.search(r"\(1, ?\d\d\)", plain), name
        assert '"Ampere"' not in plain or name == "topics/classes/intents.py", "an example of what to write"
        assert "get_close_matches" not in plain or name == "findings/build.py"
