"""Every setting is described, and pages with fragments of stack files say where these stand."""

from __future__ import annotations

from pathlib import Path

import pytest

from aks_dra.reference.settings_doc import document

ROOT = Path(__file__).resolve().parents[2]


def test_every_setting_is_described() -> None:
    rows = [line for line in document().splitlines() if line.startswith("| `")]
    assert [row for row in rows if row.endswith("|  |")] == []
    assert "| `kubernetesVersion` | text | `1.36` |" in document()


@pytest.mark.parametrize("page", ["sharing", "tenants", "test-pool"])
def test_pages_with_fragments_say_where_they_stand(page: str) -> None:
    text = (ROOT / "docs" / f"{page}.md").read_text()
    assert text.index("stand below `config:`") < text.index("```yaml")
