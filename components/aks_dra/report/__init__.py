"""A plan for people and machines: rich text, Markdown, JSON. Nothing here plans; it only shows."""

from aks_dra.report.document import as_document
from aks_dra.report.findings import github_lines, print_findings
from aks_dra.report.markdown import as_markdown
from aks_dra.report.text import print_plan

__all__ = ["as_document", "as_markdown", "github_lines", "print_findings", "print_plan"]
