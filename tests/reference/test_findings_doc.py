"""Every code has an example that triggers it and nothing else, and the documents say what the sources say."""

from __future__ import annotations

from pathlib import Path

import pytest

from aks_dra.reference import findings_doc, settings_doc
from aks_dra.stackfile.source import RULES

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = findings_doc.examples()


@pytest.mark.parametrize("code", EXAMPLES)
def test_the_example_triggers_its_code_at_its_path_and_nothing_else(tmp_path: Path, code: str) -> None:
    example = EXAMPLES[code]
    found = example.findings(tmp_path)
    assert (code, example.path) in {(finding.code, finding.path) for finding in found}
    rest = {finding.code for finding in found if (finding.code, finding.path) != (code, example.path)}
    assert rest == set(example.also), found
    for finding in found:
        assert finding.message
        assert finding.remedy
        assert finding.source
        assert finding.path or finding.file
        assert finding.line >= 1 or example.absent, "a finding names the line in the user's file"


def test_every_code_of_the_sources_has_an_example() -> None:
    assert sorted(findings_doc.codes() - set(EXAMPLES)) == []
    assert sorted(set(EXAMPLES) - findings_doc.codes()) == []
    assert set(RULES) <= findings_doc.codes(), "the reader's codes are found in its source"


@pytest.mark.parametrize("code", RULES)
def test_the_reader_of_stack_files_reports_each_code_at_the_severity_of_its_table(tmp_path: Path, code: str) -> None:
    """Of the other codes a rule decides each time; what an example has is in the document."""
    found = [finding for finding in EXAMPLES[code].findings(tmp_path) if finding.code == code]
    assert {finding.severity for finding in found} == {RULES[code][0]}


@pytest.mark.parametrize("module", [findings_doc, settings_doc], ids=["findings.md", "settings.md"])
def test_the_document_is_up_to_date(module: object, request: pytest.FixtureRequest) -> None:
    name = request.node.callspec.id
    written = (ROOT / "docs" / name).read_text(encoding="utf-8")
    assert written == module.document(), f"python -m aks_dra.reference.{name.replace('.md', '_doc')} > docs/{name}"  # type: ignore[attr-defined]


def test_every_topic_of_the_document_has_a_heading() -> None:
    text = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
    headings = [line.removeprefix("## ") for line in text.splitlines() if line.startswith("## ")]
    topics = {code.rstrip("0123456789") for code in EXAMPLES}
    assert headings == [findings_doc.TOPICS[topic] for topic in sorted(topics)]
    assert [line.removeprefix("### ") for line in text.splitlines() if line.startswith("### ")] == sorted(EXAMPLES)
