"""`aks-dra facts` prints every table by the name that files of one's own use."""

from __future__ import annotations

import json

from typer.testing import CliRunner

from aks_dra.cli import app
from aks_dra.facts.fact import TABLES
from aks_dra.facts.reader import SCALARS


def test_facts_are_printed_by_the_names_of_facts_files() -> None:
    tool = CliRunner()
    for name in (*TABLES, *SCALARS):
        if name not in ("source", "verified"):
            assert tool.invoke(app, ["facts", name]).exit_code == 0, name
    assert "e.g. gpu or size;" in " ".join(tool.invoke(app, ["facts", "--help"]).output.replace("│", " ").split())
    wrong = tool.invoke(app, ["facts", "vm_size"])
    assert wrong.exit_code == 2
    assert "did you mean size?" in " ".join(wrong.output.replace("│", " ").split())
    assert json.loads(tool.invoke(app, ["facts", "default", "--format", "json"]).output)
