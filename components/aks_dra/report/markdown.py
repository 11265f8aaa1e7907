"""The plan as Markdown, for a comment on a pull request."""

from __future__ import annotations

from aks_dra.model.plan import Plan
from aks_dra.report.findings import summary
from aks_dra.report.tables import (
    CLAIM_COLUMNS,
    CLASS_COLUMNS,
    INCOMPLETE,
    POOL_COLUMNS,
    changed,
    claim_rows,
    class_rows,
    created,
    pool_rows,
)


def as_markdown(plan: Plan) -> str:
    cluster = plan.cluster
    parts = [
        f"## aks-dra plan: {plan.stack}",
        "",
        f"**{_cell(cluster.name)}**: Kubernetes {cluster.kubernetes_version}, {cluster.location or 'no location'}. "
        f"{summary(plan.findings)}.",
        "",
    ]
    if plan.incomplete:
        parts += [f"**{INCOMPLETE}:** " + ", ".join(f"`{_cell(path)}`" for path in plan.incomplete), ""]
    if plan.findings:
        rows: list[tuple[str, ...]] = [
            (f"{f.severity}{' (acknowledged)' if f.acknowledged else ''}", f.code, f.path, f.value, f.message, f.remedy)
            for f in plan.findings
        ]
        parts += _table("Findings", ("severity", "code", "where", "value", "finding", "fix"), rows)
    parts += _table("Pools", POOL_COLUMNS, pool_rows(plan))
    parts += _table("Device classes", CLASS_COLUMNS, class_rows(plan))
    parts += _table("Claims", CLAIM_COLUMNS, claim_rows(plan))
    parts += [
        "<details><summary>Would be created</summary>",
        "",
        *(f"- {_cell(line)}" for line in created(plan)),
        *(f"- (changed) {_cell(line)}" for line in changed(plan)),
        "",
        "</details>",
        "",
    ]
    return "\n".join(parts)


def _table(title: str, columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    if not rows:
        return []
    lines = [f"### {title}", "", "| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns)]
    lines += ["| " + " | ".join(_cell(cell) for cell in row) + " |" for row in rows]
    return [*lines, ""]


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")
